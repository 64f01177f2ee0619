"""Mutual information of latents and factors, and modularity (Ridgeway & Mozer 2018; Suter et al. 2019, appendix D)."""

from __future__ import annotations

from typing import Any

import numpy as np

from irs_plugin.importance.result import (
    ImportanceResult,
    active_latents,
    notes_on_factors,
    rows_of_active,
    why_no_average,
)
from irs_plugin.robustness.cells import encode_factors
from irs_plugin.robustness.validation import check_arrays, check_fraction

# Nats below which an estimate is rounding noise of an exact zero.
_NOISE = 1e-12


def mutual_information(
    gen_factors: Any, latents: Any, *, num_bins: int = 20, inactive_tolerance: float = 1e-6
) -> ImportanceResult:
    """How exclusively each latent informs about one factor.

    The matrix is m[l, j] = I(Z_l; G_j) in nats, with each latent in buckets of equal width over its range. With j* the
    factor of the largest entry the score is the modularity `1 − Σ_{j≠j*} m[l, j]² / (m[l, j*]² (K − 1))`, and the
    average is that of the latents with any information. Informativeness of a factor is the largest share of its
    entropy that one latent carries.

    Args:
        gen_factors: `(num_samples, num_factors)`.
        latents: `(num_samples, num_latents)`.
        num_bins: buckets per latent; the paper's 20.
        inactive_tolerance: a latent is inactive if its largest deviation from its mean is at most this share of its
            largest absolute value.

    Estimated from frequencies, information is never exactly 0 on a random sample: about
    (bins − 1)(values − 1) / (2 N) nats are to be expected of noise.

    Raises:
        ValueError: bad arrays or options.
    """
    if isinstance(num_bins, bool) or not isinstance(num_bins, (int, np.integer)) or num_bins < 2:
        raise ValueError(f"num_bins must be an integer of at least 2; got {num_bins!r}.")
    check_fraction(inactive_tolerance, "inactive_tolerance", 0.0, 1.0)
    gen_factors, latents = check_arrays(gen_factors, latents)
    factors = encode_factors(gen_factors)
    active = active_latents(latents, inactive_tolerance)
    values = np.zeros((int(active.sum()), factors.num_factors))
    for row, latent in enumerate(np.flatnonzero(active)):
        bins = equal_width_bins(latents[:, latent], num_bins)
        for j, size in enumerate(factors.sizes):
            table = np.bincount(bins * size + factors.codes[j], minlength=num_bins * size)
            values[row, j] = information_of_table(table.reshape(num_bins, size))
    entropies = np.array(
        [entropy(np.bincount(codes, minlength=size)) for codes, size in zip(factors.codes, factors.sizes, strict=True)]
    )
    settings = {
        "num_bins": int(num_bins),
        "inactive_tolerance": inactive_tolerance,
        "informativeness": "largest share of the factor's entropy that one latent carries",
    }
    return _assemble(rows_of_active(values, active), entropies, active, len(latents), settings)


def equal_width_bins(values: np.ndarray, num_bins: int) -> np.ndarray:
    """`(N,)` int64 bucket of each value; the buckets split [minimum, maximum] evenly, the last one closed."""
    return np.digitize(values, np.histogram_bin_edges(values, num_bins)[1:-1])


def information_of_table(table: np.ndarray) -> float:
    """Mutual information in nats of the joint counts `(num_bins, num_values)`."""
    total = table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0))
    seen = table > 0
    joint = table[seen] / total
    # A sum of exact zero may round below it.
    return max(0.0, float(joint @ np.log(joint * total * total / expected[seen])))


def entropy(counts: np.ndarray) -> float:
    """Entropy in nats of counts, all positive."""
    shares = counts / counts.sum()
    return float(-shares @ np.log(shares))


def _assemble(
    matrix: np.ndarray, entropies: np.ndarray, active: np.ndarray, num_samples: int, settings: dict[str, Any]
) -> ImportanceResult:
    varied = entropies > 0
    # A factor with one value carries no information; it would only make every latent look more exclusive.
    matrix[:, ~varied] = np.nan
    scored = tuple(np.flatnonzero(varied).tolist())
    largest = np.where(active, matrix[:, scored].max(axis=1), 0.0) if scored else np.zeros(len(active))
    informative = largest > _NOISE
    notes = _notes(varied, active, informative)
    reason = why_no_average(active, informative, scored, notes)
    scores = np.full(len(active), np.nan)
    parents = np.full(len(active), -1, dtype=np.int64)
    weights = np.zeros(len(active))
    if reason is None:
        rows = matrix[np.ix_(informative, scored)]
        squares = (rows / largest[informative, None]) ** 2
        scores[informative] = 1.0 - (squares.sum(axis=1) - 1.0) / (len(scored) - 1)
        parents[informative] = np.array(scored)[rows.argmax(axis=1)]
        weights[informative] = 1.0 / informative.sum()
    informativeness = np.full(len(entropies), np.nan)
    if active.any():
        informativeness[varied] = matrix[np.ix_(active, varied)].max(axis=0) / entropies[varied]
    return ImportanceResult(
        metric="mutual_information",
        matrix=matrix,
        scores=scores,
        parents=parents,
        weights=weights,
        average=float(scores[informative].mean()) if reason is None else float("nan"),
        informativeness=informativeness,
        active=active,
        scored_factors=scored,
        reason=reason,
        notes=tuple(notes),
        num_samples=num_samples,
        settings=settings,
        diagnostics={"entropies": entropies.tolist()},
    )


def _notes(varied: np.ndarray, active: np.ndarray, informative: np.ndarray) -> list[str]:
    notes = notes_on_factors([None if ok else "one value only, so there is nothing to inform about" for ok in varied])
    silent = np.flatnonzero(active & ~informative).tolist()
    if silent and varied.any():
        notes.append(f"latents {silent} carry no information about any factor, so no score")
    return notes
