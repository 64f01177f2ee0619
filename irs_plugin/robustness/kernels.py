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
def are_distinct(keys, seen):
    """Whether no key `(N,)` int32 occurs twice; `seen` is uint8 zeros, one for each possible key."""
    for n in range(keys.shape[0]):
        if seen[keys[n]]:
            return False
        seen[keys[n]] = 1
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
def accumulate(ids, points, multiplicities, start, stop, counts, num_points, table):
    """Add points `start … stop − 1` to the cells' statistics, for several partitions at once.

    Args:
        ids: `(P, N)` int32, row in the statistics of each point under each of P partitions.
        points: `(N, num_latents)` float64.
        multiplicities: `(N,)` int64 samples that each point stands for, or empty where each stands for one.
        start, stop: which points.
        counts, num_points: `(num_rows,)` int64: samples and points.
        table: `(num_rows, 3, num_latents)` float64: sum over samples, minimum, maximum.
    """
    num_latents = points.shape[1]
    for n in range(start, stop):
        multiplicity = multiplicities[n] if multiplicities.shape[0] else 1
        for p in range(ids.shape[0]):
            row = ids[p, n]
            counts[row] += multiplicity
            num_points[row] += 1
            # Three loops that the compiler turns into vector instructions; one loop of three statements it does not.
            for latent in range(num_latents):
                table[row, 0, latent] += multiplicity * points[n, latent]
            for latent in range(num_latents):
                value, least = points[n, latent], table[row, 1, latent]
                table[row, 1, latent] = value if value < least else least
            for latent in range(num_latents):
                value, most = points[n, latent], table[row, 2, latent]
                table[row, 2, latent] = value if value > most else most


@_compile
def cell_starts(counts):
    """Return where each cell begins when samples are sorted by cell; one more entry closes the last."""
    starts = np.zeros(counts.shape[0] + 1, np.int64)
    for cell in range(counts.shape[0]):
        starts[cell + 1] = starts[cell] + counts[cell]
    return starts


@_compile
def interpolate(lower, upper, share):
    """What `numpy.quantile(…, method="linear")` gives between neighbours: two forms, each exact at its own end."""
    if share >= 0.5:
        return upper - (upper - lower) * (1.0 - share)
    return lower + (upper - lower) * share


@_compile
def keep_largest_deviations(points, ids, centres, latents, starts, heaps, filled, bounds):
    """Keep the largest deviations of each cell from its centre, in a min-heap a cell and latent.

    Args:
        points: `(N, num_latents)`.
        ids: `(N,)` int32.
        centres: `(num_cells, num_latents)`.
        latents: first latent to look at, and the one after the last.
        starts: `(num_cells + 1,)` where each cell's heap begins; the differences are how many values are kept.
        heaps: `(latents looked at, starts[-1])`, filled; the smallest value kept comes first in each heap.
        filled: `(latents looked at, num_cells)` int64 zeros, set to the number of values kept.
        bounds: `(num_cells, num_latents)` values at or below which nothing is kept, set to the smallest value kept by
            heaps that are full.
    """
    for n in range(ids.shape[0]):
        cell = ids[n]
        for latent in range(latents[0], latents[1]):
            deviation = abs(points[n, latent] - centres[cell, latent])
            if deviation <= bounds[cell, latent]:
                continue
            row = latent - latents[0]
            base = starts[cell]
            room = starts[cell + 1] - base
            size = filled[row, cell]
            if size < room:
                place = size
                while place > 0 and heaps[row, base + ((place - 1) >> 1)] > deviation:
                    heaps[row, base + place] = heaps[row, base + ((place - 1) >> 1)]
                    place = (place - 1) >> 1
                size += 1
                filled[row, cell] = size
            else:
                place = 0
                while True:
                    child = 2 * place + 1
                    if child >= size:
                        break
                    if child + 1 < size and heaps[row, base + child + 1] < heaps[row, base + child]:
                        child += 1
                    if heaps[row, base + child] >= deviation:
                        break
                    heaps[row, base + place] = heaps[row, base + child]
                    place = child
            heaps[row, base + place] = deviation
            if size == room:
                bounds[cell, latent] = heaps[row, base]


@_compile
def heap_quantiles(heap, starts, shares, out):
    """Write to `out` the quantile of each cell whose values from the wanted rank on are in its heap.

    Args:
        heap: one latent's heaps.
        starts: `(num_cells + 1,)` where each heap begins; empty ones are skipped.
        shares: `(num_cells,)` how far the quantile lies from the smallest value towards the next.
        out: `(num_cells,)`.
    """
    for cell in range(starts.shape[0] - 1):
        low, high = starts[cell], starts[cell + 1]
        if low == high:
            continue
        lower = upper = heap[low]
        if shares[cell] > 0.0:
            upper = heap[low + 1] if high == low + 2 else min(heap[low + 1], heap[low + 2])
        out[cell] = interpolate(lower, upper, shares[cell])


@_compile
def cell_sums(ids, latents, weights, sums):
    """Add each sample's weighted codes to its cell's row of `sums` `(num_cells, num_latents)`."""
    for n in range(ids.shape[0]):
        cell = ids[n]
        for latent in range(latents.shape[1]):
            sums[cell, latent] += weights[n] * latents[n, latent]


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
def segment_quantiles(values, starts, quantile, out):
    """Write the linearly interpolated quantile of each segment to `out`; `values` is rearranged, empty ones skipped."""
    for cell in range(starts.shape[0] - 1):
        low, high = starts[cell], starts[cell + 1]
        if low == high:
            continue
        place = quantile * (high - low - 1)
        below = int(np.floor(place))
        rank = low + below
        _select(values, low, high, rank)
        lower = upper = values[rank]
        if place > below:
            upper = values[rank + 1]
            for n in range(rank + 2, high):
                upper = min(upper, values[n])
        out[cell] = interpolate(lower, upper, place - below)


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
