"""Robustness of any group of latents against interventions on any group of factors, as an evaluation function."""

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
def group_robustness(
    ground_truth_data: Any,
    representation_function: Representation,
    random_state: np.random.RandomState,
    artifact_dir: str | None = None,
    *,
    latent_dims: int | Sequence[int] | None = None,
    fixed_factors: str | int | Sequence[str | int] | None = None,
    intervened_factors: str | int | Sequence[str | int] | None = None,
    num_train: int = 10000,
    batch_size: int = 16,
    sampling: Sampling = random_sampling,
    discretizer: Discretizer | None = None,
    **options: Any,
) -> dict[str, Any]:
    """IRS(L | I, J): latents L, factors I held fixed, factors J intervened on (section 4, equation 2).

    Args:
        ground_truth_data, representation_function, random_state: handed over by dlib.
        artifact_dir: not used.
        latent_dims: the group L.
        fixed_factors: the group I by names or indices; [] for none.
        intervened_factors: the group J, likewise.
        num_train, batch_size, sampling, discretizer: see `irs_plugin.evaluation.drawing.draw`.
        **options: others of `irs_plugin.interventional_robustness`: `distance`, `adjustment`, quantiles, ….

    Returns:
        Plain values, see `irs_plugin.evaluation.groups.describe`.

    Raises:
        ValueError: a group that is not bound, does not exist or overlaps another, or bad options, all before the sample
            is encoded; codes that are not finite; an adjustment that cannot work.
    """
    del artifact_dir
    fixed = factor_group(fixed_factors, ground_truth_data, "fixed_factors", may_be_empty=True)
    intervened = factor_group(intervened_factors, ground_truth_data, "intervened_factors")
    overlap = sorted(set(fixed) & set(intervened))
    if overlap:
        raise ValueError(f"factors {overlap} are both fixed and intervened on; leave them out of one of the groups.")
    check_options(irs_plugin.interventional_robustness, options, of="group_robustness")
    check_latent_dims(latent_dims, ground_truth_data, representation_function)
    drawn = draw(ground_truth_data, representation_function, random_state, num_train, batch_size, sampling, discretizer)
    result = irs_plugin.interventional_robustness(
        drawn.gen_factors,
        drawn.latents,
        latent_dims=latent_dims,
        fixed_factors=fixed,
        intervened_factors=intervened,
        **options,
        **drawn.aligned(uses_confounder(options)),
    )
    return describe(result, drawn)
