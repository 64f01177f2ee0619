"""Score against sample size."""

import json

import numpy as np
import pytest

from irs_plugin import convergence, disentanglement_score


def noise(num_samples=3000):
    rng = np.random.default_rng(0)
    return np.column_stack([rng.integers(0, size, num_samples) for size in (4, 20)]), rng.normal(size=(num_samples, 2))


@pytest.fixture(scope="module")
def result():
    return convergence(*noise(), sizes=[3000, 100, 600], num_draws=4, num_permutations=6, progress=False)


def test_noise_scores_higher_the_smaller_the_sample(result):
    assert result.sizes == (100, 600, 3000)
    curve = result.curve("avg_score")
    assert (np.diff(curve["mean"]) < 0).all()
    assert (curve["min"] <= curve["mean"]).all()
    assert (curve["mean"] <= curve["max"]).all()
    assert (curve["sd"][:2] > 0).all()


def test_chance_follows(result):
    chance = result.chance_curve("avg_score")
    assert (np.diff(chance) < 0).all()
    np.testing.assert_allclose(chance, result.curve("avg_score")["mean"], atol=0.12)


def test_all_the_data_are_scored_once(result):
    assert [step.num_repeats for step in result.steps] == [4, 4, 1]
    assert result.curve("avg_score")["mean"][-1] == pytest.approx(disentanglement_score(*noise()).avg_score, abs=1e-14)
    assert np.isnan(result.curve("avg_score")["sd"][-1])


def test_default_sizes_end_with_all():
    found = convergence(*noise(730), score=lambda g, z: len(z), num_draws=1, progress=False)
    assert found.sizes == (100, 200, 500, 730)
    np.testing.assert_array_equal(found.curve("score")["mean"], [100, 200, 500, 730])
    with pytest.raises(ValueError, match="num_permutations"):
        found.chance_curve("score")


def test_seed_decides_and_threads_do_not():
    curves = [
        convergence(*noise(500), sizes=[200, 300], num_draws=3, seed=seed, n_jobs=n_jobs, progress=False).curve(
            "avg_score"
        )["mean"]
        for seed, n_jobs in ((1, 1), (1, 2), (2, 1))
    ]
    np.testing.assert_array_equal(curves[0], curves[1])
    assert not np.array_equal(curves[0], curves[2])


def test_plain_values(result):
    values = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert values["sizes"] == [100, 600, 3000]
    assert len(values["chance"]) == len(values["steps"]) == 3


@pytest.mark.parametrize("sizes", [[], [1], [50, 501], [2.5]])
def test_sizes_out_of_range(sizes):
    with pytest.raises(ValueError, match="sizes must"):
        convergence(*noise(500), sizes=sizes, progress=False)
