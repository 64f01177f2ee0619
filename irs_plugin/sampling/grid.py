"""The grid design: every combination of factor values exactly once, or those of a stated sub-grid."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from irs_plugin.sampling.encoding import (
    ENCODING_BATCH_SIZE,
    Representation,
    Sample,
    check_size,
    checked_codes,
    progress_bar,
)

# Per factor index the values to keep, or how many to keep, evenly spaced from the first to the last.
SubGrid = Mapping[int, int | Sequence[int]]


def grid_values(factors_num_values: Sequence[int], sub_grid: SubGrid | None = None) -> list[np.ndarray]:
    """The values of each factor that a grid runs over, ascending.

    Raises:
        ValueError: an unknown factor, no values, values out of range or repeated, or more values than there are.
    """
    values = [np.arange(size) for size in factors_num_values]
    for k, wanted in (sub_grid or {}).items():
        if k not in range(len(values)):
            raise ValueError(f"sub_grid names factor {k!r}; factors are numbered 0 to {len(values) - 1}.")
        size = len(values[k])
        if isinstance(wanted, (int, np.integer)):
            if not 1 <= wanted <= size:
                raise ValueError(f"sub_grid asks for {wanted} values of factor {k}, which has {size}.")
            values[k] = np.round(np.linspace(0, size - 1, wanted)).astype(np.int64)
            continue
        chosen = np.unique(np.asarray(wanted, dtype=np.int64))
        if len(chosen) != len(wanted) or not len(chosen) or chosen[0] < 0 or chosen[-1] >= size:
            raise ValueError(
                f"sub_grid values of factor {k} must be different integers from 0 to {size - 1}; got {list(wanted)}."
            )
        values[k] = chosen
    return values


def grid_batches(
    ground_truth_data: Any,
    representation_function: Representation,
    random_state: np.random.RandomState,
    *,
    sub_grid: SubGrid | None = None,
    encoding_batch_size: int = ENCODING_BATCH_SIZE,
    progress: bool = False,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Stream the grid in batches of factors `(n, num_factors)` and codes `(n, num_latents)`; memory does not grow.

    Args:
        ground_truth_data, representation_function: see the package.
        random_state: source of whatever the data set adds to its observations.
        sub_grid: per factor index the values to keep, or how many, evenly spaced; None for all.
        encoding_batch_size: observations encoded at a time.
        progress: show a progress bar.
    """
    check_size(encoding_batch_size, "encoding_batch_size")
    values = grid_values(ground_truth_data.factors_num_values, sub_grid)
    return _batches(ground_truth_data, representation_function, random_state, values, encoding_batch_size, progress)


def _batches(
    ground_truth_data: Any,
    representation_function: Representation,
    random_state: np.random.RandomState,
    values: list[np.ndarray],
    encoding_batch_size: int,
    progress: bool,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    shape = [len(kept) for kept in values]
    total = math.prod(shape)
    starts = range(0, total, encoding_batch_size)
    for start in progress_bar(starts, len(starts), progress):
        places = np.unravel_index(np.arange(start, min(start + encoding_batch_size, total)), shape)
        factors = np.column_stack([kept[place] for kept, place in zip(values, places, strict=True)])
        observations = ground_truth_data.sample_observations_from_factors(factors, random_state)
        yield factors, checked_codes(representation_function(observations), len(factors), start)


def grid_sample(
    ground_truth_data: Any,
    representation_function: Representation,
    random_state: np.random.RandomState,
    *,
    sub_grid: SubGrid | None = None,
    encoding_batch_size: int = ENCODING_BATCH_SIZE,
    progress: bool = False,
) -> Sample:
    """The whole grid in memory; the arguments are those of `grid_batches`."""
    batches = grid_batches(
        ground_truth_data,
        representation_function,
        random_state,
        sub_grid=sub_grid,
        encoding_batch_size=encoding_batch_size,
        progress=progress,
    )
    factors, codes = zip(*batches, strict=True)
    values = grid_values(ground_truth_data.factors_num_values, sub_grid)
    design = {
        "design": "grid",
        "num_samples": sum(map(len, factors)),
        "sub_grid": {str(k): values[k].tolist() for k in (sub_grid or {})},
    }
    return Sample(np.concatenate(factors), np.concatenate(codes), None, design)
