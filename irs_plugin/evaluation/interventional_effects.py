"""The picture of interventional effects (section 6.3, figures 13 to 17) as an evaluation function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from irs_plugin.evaluation.drawing import Discretizer, draw
from irs_plugin.evaluation.factor_names import factor_group
from irs_plugin.evaluation.pictures import check_picture, save, scored
from irs_plugin.evaluation.plain import flatten
from irs_plugin.evaluation.registration import evaluation_function
from irs_plugin.evaluation.sampling import Sampling, random_sampling
from irs_plugin.robustness.plain import plain
from irs_plugin.sampling.encoding import Representation


@evaluation_function
def interventional_effects(
    ground_truth_data: Any,
    representation_function: Representation,
    random_state: np.random.RandomState,
    artifact_dir: str | None = None,
    *,
    output_dir: str | None = None,
    format: str = "png",
    size: str = "two_columns",
    cyclic_factors: Sequence[str | int] = (),
    latents_per_page: int = 10,
    num_train: int = 10000,
    batch_size: int = 16,
    sampling: Sampling = random_sampling,
    discretizer: Discretizer | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Draw how each latent answers to interventions on its parent and on one other factor at a time.

    Args:
        ground_truth_data, representation_function, random_state: handed over by dlib.
        artifact_dir: where dlib wants the picture; made if missing.
        output_dir: where you want it instead.
        format: "png", "pdf" or "svg".
        size: "one_column" or "two_columns" of a paper.
        cyclic_factors: factors whose last value adjoins the first, by name or index; they get cyclic colours.
        latents_per_page: rows on a page.
        num_train, batch_size, sampling, discretizer: see `irs_plugin.evaluation.drawing.draw`.
        **options: those of `irs_plugin.disentanglement_score`.

    Returns:
        `figures` (paths), `effects` (the curves of every latent) and the score they illustrate.
    """
    from irs_plugin import figures

    folder = check_picture(artifact_dir, output_dir, format, size, options, latents_per_page=latents_per_page)
    wrapping = factor_group(cyclic_factors, ground_truth_data, "cyclic_factors", may_be_empty=True)
    drawn = draw(ground_truth_data, representation_function, random_state, num_train, batch_size, sampling, discretizer)
    score, shared = scored(drawn, options)
    effects = figures.interventional_effects_data(
        drawn.gen_factors, drawn.latents, score, factor_names=drawn.names, **shared
    )
    pages = figures.draw_interventional_effects(
        effects, cyclic_factors=wrapping, size=size, latents_per_page=latents_per_page
    )
    return {
        **save(pages, folder, "interventional_effects", format),
        "effects": plain(effects.to_dict()),
        **flatten({"score": score.to_dict(), **drawn.described()}),
    }
