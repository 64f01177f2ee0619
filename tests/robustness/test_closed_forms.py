"""Problems whose score can be worked out by hand, published values, and numbers recorded from disentanglement_lib."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from irs_plugin import disentanglement_score, domain_shift_robustness, interventional_robustness
from irs_plugin.robustness.expectations import interventional_expectation

DATA = Path(__file__).parents[1] / "data"


def full_grid(*sizes: int) -> np.ndarray:
    return np.array(list(itertools.product(*map(range, sizes))))


# --- Full grids -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor_weights", ["observed", "uniform"])
def test_a_perfect_code_scores_one_on_the_diagonal(factor_weights):
    g = full_grid(4, 3, 5)
    result = disentanglement_score(g, g * 2.0 - 1.0, factor_weights=factor_weights)
    assert np.diag(result.irs_matrix) == pytest.approx(1.0)
    assert (result.irs_matrix[~np.eye(3, dtype=bool)] < 0.1).all()
    assert result.parents.tolist() == [0, 1, 2]
    assert result.avg_score == pytest.approx(1.0)


@pytest.mark.parametrize("c", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("m", [2, 5])
def test_a_mixture_of_two_factors_scores_one_over_one_plus_c(c, m):
    g = full_grid(m, m, 3)
    z = (g[:, 0] + c * g[:, 1])[:, None]
    assert disentanglement_score(g, z).irs_matrix[0, 0] == pytest.approx(1 / (1 + c))
    general = interventional_robustness(g, z, latent_dims=[0], fixed_factors=[0], intervened_factors=[1, 2])
    assert general.irs == pytest.approx(1 / (1 + c))
    shifted = domain_shift_robustness(g, z, latent_dims=[0], shifted_factors=[1])
    assert shifted.irs == pytest.approx(1 / (1 + c))
    untouched = domain_shift_robustness(g, z, latent_dims=[0], shifted_factors=[2])
    assert untouched.irs == pytest.approx(1.0)


def test_an_angle_coded_by_sine_and_cosine_needs_the_group():
    """Neither coordinate alone separates the angle from nothing; together they are as far from the mean everywhere."""
    g = full_grid(12, 2)
    angle = 2 * np.pi * g[:, 0] / 12
    z = np.column_stack([np.cos(angle), np.sin(angle)]) * (1 + g[:, 1:])
    group = interventional_robustness(g, z, latent_dims=[0, 1], fixed_factors=[0], intervened_factors=[1])
    # The radius is 1 or 2, each half from its mean 1.5 at fixed angle; the farthest code is 2 from the centre.
    assert group.irs == pytest.approx(1 - 0.5 / 2)
    radius = interventional_robustness(g, z, latent_dims=[0, 1], fixed_factors=[1], intervened_factors=[0])
    # At fixed radius r every code is r from the centre: on average 1.5.
    assert radius.irs == pytest.approx(1 - 1.5 / 2)


@pytest.mark.parametrize(("distance", "moved", "farthest"), [("l2", 5.0, 5.0), ("l1", 7.0, 7.0), ("linf", 4.0, 4.0)])
def test_distances_on_a_group_that_moves_by_3_and_4(distance, moved, farthest):
    g = full_grid(2, 2)
    z = (2 * g[:, 1:] - 1) * np.array([3.0, 4.0])
    result = interventional_robustness(
        g, z, latent_dims=[0, 1], fixed_factors=[0], intervened_factors=[1], distance=distance
    )
    assert (result.empida, result.normalizer, result.irs) == pytest.approx((moved, farthest, 0.0))


def test_the_score_falls_to_minus_one():
    """Most of a group on one side and one member on the other: it is nearly twice as far from its group as from all."""
    n = 50
    g = full_grid(2, n)
    side = 2.0 * g[:, 0] - 1
    z = np.where(g[:, 1] == 0, -side, side)[:, None]
    result = interventional_robustness(g, z, latent_dims=[0], fixed_factors=[0], intervened_factors=[1])
    assert result.irs == pytest.approx(-1 + 2 / n)
    assert disentanglement_score(g, z).irs_matrix[0, 0] == pytest.approx(-1 + 2 / n)


@pytest.mark.parametrize("value", [0.0, 0.1, 0.3, 1e6, -1e-30])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_constant_latent_has_no_score(value, dtype):
    g = full_grid(10, 10, 10)
    z = np.column_stack([np.full(len(g), value), g[:, 1], np.full(len(g), value)]).astype(dtype)
    result = disentanglement_score(g, z)
    assert result.active.tolist() == [False, True, False]
    assert result.parents.tolist() == [-1, 1, -1]
    assert result.num_active_dims == 1
    assert result.avg_score == result.mean_score == pytest.approx(1.0)
    assert "NaN" not in json.dumps(result.to_dict())
    collapsed = disentanglement_score(g, z[:, [0, 2]])
    assert (collapsed.num_active_dims, collapsed.avg_score, collapsed.mean_score) == (0, 0.0, 0.0)
    assert "collapsed" in collapsed.reason and "NaN" not in json.dumps(collapsed.to_dict())


def test_a_rare_event_costs_robustness():
    """z is g_1 but for one of many values of g_2, where it jumps."""
    m, num_values, jump = 5, 100, 3.0
    g = full_grid(m, num_values)
    z = (g[:, 0] + jump * (g[:, 1] == 0))[:, None]
    moved = jump * (1 - 1 / num_values)
    assert disentanglement_score(g, z).irs_matrix[0, 0] == pytest.approx(1 - moved / ((m - 1) / 2 + moved))
    # With a quantile below the share of ordinary values the event goes unseen.
    assert disentanglement_score(g, z, diff_quantile=0.9).irs_matrix[0, 0] > 0.99


def test_rare_realisations_weigh_as_often_as_they_occur():
    """A value of g_1 taken by 2 % of the samples, at which the code is fragile."""
    common = [(0, b, 0.0) for b in range(49)]
    data = np.array(
        [*common, *((1, b, z) for b, z in zip(range(2), (-1.0, 1.0), strict=True)), (2, 0, 2.0), (2, 1, 2.0)]
    )
    # g_1 = 0: 49 samples, 1: 2 samples ±1 from their mean, 2: 2 samples; overall mean 4/53.
    normalizer = 2 - 4 / 53
    observed = disentanglement_score(data[:, :2], data[:, 2:])
    uniform = disentanglement_score(data[:, :2], data[:, 2:], factor_weights="uniform")
    assert observed.irs_matrix[0, 0] == pytest.approx(1 - (2 / 53) / normalizer)
    assert uniform.irs_matrix[0, 0] == pytest.approx(1 - (1 / 3) / normalizer)


def test_repeated_combinations_are_averaged_or_counted_one_by_one():
    """Noise around E[Z | g] is no intervention under the paper's definition; disentanglement_lib counts it as one."""
    g = np.repeat(full_grid(2, 2), 2, axis=0)
    z = (g[:, 0] + np.tile([-0.25, 0.25], 4))[:, None]
    assert disentanglement_score(g, z).irs_matrix[0, 0] == pytest.approx(1.0)
    separate = disentanglement_score(g, z, replicates="separate")
    assert separate.irs_matrix[0, 0] == pytest.approx(1 - 0.25 / 0.75)


# --- Confounded data --------------------------------------------------------------------------------------------------

P_C = 0.5
P_G1 = np.array([0.2, 0.8])  # p(g_1 = 1 | c)
P_G2 = np.array([0.1, 0.7])  # p(g_2 = 1 | c)
C_WEIGHT = 0.5


def confounded_population() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """2,000 samples in which every frequency of C → G is exact; z = g_1 + c·g_2."""
    rows = []
    for c, a, b in itertools.product(range(2), repeat=3):
        share = 0.5 * (P_G1[c] if a else 1 - P_G1[c]) * (P_G2[c] if b else 1 - P_G2[c])
        rows += [(c, a, b)] * round(2000 * share)
    return with_codes(np.array(rows))


def confounded_sample(num_samples: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random_state = np.random.RandomState(seed)
    c = random_state.randint(2, size=num_samples)
    return with_codes(
        np.column_stack([c, random_state.rand(num_samples) < P_G1[c], random_state.rand(num_samples) < P_G2[c]])
    )


def with_codes(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    c, g = rows[:, 0], rows[:, 1:]
    return g, (g[:, 0] + C_WEIGHT * g[:, 1])[:, None], c


def expected_codes(g: np.ndarray, z: np.ndarray, c: np.ndarray, adjustment: str) -> np.ndarray:
    """E[Z | do(g_1)] for g_1 = 0, 1."""
    confounder = c if adjustment == "confounder" else None
    found = interventional_expectation(g, z, [0], adjustment=adjustment, confounder=confounder)
    return found.values[np.argsort(found.realisations[:, 0]), 0]


INTERVENED = np.array([0, 1]) + C_WEIGHT * P_G2.mean()
# p(c = 1 | g_1) is 0.2 and 0.8.
CONDITIONED = np.array([0, 1]) + C_WEIGHT * np.array([0.8 * 0.1 + 0.2 * 0.7, 0.2 * 0.1 + 0.8 * 0.7])


@pytest.mark.parametrize("adjustment", ["counts", "confounder"])
def test_adjusted_expectations_of_a_confounded_population_are_exact(adjustment):
    assert expected_codes(*confounded_population(), adjustment) == pytest.approx(INTERVENED, abs=1e-12)


def test_propensities_fitted_to_a_confounded_population_are_nearly_exact():
    assert expected_codes(*confounded_population(), "propensity") == pytest.approx(INTERVENED, abs=5e-3)


def test_conditioning_on_a_confounded_population_is_biased():
    assert expected_codes(*confounded_population(), "none") == pytest.approx(CONDITIONED, abs=1e-12)


@pytest.mark.parametrize("adjustment", ["counts", "propensity", "confounder"])
def test_the_adjusted_error_falls_with_the_sample_and_the_bias_of_conditioning_stays(adjustment):
    def error(num_samples: int, method: str) -> float:
        draws = [expected_codes(*confounded_sample(num_samples, seed), method) for seed in range(5)]
        return float(np.mean([np.abs(draw - INTERVENED).mean() for draw in draws]))

    few, many = error(300, adjustment), error(30_000, adjustment)
    assert many < few / 3 and many < 0.01
    bias = np.abs(CONDITIONED - INTERVENED).mean()
    assert error(30_000, "none") == pytest.approx(bias, rel=0.1)


@pytest.mark.parametrize("adjustment", ["counts", "confounder"])
def test_the_score_of_a_confounded_population(adjustment):
    g, z, c = confounded_population()
    p_1, p_2 = P_G1.mean(), P_G2.mean()
    normalizer = max((1 - p_1) + C_WEIGHT * (1 - p_2), p_1 + C_WEIGHT * p_2)
    groups = {"latent_dims": [0], "fixed_factors": [0], "intervened_factors": [1]}
    confounder = c if adjustment == "confounder" else None
    adjusted = interventional_robustness(g, z, **groups, adjustment=adjustment, confounder=confounder)
    assert adjusted.irs == pytest.approx(1 - C_WEIGHT * max(p_2, 1 - p_2) / normalizer)
    # Conditioning takes the farther of g_2 = 0 and 1 from E[g_2 | g_1], 0.22 and 0.58.
    conditioned = interventional_robustness(g, z, **groups)
    assert conditioned.irs == pytest.approx(1 - C_WEIGHT * (0.5 * 0.78 + 0.5 * 0.58) / normalizer)


# --- Published and recorded values ------------------------------------------------------------------------------------


def published_score(factors: np.ndarray, codes: np.ndarray) -> float:
    """As Carbonneau et al. (2020, arXiv 2012.09276): 10 equal-width bins, quantile 1, every bin weighing the same."""
    low, high = factors.min(axis=0), factors.max(axis=0)
    binned = np.minimum((10 * (factors - low) / (high - low)).astype(int), 9)
    scaled = (codes - codes.min(axis=0)) / (codes.max(axis=0) - codes.min(axis=0))
    return disentanglement_score(binned, scaled, factor_weights="uniform").mean_score


@pytest.mark.parametrize(
    ("alpha", "golden"), [(0, 0.8994), (0.2, 0.7232), (0.4, 0.5416), (0.6, 0.3586), (0.8, 0.1752), (1, -0.0029)]
)
def test_published_scores_of_noisy_codes(alpha, golden):
    random_state = np.random.RandomState(0)
    v, u = random_state.rand(2, 20_000, 8)
    assert published_score(v, (1 - alpha) * v + alpha * u) == pytest.approx(golden, abs=0.003)


def test_published_scores_of_angles_and_of_a_repeated_code():
    v = np.random.RandomState(0).rand(20_000, 4)
    angles = 2 * np.pi * v
    assert published_score(angles, np.hstack([np.cos(angles), np.sin(angles)])) == pytest.approx(0.7850, abs=0.003)
    assert published_score(v, np.hstack([v, v])) == pytest.approx(0.8995, abs=0.003)


@pytest.fixture(scope="module")
def trained_codes() -> tuple[np.ndarray, np.ndarray, dict]:
    """10,000 codes of a beta-VAE, and what disentanglement_lib 1.5 under TensorFlow 1.15 made of them."""
    with np.load(DATA / "tf1_beta_vae_codes.npz") as codes:
        return codes["gen_factors"], codes["latents"], json.loads((DATA / "tf1_beta_vae_irs.json").read_text())


@pytest.mark.parametrize("diff_quantile", [0.99, 1])
@pytest.mark.parametrize("binning", ["raw", "bins20"])
def test_recorded_scores_of_a_trained_model(trained_codes, binning, diff_quantile):
    gen_factors, latents, recorded = trained_codes
    golden = recorded[f"{binning}_q{diff_quantile}"]
    if binning == "bins20":
        gen_factors = np.column_stack([in_twenty_bins(column) for column in gen_factors.T.astype(np.int64)])
    result = disentanglement_score(gen_factors, latents, factor_weights="uniform", diff_quantile=diff_quantile)
    # Recorded in single precision.
    assert result.irs_matrix == pytest.approx(np.array(golden["IRS_matrix"]), abs=2e-6)
    assert result.max_deviations == pytest.approx(golden["max_deviations"], rel=1e-6)
    assert result.parents.tolist() == golden["parents"]
    assert result.avg_score == pytest.approx(golden["avg_score"], abs=2e-6)
    assert result.num_active_dims == 10


def in_twenty_bins(values: np.ndarray) -> np.ndarray:
    return np.digitize(values, np.histogram(values, 20)[1][:-1])
