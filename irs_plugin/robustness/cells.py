"""Cells: the partition of the samples by the realisation of a group of factors (method section 5, appendix C).

Every partition is built by counting or hashing, in time linear in the number of samples.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from irs_plugin.robustness.threads import chunks, over_threads

# Lookup tables of values up to this many entries are cheap whatever the number of samples.
_SMALL_TABLE = 1 << 16
# Tables of cells may have this many entries a sample; sparser ones are hashed.
_TABLE_SHARE = 8
_INT64_MAX = 2**63 - 1


@dataclass(frozen=True)
class Cells:
    """A partition of N samples into cells of equal realisation.

    Attributes:
        ids: `(N,)` int32, the cell of each sample.
        counts: `(num_cells,)` samples in each cell, never zero.
        first: `(num_cells,)` the first sample of each cell.
    """

    ids: np.ndarray
    counts: np.ndarray
    first: np.ndarray

    @property
    def num_cells(self) -> int:
        return len(self.counts)


@dataclass(frozen=True)
class FactorCodes:
    """Factors as dense codes.

    Attributes:
        values: `(N, K)` the realisations as they were given.
        codes: `(K, N)` int32; factor k takes the codes `0 … sizes[k] − 1`, all of which occur, in ascending order.
        sizes: number of realisations of each factor that occur.
    """

    values: np.ndarray
    codes: np.ndarray
    sizes: tuple[int, ...]

    @property
    def num_samples(self) -> int:
        return self.codes.shape[1]

    @property
    def num_factors(self) -> int:
        return self.codes.shape[0]

    def rest(self, group: Sequence[int]) -> tuple[int, ...]:
        """The factors that are not in `group`."""
        return tuple(k for k in range(self.num_factors) if k not in set(group))

    def realisations(self, cells: Cells, group: Sequence[int]) -> np.ndarray:
        """`(num_cells, len(group))` the factor values of each cell."""
        return self.values[np.ix_(cells.first, list(group))]


def encode_factors(gen_factors: np.ndarray) -> FactorCodes:
    """Turn checked factors `(N, K)` of any sortable dtype into dense codes."""
    if gen_factors.dtype.kind in "iub" and not (gen_factors.dtype == np.uint64 and gen_factors.max() > _INT64_MAX):
        found = _encode_by_table(gen_factors)
        if found is not None:
            return found
    codes = np.empty(gen_factors.shape[::-1], dtype=np.int32)
    sizes = []
    for k in range(gen_factors.shape[1]):
        values, codes[k] = np.unique(gen_factors[:, k], return_inverse=True)
        sizes.append(len(values))
    return FactorCodes(gen_factors, codes, tuple(sizes))


def _encode_by_table(gen_factors: np.ndarray) -> FactorCodes | None:
    """Codes of integer factors by lookup tables, or None where the tables would be larger than the data."""
    from irs_plugin.robustness import kernels

    columns = np.asarray(gen_factors, dtype=np.int64)
    if not columns.flags.f_contiguous:
        columns = np.ascontiguousarray(columns)
    flat = columns.ravel(order="K")
    steps = np.array(columns.strides) // columns.itemsize
    # A few thousand rows nearly always show the whole range; if not, look at all of them.
    for stride in (1 + len(columns) // 4096, 1):
        minima, maxima = columns[0].copy(), columns[0].copy()
        kernels.extend_range(flat, steps, len(columns), stride, minima, maxima)
        # Python integers, as the span between two int64 may overflow.
        spans = [int(high) - int(low) + 1 for low, high in zip(minima, maxima, strict=True)]
        if sum(spans) > max(_SMALL_TABLE, 4 * columns.size):
            return None
        found = _shift(flat, steps, len(columns), minima, spans)
        if found is not None:
            break
    codes, present = found
    sizes = []
    for k, (start, stop) in enumerate(itertools.pairwise(np.concatenate([[0], np.cumsum(spans)]))):
        numbers = np.cumsum(present[start:stop], dtype=np.int32)
        sizes.append(int(numbers[-1]))
        if sizes[k] < spans[k]:
            codes[k] = (numbers - 1)[codes[k]]
    return FactorCodes(gen_factors, codes, tuple(sizes))


def _shift(
    flat: np.ndarray, steps: np.ndarray, num_samples: int, minima: np.ndarray, spans: list[int]
) -> tuple[np.ndarray, np.ndarray] | None:
    """Columns less their minima, and which values occur; None if a value lies outside its column's span."""
    from irs_plugin.robustness import kernels

    offsets = np.concatenate([[0], np.cumsum(spans)])
    codes = np.empty((len(spans), num_samples), dtype=np.int32)
    # Threads all write the same 1 to an entry, so that it does not matter who is last.
    present = np.zeros(offsets[-1], dtype=np.int32)
    fits = over_threads(
        lambda part: kernels.shift_columns(flat, steps, *part, minima, offsets, codes, present),
        chunks(num_samples),
        work=codes.size,
    )
    return (codes, present) if all(fits) else None


def partition(factors: FactorCodes, group: Sequence[int]) -> Cells:
    """Partition the samples by the joint realisation of the factors in `group` (the empty group: one cell)."""
    keys, size = joint_keys(factors, group)
    return number_cells(keys, size)


def repeated_cells(factors: FactorCodes) -> Cells | None:
    """Partition by all factors, or None where no two samples share them all: then there is no cell to number."""
    from irs_plugin.robustness import kernels

    keys, size = joint_keys(factors, range(factors.num_factors))
    if factors.num_samples <= size <= _TABLE_SHARE * factors.num_samples:
        keys = keys.astype(np.int32, copy=False)
        if kernels.are_distinct(keys, np.zeros(size, dtype=np.uint8)):
            return None
    cells = number_cells(keys, size)
    return None if cells.num_cells == factors.num_samples else cells


def joint_keys(factors: FactorCodes, group: Sequence[int]) -> tuple[np.ndarray, int]:
    """Mixed-radix keys `(N,)` of the joint realisations of `group`, and the number of possible keys."""
    size = int(np.prod([factors.sizes[k] for k in group], dtype=object)) if len(group) else 1
    # Half the memory traffic where it suffices.
    keys = np.zeros(factors.num_samples, dtype=np.int32 if size <= 2**31 else np.int64)
    size = 1
    for k in group:
        if size * factors.sizes[k] > 2**62:
            cells = number_cells(keys, size)
            keys, size = cells.ids.astype(np.int64), cells.num_cells
        keys *= keys.dtype.type(factors.sizes[k])
        keys += factors.codes[k]
        size *= factors.sizes[k]
    return keys, size


def number_cells(keys: np.ndarray, size: int) -> Cells:
    """Number the cells of non-negative integer keys below `size`."""
    from irs_plugin.robustness import kernels

    if size <= _TABLE_SHARE * max(len(keys), 512):
        table = np.zeros(size, dtype=np.int32)
        return Cells(*kernels.number_by_counting(keys.astype(np.int32, copy=False), table))
    return Cells(*kernels.number_by_hashing(keys.astype(np.int64, copy=False), 1 << int(2 * len(keys)).bit_length()))


def label_cells(labels: np.ndarray) -> Cells:
    """Partition by the rows of any label array `(N,)` or `(N, L)`, e.g. an observed confounder."""
    factors = encode_factors(labels[:, None] if labels.ndim == 1 else labels)
    return partition(factors, range(factors.num_factors))
