"""The interventional robustness score as slowly and literally as it can be written.

Plain loops over samples and dictionaries of realisations, for tests only: every fast path of ``irs_plugin`` is held
against this file, which therefore imports nothing from it. Source: Suter et al., "Robustly Disentangled Causal
Mechanisms" (ICML 2019), sections 3 to 5 and appendices A and C.

Conventions. ``factors``, ``fixed`` (I) and ``shifted`` (J) are tuples of factor indices. A realisation g_S is the tuple
of the values of the factors S, in the order of S. ``gen_factors`` is any (N, K) and ``latents`` any (N, K') nested
sequence.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

ROUNDING = 1e-9  # two cumulated weights closer than this share of the total are the same


# --- Cells ------------------------------------------------------------------------------------------------------------


def realisation(g: tuple, factors: tuple) -> tuple:
    """g_S: the values that one sample's factors ``g`` take on the factors S."""
    return tuple(g[j] for j in factors)


def cells(gen_factors: list, factors: tuple) -> dict:
    """The partition of the data by g_S: realisation -> rows of the samples that have it, sorted by realisation."""
    partition = {}
    for n, g in enumerate(gen_factors):
        partition.setdefault(realisation(g, factors), []).append(n)
    return dict(sorted(partition.items()))


def rest_of(factors: tuple, num_factors: int) -> tuple:
    """R = {1..K} without S."""
    return tuple(j for j in range(num_factors) if j not in factors)


# --- Expectations of one latent, given weights ------------------------------------------------------------------------


def weighted_mean(values: list, weights: list) -> float:
    """Sum of w·z over sum of w."""
    total = 0.0
    for value, weight in zip(values, weights, strict=True):
        total += weight * value
    return total / sum(weights)


def weighted_median(values: list, weights: list) -> float:
    """The smallest value at which the cumulated normalised weight reaches 1/2.

    Where it hits 1/2 exactly, the midpoint of that value and the next: with equal weights this is the usual median.
    """
    ordered = sorted(zip(values, weights, strict=True))
    total = sum(weights)
    cumulated = 0.0
    for k, (value, weight) in enumerate(ordered):
        cumulated += weight
        if abs(cumulated / total - 0.5) <= ROUNDING:
            return (value + ordered[k + 1][0]) / 2
        if cumulated / total > 0.5:
            return value
    raise AssertionError("positive weights always reach one half")


def weighted_trimmed_mean(values: list, weights: list, trim: float) -> float:
    """The mean of what is left when the fraction ``trim`` of the total weight is cut from each end of the values.

    Laid end to end in order of value, the samples cover [0, W] with W the total weight; each counts with the length
    that it has inside [trim·W, (1 − trim)·W], so a sample on the edge counts partially. 0 <= trim < 1/2.
    """
    total = sum(weights)
    lower, upper = trim * total, (1 - trim) * total
    position = kept = numerator = 0.0
    for value, weight in sorted(zip(values, weights, strict=True)):
        inside = max(0.0, min(position + weight, upper) - max(position, lower))
        position += weight
        kept += inside
        numerator += inside * value
    return numerator / kept


def expectation_of(values: list, weights: list, expectation: str, trim: float) -> float:
    if expectation == "mean":
        return weighted_mean(values, weights)
    if expectation == "median":
        return weighted_median(values, weights)
    if expectation == "trimmed_mean":
        return weighted_trimmed_mean(values, weights, trim)
    raise ValueError(expectation)


# --- E[Z | do(G_S <- g_S)] --------------------------------------------------------------------------------------------


class Cell(NamedTuple):
    """What is known about one realisation g_S."""

    rows: list  # the samples that have it
    value: tuple  # E[Z | do(g_S)], one number per latent
    support: float
    effective_sample_size: float


def sample_weights(
    gen_factors: list,
    factors: tuple,
    adjustment: str,
    confounder: list | None = None,
    propensities: dict | None = None,
    clip: float = 0.0,
) -> list:
    """The weight of every sample inside its cell g_S, not yet normalised.

    ``confounder`` is one hashable value of C per sample. ``propensities`` gives, for a group S, p(g_S | g_R) of every
    sample; probabilities below ``clip`` are raised to it.
    """
    num_samples = len(gen_factors)
    rest = rest_of(factors, len(gen_factors[0]))
    if adjustment == "none" or not factors or not rest:
        return [1.0] * num_samples  # conditioning; always right if S is everything, and E[Z] if S is empty

    weights = []
    if adjustment == "counts":
        n_rest = {g_rest: len(rows) for g_rest, rows in cells(gen_factors, rest).items()}
        n_full = {g_full: len(rows) for g_full, rows in cells(gen_factors, factors + rest).items()}
        for g in gen_factors:
            weights.append(n_rest[realisation(g, rest)] / n_full[realisation(g, factors + rest)])
    elif adjustment == "propensity":
        for n in range(num_samples):
            weights.append(1 / max(propensities[factors][n], clip))
    elif adjustment == "confounder":
        n_c, n_both = {}, {}
        for g, c in zip(gen_factors, confounder, strict=True):
            n_c[c] = n_c.get(c, 0) + 1
            n_both[realisation(g, factors), c] = n_both.get((realisation(g, factors), c), 0) + 1
        for g, c in zip(gen_factors, confounder, strict=True):
            weights.append(n_c[c] / n_both[realisation(g, factors), c])
    else:
        raise ValueError(adjustment)
    return weights


def support_of(rows: list, background: list) -> float:
    """The share of the samples whose background (g_R, or c for the confounder) occurs among ``rows``."""
    seen = set()
    for n in rows:
        seen.add(background[n])
    covered = 0
    for b in background:
        if b in seen:
            covered += 1
    return covered / len(background)


def interventional_expectation(
    gen_factors: list,
    latents: list,
    factors: tuple,
    adjustment: str = "none",
    confounder: list | None = None,
    propensities: dict | None = None,
    clip: float = 0.0,
    expectation: str = "mean",
    trim: float = 0.1,
) -> dict:
    """E[Z | do(G_S <- g_S)] for every realisation g_S that occurs: realisation -> ``Cell``."""
    weights = sample_weights(gen_factors, factors, adjustment, confounder, propensities, clip)
    rest = rest_of(factors, len(gen_factors[0]))
    if adjustment == "confounder" and rest and factors:
        background = list(confounder)
    else:
        background = [realisation(g, rest) for g in gen_factors]

    result = {}
    for g_s, rows in cells(gen_factors, factors).items():
        w = [weights[n] for n in rows]
        value = []
        for latent in range(len(latents[0])):
            value.append(expectation_of([latents[n][latent] for n in rows], w, expectation, trim))
        sum_of_squares = sum(weight**2 for weight in w)
        result[g_s] = Cell(rows, tuple(value), support_of(rows, background), sum(w) ** 2 / sum_of_squares)
    return result


# --- Distances on the selected latents --------------------------------------------------------------------------------


def distance_function(distance: str | Callable, selected: list) -> Callable:
    """d(a, b) for two vectors of the selected latents; ``selected`` are those latents of all samples."""
    if callable(distance):
        return distance
    if distance == "l2":
        return lambda a, b: math.sqrt(sum((x - y) ** 2 for x, y in zip(a, b, strict=True)))
    if distance == "l1":
        return lambda a, b: sum(abs(x - y) for x, y in zip(a, b, strict=True))
    if distance == "linf":
        return lambda a, b: max(abs(x - y) for x, y in zip(a, b, strict=True))
    if distance == "mahalanobis":
        # The covariance of the selected latents over all samples; the pseudo-inverse where it is singular.
        inverse = np.linalg.pinv(np.atleast_2d(np.cov(np.array(selected), rowvar=False)), hermitian=True)

        def mahalanobis(a: tuple, b: tuple) -> float:
            total = 0.0
            for x in range(len(a)):
                for y in range(len(a)):
                    total += (a[x] - b[x]) * inverse[x][y] * (a[y] - b[y])
            return math.sqrt(max(total, 0.0))

        return mahalanobis
    raise ValueError(distance)


def quantile_of(values: list, q: float) -> float:
    """The q-quantile with linear interpolation between neighbours; q = 1 is the supremum."""
    ordered = sorted(values)
    position = q * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


# --- PIDA, MPIDA, EMPIDA, IRS -----------------------------------------------------------------------------------------


class Robustness(NamedTuple):
    pida: dict  # g_I -> {g_J: PIDA(L | g_I, g_J)}
    mpida: dict  # g_I -> MPIDA(L | g_I, J)
    weights: dict  # g_I -> p(g_I)
    empida: float
    normalizer: float  # EMPIDA(L | nothing, everything)
    irs: float  # NaN if the normaliser is 0
    witness: dict  # g_I -> (the g_J that moves Z_L furthest, the rows that have g_I and g_J)
    normalizer_witness: tuple  # (the g furthest from E[Z_L], its rows)


def interventional_robustness(
    gen_factors: list,
    latents: list,
    latent_dims: tuple,
    fixed: tuple,
    shifted: tuple,
    distance: str | Callable = "l2",
    diff_quantile: float = 1.0,
    normalizer_quantile: float = 1.0,
    factor_weights: str = "observed",
    replicates: str = "mean",
    **how,
) -> Robustness:
    """IRS(L | I, J) with all that it is made of.

    ``how`` goes to ``interventional_expectation``. ``replicates="mean"``: samples that share all factors give one
    E[Z | g], as in the paper. ``"separate"``: each of them counts as a fully specified realisation of its own, as in
    disentanglement_lib's shortcut.
    """
    gen_factors = [tuple(g) for g in gen_factors]
    selected = [tuple(float(z[latent]) for latent in latent_dims) for z in latents]
    everything = tuple(range(len(gen_factors[0])))
    d = distance_function(distance, selected)

    # PIDA(L | g_I, g_J) = d(E[Z_L | do(g_I)], E[Z_L | do(g_I, g_J)]).
    expected_fixed = interventional_expectation(gen_factors, selected, fixed, **how)
    if replicates == "separate" and set(fixed + shifted) == set(everything):
        expected_both = single_samples(gen_factors, selected, fixed + shifted)
    else:
        expected_both = interventional_expectation(gen_factors, selected, fixed + shifted, **how)
    pida = {g_i: {} for g_i in expected_fixed}
    for g_both, cell in expected_both.items():
        g_i, g_j = g_both[: len(fixed)], g_both[len(fixed) :]
        pida[g_i][g_j] = d(expected_fixed[g_i].value, cell.value)

    # MPIDA(L | g_I, J) = sup over g_J of PIDA, and who attains it.
    mpida, witness = {}, {}
    for g_i, distances in pida.items():
        mpida[g_i] = quantile_of(list(distances.values()), diff_quantile)
        furthest = max(distances, key=distances.get)
        witness[g_i] = (furthest, expected_both[g_i + furthest].rows)

    # EMPIDA(L | I, J) = sum over g_I of p(g_I) · MPIDA.
    weights, empida = {}, 0.0
    for g_i, cell in expected_fixed.items():
        weights[g_i] = len(cell.rows) / len(gen_factors) if factor_weights == "observed" else 1 / len(expected_fixed)
        empida += weights[g_i] * mpida[g_i]

    # EMPIDA(L | nothing, everything): nothing fixed is one empty realisation with probability 1.
    overall = interventional_expectation(gen_factors, selected, (), **how)[()]
    if replicates == "separate":
        full = single_samples(gen_factors, selected, everything)
    else:
        full = interventional_expectation(gen_factors, selected, everything, **how)
    deviations = {g: d(overall.value, cell.value) for g, cell in full.items()}
    normalizer = quantile_of(list(deviations.values()), normalizer_quantile)
    furthest = max(deviations, key=deviations.get)

    irs = 1 - empida / normalizer if normalizer > 0 else math.nan
    return Robustness(pida, mpida, weights, empida, normalizer, irs, witness, (furthest, full[furthest].rows))


def single_samples(gen_factors: list, latents: list, factors: tuple) -> dict:
    """Every sample as a cell of its own, keyed by its realisation and its row."""
    return {
        (*realisation(g, factors), n): Cell([n], z, 1.0, 1.0)
        for n, (g, z) in enumerate(zip(gen_factors, latents, strict=True))
    }


# --- Special cases ----------------------------------------------------------------------------------------------------


def domain_shift_robustness(gen_factors: list, latents: list, latent_dims: tuple, shifted: tuple, **how) -> Robustness:
    """Everything but S held fixed, S shifted: IRS(L | {1..K} without S, S)."""
    fixed = rest_of(shifted, len(gen_factors[0]))
    return interventional_robustness(gen_factors, latents, latent_dims, fixed, shifted, **how)


class Disentanglement(NamedTuple):
    irs_matrix: list  # (K', K); rows of latents whose normaliser is 0 are None
    disentanglement_scores: list  # the row maxima, or None
    parents: list  # the first maximising factor, or None
    max_deviations: list  # the normalisers
    avg_score: float  # weighted by the normalisers, over active latents; 0 if there are none
    mean_score: float  # unweighted


def disentanglement_score(gen_factors: list, latents: list, **how) -> Disentanglement:
    """D_l = max_i IRS({l} | {i}, all others), and the two overall scores.

    ``how`` goes to ``interventional_robustness``.
    """
    num_factors, num_latents = len(gen_factors[0]), len(latents[0])
    matrix, scores, parents, normalizers = [], [], [], []
    for latent in range(num_latents):
        row = []
        for i in range(num_factors):
            result = interventional_robustness(gen_factors, latents, (latent,), (i,), rest_of((i,), num_factors), **how)
            row.append(result.irs)
        active = result.normalizer > 0
        matrix.append(row if active else None)
        scores.append(max(row) if active else None)
        parents.append(row.index(max(row)) if active else None)
        normalizers.append(result.normalizer)

    numerator = denominator = plain = num_active = 0.0
    for score, normalizer in zip(scores, normalizers, strict=True):
        if score is not None:
            numerator += normalizer * score
            denominator += normalizer
            plain += score
            num_active += 1
    avg_score = numerator / denominator if num_active else 0.0
    mean_score = plain / num_active if num_active else 0.0
    return Disentanglement(matrix, scores, parents, normalizers, avg_score, mean_score)
