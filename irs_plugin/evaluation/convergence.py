"""A score against the sample size, with its chance level, as an evaluation function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import irs_plugin
from irs_plugin.evaluation.drawing import Discretizer, draw
from irs_plugin.evaluation.pictures import check_picture, save
from irs_plugin.evaluation.plain import flatten
from irs_plugin.evaluation.registration import evaluation_function
from irs_plugin.evaluation.sampling import Sampling, random_sampling
from irs_plugin.evaluation.scores import Score, disentanglement_score
from irs_plugin.robustness.validation import check_choice
from irs_plugin.robustness.wrapping import check_count, named_scores
from irs_plugin.sampling.encoding import Representation


@evaluation_function
def convergence(
    ground_truth_data: Any,
    representation_function: Representation,
    random_state: np.random.RandomState,
    artifact_dir: str | None = None,
    *,
    output_dir: str | None = None,
    format: str = "png",
    size: str = "one_column",
    score: Score = disentanglement_score,
    drawn_score: str = "avg_score",
    sizes: Sequence[int] | None = None,
    num_draws: int = 5,
    num_permutations: int = 20,
    with_confounder: bool = False,
    num_train: int = 10000,
    batch_size: int = 16,
    sampling: Sampling = random_sampling,
    discretizer: Discretizer | None = None,
) -> dict[str, Any]:
    """Score subsets of growing size, up to the whole sample (the full grid with `@grid_sampling`), and draw the curve.

    Args:
        ground_truth_data, representation_function, random_state: handed over by dlib.
        artifact_dir: where dlib wants the picture; made if missing.
        output_dir: where you want it instead.
        format: "png", "pdf" or "svg".
        size: "one_column" or "two_columns" of a paper.
        score: one of `irs_plugin.evaluation.scores`, or any score of arrays.
        drawn_score: which of its numbers to draw.
        sizes: sample sizes; None for 100, 200, 500, 1000, … and all.
        num_draws: subsets per size.
        num_permutations: for the chance level at each size; 0 leaves it out.
        with_confounder: hand the sample's confounder to the score.
        num_train, batch_size, sampling, discretizer: see `irs_plugin.evaluation.drawing.draw`.

    Returns:
        `figures` (paths), `sizes`, and the numbers at each size under `steps` and `chance`.
    """
    from irs_plugin import figures

    folder = check_picture(artifact_dir, output_dir, format, size, {})
    check_count(num_draws, "num_draws", 1)
    check_count(num_permutations, "num_permutations", 0)
    drawn = draw(ground_truth_data, representation_function, random_state, num_train, batch_size, sampling, discretizer)
    aligned = drawn.aligned(with_confounder)
    # One score tells the names before many are computed.
    names = named_scores(score(drawn.gen_factors, drawn.latents, **aligned))
    check_choice(drawn_score, "drawn_score", tuple(names))
    result = irs_plugin.convergence(
        drawn.gen_factors,
        drawn.latents,
        score=score,
        sizes=sizes,
        num_draws=num_draws,
        num_permutations=num_permutations,
        aligned=aligned,
        seed=random_state,
    )
    picture = figures.convergence(result, score=drawn_score, size=size)
    return {**save(picture, folder, "convergence", format), **result.to_dict(), **flatten(drawn.described())}
