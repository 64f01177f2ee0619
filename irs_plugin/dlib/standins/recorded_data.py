"""``util.tf_data_set_from_ground_truth_data``, with data that take note of their random state for training to go on."""

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
        return original(resuming.recorded(ground_truth_data, random_seed), random_seed)

    return tf_data_set_from_ground_truth_data
