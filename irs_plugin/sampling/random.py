"""The random design: factors drawn independently and uniformly, as disentanglement_lib's metrics do."""

from __future__ import annotations

from typing import Any

import numpy as np

from irs_plugin.sampling.encoding import ENCODING_BATCH_SIZE, Representation, Sample, check_size, checked_codes


def random_sample(
    ground_truth_data: Any,
    representation_function: Representation,
    num_samples: int,
    random_state: np.random.RandomState,
    *,
    batch_size: int = 16,
    encoding_batch_size: int | None = ENCODING_BATCH_SIZE,
) -> Sample:
    """Draw factors at random.

    Args:
        ground_truth_data, representation_function: see the package.
        num_samples: sample size.
        random_state: source of all randomness.
        batch_size: factors drawn at a time. disentanglement_lib draws batch by batch, factor by factor, so that it is
            part of the seed: the same seed and batch size give the sample that its own metrics see.
        encoding_batch_size: observations encoded at a time, at least; None encodes each batch as it is drawn. Encoders
            may round differently for different batch sizes, so only None reproduces disentanglement_lib's codes to
            the last bit.
    """
    check_size(num_samples, "num_samples")
    check_size(batch_size, "batch_size")
    wanted = 1 if encoding_batch_size is None else check_size(encoding_batch_size, "encoding_batch_size")
    factors, codes, waiting = [], [], []
    encoded = drawn = 0
    while drawn < num_samples:
        batch, observations = ground_truth_data.sample(min(batch_size, num_samples - drawn), random_state)
        factors.append(batch)
        waiting.append(observations)
        drawn += len(batch)
        if drawn - encoded >= wanted or drawn == num_samples:
            codes.append(checked_codes(representation_function(np.concatenate(waiting)), drawn - encoded, encoded))
            encoded, waiting = drawn, []
    design = {"design": "random", "num_samples": num_samples, "batch_size": batch_size}
    return Sample(np.concatenate(factors), np.concatenate(codes), None, design)
