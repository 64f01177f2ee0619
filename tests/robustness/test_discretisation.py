"""Binning says what it merged and leaves alone what it should."""

import json

import numpy as np
import pytest

from irs_plugin import discretise, disentanglement_score


def mixed(num_samples=500):
    rng = np.random.default_rng(0)
    return np.column_stack(
        [rng.uniform(size=num_samples), rng.integers(0, 40, num_samples), rng.choice([0.5, 0.6, 0.7], num_samples)]
    )


def test_only_continuous_factors_are_binned_by_default():
    factors = mixed()
    found = discretise(factors, num_bins=10)
    assert found.binned == (0,)
    np.testing.assert_array_equal(found.values_before, [500, 40, 3])
    np.testing.assert_array_equal(found.values_after, [10, 40, 3])
    np.testing.assert_array_equal(found.num_merged, [490, 0, 0])
    np.testing.assert_array_equal(found.gen_factors[:, 1:], factors[:, 1:])


def test_uniform_bins_have_equal_width():
    factors = mixed()
    found = discretise(factors, factors=0, num_bins=4)
    values = factors[:, 0]
    expected = np.minimum((4 * (values - values.min()) / np.ptp(values)).astype(int), 3)
    np.testing.assert_array_equal(found.gen_factors[:, 0], expected)


def test_quantile_bins_have_equal_frequency():
    found = discretise(mixed(), factors=[0], num_bins=5, strategy="quantile")
    np.testing.assert_array_equal(np.bincount(found.gen_factors[:, 0].astype(int)), [100] * 5)


def test_kmeans_finds_clusters():
    rng = np.random.default_rng(0)
    centres = rng.permutation(np.repeat([0.0, 1.0, 10.0], 50))
    found = discretise((centres + rng.uniform(0, 0.1, 150))[:, None], num_bins=3, strategy="kmeans")
    np.testing.assert_array_equal(found.gen_factors[:, 0], np.searchsorted([0.0, 1.0, 10.0], centres))


def test_twenty_bins_merge_forty_values_and_cost_a_perfect_code_its_score():
    grid = np.array([[a, b] for a in range(40) for b in range(5)])
    found = discretise(grid, factors=[0], num_bins=20)
    np.testing.assert_array_equal(found.num_merged, [20, 0])
    assert disentanglement_score(grid, grid + 0.0).disentanglement_scores[0] == pytest.approx(1.0)
    merged = disentanglement_score(found.gen_factors, grid + 0.0, replicates="separate")
    assert 0.9 < merged.disentanglement_scores[0] < 0.98
    assert discretise(grid, num_bins=20).binned == ()


def test_input_is_left_alone_and_whole_numbers_come_back_as_integers():
    factors = mixed()
    before = factors.copy()
    found = discretise(factors, factors=[0, 2], num_bins=3)
    np.testing.assert_array_equal(factors, before)
    assert found.gen_factors.dtype.kind == "i"


def test_score_asks_for_it():
    factors = mixed()
    with pytest.raises(ValueError, match=r"factor 0 is continuous.*irs_plugin\.discretise"):
        disentanglement_score(factors, factors)
    assert disentanglement_score(discretise(factors, num_bins=20).gen_factors, factors).parents[0] == 0


def test_coinciding_bins_are_reported():
    factors = np.repeat([0, 1, 2], [90, 5, 5])[:, None]
    found = discretise(factors, factors=[0], num_bins=10, strategy="quantile")
    assert found.values_after[0] < found.values_before[0]
    assert len(found.edges[0]) < 11


def test_plain_values():
    values = json.loads(json.dumps(discretise(mixed(), num_bins=4).to_dict(), allow_nan=False))
    assert values["binned"] == [0]
    assert len(values["edges"]["0"]) == 5


@pytest.mark.parametrize(
    ("factors", "options", "message"),
    [
        (mixed(), {"num_bins": 1}, "num_bins must be an integer of at least 2"),
        (mixed(), {"strategy": "equal"}, "strategy must be one of 'uniform', 'quantile', 'kmeans'; got 'equal'"),
        (mixed(), {"factors": [3]}, "factors holds 3, out of range"),
        (mixed()[0], {}, "must have shape"),
        (np.full((3, 1), np.nan), {}, "must be finite"),
        (np.array([["a"], ["b"]]), {"factors": [0]}, "only numeric factors can be binned"),
    ],
)
def test_bad_input(factors, options, message):
    with pytest.raises(ValueError, match=message):
        discretise(factors, **options)
