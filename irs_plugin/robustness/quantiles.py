"""Quantiles of distances inside cells, the supremum among them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from irs_plugin.robustness.threads import chunks, over_threads

# From this quantile on so few values lie above that keeping these is quicker than sorting out all.
_HIGH_QUANTILE = 0.95
# From this many points on it pays to find out on a few where the high values roughly begin.
_MANY_POINTS = 100_000
_PILOT_POINTS = 16_000


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


@dataclass(frozen=True)
class Partition:
    """Points in cells, each cell with a centre.

    Attributes:
        ids: `(N,)` int32 cell of each point.
        counts: `(num_cells,)` points in each cell; may be 0.
        centres: `(num_cells, num_latents)`.
    """

    ids: np.ndarray
    counts: np.ndarray
    centres: np.ndarray


def deviation_quantiles(points: np.ndarray, partitions: Sequence[Partition], quantile: float) -> list[np.ndarray]:
    """Quantile of |point − centre of its cell| for every cell and latent of several partitions, on all cores.

    Args:
        points: `(N, num_latents)`.
        partitions: of the N points.
        quantile: in [0, 1], interpolated linearly.

    Returns:
        `(num_cells, num_latents)` for each partition, 0 where a cell is empty.
    """
    block = _high_quantiles if quantile >= _HIGH_QUANTILE else _any_quantiles
    quantiles = [np.zeros(partition.centres.shape) for partition in partitions]
    # The kernels are compiled for this memory order only.
    partitions = [replace(partition, centres=np.ascontiguousarray(partition.centres)) for partition in partitions]
    over_threads(
        lambda piece: block(points, partitions[piece[0]], quantile, piece[1], quantiles[piece[0]]),
        list(itertools.product(range(len(partitions)), chunks(points.shape[1]))),
        work=points.size * len(partitions),
    )
    return quantiles


def _any_quantiles(
    points: np.ndarray, cells: Partition, quantile: float, latents: tuple[int, int], out: np.ndarray
) -> None:
    from irs_plugin.robustness import kernels

    ids, counts, centres = cells.ids, cells.counts, cells.centres

    starts, column = kernels.cell_starts(counts), np.zeros(len(counts))
    for latent in range(*latents):
        deviations = np.abs(points[:, latent] - centres[ids, latent])
        kernels.segment_quantiles(kernels.arrange(deviations, ids, starts), starts, quantile, column)
        out[:, latent] = column


def _high_quantiles(
    points: np.ndarray, cells: Partition, quantile: float, latents: tuple[int, int], out: np.ndarray
) -> None:
    from irs_plugin.robustness import kernels

    ids, counts, centres = cells.ids, cells.counts, cells.centres

    bounds = np.full(centres.shape, -1.0)
    if len(points) >= _MANY_POINTS:
        bounds = _bounds_from_few(points, cells, quantile, latents)
    places = quantile * np.maximum(counts - 1, 0)
    below = np.floor(places)
    starts = kernels.cell_starts(counts - below.astype(np.int64))
    num_rows = latents[1] - latents[0]
    heaps, filled = np.empty((num_rows, starts[-1])), np.zeros((num_rows, len(counts)), dtype=np.int64)
    kernels.keep_largest_deviations(points, ids, centres, latents, starts, heaps, filled, bounds)
    if (filled < np.diff(starts)).any():
        # The few points misled: a bound lies above the quantile. Once more without bounds.
        filled[:] = 0
        bounds = np.full(centres.shape, -1.0)
        kernels.keep_largest_deviations(points, ids, centres, latents, starts, heaps, filled, bounds)
    column = np.zeros(len(counts))
    for row, latent in enumerate(range(*latents)):
        kernels.heap_quantiles(heaps[row], starts, places - below, column)
        out[:, latent] = column


def _bounds_from_few(points: np.ndarray, cells: Partition, quantile: float, latents: tuple[int, int]) -> np.ndarray:
    """Values that lie below the quantiles with near certainty, from lower quantiles of a few points."""
    # Drawn, as a regular stride may meet only some values of a factor. What is drawn does not change the result.
    drawn = np.random.default_rng(0).integers(0, len(points), _PILOT_POINTS)
    few, owners = points[drawn], cells.ids[drawn]
    sizes = np.bincount(owners, minlength=len(cells.counts))
    smallest = max(int(sizes.min()), 1)
    # Five standard errors of the share of points below the quantile.
    lower = quantile - 5.0 * np.sqrt(quantile * (1.0 - quantile) / smallest) - 1.0 / smallest
    bounds = np.full(cells.centres.shape, -1.0)
    if lower > 0.5:
        _high_quantiles(few, Partition(owners, sizes, cells.centres), lower, latents, bounds)
    # Values equal to the bound are to be kept too.
    return np.nextafter(bounds, -np.inf)
