"""What must not change a score, listed once for all scores."""

from __future__ import annotations

import numpy as np
import pytest

from irs_plugin import (
    DisentanglementStatistics,
    disentanglement_score,
    domain_shift_robustness,
    interventional_robustness,
)

NUM_LATENTS = 4


def problem(seed: int = 0, num_samples: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Dependent factors of 4, 3 and 2 values with repeated combinations, mixed codes, and the confounder."""
    random_state = np.random.RandomState(seed)
    confounder = random_state.randint(2, size=num_samples)
    g = np.column_stack([random_state.randint(size, size=num_samples) for size in (4, 3, 2)])
    follow = random_state.rand(num_samples) < 0.5
    g[follow, :2] = confounder[follow, None] * np.array([2, 1])
    z = g @ random_state.randn(3, NUM_LATENTS) + 0.3 * random_state.randn(num_samples, NUM_LATENTS)
    return g, z, confounder


def matrix(**options):
    def score(g, z, confounder):
        if options.get("adjustment") == "confounder":
            return disentanglement_score(g, z, confounder=confounder, **options).irs_matrix
        return disentanglement_score(g, z, **options).irs_matrix

    return score


# Each gives an array whose first axis is the latents.
PER_LATENT = {
    "paper": matrix(),
    "disentanglement_lib": matrix(factor_weights="uniform"),
    "quantiles": matrix(diff_quantile=0.9, normalizer_quantile=0.95),
    "quantile, samples separate": matrix(diff_quantile=0.9, replicates="separate"),
    "median": matrix(expectation="median"),
    "trimmed mean": matrix(expectation="trimmed_mean", trim=0.2),
    "counts": matrix(adjustment="counts"),
    "confounder": matrix(adjustment="confounder"),
    "counts, median": matrix(adjustment="counts", expectation="median"),
    "domain shift": lambda g, z, _: np.array(
        [domain_shift_robustness(g, z, latent_dims=latent, shifted_factors=[1]).irs for latent in range(z.shape[1])]
    ),
}


def group(**options):
    def score(g, z, confounder):
        groups = {"latent_dims": range(z.shape[1]), "fixed_factors": [0], "intervened_factors": [1]}
        if options.get("adjustment") == "confounder":
            groups["confounder"] = confounder
        return interventional_robustness(g, z, **groups, **options).irs

    return score


# Each gives one number for all latents together.
OF_THE_GROUP = {
    "l2": group(),
    "l1, counts": group(distance="l1", adjustment="counts"),
    "linf, confounder": group(distance="linf", adjustment="confounder"),
    "mahalanobis": group(distance="mahalanobis"),
    "mahalanobis, median": group(distance="mahalanobis", expectation="median"),
    "l2, quantile": group(diff_quantile=0.8),
}
SCORES = PER_LATENT | OF_THE_GROUP

every_score = pytest.mark.parametrize("score", SCORES.values(), ids=SCORES)
per_latent = pytest.mark.parametrize("score", PER_LATENT.values(), ids=PER_LATENT)
of_the_group = pytest.mark.parametrize("score", OF_THE_GROUP.values(), ids=OF_THE_GROUP)


@every_score
def test_order_of_samples(score):
    data = problem()
    order = np.random.RandomState(1).permutation(len(data[0]))
    assert score(*(part[order] for part in data)) == pytest.approx(score(*data), abs=1e-10)


@every_score
@pytest.mark.parametrize("kind", ["permuted", "negative", "large", "fractions", "text"])
def test_names_of_factor_values(score, kind):
    g, z, confounder = problem()
    names = {
        "permuted": np.array([2, 0, 3, 1]),
        "negative": np.array([-1, -7, 5, 0]),
        "large": np.array([10**18, -(10**18), 3, 2]),
        "fractions": np.array([0.1, 0.2, -0.3, 7.5]),
        "text": np.array(["square", "ellipse", "heart", ""]),
    }[kind]
    assert score(names[g], z, confounder) == pytest.approx(score(g, z, confounder), abs=1e-10)


@per_latent
def test_order_of_latents(score):
    g, z, confounder = problem()
    order = [2, 0, 3, 1]
    assert score(g, z[:, order], confounder) == pytest.approx(score(g, z, confounder)[order], abs=1e-10)


@of_the_group
def test_order_of_latents_in_a_group(score):
    g, z, confounder = problem()
    assert score(g, z[:, [2, 0, 3, 1]], confounder) == pytest.approx(score(g, z, confounder), abs=1e-10)


def test_order_of_factors():
    g, z, _ = problem()
    order = [2, 0, 1]
    moved = disentanglement_score(g[:, order], z).irs_matrix
    assert moved == pytest.approx(disentanglement_score(g, z).irs_matrix[:, order], abs=1e-10)


@per_latent
def test_scale_offset_and_sign_of_each_latent(score):
    g, z, confounder = problem()
    rescaled = z * np.array([1e-3, -2.0, 50.0, -1.0]) + np.array([0.0, 3.0, -100.0, 1.0])
    assert score(g, rescaled, confounder) == pytest.approx(score(g, z, confounder), abs=1e-8)


@pytest.mark.parametrize("name", ["mahalanobis", "mahalanobis, median"])
def test_scales_of_a_whitened_group(name):
    g, z, confounder = problem()
    rescaled = z * np.array([1e-2, -2.0, 50.0, -1.0]) + np.array([0.0, 3.0, -100.0, 1.0])
    assert OF_THE_GROUP[name](g, rescaled, confounder) == pytest.approx(OF_THE_GROUP[name](g, z, confounder), abs=1e-8)


def test_rotation_of_a_group():
    """l2 sees no axes, and whitening sees no linear map at all."""
    g, z, confounder = problem()
    mixing = np.random.RandomState(3).randn(NUM_LATENTS, NUM_LATENTS)
    rotation = np.linalg.qr(mixing)[0]
    assert OF_THE_GROUP["l2"](g, z @ rotation, confounder) == pytest.approx(OF_THE_GROUP["l2"](g, z, confounder))
    whitened = OF_THE_GROUP["mahalanobis"]
    assert whitened(g, z @ mixing, confounder) == pytest.approx(whitened(g, z, confounder), abs=1e-8)


@pytest.mark.parametrize(
    "name",
    sorted(set(SCORES) - {"quantile, samples separate"}),
    ids=sorted(set(SCORES) - {"quantile, samples separate"}),
)
def test_every_sample_twice(name):
    data = problem()
    twice = tuple(np.concatenate([part, part]) for part in data)
    assert SCORES[name](*twice) == pytest.approx(SCORES[name](*data), abs=1e-8)


@pytest.mark.parametrize("copies", [[0, 0], [0, 1, 2, 3, 3]])
def test_a_repeated_latent_scores_the_same(copies):
    g, z, _ = problem()
    once = disentanglement_score(g, z)
    repeated = disentanglement_score(g, z[:, copies])
    assert repeated.irs_matrix == pytest.approx(once.irs_matrix[copies], abs=1e-12)
    assert repeated.parents.tolist() == once.parents[copies].tolist()


@pytest.mark.parametrize("replicates", ["mean", "separate"])
@pytest.mark.parametrize("factor_weights", ["observed", "uniform"])
def test_splitting_and_merging(replicates, factor_weights):
    g, z, _ = problem()
    options = {"replicates": replicates, "factor_weights": factor_weights}
    parts = []
    for rows in np.array_split(np.arange(len(g)), [17, 18, 250]):
        parts.append(DisentanglementStatistics([4, 3, 2], NUM_LATENTS, **options).update(g[rows], z[rows]))
    merged = parts[0].merge(parts[1]).merge(parts[2].merge(parts[3])).compute()
    whole = disentanglement_score(g, z, **options)
    assert merged.irs_matrix == pytest.approx(whole.irs_matrix, abs=1e-12)
    assert merged.avg_score == pytest.approx(whole.avg_score, abs=1e-12)
    assert merged.num_samples == whole.num_samples


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_number_type_of_the_codes(dtype):
    g, z, _ = problem()
    whole = np.rint(10 * z)
    found = disentanglement_score(g.astype(np.uint8), whole.astype(dtype))
    assert found.irs_matrix == pytest.approx(disentanglement_score(g, whole).irs_matrix, abs=1e-12)


def test_memory_layout_and_unchanged_arguments():
    g, z, _ = problem()
    fortran = np.asfortranarray(g), np.asfortranarray(z)
    kept = g.copy(), z.copy()
    assert disentanglement_score(*fortran).irs_matrix.tolist() == disentanglement_score(g, z).irs_matrix.tolist()
    assert (g == kept[0]).all() and (z == kept[1]).all()
