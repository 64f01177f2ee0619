"""Encoding observations in large batches, each once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Representation = Callable[[np.ndarray], np.ndarray]

# Large enough that calling the encoder costs little beside its work.
ENCODING_BATCH_SIZE = 1024


@dataclass(frozen=True)
class Sample:
    """A labelled sample and how it was drawn.

    Attributes:
        gen_factors: `(num_samples, num_factors)` integer realisations.
        latents: `(num_samples, num_latents)` codes, in the representation function's own precision.
        confounder: `(num_samples,)` the discrete confounder, or None where the design has none.
        design: plain values that say how the sample was drawn.
    """

    gen_factors: np.ndarray
    latents: np.ndarray
    confounder: np.ndarray | None
    design: dict[str, Any] = field(repr=False)


def encode_factors(
    ground_truth_data: Any,
    representation_function: Representation,
    gen_factors: np.ndarray,
    random_state: np.random.RandomState,
    *,
    encoding_batch_size: int = ENCODING_BATCH_SIZE,
    encode_once: bool = False,
    progress: bool = False,
) -> np.ndarray:
    """Observe given factors and encode the observations.

    Args:
        ground_truth_data, representation_function: see the package.
        gen_factors: `(num_samples, num_factors)`.
        random_state: source of whatever the data set adds to its observations.
        encoding_batch_size: observations encoded at a time.
        encode_once: encode each combination of factors once and repeat its code; right only where the data set is free
            of noise, as dSprites is.
        progress: show a progress bar.

    Returns:
        Codes `(num_samples, num_latents)`.
    """
    check_size(encoding_batch_size, "encoding_batch_size")
    inverse = None
    if encode_once:
        gen_factors, inverse = np.unique(gen_factors, axis=0, return_inverse=True)
    starts = range(0, len(gen_factors), encoding_batch_size)
    batches = (gen_factors[start : start + encoding_batch_size] for start in starts)
    codes = [
        checked_codes(
            representation_function(ground_truth_data.sample_observations_from_factors(batch, random_state)),
            len(batch),
            start,
        )
        for start, batch in zip(starts, progress_bar(batches, len(starts), progress), strict=True)
    ]
    latents = np.concatenate(codes)
    return latents if inverse is None else latents[inverse.reshape(-1)]


def checked_codes(codes: Any, num_observations: int, start: int) -> np.ndarray:
    """Return one batch's codes, or say which sample's code is bad; `start` is the batch's first sample."""
    codes = np.asarray(codes)
    if codes.ndim != 2 or len(codes) != num_observations:
        raise ValueError(
            f"representation_function must return shape ({num_observations}, num_latents) for {num_observations} "
            f"observations; got {codes.shape}."
        )
    finite = np.isfinite(codes)
    if not finite.all():
        row, latent = np.argwhere(~finite)[0]
        raise ValueError(
            f"latent {latent} of sample {start + row} is {codes[row, latent]}; codes must be finite. The model "
            f"diverged, or the representation does not fit this data set."
        )
    return codes


def check_size(value: Any, name: str) -> int:
    """Return `value` if it is a positive integer."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name} must be a positive integer; got {value!r}.")
    return int(value)


def progress_bar(batches: Iterable[Any], total: int, shown: bool) -> Iterator[Any]:
    """The batches, with a progress bar on standard error if it is wanted."""
    from tqdm import tqdm

    return iter(tqdm(batches, total=total, desc="encoding", unit="batch", disable=not shown))
