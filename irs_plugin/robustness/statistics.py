"""Sufficient statistics of the disentanglement score: per factor value a count, a sum, a minimum and a maximum.

They merge: statistics of two parts of a data set add up to those of the whole. Factors are accumulated several at a
time, by their joint value, and summed apart afterwards, which saves most of the work on the samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from irs_plugin.robustness.threads import chunks, over_threads

# Joint tables of several factors stay in the processor's cache up to about this many rows.
_PACK_ROWS = 2048
# Below this many elementary updates threads cost more than they save.
_THREAD_WORK = 1_000_000


@dataclass(frozen=True)
class FactorStatistics:
    """Statistics of the codes for every value of one factor.

    Attributes:
        counts: `(size,)` samples with each value.
        num_points: `(size,)` points, where a point stands for all samples that share every factor.
        sums: `(size, num_latents)` over the samples.
        minima, maxima: `(size, num_latents)` over the points; +inf and −inf where there is none.
    """

    counts: np.ndarray
    num_points: np.ndarray
    sums: np.ndarray
    minima: np.ndarray
    maxima: np.ndarray


class PackedStatistics:
    """Accumulates `FactorStatistics` of all factors in one pass over the points.

    Args:
        sizes: number of values of each factor; codes run from 0 to size − 1.
        num_latents: number of latents.
        num_points: how many points are expected, which bounds the size of the joint tables worth having.
    """

    def __init__(self, sizes: Sequence[int], num_latents: int, num_points: int) -> None:
        self.sizes = tuple(int(size) for size in sizes)
        self.packs = _pack(self.sizes, min(_PACK_ROWS, num_points // 8))
        rows = [int(np.prod([self.sizes[k] for k in pack])) for pack in self.packs]
        self._starts = np.concatenate([[0], np.cumsum(rows)])
        self._parts = _empty_parts(self._starts[-1], num_latents)

    def update(self, codes: np.ndarray, points: np.ndarray, multiplicities: np.ndarray | None = None) -> None:
        """Add points.

        Args:
            codes: `(num_factors, N)` int32.
            points: `(N, num_latents)` C-contiguous float64.
            multiplicities: `(N,)` int64 samples that each point stands for; None for one each.
        """
        from irs_plugin.robustness import kernels

        ids = np.empty((len(self.packs), len(points)), dtype=np.int32)
        for row, (pack, start) in enumerate(zip(self.packs, self._starts[:-1], strict=True)):
            joint = codes[pack[0]]
            for k in pack[1:]:
                joint = joint * np.int32(self.sizes[k]) + codes[k]
            np.add(joint, np.int32(start), out=ids[row])
        multiplicities = np.empty(0, dtype=np.int64) if multiplicities is None else multiplicities
        work = ids.size * points.shape[1]
        bounds = chunks(len(points)) if work >= _THREAD_WORK else [(0, len(points))]
        parts = [self._parts, *(_empty_parts(self._starts[-1], points.shape[1]) for _ in bounds[1:])]
        over_threads(
            lambda part: kernels.accumulate(ids, points, multiplicities, *bounds[part], *parts[part]),
            range(len(bounds)),
            work=work,
        )
        for part in parts[1:]:
            _add(self._parts, part)

    def merge(self, other: PackedStatistics) -> None:
        """Add the points behind `other`, which must have the same sizes and packs."""
        _add(self._parts, other._parts)

    @property
    def num_samples(self) -> int:
        """How many samples were added."""
        return int(self._parts[0][: self._starts[1]].sum())

    @property
    def finite(self) -> bool:
        """Whether all that was added is finite, and so are the sums."""
        return bool(np.isfinite(self._parts[2][: self._starts[1], 0]).all())

    def factors(self) -> list[FactorStatistics]:
        """Statistics of the values of every factor, summed over whatever it was packed with."""
        found: dict[int, FactorStatistics] = {}
        for pack, start, stop in zip(self.packs, self._starts[:-1], self._starts[1:], strict=True):
            shape = [self.sizes[k] for k in pack]
            counts, num_points, table = (part[start:stop].reshape(*shape, *part.shape[1:]) for part in self._parts)
            for axis, k in enumerate(pack):
                others = tuple(other for other in range(len(pack)) if other != axis)
                found[k] = FactorStatistics(
                    counts.sum(axis=others),
                    num_points.sum(axis=others),
                    table[..., 0, :].sum(axis=others),
                    table[..., 1, :].min(axis=others),
                    table[..., 2, :].max(axis=others),
                )
        return [found[k] for k in range(len(self.sizes))]


Parts = tuple[np.ndarray, np.ndarray, np.ndarray]


def _empty_parts(num_rows: int, num_latents: int) -> Parts:
    """Samples, points, and a table of sums, minima and maxima, of every row."""
    table = np.zeros((num_rows, 3, num_latents))
    table[:, 1] = np.inf
    table[:, 2] = -np.inf
    return np.zeros(num_rows, dtype=np.int64), np.zeros(num_rows, dtype=np.int64), table


def _add(target: Parts, source: Parts) -> None:
    target[0][:] += source[0]
    target[1][:] += source[1]
    target[2][:, 0] += source[2][:, 0]
    np.minimum(target[2][:, 1], source[2][:, 1], out=target[2][:, 1])
    np.maximum(target[2][:, 2], source[2][:, 2], out=target[2][:, 2])


def _pack(sizes: Sequence[int], max_rows: int) -> list[list[int]]:
    """Group consecutive factors while the number of their joint values stays small."""
    packs: list[list[int]] = []
    rows = 0
    for k, size in enumerate(sizes):
        if packs and rows * size <= max_rows:
            packs[-1].append(k)
            rows *= size
        else:
            packs.append([k])
            rows = size
    return packs
