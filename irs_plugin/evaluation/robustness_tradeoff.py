"""Predictive power against the robustness demanded of the features (section 4) as an evaluation function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import irs_plugin
from irs_plugin.evaluation.drawing import Discretizer, draw
from irs_plugin.evaluation.factor_names import factor_group
from irs_plugin.evaluation.pictures import check_picture, save
from irs_plugin.evaluation.plain import flatten
from irs_plugin.evaluation.registration import evaluation_function
from irs_plugin.evaluation.sampling import Sampling, random_sampling
from irs_plugin.robustness.wrapping import check_count
from irs_plugin.sampling.encoding import Representation


@evaluation_function
def robustness_tradeoff(
    ground_truth_data: Any,
    representation_function: Representation,
    random_state: np.random.RandomState,
    artifact_dir: str | None = None,
    *,
    output_dir: str | None = None,
    format: str = "png",
    size: str = "one_column",
    target: str | int | None = None,
    nuisance_factors: str | int | Sequence[str | int] | None = None,
    thresholds: Sequence[float] | None = None,
    estimator: Any = None,
    scoring: Any = None,
    cv: Any = 5,
    exhaustive_limit: int = 5,
    num_train: int = 10000,
    batch_size: int = 16,
    sampling: Sampling = random_sampling,
    discretizer: Discretizer | None = None,
) -> dict[str, Any]:
    """Find and draw the best prediction from the latents that withstand a shift of the nuisance factors.

    Robustness to a domain shift needs combinations that differ in the nuisance factors only: use `@grid_sampling` with
    a sub-grid rather than a random sample.

    Args:
        ground_truth_data, representation_function, random_state: handed over by dlib.
        artifact_dir: where dlib wants the picture; made if missing.
        output_dir: where you want it instead.
        format: "png", "pdf" or "svg".
        size: "one_column" or "two_columns" of a paper.
        target: the factor to predict, by name or index.
        nuisance_factors: the factors whose shift the features are to withstand.
        thresholds, estimator, scoring, cv, exhaustive_limit: see `irs_plugin.choose_features`.
        num_train, batch_size, sampling, discretizer: see `irs_plugin.evaluation.drawing.draw`.

    Returns:
        `figures` (paths), `robustness` per latent, `choices` per threshold, `baseline_score`, `scores_by_set`.
    """
    from irs_plugin import figures

    folder = check_picture(artifact_dir, output_dir, format, size, {})
    (wanted,) = factor_group(target, ground_truth_data, "target")
    nuisance = factor_group(nuisance_factors, ground_truth_data, "nuisance_factors")
    if wanted in nuisance:
        raise ValueError(f"target {target!r} is among the nuisance factors {nuisance_factors!r}; it cannot be both.")
    check_count(exhaustive_limit, "exhaustive_limit", 0)
    drawn = draw(ground_truth_data, representation_function, random_state, num_train, batch_size, sampling, discretizer)
    result = irs_plugin.choose_features(
        drawn.gen_factors,
        drawn.latents,
        wanted,
        nuisance_factors=nuisance,
        thresholds=thresholds,
        estimator=estimator,
        scoring=scoring,
        cv=cv,
        exhaustive_limit=exhaustive_limit,
        seed=int(random_state.randint(2**31 - 1)),
    )
    pages = figures.robustness_tradeoff(result, size=size)
    return {**save(pages, folder, "robustness_tradeoff", format), **result.to_dict(), **flatten(drawn.described())}
