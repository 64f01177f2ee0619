"""Chance level of any score as an evaluation function."""

from __future__ import annotations

from typing import Any

import numpy as np

import irs_plugin
from irs_plugin.evaluation.drawing import Discretizer, draw
from irs_plugin.evaluation.plain import flatten
from irs_plugin.evaluation.registration import evaluation_function
from irs_plugin.evaluation.sampling import Sampling, random_sampling
from irs_plugin.evaluation.scores import Score, disentanglement_score
from irs_plugin.robustness.wrapping import check_count
from irs_plugin.sampling.encoding import Representation


@evaluation_function
def chance_level(
    ground_truth_data: Any,
    representation_function: Representation,
    random_state: np.random.RandomState,
    artifact_dir: str | None = None,
    *,
    score: Score = disentanglement_score,
    num_permutations: int = 200,
    with_confounder: bool = False,
    num_train: int = 10000,
    batch_size: int = 16,
    sampling: Sampling = random_sampling,
    discretizer: Discretizer | None = None,
) -> dict[str, Any]:
    """Score the sample, and codes permuted against its factors.

    Args:
        ground_truth_data, representation_function, random_state: handed over by dlib.
        artifact_dir: not used.
        score: one of `irs_plugin.evaluation.scores`, or any score of arrays.
        num_permutations: at least 2.
        with_confounder: hand the sample's confounder to the score.
        num_train, batch_size, sampling, discretizer: see `irs_plugin.evaluation.drawing.draw`.

    Returns:
        Per score that `score` returns: `….observed`, `….mean`, `….sd`, `….corrected`, `….p_value`, `….quantiles.…`.
    """
    del artifact_dir
    check_count(num_permutations, "num_permutations", 2)
    drawn = draw(ground_truth_data, representation_function, random_state, num_train, batch_size, sampling, discretizer)
    result = irs_plugin.chance_level(
        drawn.gen_factors,
        drawn.latents,
        score=score,
        num_permutations=num_permutations,
        aligned=drawn.aligned(with_confounder),
        seed=random_state,
    )
    return flatten({**result.to_dict(), "factor_names": drawn.names, **drawn.described()})
