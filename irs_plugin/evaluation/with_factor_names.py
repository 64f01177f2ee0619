"""Evaluation functions that need the names of the factors, which dlib's own data sets do not state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from irs_plugin.evaluation.factor_names import factor_names
from irs_plugin.evaluation.registration import evaluation_function
from irs_plugin.sampling.encoding import Representation


@evaluation_function
def with_factor_names(
    ground_truth_data: Any,
    representation_function: Representation,
    random_state: np.random.RandomState,
    artifact_dir: str | None = None,
    *,
    evaluation_fn: Callable[..., dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """Give the data set `factor_names`, then evaluate; dlib's `unified_scores` stops without them.

    Args:
        ground_truth_data, representation_function, random_state, artifact_dir: passed on.
        evaluation_fn: the evaluation function, such as `@unified_scores`.

    Returns:
        What `evaluation_fn` returns.
    """
    if evaluation_fn is None:
        raise ValueError("with_factor_names.evaluation_fn is not bound: bind it to an evaluation function.")
    if not hasattr(ground_truth_data, "factor_names"):
        known = factor_names(ground_truth_data)
        ground_truth_data.factor_names = known or [f"factor {i}" for i in range(ground_truth_data.num_factors)]
    return evaluation_fn(ground_truth_data, representation_function, random_state, artifact_dir=artifact_dir)
