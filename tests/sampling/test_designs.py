"""Sampling designs on a small data set whose observations are its factors."""

import numpy as np
import pytest

import irs_plugin
from irs_plugin.sampling import (
    PairCorrelation,
    StructuralModel,
    confounded_sample,
    grid_batches,
    grid_sample,
    random_sample,
    tilted_model,
)


class Factors:
    """A data set in disentanglement_lib's form; observations are the factors and, if asked for, noise."""

    factors_num_values = (3, 4, 5)
    num_factors = 3

    def __init__(self, noise=0.0):
        self.noise = noise
        self.num_observed = 0

    def sample_factors(self, num, random_state):
        return np.column_stack([random_state.randint(size, size=num) for size in self.factors_num_values])

    def sample_observations_from_factors(self, factors, random_state):
        self.num_observed += len(factors)
        noise = self.noise * random_state.normal(size=factors.shape) if self.noise else 0.0
        return (factors + noise).astype(np.float32)

    def sample(self, num, random_state):
        factors = self.sample_factors(num, random_state)
        return factors, self.sample_observations_from_factors(factors, random_state)


def encode(observations):
    return observations[:, :2] * np.float32(2.0)


def stock_draw(data, num_points, batch_size, random_state):
    """Batch by batch, as disentanglement_lib's metrics do."""
    factors, codes = [], []
    while sum(map(len, factors)) < num_points:
        batch = data.sample(min(batch_size, num_points - sum(map(len, factors))), random_state)
        factors.append(batch[0])
        codes.append(encode(batch[1]))
    return np.vstack(factors), np.vstack(codes)


@pytest.mark.parametrize("encoding_batch_size", [None, 7, 64, 1024])
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_random_is_the_sample_that_dlib_draws(noise, encoding_batch_size):
    expected = stock_draw(Factors(noise), 105, 16, np.random.RandomState(5))
    found = random_sample(
        Factors(noise), encode, 105, np.random.RandomState(5), batch_size=16, encoding_batch_size=encoding_batch_size
    )
    np.testing.assert_array_equal(found.gen_factors, expected[0])
    np.testing.assert_array_equal(found.latents, expected[1])
    assert found.confounder is None and found.latents.dtype == np.float32


def test_random_encodes_in_large_batches():
    sizes = []
    random_sample(
        Factors(), lambda x: sizes.append(len(x)) or encode(x), 100, np.random.RandomState(0), encoding_batch_size=48
    )
    assert sizes == [48, 48, 4]


def test_grid_has_every_combination_once():
    found = grid_sample(Factors(), encode, np.random.RandomState(0), encoding_batch_size=7)
    assert len(found.gen_factors) == len(np.unique(found.gen_factors, axis=0)) == 60
    np.testing.assert_array_equal(found.latents, 2.0 * found.gen_factors[:, :2])
    assert found.design["num_samples"] == 60


def test_sub_grid():
    found = grid_sample(Factors(), encode, np.random.RandomState(0), sub_grid={1: [3, 0], 2: 3})
    assert [np.unique(column).tolist() for column in found.gen_factors.T] == [[0, 1, 2], [0, 3], [0, 2, 4]]
    assert len(found.gen_factors) == 18
    assert found.design["sub_grid"] == {"1": [0, 3], "2": [0, 2, 4]}


def test_grid_streams_into_the_score():
    statistics = irs_plugin.DisentanglementStatistics(Factors.factors_num_values, 2)
    largest = 0
    for factors, codes in grid_batches(Factors(), encode, np.random.RandomState(0), encoding_batch_size=11):
        statistics.update(factors, codes)
        largest = max(largest, len(factors))
    assert largest == 11
    np.testing.assert_allclose(statistics.compute().disentanglement_scores, 1.0)


@pytest.mark.parametrize(
    ("sub_grid", "message"),
    [
        ({3: 1}, "numbered 0 to 2"),
        ({0: 4}, "asks for 4 values of factor 0, which has 3"),
        ({0: 0}, "asks for 0 values"),
        ({0: []}, "different integers from 0 to 2"),
        ({0: [0, 0]}, "different integers"),
        ({0: [3]}, "different integers from 0 to 2"),
    ],
)
def test_bad_sub_grids(sub_grid, message):
    with pytest.raises(ValueError, match=message):
        grid_batches(Factors(), encode, np.random.RandomState(0), sub_grid=sub_grid)


def test_structural_model_has_the_stated_tables():
    model = StructuralModel(
        (0.25, 0.75),
        [[[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]], [[0.25] * 4, [0.4, 0.3, 0.2, 0.1]], [[0.2] * 5, [0, 0, 0, 0, 1.0]]],
    )
    found = confounded_sample(Factors(), encode, 40_000, np.random.RandomState(1), model=model)
    assert found.confounder.mean() == pytest.approx(0.75, abs=0.01)
    for k, table in enumerate(model.tables):
        for value in (0, 1):
            inside = found.gen_factors[found.confounder == value, k]
            shares = np.bincount(inside, minlength=len(table[value])) / len(inside)
            np.testing.assert_allclose(shares, table[value], atol=0.015)
    # Given C the factors are independent.
    given = found.gen_factors[found.confounder == 1]
    assert abs(np.corrcoef(given[:, 0], given[:, 1])[0, 1]) < 0.02
    np.testing.assert_array_equal(found.latents, 2.0 * found.gen_factors[:, :2])


def test_the_returned_confounder_undoes_the_confounding():
    model = tilted_model(Factors.factors_num_values, strength=2.0)
    found = confounded_sample(Factors(), encode, 60_000, np.random.RandomState(2), model=model, encode_once=True)
    latent = found.gen_factors[:, :1] + 0.5 * found.gen_factors[:, 1:2]
    expected = np.arange(3) + 0.5 * found.gen_factors[:, 1].mean()
    from irs_plugin.robustness.expectations import interventional_expectation

    naive = interventional_expectation(found.gen_factors, latent, 0).values[:, 0]
    adjusted = interventional_expectation(
        found.gen_factors, latent, 0, adjustment="confounder", confounder=found.confounder
    ).values[:, 0]
    assert np.abs(naive - expected).max() > 0.2
    assert np.abs(adjusted - expected).max() < 0.02


def test_strength_zero_is_independent_and_uniform():
    model = tilted_model((3, 4), strength=0.0, num_confounder_values=3)
    for table, size in zip(model.tables, (3, 4), strict=True):
        np.testing.assert_allclose(table, np.full((3, size), 1.0 / size))
    only = tilted_model((3, 4), strength=1.0, factors=[1])
    np.testing.assert_allclose(only.tables[0], 1.0 / 3.0)
    assert only.tables[1][1, 3] > only.tables[1][1, 0]


@pytest.mark.parametrize("sigma", [0.04, 0.1, 0.4, np.inf])
def test_pair_correlation_has_the_stated_weights(sigma):
    model = PairCorrelation((0, 2), sigma)
    found = confounded_sample(Factors(), encode, 50_000, np.random.RandomState(3), model=model)
    expected = np.empty((3, 5))
    for a in range(3):
        for b in range(5):
            expected[a, b] = np.exp(-((a / 2 - b / 4) ** 2) / (2 * sigma**2))
    expected /= expected.sum()
    counts = np.zeros((3, 5))
    np.add.at(counts, (found.gen_factors[:, 0], found.gen_factors[:, 2]), 1)
    np.testing.assert_allclose(counts / 50_000, expected, atol=0.01)
    np.testing.assert_allclose(np.bincount(found.gen_factors[:, 1]) / 50_000, 0.25, atol=0.01)
    assert found.confounder is None and found.design["pair"] == [0, 2]


def test_each_combination_is_encoded_once_where_that_is_right():
    data = Factors()
    model = tilted_model(data.factors_num_values, strength=1.0)
    found = confounded_sample(data, encode, 5_000, np.random.RandomState(4), model=model, encode_once=True)
    assert data.num_observed <= 60
    np.testing.assert_array_equal(found.latents, 2.0 * found.gen_factors[:, :2])


def test_same_seed_same_sample():
    model = tilted_model(Factors.factors_num_values, strength=1.0)
    first, second = (
        confounded_sample(Factors(0.1), encode, 50, np.random.RandomState(9), model=model) for _ in range(2)
    )
    np.testing.assert_array_equal(first.latents, second.latents)


UNIFORM = [np.full((2, size), 1.0 / size) for size in Factors.factors_num_values]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (StructuralModel((0.5, 0.6), UNIFORM), "confounder_probabilities must sum to 1"),
        (StructuralModel((-0.5, 1.5), UNIFORM), "must hold probabilities; it holds -0.5"),
        (StructuralModel((), UNIFORM), "non-empty"),
        (StructuralModel((0.5, 0.5), UNIFORM[:2]), "2 entries; the data set has 3 factors"),
        (StructuralModel((1.0,), UNIFORM), r"tables\[0\] must have shape \(1, 3\)"),
        (StructuralModel((0.5, 0.5), [UNIFORM[1], *UNIFORM[1:]]), r"tables\[0\] must have shape \(2, 3\)"),
        (PairCorrelation((0, 0), 0.1), "two different factor indices from 0 to 2"),
        (PairCorrelation((0, 3), 0.1), "two different factor indices from 0 to 2"),
        (PairCorrelation((0, 1), 0.0), "sigma must be positive"),
    ],
)
def test_bad_models_are_refused_before_anything_is_encoded(model, message):
    data = Factors()
    with pytest.raises(ValueError, match=message):
        confounded_sample(data, encode, 10, np.random.RandomState(0), model=model)
    assert data.num_observed == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tilted_model((3,), strength=np.nan), "strength must be finite"),
        (lambda: tilted_model((3,), strength=1.0, num_confounder_values=1), "at least 2"),
        (lambda: tilted_model((3,), strength=1.0, factors=[1]), "indices from 0 to 0"),
        (lambda: random_sample(Factors(), encode, 0, np.random.RandomState(0)), "num_samples must be a positive"),
        (lambda: random_sample(Factors(), encode, 5, np.random.RandomState(0), batch_size=2.5), "batch_size"),
        (lambda: random_sample(Factors(), lambda x: x[:, 0], 5, np.random.RandomState(0)), r"shape \(5, num_latents\)"),
        (lambda: random_sample(Factors(), lambda x: x + np.nan, 5, np.random.RandomState(0)), "latent 0 of sample 0"),
    ],
)
def test_bad_calls(call, message):
    with pytest.raises(ValueError, match=message):
        call()
