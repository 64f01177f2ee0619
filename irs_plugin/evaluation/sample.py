"""The labelled sample that an evaluation function scores: factors drawn, observed, encoded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Sample:
    """Attributes:
    gen_factors: `(num_samples, num_factors)` realisations.
    latents: `(num_samples, num_latents)` codes, in the representation function's own precision.
    """

    gen_factors: np.ndarray
    latents: np.ndarray


def draw_sample(
    ground_truth_data: Any,
    representation_function: Callable[[np.ndarray], np.ndarray],
    random_state: np.random.RandomState,
    num_train: int,
    batch_size: int,
) -> Sample:
    """Draw factors at random in batches, as dlib's metrics do: the same seed and batch size give the same sample.

    Raises:
        ValueError: a size below 1, or codes that are not one finite row per observation; raised at the first such
            batch.
    """
    for name, value in (("num_train", num_train), ("batch_size", batch_size)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise ValueError(f"{name} must be a positive integer; got {value!r}. The study used num_train = 10000.")
    factors, codes = [], []
    for start in range(0, num_train, batch_size):
        batch, observations = ground_truth_data.sample(min(batch_size, num_train - start), random_state)
        factors.append(batch)
        codes.append(_checked_codes(representation_function(observations), len(batch), start))
    return Sample(np.concatenate(factors), np.concatenate(codes))


def _checked_codes(codes: Any, num_observations: int, start: int) -> np.ndarray:
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
