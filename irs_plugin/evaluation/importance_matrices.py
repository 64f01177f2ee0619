"""The importance matrices IRS, FI and MI side by side (figures 6 and 8 to 12) as an evaluation function."""

from __future__ import annotations

from typing import Any

import numpy as np

import irs_plugin
from irs_plugin.evaluation.drawing import Discretizer, draw
from irs_plugin.evaluation.pictures import check_picture, save, scored
from irs_plugin.evaluation.plain import flatten
from irs_plugin.evaluation.registration import evaluation_function
from irs_plugin.evaluation.sampling import Sampling, random_sampling
from irs_plugin.robustness.wrapping import check_count
from irs_plugin.sampling.encoding import Representation


@evaluation_function
def importance_matrices(
    ground_truth_data: Any,
    representation_function: Representation,
    random_state: np.random.RandomState,
    artifact_dir: str | None = None,
    *,
    output_dir: str | None = None,
    format: str = "png",
    size: str = "two_columns",
    latents_per_page: int = 30,
    num_trees: int = 50,
    min_samples_leaf: int = 500,
    num_bins: int = 20,
    num_train: int = 10000,
    batch_size: int = 16,
    sampling: Sampling = random_sampling,
    discretizer: Discretizer | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Draw the IRS matrix beside feature importance and mutual information of the same sample.

    Args:
        ground_truth_data, representation_function, random_state: handed over by dlib.
        artifact_dir: where dlib wants the picture; made if missing.
        output_dir: where you want it instead.
        format: "png", "pdf" or "svg".
        size: "one_column" or "two_columns" of a paper.
        latents_per_page: rows on a page.
        num_trees, min_samples_leaf: of the forests, see `irs_plugin.feature_importance`.
        num_bins: of the latents, see `irs_plugin.mutual_information`.
        num_train, batch_size, sampling, discretizer: see `irs_plugin.evaluation.drawing.draw`.
        **options: those of `irs_plugin.disentanglement_score`.

    Returns:
        `figures` (paths) and the three results under `interventional_robustness.…`, `feature_importance.…` and
        `mutual_information.…`.
    """
    from irs_plugin import figures

    folder = check_picture(artifact_dir, output_dir, format, size, options, latents_per_page=latents_per_page)
    check_count(num_trees, "num_trees", 1)
    check_count(min_samples_leaf, "min_samples_leaf", 1)
    check_count(num_bins, "num_bins", 2)
    drawn = draw(ground_truth_data, representation_function, random_state, num_train, batch_size, sampling, discretizer)
    score, _ = scored(drawn, options)
    forests = irs_plugin.feature_importance(
        drawn.gen_factors,
        drawn.latents,
        num_trees=num_trees,
        min_samples_leaf=min_samples_leaf,
        seed=int(random_state.randint(2**31 - 1)),
    )
    information = irs_plugin.mutual_information(drawn.gen_factors, drawn.latents, num_bins=num_bins)
    pages = figures.importance_matrices(
        [score, forests, information], factor_names=drawn.names, size=size, latents_per_page=latents_per_page
    )
    results = {"interventional_robustness": score, "feature_importance": forests, "mutual_information": information}
    return {
        **save(pages, folder, "importance_matrices", format),
        **flatten({name: result.to_dict() for name, result in results.items()}),
        **flatten({"factor_names": drawn.names, **drawn.described()}),
    }
