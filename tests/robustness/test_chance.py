"""Chance level: known figures of noise, correction, and what it does not depend on."""

import json
import os
import signal
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from irs_plugin import chance_level, disentanglement_score
from irs_plugin.robustness.chance import AT_PARENT

# dSprites: almost every combination occurs once among 10,000 samples.
SIZES = (3, 6, 40, 32, 32)


def noise(num_samples=10_000, num_latents=4, seed=0):
    rng = np.random.default_rng(seed)
    factors = np.column_stack([rng.integers(0, size, num_samples) for size in SIZES])
    return factors, rng.normal(size=(num_samples, num_latents))


@pytest.fixture(scope="module")
def noise_level():
    return chance_level(*noise(), num_permutations=40, progress=False)


def test_gaussian_noise_at_the_maximum(noise_level):
    """method.md 3.5: N = 10,000, q = 1: about 0.23 against 40 values, 0.07 against 3."""
    chance = noise_level["irs_matrix"].mean.mean(axis=0)
    assert chance[2] == pytest.approx(0.235, abs=0.03)
    assert chance[0] == pytest.approx(0.065, abs=0.03)
    assert chance[0] < chance[1] < chance[3] < chance[2]


def test_gaussian_noise_at_the_99th_percentile():
    score = partial(disentanglement_score, diff_quantile=0.99)
    level = chance_level(*noise(), score=score, num_permutations=10, progress=False)
    # A latent's level hangs on its largest sample, the normaliser: the figure is that of the average.
    np.testing.assert_allclose(level["irs_matrix"].mean.mean(axis=0), 0.37, atol=0.04)


def test_heavy_tails_raise_chance():
    rng = np.random.default_rng(1)
    factors, _ = noise()
    score = partial(disentanglement_score, diff_quantile=0.99)
    level = chance_level(factors, rng.standard_t(3, size=(10_000, 2)), score=score, num_permutations=5, progress=False)
    assert level["avg_score"].mean > 0.8


def test_noise_is_corrected_to_nothing(noise_level):
    assert noise_level["avg_score"].observed > 0.2
    assert abs(noise_level["avg_score"].corrected) < 0.05
    assert np.abs(noise_level["irs_matrix"].corrected).max() < 0.15
    assert noise_level["avg_score"].p_value > 0.02


def test_maximum_is_taken_inside_the_null(noise_level):
    """The best of several factors beats any named beforehand, so its null must lie at least as high."""
    largest_entry = noise_level["irs_matrix"].mean.max(axis=1)
    assert (noise_level["disentanglement_scores"].mean >= largest_entry).all()
    np.testing.assert_array_equal(
        noise_level["disentanglement_scores"].null, noise_level["irs_matrix"].null.max(axis=-1)
    )


def test_named_parent_is_judged_by_its_own_entry():
    factors, latents = noise(2_000)
    latents = np.column_stack([latents[:, :1], factors[:, 0]])
    level = chance_level(factors, latents, num_permutations=20, progress=False)
    parents = disentanglement_score(factors, latents).parents
    assert parents[1] == 0
    np.testing.assert_array_equal(level[AT_PARENT].null[:, 1], level["irs_matrix"].null[:, 1, 0])
    assert level[AT_PARENT].mean[1] <= level["disentanglement_scores"].mean[1]


def test_perfect_code_stays_perfect():
    factors, latents = noise(2_000)
    latents = np.column_stack([latents, factors[:, 2]])
    level = chance_level(factors, latents, num_permutations=19, progress=False)
    for name in ("disentanglement_scores", AT_PARENT):
        assert level[name].corrected[-1] == pytest.approx(1.0)
        assert level[name].p_value[-1] == pytest.approx(1 / 20)


def test_correction_is_the_stated_formula(noise_level):
    level = noise_level["irs_matrix"]
    np.testing.assert_allclose(level.corrected, (level.observed - level.mean) / (1 - level.mean))
    np.testing.assert_allclose(level.mean, level.null.mean(axis=0))
    np.testing.assert_allclose(level.sd, level.null.std(axis=0, ddof=1))
    np.testing.assert_allclose(level.quantiles, np.quantile(level.null, (0.05, 0.5, 0.95), axis=0))


def test_seed_decides_and_threads_do_not():
    factors, latents = noise(500)
    levels = [
        chance_level(factors, latents, num_permutations=8, seed=seed, n_jobs=n_jobs, progress=False)
        for seed, n_jobs in ((5, 1), (5, 2), (6, 1))
    ]
    np.testing.assert_array_equal(levels[0]["irs_matrix"].null, levels[1]["irs_matrix"].null)
    assert not np.array_equal(levels[0]["irs_matrix"].null, levels[2]["irs_matrix"].null)


def test_every_permutation_is_another_and_keeps_rows_whole():
    factors, latents = noise(50, num_latents=2)
    seen = []
    chance_level(
        factors,
        latents,
        score=lambda g, z: seen.append((g.copy(), z.copy())) or 0.0,
        num_permutations=5,
        n_jobs=1,
        progress=False,
    )
    assert all(np.array_equal(g, factors) for g, _ in seen)
    assert len({z.tobytes() for _, z in seen}) == 6
    for _, z in seen:
        assert sorted(map(tuple, z)) == sorted(map(tuple, latents))


def test_any_score_can_be_wrapped():
    factors, latents = noise(300, num_latents=1)
    latents[:, 0] += factors[:, 2]

    def squared_correlation(g, z):
        return {"r2": np.corrcoef(g[:, 2], z[:, 0])[0, 1] ** 2, "comment": "not a number"}

    level = chance_level(factors, latents, score=squared_correlation, num_permutations=50, progress=False)
    assert list(level.scores) == ["r2"]
    assert level["r2"].mean == pytest.approx(1 / 299, abs=0.005)
    assert level["r2"].observed > 0.9
    with pytest.raises(KeyError, match="there are r2"):
        level["IRS"]


def test_aligned_arrays_stay_with_the_factors():
    factors, latents = noise(40, num_latents=1)
    confounder = factors[:, 0] * 100

    def score(g, z, confounder):
        assert np.array_equal(confounder, g[:, 0] * 100)
        return z[0, 0]

    level = chance_level(
        factors, latents, score=score, aligned={"confounder": confounder}, num_permutations=5, progress=False
    )
    assert level["score"].sd > 0


def test_inactive_latents_stay_undefined_and_nan_reaches_no_file():
    factors, latents = noise(500, num_latents=2)
    latents[:, 0] = 0.1
    level = chance_level(factors, latents, num_permutations=4, progress=False)
    for name in ("disentanglement_scores", AT_PARENT):
        assert np.isnan([level[name].corrected[0], level[name].mean[0], level[name].p_value[0]]).all()
        assert np.isfinite([level[name].corrected[1], level[name].p_value[1]]).all()
    text = json.dumps(level.to_dict(), allow_nan=False)
    assert json.loads(text)["disentanglement_scores"]["corrected"][0] is None


def test_no_correction_where_chance_is_already_perfect():
    level = chance_level(*noise(50), score=lambda g, z: 1.0, num_permutations=3, progress=False)
    assert np.isnan(level["score"].corrected)
    assert level["score"].p_value == 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"num_permutations": 1}, "num_permutations must be an integer of at least 2"),
        ({"num_permutations": 2.5}, "num_permutations must be an integer"),
        ({"quantiles": [1.5]}, r"quantiles must be a number in \[0, 1\]; got 1.5"),
        ({"aligned": {"confounder": [1, 2]}}, "aligned array 'confounder' has shape"),
        ({"score": lambda g, z: "good"}, "a score must return a number"),
        ({"seed": -1}, "seed must be an integer of at least 0"),
    ],
)
def test_bad_options(change, message):
    with pytest.raises(ValueError, match=message):
        chance_level(*noise(100), **{"num_permutations": 3, "progress": False, **change})


def test_mismatched_lengths():
    factors, latents = noise(100)
    with pytest.raises(ValueError, match="100 samples and latents has 99"):
        chance_level(factors, latents[:-1])


def test_interrupt_ends_the_work():
    calls = []

    def score(g, z):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return 0.0

    with pytest.raises(KeyboardInterrupt):
        chance_level(*noise(50), score=score, num_permutations=1000, n_jobs=1, progress=False)
    assert len(calls) == 4


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_signal_ends_the_threads_too():
    program = (
        "import signal, time, numpy as np, irs_plugin\n"
        # A shell starts background jobs, this suite perhaps among them, with interrupts ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "g = np.arange(40).reshape(20, 2) % 5\n"
        "def score(g, z):\n"
        "    print('ready', flush=True); time.sleep(0.1); return 0.0\n"
        "irs_plugin.chance_level(g, g + 0.0, score=score, num_permutations=10000, n_jobs=2, progress=False)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ, text=True
    )
    for _ in range(6):
        process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)  # all permutations would take minutes
    assert process.returncode != 0
    assert "KeyboardInterrupt" in errors
