"""Repeats: independent draws, subsets without replacement, and nothing else."""

import json

import numpy as np
import pytest

from irs_plugin import disentanglement_score, repeated_scores, subsampled_scores


def draw(random_state):
    factors = np.column_stack([random_state.randint(0, size, 400) for size in (3, 8)])
    return factors, factors + random_state.normal(size=factors.shape)


def test_draws_are_independent_and_summarised():
    repeats = repeated_scores(draw, num_repeats=6, seed=1, progress=False)
    spread = repeats["irs_matrix"]
    assert spread.samples.shape == (6, 2, 2)
    assert len({sample.tobytes() for sample in spread.samples}) == 6
    np.testing.assert_allclose(spread.mean, spread.samples.mean(axis=0))
    np.testing.assert_allclose(spread.sd, spread.samples.std(axis=0, ddof=1))
    np.testing.assert_array_equal(spread.min, spread.samples.min(axis=0))
    np.testing.assert_array_equal(spread.max, spread.samples.max(axis=0))
    assert repeats.num_samples == (400,) * 6
    assert "6 independent draws" in repeats.method


def test_spread_of_draws_is_that_of_the_score():
    """A score with known sampling distribution: the mean of n standard normals has sd 1/√n."""
    repeats = repeated_scores(
        lambda state: (state.randint(0, 2, (100, 1)), state.normal(size=(100, 1))),
        lambda g, z: z.mean(),
        num_repeats=400,
        progress=False,
    )
    assert repeats["score"].sd == pytest.approx(0.1, rel=0.15)
    assert repeats["score"].mean == pytest.approx(0.0, abs=0.02)


def test_seed_decides_and_threads_do_not():
    samples = [
        repeated_scores(draw, num_repeats=4, seed=seed, n_jobs=n_jobs, progress=False)["avg_score"].samples
        for seed, n_jobs in ((1, 1), (1, 2), (2, 1))
    ]
    np.testing.assert_array_equal(samples[0], samples[1])
    assert not np.array_equal(samples[0], samples[2])


def test_draws_may_bring_aligned_arrays():
    def confounded(state):
        factors, latents = draw(state)
        return factors, latents, {"confounder": factors[:, 0]}

    repeats = repeated_scores(
        confounded, lambda g, z, confounder: float((confounder == g[:, 0]).all()), num_repeats=2, progress=False
    )
    assert repeats["score"].min == 1.0


def test_subsets_have_no_row_twice_and_vary():
    factors = np.arange(100)[:, None] // 10
    latents = np.arange(100.0)[:, None]
    rows = []

    def score(g, z):
        assert np.array_equal(g[:, 0], z[:, 0] // 10)
        rows.append(tuple(z[:, 0]))
        return z.mean()

    repeats = subsampled_scores(
        factors, latents, score=score, num_repeats=5, subsample_size=30, n_jobs=1, progress=False
    )
    assert all(len(set(chosen)) == 30 for chosen in rows)
    assert len(set(rows)) == 5
    assert "without replacement" in repeats.method


def test_half_of_the_samples_by_default_and_all_give_the_score_itself():
    factors, latents = draw(np.random.RandomState(0))
    assert subsampled_scores(factors, latents, num_repeats=2, progress=False).num_samples == (200, 200)
    whole = subsampled_scores(factors, latents, num_repeats=3, subsample_size=400, progress=False)
    assert whole["avg_score"].sd == 0.0
    assert whole["avg_score"].mean == pytest.approx(disentanglement_score(factors, latents).avg_score, abs=1e-14)


def test_aligned_arrays_are_subsampled_alike():
    factors, latents = draw(np.random.RandomState(0))

    def score(g, z, confounder):
        assert np.array_equal(confounder, 7 * g[:, 1])
        return 0.5

    repeats = subsampled_scores(
        factors, latents, score=score, aligned={"confounder": 7 * factors[:, 1]}, num_repeats=2, progress=False
    )
    assert repeats["score"].mean == 0.5


def test_plain_values():
    repeats = subsampled_scores(*draw(np.random.RandomState(0)), num_repeats=2, progress=False)
    values = json.loads(json.dumps(repeats.to_dict(), allow_nan=False))
    assert values["avg_score"]["mean"] == pytest.approx(float(repeats["avg_score"].mean))
    assert "no bootstrap" in values["method"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subsample_size": 401}, "subsample_size is 401, but there are 400 samples"),
        ({"subsample_size": 0}, "subsample_size must be an integer of at least 1"),
        ({"num_repeats": 0}, "num_repeats must be an integer of at least 1"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        subsampled_scores(*draw(np.random.RandomState(0)), progress=False, **options)


def test_failure_names_the_subset():
    factors = np.arange(300).reshape(100, 3)
    with pytest.raises(ValueError, match="on a subset of 50 of 100 samples: no factor can be scored"):
        subsampled_scores(factors, factors + 0.0, num_repeats=2, progress=False)


def test_draw_of_another_form():
    with pytest.raises(ValueError, match="draw must return"):
        repeated_scores(lambda state: state.normal(size=(10, 2)), num_repeats=2, progress=False)
    with pytest.raises(ValueError, match="num_repeats must be an integer of at least 2"):
        repeated_scores(draw, num_repeats=1)
