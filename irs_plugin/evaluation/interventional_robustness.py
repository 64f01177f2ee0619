"""The disentanglement score of Suter et al. (2019) as an evaluation function of dlib."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import irs_plugin
from irs_plugin.evaluation.drawing import Discretizer, draw
from irs_plugin.evaluation.options import check_options, uses_confounder
from irs_plugin.evaluation.plain import flatten
from irs_plugin.evaluation.registration import evaluation_function
from irs_plugin.evaluation.sampling import Sampling, random_sampling
from irs_plugin.robustness.wrapping import check_count
from irs_plugin.sampling import Sample
from irs_plugin.sampling.encoding import Representation


@evaluation_function
def interventional_robustness(
    ground_truth_data: Any,
    representation_function: Representation,
    random_state: np.random.RandomState,
    artifact_dir: str | None = None,
    *,
    num_train: int = 10000,
    batch_size: int = 16,
    sampling: Sampling = random_sampling,
    discretizer: Discretizer | None = None,
    num_permutations: int = 0,
    compare_with_dlib: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """Score every latent against every factor (section 4, "disentanglement score").

    Args:
        ground_truth_data, representation_function, random_state: handed over by dlib.
        artifact_dir: not used; there is nothing to draw.
        num_train, batch_size, sampling, discretizer: see `irs_plugin.evaluation.drawing.draw`.
        num_permutations: permutations for the chance level; 0 leaves it out.
        compare_with_dlib: add dlib's own number for the same sample as `dlib_IRS`; needs dlib's discretiser bound.
        **options: those of `irs_plugin.disentanglement_score`, such as `diff_quantile` and `factor_weights`.

    Returns:
        Plain values: `IRS` (mean over active latents weighted by their normalisers, dlib's number), `mean_score`
        (unweighted), per latent under its own index `disentanglement_scores`, `parents`, `parent_names`,
        `max_deviations` (normalisers) and `active`, `irs_matrix` (num_latents, num_factors), `num_active_dims`,
        `num_samples`, `reason` (why there is no score, or None), and how it was obtained under `settings.…`,
        `diagnostics.…`, `sample.…` and `chance.…`.

    Raises:
        ValueError: options unknown or out of range (before anything is encoded), or codes that are not finite.
    """
    del artifact_dir
    check_options(irs_plugin.disentanglement_score, options, of="interventional_robustness")
    check_count(num_permutations, "num_permutations", 0)
    drawn = draw(ground_truth_data, representation_function, random_state, num_train, batch_size, sampling, discretizer)
    aligned = drawn.aligned(uses_confounder(options))
    result = irs_plugin.disentanglement_score(drawn.gen_factors, drawn.latents, **options, **aligned).to_dict()
    scores = {"IRS": result.pop("avg_score"), **result, **_named(result["parents"], drawn.names), **drawn.described()}
    if num_permutations:
        scores["chance"] = irs_plugin.chance_level(
            drawn.gen_factors,
            drawn.latents,
            score=partial(irs_plugin.disentanglement_score, **options),
            num_permutations=num_permutations,
            aligned=aligned,
            seed=random_state,
        ).to_dict()
    if compare_with_dlib:
        scores["dlib_IRS"] = dlib_irs(drawn.sample, options.get("diff_quantile", 1.0))
    return flatten(scores)


def _named(parents: list[int | None], names: list[str] | None) -> dict[str, Any]:
    named = names and [None if parent is None else names[parent] for parent in parents]
    return {"parent_names": named, "factor_names": names}


def dlib_irs(sample: Sample, diff_quantile: float) -> float:
    """What dlib's own irs metric says of a sample, its discretiser included; needs dlib's `discretizer` bindings.

    NaN where dlib's number is not finite, as it can be for constant codes.
    """
    from disentanglement_lib.evaluation.metrics import irs

    size = len(sample.gen_factors)
    found = irs.compute_irs(
        _Recorded(sample), lambda codes: codes, None, diff_quantile=diff_quantile, num_train=size, batch_size=size
    )["IRS"]
    return float(found) if np.isfinite(found) else float("nan")


class _Recorded:
    """A data set whose observations are the codes of a sample already drawn."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample

    def sample(self, num: int, random_state: Any) -> tuple[np.ndarray, np.ndarray]:
        del random_state
        return self._sample.gen_factors[:num], self._sample.latents[:num]
