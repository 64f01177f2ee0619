"""Mutual information (Ridgeway & Mozer, 2018; MI in the paper's appendix D) as an evaluation function."""

from __future__ import annotations

from typing import Any

import numpy as np

import irs_plugin
from irs_plugin.evaluation.drawing import Discretizer, draw
from irs_plugin.evaluation.plain import flatten
from irs_plugin.evaluation.registration import evaluation_function
from irs_plugin.evaluation.sampling import Sampling, random_sampling
from irs_plugin.robustness.wrapping import check_count
from irs_plugin.sampling.encoding import Representation


@evaluation_function
def mutual_information(
    ground_truth_data: Any,
    representation_function: Representation,
    random_state: np.random.RandomState,
    artifact_dir: str | None = None,
    *,
    num_train: int = 10000,
    batch_size: int = 16,
    sampling: Sampling = random_sampling,
    discretizer: Discretizer | None = None,
    num_bins: int = 20,
) -> dict[str, Any]:
    """How exclusively each latent informs about one factor.

    Args:
        ground_truth_data, representation_function, random_state: handed over by dlib.
        artifact_dir: not used; the picture is `importance_matrices`.
        num_train, batch_size, sampling, discretizer: see `irs_plugin.evaluation.drawing.draw`.
        num_bins: see `irs_plugin.mutual_information`.

    Returns:
        Plain values under the names of `irs_plugin.importance.result.ImportanceResult`.
    """
    del artifact_dir
    check_count(num_bins, "num_bins", 2)
    drawn = draw(ground_truth_data, representation_function, random_state, num_train, batch_size, sampling, discretizer)
    result = irs_plugin.mutual_information(drawn.gen_factors, drawn.latents, num_bins=num_bins)
    return flatten({**result.to_dict(), "factor_names": drawn.names, **drawn.described()})
