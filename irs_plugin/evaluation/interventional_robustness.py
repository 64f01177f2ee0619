"""The disentanglement score of Suter et al. (2019) as an evaluation function of dlib."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import irs_plugin
from irs_plugin.evaluation.factor_names import factor_names
from irs_plugin.evaluation.plain import flatten
from irs_plugin.evaluation.registration import evaluation_function
from irs_plugin.evaluation.sample import Sample, draw_sample
from irs_plugin.robustness.validation import check_choice, check_quantile


@evaluation_function
def interventional_robustness(
    ground_truth_data: Any,
    representation_function: Callable[[np.ndarray], np.ndarray],
    random_state: np.random.RandomState,
    artifact_dir: str | None = None,
    *,
    num_train: int = 10000,
    batch_size: int = 256,
    diff_quantile: float = 1.0,
    normalizer_quantile: float = 1.0,
    factor_weights: str = "observed",
    discretizer: Callable[[np.ndarray], np.ndarray] | None = None,
    compare_with_dlib: bool = False,
) -> dict[str, Any]:
    """Score every latent against every factor (section 4, "disentanglement score").

    Args:
        ground_truth_data: dlib data set to sample from.
        representation_function: observations `(n, …)` to codes `(n, num_latents)`.
        random_state: source of the sample.
        artifact_dir: not used; there is nothing to draw.
        num_train: sample size.
        batch_size: observations encoded at a time. dlib draws its factors per batch, so it is part of the seed.
        diff_quantile: quantile of the distances inside a realisation; 1.0 is the paper's supremum.
        normalizer_quantile: quantile of the distances to the overall mean.
        factor_weights: weight of a factor's realisations, "observed" frequencies or "uniform".
        discretizer: maps factors `(num_factors, num_samples)` to bins of the same shape, as dlib's `@discretizer`
            does; None takes the factors as they are.
        compare_with_dlib: add dlib's own number for the same sample as `dlib_IRS`.

    Returns:
        Plain values: `IRS` (mean over active latents weighted by their normalisers, dlib's number), `mean_score`
        (unweighted), per latent under its own index `disentanglement_scores`, `parents`, `parent_names`,
        `max_deviations` (normalisers) and `active`, `irs_matrix` (num_latents, num_factors), `num_active_dims`,
        `num_samples`, `reason` (why there is no score, or None), and how it was obtained under `settings.…` and
        `diagnostics.…`.

    Raises:
        ValueError: options out of range (before anything is encoded), or codes that are not finite.
    """
    del artifact_dir
    check_quantile(diff_quantile, "diff_quantile")
    check_quantile(normalizer_quantile, "normalizer_quantile")
    check_choice(factor_weights, "factor_weights", ("observed", "uniform"))
    sample = draw_sample(ground_truth_data, representation_function, random_state, num_train, batch_size)
    gen_factors = sample.gen_factors if discretizer is None else discretizer(sample.gen_factors.T).T
    result = irs_plugin.disentanglement_score(
        gen_factors,
        sample.latents,
        diff_quantile=diff_quantile,
        normalizer_quantile=normalizer_quantile,
        factor_weights=factor_weights,
    ).to_dict()
    names = factor_names(ground_truth_data)
    scores = {
        "IRS": result.pop("avg_score"),
        **result,
        "factor_names": names,
        "parent_names": names and [None if parent is None else names[parent] for parent in result["parents"]],
    }
    if compare_with_dlib:
        scores["dlib_IRS"] = dlib_irs(sample, diff_quantile)
    return flatten(scores)


def dlib_irs(sample: Sample, diff_quantile: float) -> float:
    """What dlib's own irs metric says of a sample, its discretiser included; needs dlib's `discretizer` bindings."""
    from disentanglement_lib.evaluation.metrics import irs

    size = len(sample.gen_factors)
    recorded = _Recorded(sample)
    return irs.compute_irs(
        recorded, lambda codes: codes, None, diff_quantile=diff_quantile, num_train=size, batch_size=size
    )["IRS"]


class _Recorded:
    """A data set whose observations are the codes of a sample already drawn."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample

    def sample(self, num: int, random_state: Any) -> tuple[np.ndarray, np.ndarray]:
        del random_state
        return self._sample.gen_factors[:num], self._sample.latents[:num]
