"""Feature importance (Eastwood & Williams, 2018; FI in the paper's appendix D) as an evaluation function."""

from __future__ import annotations

from typing import Any

import numpy as np

import irs_plugin
from irs_plugin.evaluation.drawing import Discretizer, draw
from irs_plugin.evaluation.plain import flatten
from irs_plugin.evaluation.registration import evaluation_function
from irs_plugin.evaluation.sampling import Sampling, random_sampling
from irs_plugin.importance.forests import MODELS
from irs_plugin.robustness.validation import check_choice
from irs_plugin.robustness.wrapping import check_count
from irs_plugin.sampling.encoding import Representation


@evaluation_function
def feature_importance(
    ground_truth_data: Any,
    representation_function: Representation,
    random_state: np.random.RandomState,
    artifact_dir: str | None = None,
    *,
    num_train: int = 10000,
    batch_size: int = 16,
    sampling: Sampling = random_sampling,
    discretizer: Discretizer | None = None,
    num_trees: int = 50,
    min_samples_leaf: int = 500,
    max_features: int = 1,
    model: str = "regressor",
) -> dict[str, Any]:
    """How exclusively each latent serves to predict one factor, by random forests.

    Args:
        ground_truth_data, representation_function, random_state: handed over by dlib.
        artifact_dir: not used; the picture is `importance_matrices`.
        num_train, batch_size, sampling, discretizer: see `irs_plugin.evaluation.drawing.draw`.
        num_trees, min_samples_leaf, max_features, model: see `irs_plugin.feature_importance`.

    Returns:
        Plain values under the names of `irs_plugin.importance.result.ImportanceResult`.
    """
    del artifact_dir
    check_choice(model, "model", tuple(MODELS))
    check_count(num_trees, "num_trees", 1)
    check_count(min_samples_leaf, "min_samples_leaf", 1)
    check_count(max_features, "max_features", 1)
    drawn = draw(ground_truth_data, representation_function, random_state, num_train, batch_size, sampling, discretizer)
    result = irs_plugin.feature_importance(
        drawn.gen_factors,
        drawn.latents,
        num_trees=num_trees,
        min_samples_leaf=min_samples_leaf,
        max_features=max_features,
        model=model,
        seed=int(random_state.randint(2**31 - 1)),
    )
    return flatten({**result.to_dict(), "factor_names": drawn.names, **drawn.described()})
