"""Interventional expectations E[Z | do(G_S ← g_S)] from observational data (method section 5, appendix A)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irs_plugin.robustness.adjustment import Adjuster, make_adjuster
from irs_plugin.robustness.cells import Cells, FactorCodes, encode_factors, partition
from irs_plugin.robustness.validation import check_arrays, check_choice, check_fraction, check_group

EXPECTATIONS = ("mean", "trimmed_mean", "median")


@dataclass(frozen=True)
class Expectation:
    """What stands in for E[·]: `mean`, `trimmed_mean` (weight share `trim` cut from either end) or `median`."""

    kind: str = "mean"
    trim: float = 0.1

    def per_cell(self, latents: np.ndarray, cells: Cells, weights: np.ndarray | None = None) -> np.ndarray:
        """Expectation of each latent in each cell, `(num_cells, num_latents)`.

        Args:
            latents: `(N, num_latents)`.
            cells: a partition of the N samples.
            weights: `(N,)` non-negative, normalised inside each cell; None weighs all the same.
        """
        if self.kind == "mean":
            return _means(latents, cells, weights)
        from irs_plugin.robustness import kernels

        starts = kernels.cell_starts(cells.counts)
        values = np.empty((cells.num_cells, latents.shape[1]))
        weights = np.ones(len(latents)) if weights is None else weights
        for latent in range(latents.shape[1]):
            order = np.lexsort((latents[:, latent], cells.ids))
            ascending, aligned, out = latents[order, latent], weights[order], np.empty(cells.num_cells)
            if self.kind == "median":
                kernels.segment_medians(ascending, aligned, starts, out)
            else:
                kernels.segment_trimmed_means(ascending, aligned, starts, self.trim, out)
            values[:, latent] = out
        return values


def make_expectation(expectation: str = "mean", trim: float = 0.1) -> Expectation:
    """Check the choice of an expectation; `trim` lies in [0, 0.5) and matters for the trimmed mean only."""
    check_choice(expectation, "expectation", EXPECTATIONS)
    return Expectation(expectation, check_fraction(trim, "trim", 0.0, 0.5))


def _means(latents: np.ndarray, cells: Cells, weights: np.ndarray | None) -> np.ndarray:
    if cells.num_cells == len(latents) and np.array_equal(cells.first, np.arange(len(latents))):
        return latents.copy()
    from irs_plugin.robustness import kernels

    total = cells.counts if weights is None else np.bincount(cells.ids, weights, cells.num_cells)
    sums = np.zeros((cells.num_cells, latents.shape[1]))
    kernels.cell_sums(cells.ids, latents, np.ones(len(latents)) if weights is None else weights, sums)
    return sums / total[:, None]


@dataclass(frozen=True)
class InterventionalExpectation:
    """E[Z | do(G_S ← g_S)] for every realisation of the group S that occurs.

    Attributes:
        factors: the group S.
        cells: the partition of the samples by S.
        realisations: `(num_cells, |S|)` factor values.
        values: `(num_cells, num_latents)` the expectations.
        counts: `(num_cells,)` samples.
        support: `(num_cells,)` share of the distribution adjusted for that the realisation meets.
        effective_sample_size: `(num_cells,)`.
        num_clipped: propensities raised to the clipping bound.
        notes: what a reader of the numbers must know.
    """

    factors: tuple[int, ...]
    cells: Cells
    realisations: np.ndarray
    values: np.ndarray
    counts: np.ndarray
    support: np.ndarray
    effective_sample_size: np.ndarray
    num_clipped: int
    notes: tuple[str, ...]


def expect(
    factors: FactorCodes, latents: np.ndarray, group: Sequence[int], adjuster: Adjuster, expectation: Expectation
) -> InterventionalExpectation:
    """`interventional_expectation` for checked arrays and options."""
    cells = partition(factors, group)
    weighed = adjuster.weigh(factors, group, cells)
    return InterventionalExpectation(
        factors=tuple(group),
        cells=cells,
        realisations=factors.realisations(cells, group),
        values=expectation.per_cell(latents, cells, weighed.weights),
        counts=cells.counts,
        support=weighed.support,
        effective_sample_size=weighed.effective_sample_size,
        num_clipped=weighed.num_clipped,
        notes=weighed.notes,
    )


def interventional_expectation(
    gen_factors: Any,
    latents: Any,
    factors: int | Sequence[int],
    *,
    expectation: str = "mean",
    trim: float = 0.1,
    adjustment: str = "none",
    **adjustment_options: Any,
) -> InterventionalExpectation:
    """Estimate E[Z | do(G_S ← g_S)] for every realisation of a group S of factors.

    Args:
        gen_factors: `(num_samples, num_factors)`.
        latents: `(num_samples, num_latents)`.
        factors: the group S; empty for E[Z].
        expectation, trim: see `make_expectation`.
        adjustment, adjustment_options: see `irs_plugin.robustness.adjustment.make_adjuster`.

    Raises:
        ValueError: bad arrays or options, or an adjustment that cannot work on these data.
    """
    gen_factors, latents = check_arrays(gen_factors, latents)
    group = check_group(factors, gen_factors.shape[1], "factors", may_be_empty=True)
    adjuster = make_adjuster(adjustment, **adjustment_options)
    return expect(encode_factors(gen_factors), latents, group, adjuster, make_expectation(expectation, trim))
