"""Spread of any score over independent draws of the evaluation sample, as an evaluation function."""

from __future__ import annotations

from typing import Any

import numpy as np

import irs_plugin
from irs_plugin.evaluation.drawing import Discretizer, draw
from irs_plugin.evaluation.factor_names import factor_names
from irs_plugin.evaluation.plain import flatten
from irs_plugin.evaluation.registration import evaluation_function
from irs_plugin.evaluation.sampling import Sampling, random_sampling
from irs_plugin.evaluation.scores import Score, disentanglement_score
from irs_plugin.sampling.encoding import Representation


@evaluation_function
def repeated_scores(
    ground_truth_data: Any,
    representation_function: Representation,
    random_state: np.random.RandomState,
    artifact_dir: str | None = None,
    *,
    score: Score = disentanglement_score,
    num_repeats: int = 10,
    with_confounder: bool = False,
    num_train: int = 10000,
    batch_size: int = 16,
    sampling: Sampling = random_sampling,
    discretizer: Discretizer | None = None,
) -> dict[str, Any]:
    """Draw, encode and score afresh, several times.

    Args:
        ground_truth_data, representation_function, random_state: handed over by dlib.
        artifact_dir: not used.
        score: one of `irs_plugin.evaluation.scores`, or any score of arrays.
        num_repeats: at least 2.
        with_confounder: hand each sample's confounder to the score.
        num_train, batch_size, sampling, discretizer: see `irs_plugin.evaluation.drawing.draw`.

    Returns:
        Per score that `score` returns: `….mean`, `….sd`, `….min`, `….max` and `….samples`.
    """
    del artifact_dir

    def draw_again(fresh: np.random.RandomState) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        drawn = draw(ground_truth_data, representation_function, fresh, num_train, batch_size, sampling, discretizer)
        return drawn.gen_factors, drawn.latents, drawn.aligned(with_confounder)

    result = irs_plugin.repeated_scores(draw_again, score, num_repeats=num_repeats, seed=random_state)
    return flatten({**result.to_dict(), "factor_names": factor_names(ground_truth_data)})
