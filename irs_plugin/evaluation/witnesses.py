"""The images behind the worst interventions as an evaluation function."""

from __future__ import annotations

from typing import Any

import numpy as np

from irs_plugin.evaluation.drawing import Discretizer, draw
from irs_plugin.evaluation.pictures import check_picture, save, scored
from irs_plugin.evaluation.plain import flatten
from irs_plugin.evaluation.registration import evaluation_function
from irs_plugin.evaluation.sampling import Sampling, random_sampling
from irs_plugin.robustness.wrapping import check_count
from irs_plugin.sampling.encoding import Representation


@evaluation_function
def witnesses(
    ground_truth_data: Any,
    representation_function: Representation,
    random_state: np.random.RandomState,
    artifact_dir: str | None = None,
    *,
    output_dir: str | None = None,
    format: str = "png",
    size: str = "two_columns",
    num_per_latent: int = 3,
    latents_per_page: int = 7,
    num_train: int = 10000,
    batch_size: int = 16,
    sampling: Sampling = random_sampling,
    discretizer: Discretizer | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Draw, for each latent, the images between which it moves most although its parent stays the same.

    The images are rendered again from their factors; where a data set adds noise to its images, as noisy dSprites does,
    they show another draw of it.

    Args:
        ground_truth_data, representation_function, random_state: handed over by dlib.
        artifact_dir: where dlib wants the picture; made if missing.
        output_dir: where you want it instead.
        format: "png", "pdf" or "svg".
        size: "one_column" or "two_columns" of a paper.
        num_per_latent: realisations of the parent, the worst first.
        latents_per_page: rows on a page.
        num_train, batch_size, sampling, discretizer: see `irs_plugin.evaluation.drawing.draw`.
        **options: those of `irs_plugin.disentanglement_score`.

    Returns:
        `figures` (paths), `witnesses` (rows, factor changes and how far the code moved) and the score.
    """
    from irs_plugin import figures

    folder = check_picture(artifact_dir, output_dir, format, size, options, latents_per_page=latents_per_page)
    check_count(num_per_latent, "num_per_latent", 1)
    drawn = draw(ground_truth_data, representation_function, random_state, num_train, batch_size, sampling, discretizer)
    score, shared = scored(drawn, options)
    found = figures.witnesses_data(
        drawn.gen_factors, drawn.latents, score, num_per_latent=num_per_latent, factor_names=drawn.names, **shared
    )

    def images(rows: np.ndarray) -> np.ndarray:
        factors = drawn.sample.gen_factors[rows]
        return ground_truth_data.sample_observations_from_factors(factors, np.random.RandomState(0))

    pages = figures.draw_witnesses(found, images, size=size, latents_per_page=latents_per_page)
    return {
        **save(pages, folder, "witnesses", format),
        **found.to_dict(),
        **flatten({"score": score.to_dict(), **drawn.described()}),
    }
