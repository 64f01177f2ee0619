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
        sums, minima, maxima: `(size, num_latents)`; minima are +inf and maxima −inf where the count is 0.
    """

    counts: np.ndarray
    sums: np.ndarray
    minima: np.ndarray
    maxima: np.ndarray


class PackedStatistics:
    """Accumulates `FactorStatistics` of all factors in one pass over the samples.

    Args:
        sizes: number of values of each factor; codes run from 0 to size − 1.
        num_latents: number of latents.
        num_samples: how many samples are expected, which bounds the size of the joint tables worth having.
    """

    def __init__(self, sizes: Sequence[int], num_latents: int, num_samples: int) -> None:
        self.sizes = tuple(int(size) for size in sizes)
        self.packs = _pack(self.sizes, min(_PACK_ROWS, num_samples // 16))
        rows = [int(np.prod([self.sizes[k] for k in pack])) for pack in self.packs]
        self._starts = np.concatenate([[0], np.cumsum(rows)])
        self.counts = np.zeros(self._starts[-1], dtype=np.int64)
        self.table = _empty_table(self._starts[-1], num_latents)

    def update(self, codes: np.ndarray, latents: np.ndarray) -> None:
        """Add samples: `codes` `(num_factors, N)` and `latents` `(N, num_latents)` C-contiguous float64."""
        from irs_plugin.robustness import kernels

        ids = np.empty((len(self.packs), len(latents)), dtype=np.int32)
        for row, (pack, start) in enumerate(zip(self.packs, self._starts[:-1], strict=True)):
            joint = codes[pack[0]]
            for k in pack[1:]:
                joint = joint * np.int32(self.sizes[k]) + codes[k]
            np.add(joint, np.int32(start), out=ids[row])
        work = ids.size * latents.shape[1]
        bounds = chunks(len(latents)) if work >= _THREAD_WORK else [(0, len(latents))]
        parts = [(self.counts, self.table)]
        parts += [(np.zeros_like(self.counts), _empty_table(*self.table.shape[::2])) for _ in bounds[1:]]
        over_threads(
            lambda part: kernels.accumulate(ids, latents, *bounds[part], *parts[part]), range(len(bounds)), work=work
        )
        for counts, table in parts[1:]:
            self._add(counts, table)

    def merge(self, other: PackedStatistics) -> None:
        """Add the samples behind `other`, which must have the same sizes and packs."""
        self._add(other.counts, other.table)

    def _add(self, counts: np.ndarray, table: np.ndarray) -> None:
        self.counts += counts
        self.table[:, 0] += table[:, 0]
        np.minimum(self.table[:, 1], table[:, 1], out=self.table[:, 1])
        np.maximum(self.table[:, 2], table[:, 2], out=self.table[:, 2])

    def factor(self, k: int) -> FactorStatistics:
        """Statistics of the values of factor k, summed over whatever it was packed with."""
        row = next(row for row, pack in enumerate(self.packs) if k in pack)
        pack, part = self.packs[row], slice(self._starts[row], self._starts[row + 1])
        shape = [self.sizes[member] for member in pack]
        others = tuple(axis for axis, member in enumerate(pack) if member != k)

        counts = self.counts[part].reshape(shape)
        table = self.table[part].reshape(*shape, *self.table.shape[1:])
        return FactorStatistics(
            counts.sum(axis=others),
            table[..., 0, :].sum(axis=others),
            table[..., 1, :].min(axis=others),
            table[..., 2, :].max(axis=others),
        )


def _empty_table(num_rows: int, num_latents: int) -> np.ndarray:
    table = np.zeros((num_rows, 3, num_latents))
    table[:, 1] = np.inf
    table[:, 2] = -np.inf
    return table


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
