"""With uniform weights the score is that of disentanglement_lib's own function, digit for digit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from irs_plugin import disentanglement_score
from irs_plugin.dlib import hook

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="module")
def dlib_score():
    hook.install()
    from disentanglement_lib.evaluation.metrics.irs import scalable_disentanglement_score

    return scalable_disentanglement_score


def assert_same(dlib_score, gen_factors, latents, diff_quantile, tolerance=1e-12):
    theirs = dlib_score(gen_factors, latents, diff_quantile)
    ours = disentanglement_score(gen_factors, latents, factor_weights="uniform", diff_quantile=diff_quantile)
    assert ours.irs_matrix == pytest.approx(theirs["IRS_matrix"], abs=tolerance)
    assert ours.disentanglement_scores == pytest.approx(theirs["disentanglement_scores"], abs=tolerance)
    assert ours.max_deviations == pytest.approx(theirs["max_deviations"], rel=tolerance)
    assert ours.avg_score == pytest.approx(theirs["avg_score"], abs=tolerance)
    assert ours.parents.tolist() == theirs["parents"].tolist()


@pytest.mark.parametrize("diff_quantile", [1.0, 0.99, 0.9, 0.5, 0.0])
@pytest.mark.parametrize("noise", ["normal", "heavy tails", "skewed", "ties"])
def test_random_samples(dlib_score, noise, diff_quantile):
    random_state = np.random.RandomState(0)
    gen_factors = np.column_stack([random_state.randint(size, size=3000) for size in (3, 6, 40, 32, 1)])
    latents = (
        gen_factors @ random_state.randn(5, 7)
        + {
            "normal": random_state.randn(3000, 7),
            "heavy tails": random_state.standard_t(2, size=(3000, 7)),
            "skewed": np.exp(2 * random_state.randn(3000, 7)),
            "ties": random_state.randint(3, size=(3000, 7)).astype(float),
        }[noise]
    )
    assert_same(dlib_score, gen_factors, latents, diff_quantile)


@pytest.mark.parametrize("diff_quantile", [1.0, 0.99])
def test_every_sample_size_and_repeated_samples(dlib_score, diff_quantile):
    random_state = np.random.RandomState(1)
    for num_samples in [2, 3, 5, 8, 13, 50, 200]:
        gen_factors = random_state.randint(4, size=(num_samples, 2))
        assert_same(dlib_score, gen_factors, random_state.randn(num_samples, 3), diff_quantile)


@pytest.mark.parametrize("diff_quantile", [1.0, 0.99])
def test_codes_of_a_trained_model(dlib_score, diff_quantile):
    with np.load(DATA / "tf1_beta_vae_codes.npz") as codes:
        gen_factors, latents = codes["gen_factors"], codes["latents"]
    assert_same(dlib_score, gen_factors, latents.astype(np.float64), diff_quantile)
    # On single precision their means are rounded to it.
    assert_same(dlib_score, gen_factors, latents, diff_quantile, tolerance=2e-6)


def test_distinct_values_named_by_text_and_by_fractions(dlib_score):
    random_state = np.random.RandomState(2)
    numbers = random_state.randint(4, size=(500, 2))
    for names in (np.array(["a", "bb", "c", "d"]), np.array([0.5, -1.25, 3.0, 2.0])):
        assert_same(dlib_score, names[numbers], random_state.randn(500, 2), 0.99)
