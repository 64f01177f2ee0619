"""Checks on what users hand in; every message names the value, what was expected and the remedy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np


def check_arrays(gen_factors: Any, latents: Any, *, finite: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Return factors and codes as arrays fit for scoring.

    Args:
        gen_factors: `(num_samples, num_factors)`, integer, boolean, string or float realisations.
        latents: `(num_samples, num_latents)`, real numbers.
        finite: whether to look for codes that are not finite; False for callers that notice by themselves.

    Returns:
        The factors, floats with whole values turned into integers, and the codes as C-contiguous float64.

    Raises:
        ValueError: wrong number of dimensions, no samples, differing lengths, NaN or infinite entries, or a float
            factor with as many values as samples.
    """
    latents = check_latents(latents, finite=finite)
    return check_factors(gen_factors, num_samples=latents.shape[0]), latents


def check_latents(latents: Any, *, finite: bool = True) -> np.ndarray:
    """Return codes `(num_samples, num_latents)` as C-contiguous float64; refuse what is not finite, if asked to."""
    latents = _matrix(latents, "latents", "num_latents")
    if latents.dtype.kind not in "fiub":
        raise ValueError(f"latents must be real numbers; got dtype {latents.dtype}.")
    latents = np.ascontiguousarray(latents, dtype=np.float64)
    if finite:
        with np.errstate(over="ignore", invalid="ignore"):
            total = latents.sum()
        # One bad entry spoils the sum, which is quicker to take than a mask of all entries.
        if not np.isfinite(total):
            refuse_not_finite(latents)
    return latents


def refuse_not_finite(latents: np.ndarray) -> None:
    """Raise ValueError for codes whose sums are not finite, naming the first that is to blame."""
    finite = np.isfinite(latents)
    if finite.all():
        refuse_magnitude(np.abs(latents).max())
    row, column = np.argwhere(~finite)[0]
    raise ValueError(
        f"latents must be finite; latents[{row}, {column}] is {latents[row, column]} "
        f"({finite.size - int(finite.sum())} such entries). Mend the encoder or drop those samples."
    )


def refuse_magnitude(largest: float) -> None:
    """Raise ValueError for codes so large or so small that their sums or squares leave the range of floats."""
    raise ValueError(
        f"the largest magnitude among the latents is {largest:g}, too extreme for sums and squares; rescale "
        f"them, which changes no score."
    )


def check_factors(gen_factors: Any, num_samples: int | None = None) -> np.ndarray:
    """Return factors `(num_samples, num_factors)`; floats with whole values become integers."""
    gen_factors = _matrix(gen_factors, "gen_factors", "num_factors")
    if num_samples is not None and gen_factors.shape[0] != num_samples:
        raise ValueError(
            f"gen_factors has {gen_factors.shape[0]} samples and latents has {num_samples}; both need one row per "
            f"sample, in the same order. Arrays laid out (dimensions, samples) must be transposed."
        )
    if gen_factors.dtype.kind != "f":
        return gen_factors
    finite = np.isfinite(gen_factors)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise ValueError(
            f"gen_factors must be finite; gen_factors[{row}, {column}] is {gen_factors[row, column]}. "
            f"Drop those samples or give the missing realisation a value of its own."
        )
    if (gen_factors == np.rint(gen_factors)).all() and np.abs(gen_factors).max() < 2**53:
        return gen_factors.astype(np.int64)
    for column in range(gen_factors.shape[1]):
        values = gen_factors[:, column]
        if len(values) > 1 and len(np.unique(values)) == len(values) and (values != np.rint(values)).any():
            raise ValueError(
                f"factor {column} is continuous: {len(values)} different values in {len(values)} samples, so no "
                f"realisation occurs twice. Discretise it first, e.g. with irs_plugin.discretise(gen_factors, "
                f"num_bins=20), on the command line with --discretise auto."
            )
    return gen_factors


def _matrix(array: Any, name: str, second: str) -> np.ndarray:
    array = np.asarray(array)
    if array.ndim != 2:
        raise ValueError(
            f"{name} must have shape (num_samples, {second}); got an array of shape {array.shape}. "
            f"A single column is array[:, None]."
        )
    if 0 in array.shape:
        raise ValueError(f"{name} must not be empty; got shape {array.shape}, expected (num_samples, {second}).")
    return array


def check_quantile(value: Any, name: str) -> float:
    """Return `value` as a float in [0, 1]."""
    if isinstance(value, (bool, str)) or not np.isscalar(value) or not 0.0 <= value <= 1.0:
        raise ValueError(f"{name} must be a number in [0, 1]; got {value!r}. 1.0 is the paper's supremum.")
    return float(value)


def check_fraction(value: Any, name: str, low: float, high: float) -> float:
    """Return `value` as a float in [low, high)."""
    if isinstance(value, (bool, str)) or not np.isscalar(value) or not low <= value < high:
        raise ValueError(f"{name} must be a number in [{low}, {high}); got {value!r}.")
    return float(value)


def check_choice(value: Any, name: str, choices: Sequence[str]) -> str:
    """Return `value` if it is one of `choices`."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}.")
    return value


def check_group(group: Any, size: int, name: str, *, may_be_empty: bool = False) -> tuple[int, ...]:
    """Return a group of indices as a sorted tuple of distinct ints in [0, size).

    Args:
        group: one index or several.
        size: how many there are to choose from.
        name: the argument's name, for the message.
        may_be_empty: whether the empty group is meaningful here.

    Raises:
        ValueError: not integers, out of range, repeated, or empty where that means nothing.
    """
    members = list(group) if isinstance(group, Iterable) and not isinstance(group, (str, bytes)) else [group]
    for member in members:
        if isinstance(member, (bool, np.bool_)) or not isinstance(member, (int, np.integer)):
            raise ValueError(f"{name} must hold integer indices from 0 to {size - 1}; got {member!r}.")
        if not 0 <= member < size:
            raise ValueError(f"{name} holds {member}, out of range: indices run from 0 to {size - 1}.")
    if len(set(members)) != len(members):
        raise ValueError(f"{name} names an index twice: {members}.")
    if not members and not may_be_empty:
        raise ValueError(f"{name} is empty; give at least one index from 0 to {size - 1}.")
    return tuple(sorted(int(member) for member in members))
