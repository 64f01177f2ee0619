"""``util.tf_data_set_from_ground_truth_data``, which a training that can be resumed reads in batches and notes."""

from __future__ import annotations

import functools
import importlib
from typing import Any

REASON = (
    "disentanglement_lib's input starts over in a new process: training that goes on after it was killed "
    "needs the samples that would have come next"
)


def supply(path: str):
    from irs_plugin.dlib import resuming

    module, _, name = path.partition(":")
    original = getattr(importlib.import_module(module), name)

    @functools.wraps(original)
    def tf_data_set_from_ground_truth_data(ground_truth_data: Any, random_seed: int) -> Any:
        batches = resuming.training_input(ground_truth_data, random_seed)
        return original(ground_truth_data, random_seed) if batches is None else batches.dataset(original)

    return tf_data_set_from_ground_truth_data
