"""Robustness of a group of latents to a shift of some factors, as an evaluation function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import irs_plugin
from irs_plugin.evaluation.drawing import Discretizer, draw
from irs_plugin.evaluation.factor_names import factor_group
from irs_plugin.evaluation.groups import check_latent_dims, describe
from irs_plugin.evaluation.options import check_options, uses_confounder
from irs_plugin.evaluation.registration import evaluation_function
from irs_plugin.evaluation.sampling import Sampling, random_sampling
from irs_plugin.sampling.encoding import Representation


@evaluation_function
def domain_shift_robustness(
    ground_truth_data: Any,
    representation_function: Representation,
    random_state: np.random.RandomState,
    artifact_dir: str | None = None,
    *,
    latent_dims: int | Sequence[int] | None = None,
    shifted_factors: str | int | Sequence[str | int] | None = None,
    num_train: int = 10000,
    batch_size: int = 16,
    sampling: Sampling = random_sampling,
    discretizer: Discretizer | None = None,
    **options: Any,
) -> dict[str, Any]:
    """IRS(L | all others, S): latents L when only the factors S shift (section 4).

    On a random sample nearly every combination of the other factors occurs once, so that nothing shifts and the score
    is 1 without meaning: use the grid or a sub-grid (`num_interventions` in the result says how many values of S met).

    Args:
        ground_truth_data, representation_function, random_state: handed over by dlib.
        artifact_dir: not used.
        latent_dims: the group L.
        shifted_factors: the group S by names or indices.
        num_train, batch_size, sampling, discretizer: see `irs_plugin.evaluation.drawing.draw`.
        **options: others of `irs_plugin.interventional_robustness`.

    Returns:
        Plain values, see `irs_plugin.evaluation.groups.describe`.

    Raises:
        ValueError: as for `group_robustness`.
    """
    del artifact_dir
    shifted = factor_group(shifted_factors, ground_truth_data, "shifted_factors")
    check_options(irs_plugin.interventional_robustness, options, of="domain_shift_robustness")
    check_latent_dims(latent_dims, ground_truth_data, representation_function)
    drawn = draw(ground_truth_data, representation_function, random_state, num_train, batch_size, sampling, discretizer)
    result = irs_plugin.domain_shift_robustness(
        drawn.gen_factors,
        drawn.latents,
        latent_dims=latent_dims,
        shifted_factors=shifted,
        **options,
        **drawn.aligned(uses_confounder(options)),
    )
    return describe(result, drawn)
