"""Quantiles of distances inside cells, the supremum among them."""

from __future__ import annotations

import numpy as np

from irs_plugin.robustness.threads import chunks, over_threads

# From this quantile on it pays to find out roughly where it lies and to look at what is above only.
_HIGH_QUANTILE = 0.9
# Points drawn to find that out, and the fewest points for which it pays.
_PILOT_POINTS = 16_000
_MANY_POINTS = 100_000


def grouped_quantile(
    values: np.ndarray, ids: np.ndarray, num_cells: int, quantile: float
) -> tuple[np.ndarray, np.ndarray]:
    """Quantile of the values in each cell, and the index of the value that decides it.

    Args:
        values: `(N,)` non-negative.
        ids: `(N,)` cell of each value; every cell occurs.
        num_cells: number of cells.
        quantile: in [0, 1], interpolated linearly.

    Returns:
        `(num_cells,)` quantiles, and indices of the largest value, or below 1 of the smallest that reaches it.
    """
    from irs_plugin.robustness import kernels

    ids = ids.astype(np.int32, copy=False)
    found, deciding = np.full(num_cells, -1.0), np.full(num_cells, -1, dtype=np.int64)
    if quantile == 1.0:
        kernels.segment_maxima(values, ids, found, deciding)
        return found, deciding
    _quantiles(values, ids, np.bincount(ids, minlength=num_cells), quantile, found)
    # Interpolation may round the quantile a hair above the value that it equals.
    reaches = values >= found[ids] * (1.0 - 1e-12)
    kernels.segment_maxima(np.where(reaches, -values, -np.inf), ids, np.full(num_cells, -np.inf), deciding)
    return found, deciding


def deviation_quantiles(
    points: np.ndarray, ids: np.ndarray, counts: np.ndarray, centres: np.ndarray, quantile: float
) -> np.ndarray:
    """Quantile of |point − centre of its cell| for every cell and latent, on all cores.

    Args:
        points: `(N, num_latents)`.
        ids: `(N,)` int32.
        counts: `(num_cells,)` points in each cell; may be 0, where the quantile is 0.
        centres: `(num_cells, num_latents)`.
        quantile: in [0, 1], interpolated linearly.

    Returns:
        `(num_cells, num_latents)`.
    """
    thresholds = np.zeros_like(centres)
    if quantile >= _HIGH_QUANTILE and len(points) >= _MANY_POINTS:
        thresholds = _thresholds(points, ids, counts, centres, quantile)
    quantiles = np.zeros_like(centres)
    over_threads(
        lambda latents: _block_quantiles(points, ids, counts, centres, thresholds, quantile, latents, quantiles),
        chunks(points.shape[1]),
        work=points.size,
    )
    return quantiles


def _thresholds(
    points: np.ndarray, ids: np.ndarray, counts: np.ndarray, centres: np.ndarray, quantile: float
) -> np.ndarray:
    """Bounds that lie below the quantiles with near certainty, from the quantiles of a small sample of the points."""
    # Drawn, as a regular stride may meet only some values of a factor; the result does not depend on the draw.
    drawn = np.random.default_rng(0).integers(0, len(points), _PILOT_POINTS)
    few, owners = points[drawn], ids[drawn]
    sizes = np.bincount(owners, minlength=len(counts))
    # Five standard errors of the share of points below the quantile.
    lower = quantile - 5.0 * np.sqrt(quantile * (1.0 - quantile) / max(sizes.min(), 1)) - 1.0 / max(sizes.min(), 1)
    if lower <= 0.0:
        return np.zeros_like(centres)
    bounds = np.zeros_like(centres)
    _block_quantiles(few, owners, sizes, centres, bounds.copy(), lower, (0, points.shape[1]), bounds)
    return bounds


def _block_quantiles(
    points: np.ndarray,
    ids: np.ndarray,
    counts: np.ndarray,
    centres: np.ndarray,
    thresholds: np.ndarray,
    quantile: float,
    latents: tuple[int, int],
    out: np.ndarray,
) -> None:
    from irs_plugin.robustness import kernels

    first, last = latents
    # Pages of these that are never written to are never brought into memory.
    values = np.empty((last - first, len(points)))
    owners = np.empty((last - first, len(points)), dtype=np.int32)
    found = np.zeros(last - first, dtype=np.int64)
    kernels.collect_far(points, ids, centres, thresholds, latents, values, owners, found)
    for row, latent in enumerate(range(first, last)):
        kept, cells = values[row, : found[row]], owners[row, : found[row]]
        column = np.zeros(len(counts))
        if not _quantiles(kept, cells, counts, quantile, column):
            everything = np.abs(points[:, latent] - centres[ids, latent])
            _quantiles(everything, ids, counts, quantile, column)
        out[:, latent] = column


def _quantiles(values: np.ndarray, ids: np.ndarray, counts: np.ndarray, quantile: float, out: np.ndarray) -> bool:
    """Quantiles of cells of which only the larger values may be at hand; False where that does not suffice."""
    from irs_plugin.robustness import kernels

    at_hand = np.bincount(ids, minlength=len(counts))
    starts = kernels.cell_starts(at_hand)
    return kernels.segment_quantiles(kernels.arrange(values, ids, starts), starts, counts - at_hand, quantile, out)
