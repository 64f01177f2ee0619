"""Quantiles of distances inside cells, the supremum among them."""

from __future__ import annotations

import numpy as np

from irs_plugin.robustness.threads import chunks, over_threads

# From this quantile on so few values lie above that keeping these is quicker than sorting out all.
_HIGH_QUANTILE = 0.95


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
    starts = kernels.cell_starts(np.bincount(ids, minlength=num_cells))
    kernels.segment_quantiles(kernels.arrange(values, ids, starts), starts, quantile, found)
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
    # The kernels are compiled for this memory order only.
    centres = np.ascontiguousarray(centres)
    block = _high_quantiles if quantile >= _HIGH_QUANTILE else _any_quantiles
    quantiles = np.zeros_like(centres)
    over_threads(
        lambda latents: block(points, ids, counts, centres, quantile, latents, quantiles),
        chunks(points.shape[1]),
        work=points.size,
    )
    return quantiles


def _any_quantiles(
    points: np.ndarray,
    ids: np.ndarray,
    counts: np.ndarray,
    centres: np.ndarray,
    quantile: float,
    latents: tuple[int, int],
    out: np.ndarray,
) -> None:
    from irs_plugin.robustness import kernels

    starts, column = kernels.cell_starts(counts), np.zeros(len(counts))
    for latent in range(*latents):
        deviations = np.abs(points[:, latent] - centres[ids, latent])
        kernels.segment_quantiles(kernels.arrange(deviations, ids, starts), starts, quantile, column)
        out[:, latent] = column


def _high_quantiles(
    points: np.ndarray,
    ids: np.ndarray,
    counts: np.ndarray,
    centres: np.ndarray,
    quantile: float,
    latents: tuple[int, int],
    out: np.ndarray,
) -> None:
    from irs_plugin.robustness import kernels

    places = quantile * np.maximum(counts - 1, 0)
    below = np.floor(places)
    starts = kernels.cell_starts(counts - below.astype(np.int64))
    num_rows = latents[1] - latents[0]
    heaps = np.empty((num_rows, starts[-1]))
    filled, bounds = np.zeros((num_rows, len(counts)), dtype=np.int64), np.full(centres.shape, -1.0)
    kernels.keep_largest_deviations(points, ids, centres, latents, starts, heaps, filled, bounds)
    column = np.zeros(len(counts))
    for row, latent in enumerate(range(*latents)):
        kernels.heap_quantiles(heaps[row], starts, places - below, column)
        out[:, latent] = column
