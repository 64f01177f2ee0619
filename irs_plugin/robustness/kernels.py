"""Compiled loops over samples. Numba is imported here and nowhere else in the room.

All take C-contiguous arrays of one dtype each, so that every kernel is compiled once (and then cached on disk), and
release the GIL, so that callers may split the work over threads.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_compile = njit(cache=True, nogil=True)


@_compile
def extend_range(flat, steps, stop, stride, minima, maxima):
    """Widen each column's range by every `stride`-th of the first `stop` rows.

    Args:
        flat: `(N · K,)` int64, a matrix of either memory order laid flat.
        steps: distance in `flat` between neighbouring rows and between neighbouring columns.
        stop, stride: which rows.
        minima, maxima: `(K,)`.
    """
    for n in range(0, stop, stride):
        for k in range(minima.shape[0]):
            value = flat[n * steps[0] + k * steps[1]]
            minima[k] = min(minima[k], value)
            maxima[k] = max(maxima[k], value)


@_compile
def shift_columns(flat, steps, start, stop, minima, offsets, codes, present):
    """Write `column − minimum` to `codes[k, n]` and set `present[offsets[k] + code]`, for rows `start … stop − 1`.

    Returns:
        Whether every code lies in its column's range `0 … offsets[k + 1] − offsets[k] − 1`; stops where one does not.
    """
    for n in range(start, stop):
        for k in range(minima.shape[0]):
            code = flat[n * steps[0] + k * steps[1]] - minima[k]
            if code < 0 or code >= offsets[k + 1] - offsets[k]:
                return False
            codes[k, n] = code
            # Reading first: threads that kept writing to the same cache line would hold each other up.
            if present[offsets[k] + code] == 0:
                present[offsets[k] + code] = 1
    return True


@_compile
def number_by_counting(keys, table):
    """Number the cells of small integer keys in ascending order.

    Args:
        keys: `(N,)` int32 in [0, len(table)).
        table: int32 zeros, overwritten with the number of each key.

    Returns:
        Cell ids `(N,)` int32, counts and first row of each cell.
    """
    for n in range(keys.shape[0]):
        table[keys[n]] += 1
    num_cells = 0
    for key in range(table.shape[0]):
        if table[key] > 0:
            num_cells += 1
    counts = np.empty(num_cells, np.int64)
    cell = 0
    for key in range(table.shape[0]):
        if table[key] > 0:
            counts[cell] = table[key]
            table[key] = cell
            cell += 1
    first = np.full(num_cells, -1, np.int64)
    ids = np.empty(keys.shape[0], np.int32)
    for n in range(keys.shape[0]):
        cell = table[keys[n]]
        ids[n] = cell
        if first[cell] < 0:
            first[cell] = n
    return ids, counts, first


@_compile
def number_by_hashing(keys, num_slots):
    """Number the cells of arbitrary non-negative keys in order of appearance, by open addressing.

    Args:
        keys: `(N,)` int64, non-negative.
        num_slots: a power of two above the number of samples.

    Returns:
        Cell ids `(N,)` int32, counts and first row of each cell.
    """
    slots = np.full(num_slots, -1, np.int32)
    ids = np.empty(keys.shape[0], np.int32)
    counts = np.zeros(keys.shape[0], np.int64)
    first = np.empty(keys.shape[0], np.int64)
    num_cells = 0
    mask = np.uint64(num_slots - 1)
    for n in range(keys.shape[0]):
        # Fibonacci hashing with the high half folded in: consecutive mixed-radix keys spread over all slots.
        mixed = np.uint64(keys[n]) * np.uint64(0x9E3779B97F4A7C15)
        slot = (mixed ^ (mixed >> np.uint64(32))) & mask
        while slots[slot] >= 0 and keys[first[slots[slot]]] != keys[n]:
            slot = (slot + np.uint64(1)) & mask
        cell = slots[slot]
        if cell < 0:
            cell = num_cells
            slots[slot] = cell
            first[cell] = n
            num_cells += 1
        ids[n] = cell
        counts[cell] += 1
    return ids, counts[:num_cells].copy(), first[:num_cells].copy()


@_compile
def accumulate(ids, latents, start, stop, counts, table):
    """Add samples `start … stop − 1` to the cells' statistics, for several partitions at once.

    Args:
        ids: `(P, N)` int32, row in the statistics of each sample under each of P partitions.
        latents: `(N, num_latents)` float64.
        start, stop: which samples.
        counts: `(num_rows,)` int64.
        table: `(num_rows, 3, num_latents)` float64: sum, minimum, maximum.
    """
    num_latents = latents.shape[1]
    for n in range(start, stop):
        for p in range(ids.shape[0]):
            row = ids[p, n]
            counts[row] += 1
            # Three loops that the compiler turns into vector instructions; one loop of three statements it does not.
            for latent in range(num_latents):
                table[row, 0, latent] += latents[n, latent]
            for latent in range(num_latents):
                value, least = latents[n, latent], table[row, 1, latent]
                table[row, 1, latent] = value if value < least else least
            for latent in range(num_latents):
                value, most = latents[n, latent], table[row, 2, latent]
                table[row, 2, latent] = value if value > most else most


@_compile
def cell_starts(counts):
    """Return where each cell begins when samples are sorted by cell; one more entry closes the last."""
    starts = np.zeros(counts.shape[0] + 1, np.int64)
    for cell in range(counts.shape[0]):
        starts[cell + 1] = starts[cell] + counts[cell]
    return starts


@_compile
def collect_far(points, ids, centres, thresholds, latents, values, owners, found):
    """Collect the deviations from the own cell's centre that reach the own cell's threshold.

    Args:
        points: `(N, num_latents)`.
        ids: `(N,)` int32.
        centres, thresholds: `(num_cells, num_latents)`.
        latents: first latent to look at, and the one after the last.
        values, owners: `(latents looked at, N)`, filled from the left with deviations and their cells.
        found: `(latents looked at,)` int64 zeros, set to the number collected.
    """
    for n in range(ids.shape[0]):
        cell = ids[n]
        for latent in range(latents[0], latents[1]):
            deviation = abs(points[n, latent] - centres[cell, latent])
            if deviation >= thresholds[cell, latent]:
                row = latent - latents[0]
                values[row, found[row]] = deviation
                owners[row, found[row]] = cell
                found[row] += 1


@_compile
def arrange(values, ids, starts):
    """Return the values sorted by cell, in their order inside each."""
    following = starts[:-1].copy()
    arranged = np.empty_like(values)
    for n in range(ids.shape[0]):
        arranged[following[ids[n]]] = values[n]
        following[ids[n]] += 1
    return arranged


@_compile
def _select(values, low, high, rank):
    """Rearrange `values[low:high]` so that `values[rank]` is in its sorted place (quickselect, median of three)."""
    high -= 1
    while high > low:
        middle = (low + high) >> 1
        if values[middle] < values[low]:
            values[low], values[middle] = values[middle], values[low]
        if values[high] < values[low]:
            values[low], values[high] = values[high], values[low]
        if values[high] < values[middle]:
            values[middle], values[high] = values[high], values[middle]
        pivot = values[middle]
        left, right = low, high
        while left <= right:
            while values[left] < pivot:
                left += 1
            while values[right] > pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left += 1
                right -= 1
        if rank <= right:
            high = right
        elif rank >= left:
            low = left
        else:
            return


@_compile
def segment_quantiles(values, starts, dropped, quantile, out):
    """Write the linearly interpolated quantile of each segment to `out`; `values` is rearranged, empty ones skipped.

    The interpolation is that of `numpy.quantile(…, method="linear")`.

    Args:
        values: segments one after the other.
        starts: `(num_cells + 1,)` where each begins.
        dropped: `(num_cells,)` smaller values that belong to each segment but were left out.
        quantile: in [0, 1].
        out: `(num_cells,)`.

    Returns:
        Whether every quantile could be taken, that is, was not among the values left out.
    """
    for cell in range(starts.shape[0] - 1):
        low, high = starts[cell], starts[cell + 1]
        if low == high and dropped[cell] == 0:
            continue
        place = quantile * (high - low + dropped[cell] - 1)
        below = int(np.floor(place))
        share = place - below
        rank = low + below - dropped[cell]
        if rank < low:
            return False
        _select(values, low, high, rank)
        lower = values[rank]
        if share == 0.0:
            out[cell] = lower
            continue
        upper = values[rank + 1]
        for n in range(rank + 2, high):
            upper = min(upper, values[n])
        # The two forms that NumPy uses, each exact at its own end.
        out[cell] = upper - (upper - lower) * (1.0 - share) if share >= 0.5 else lower + (upper - lower) * share
    return True


@_compile
def segment_maxima(values, ids, out, where):
    """Write the largest value of each cell to `out` and its first index to `where` (both preset to −1)."""
    for n in range(ids.shape[0]):
        if values[n] > out[ids[n]]:
            out[ids[n]] = values[n]
            where[ids[n]] = n


@_compile
def segment_trimmed_means(values, weights, starts, trim, out):
    """Write each segment's weighted mean after cutting the weight share `trim` from either end; values ascend."""
    for cell in range(starts.shape[0] - 1):
        low, high = starts[cell], starts[cell + 1]
        total = 0.0
        for n in range(low, high):
            total += weights[n]
        first, last = trim * total, (1.0 - trim) * total
        reached = kept = weighted = 0.0
        for n in range(low, high):
            before = reached
            reached += weights[n]
            share = min(reached, last) - max(before, first)
            if share > 0.0:
                kept += share
                weighted += share * values[n]
        out[cell] = weighted / kept


@_compile
def segment_medians(values, weights, starts, out):
    """Write each segment's weighted median (midpoint where half the weight is hit exactly); values ascend."""
    for cell in range(starts.shape[0] - 1):
        low, high = starts[cell], starts[cell + 1]
        total = 0.0
        for n in range(low, high):
            total += weights[n]
        slack = 1e-12 * total
        reached = 0.0
        for n in range(low, high):
            reached += weights[n]
            if reached >= 0.5 * total - slack:
                # Samples without weight carry no value to take the midpoint with.
                following = n + 1
                while following < high and weights[following] == 0.0:
                    following += 1
                exact = reached <= 0.5 * total + slack and following < high
                out[cell] = 0.5 * (values[n] + values[following]) if exact else values[n]
                break
