"""The picture of conditional densities (figure 7) as an evaluation function."""

from __future__ import annotations

from typing import Any

import numpy as np

from irs_plugin.evaluation.drawing import Discretizer, draw
from irs_plugin.evaluation.pictures import check_picture, save, scored
from irs_plugin.evaluation.plain import flatten
from irs_plugin.evaluation.registration import evaluation_function
from irs_plugin.evaluation.sampling import Sampling, random_sampling
from irs_plugin.sampling.encoding import Representation


@evaluation_function
def conditional_densities(
    ground_truth_data: Any,
    representation_function: Representation,
    random_state: np.random.RandomState,
    artifact_dir: str | None = None,
    *,
    output_dir: str | None = None,
    format: str = "png",
    size: str = "two_columns",
    latents_per_page: int = 10,
    num_train: int = 10000,
    batch_size: int = 16,
    sampling: Sampling = random_sampling,
    discretizer: Discretizer | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Draw violins of each latent given one factor at a time.

    Args:
        ground_truth_data, representation_function, random_state: handed over by dlib.
        artifact_dir: where dlib wants the picture; made if missing.
        output_dir: where you want it instead.
        format: "png", "pdf" or "svg".
        size: "one_column" or "two_columns" of a paper.
        latents_per_page: rows on a page.
        num_train, batch_size, sampling, discretizer: see `irs_plugin.evaluation.drawing.draw`.
        **options: those of `irs_plugin.disentanglement_score`.
            They decide which latents are active; densities are never adjusted.

    Returns:
        `figures` (paths), `densities` (medians per latent, factor and value) and the score.
    """
    from irs_plugin import figures

    folder = check_picture(artifact_dir, output_dir, format, size, options, latents_per_page=latents_per_page)
    drawn = draw(ground_truth_data, representation_function, random_state, num_train, batch_size, sampling, discretizer)
    score, _ = scored(drawn, options)
    densities = figures.conditional_densities_data(drawn.gen_factors, drawn.latents, score, factor_names=drawn.names)
    pages = figures.draw_conditional_densities(densities, size=size, latents_per_page=latents_per_page)
    return {
        **save(pages, folder, "conditional_densities", format),
        "densities": densities.to_dict(),
        **flatten({"score": score.to_dict(), **drawn.described()}),
    }
