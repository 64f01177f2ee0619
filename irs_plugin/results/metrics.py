"""The metrics that disentanglement_lib and this package compute: where each number lies, and which way is better."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from irs_plugin.results.result import Result


@dataclass(frozen=True)
class Metric:
    """One number of an evaluation function's results.

    Attributes:
        name: in tables and pictures; ``{predictor}`` and ``{size}`` stand for the classifier and the number of samples.
        evaluation_fn: gin name of the evaluation function.
        key: of the number in what the function returns; ``{size}`` stands for the largest training size there.
        higher_is_better: None where neither direction is.
        description: one sentence, for readers who do not know it.
        source: who proposed it.
        headline: whether it is what the function is known by; others accompany it.
        chance_key: of its chance level, where there may be one.
    """

    name: str
    evaluation_fn: str
    key: str
    higher_is_better: bool | None
    description: str
    source: str
    headline: bool = True
    chance_key: str | None = None


_SUTER = "Suter et al., 2019"
_LOCATELLO = "Locatello et al., 2019"
_EASTWOOD = "Eastwood & Williams, 2018"
_RIDGEWAY = "Ridgeway & Mozer, 2018"

_PREDICTORS = {"gradient_boosting_classifier": "GBT", "logistic_regression_cv": "LR"}
_MATRICES = {"importance_gbt_matrix": "GBT", "mutual_information_matrix": "MI", "accuracy_svm_matrix": "SVM"}
_AGGREGATIONS = {
    "dci_disentanglement": "DCI",
    "dci_completeness": "completeness",
    "mig": "MIG",
    "sap": "SAP",
    "modularity": "modularity",
}

METRICS: tuple[Metric, ...] = (
    Metric(
        "IRS",
        "interventional_robustness",
        "IRS",
        True,
        "How far a latent stays put while factors other than its parent are set to other values: mean over active "
        "latents, weighted by how far each moves at all.",
        _SUTER,
        chance_key="chance.avg_score.mean",
    ),
    Metric(
        "IRS above chance",
        "interventional_robustness",
        "chance.avg_score.corrected",
        True,
        "IRS relative to its chance level: 0 at chance, 1 at the best.",
        _SUTER,
        headline=False,
    ),
    Metric(
        "IRS unweighted",
        "interventional_robustness",
        "mean_score",
        True,
        "IRS with every active latent counting the same.",
        _SUTER,
        headline=False,
        chance_key="chance.mean_score.mean",
    ),
    Metric(
        "IRS (dlib)",
        "interventional_robustness",
        "dlib_IRS",
        True,
        "IRS as disentanglement_lib computes it, on the same sample.",
        _SUTER,
        headline=False,
    ),
    Metric("IRS (dlib)", "irs", "IRS", True, "IRS as disentanglement_lib computes it.", _SUTER),
    Metric(
        "IRS",
        "chance_level",
        "avg_score.observed",
        True,
        "IRS of the sample whose chance level was estimated.",
        _SUTER,
        chance_key="avg_score.mean",
    ),
    Metric(
        "IRS above chance",
        "chance_level",
        "avg_score.corrected",
        True,
        "IRS relative to its chance level: 0 at chance, 1 at the best.",
        _SUTER,
        headline=False,
    ),
    Metric(
        "IRS over draws",
        "repeated_scores",
        "avg_score.mean",
        True,
        "Mean of IRS over independent draws of the sample.",
        _SUTER,
    ),
    Metric(
        "Group robustness",
        "group_robustness",
        "IRS",
        True,
        "Robustness of a group of latents, some factors held fixed, to interventions on others.",
        _SUTER,
    ),
    Metric(
        "Domain shift robustness",
        "domain_shift_robustness",
        "IRS",
        True,
        "Robustness of a group of latents when some factors shift and all others stay.",
        _SUTER,
    ),
    Metric(
        "BetaVAE",
        "beta_vae_sklearn",
        "eval_accuracy",
        True,
        "Accuracy of telling from differences of codes which factor two images share.",
        "Higgins et al., 2017",
    ),
    Metric(
        "FactorVAE",
        "factor_vae_score",
        "eval_accuracy",
        True,
        "Accuracy of telling the factor that images share by the latent that varies least.",
        "Kim & Mnih, 2018",
    ),
    Metric(
        "MIG",
        "mig",
        "discrete_mig",
        True,
        "Gap between the two latents that inform most about a factor, in units of its entropy.",
        "Chen et al., 2018",
    ),
    Metric(
        "SAP",
        "sap_score",
        "SAP_score",
        True,
        "Gap between the two latents that predict a factor best.",
        "Kumar et al., 2018",
    ),
    Metric("DCI", "dci", "disentanglement", True, "How exclusively a latent serves to predict one factor.", _EASTWOOD),
    Metric(
        "DCI completeness",
        "dci",
        "completeness",
        True,
        "How exclusively a factor is predicted by one latent.",
        _EASTWOOD,
        headline=False,
    ),
    Metric(
        "DCI informativeness",
        "dci",
        "informativeness_test",
        True,
        "Accuracy of predicting the factors from all latents by boosted trees.",
        _EASTWOOD,
        headline=False,
    ),
    Metric(
        "Modularity",
        "modularity_explicitness",
        "modularity_score",
        True,
        "How exclusively a latent informs about one factor.",
        _RIDGEWAY,
    ),
    Metric(
        "Explicitness",
        "modularity_explicitness",
        "explicitness_score_test",
        True,
        "Area under the ROC curve of predicting the factors from all latents by logistic regression.",
        _RIDGEWAY,
        headline=False,
    ),
    Metric(
        "FI",
        "feature_importance",
        "average",
        True,
        "How exclusively a latent serves to predict one factor, by random forests.",
        f"{_EASTWOOD}; {_SUTER}",
    ),
    Metric(
        "FI informativeness",
        "feature_importance",
        "avg_informativeness",
        True,
        "How well the forests predict the factors of samples they have not seen.",
        _EASTWOOD,
        headline=False,
    ),
    Metric(
        "MI",
        "mutual_information",
        "average",
        True,
        "How exclusively a latent informs about one factor, by mutual information.",
        f"{_RIDGEWAY}; {_SUTER}",
    ),
    Metric(
        "MI informativeness",
        "mutual_information",
        "avg_informativeness",
        True,
        "How much the most informative latent tells of a factor.",
        _RIDGEWAY,
        headline=False,
    ),
    Metric(
        "{predictor}{size}",
        "downstream_task",
        "{size}:mean_test_accuracy",
        True,
        "Accuracy of predicting the factors from that many labelled codes, mean over factors.",
        _LOCATELLO,
    ),
    Metric(
        "{predictor}{size} under shift",
        "strong_downstream_task",
        "{size}:mean_strong_test_accuracy",
        True,
        "Accuracy of predicting the factors where another factor takes values never seen in training.",
        _LOCATELLO,
    ),
    Metric(
        "{predictor}{size} generalisation gap",
        "strong_downstream_task",
        "{size}:strong_generalization_gap",
        False,
        "Share of the accuracy that is lost where another factor takes values never seen in training.",
        _LOCATELLO,
        headline=False,
    ),
    Metric(
        "{predictor}{size} of the reduced factor",
        "reduced_downstream_task",
        "{size}:mean_test_accuracy_reduced_factor",
        False,
        "Accuracy of predicting a factor once its most predictive latents are removed: what leaks into the others.",
        _LOCATELLO,
    ),
    Metric(
        "{predictor}{size} of the other factors",
        "reduced_downstream_task",
        "{size}:mean_test_accuracy_other_factors",
        True,
        "Accuracy of predicting the other factors once one factor's most predictive latents are removed.",
        _LOCATELLO,
        headline=False,
    ),
    Metric(
        "Unfairness",
        "fairness",
        "mean_fairness:mean_pred:mean_sens",
        False,
        "How far predictions of one factor depend on another (total variation), mean over all pairs.",
        "Locatello et al., NeurIPS 2019",
    ),
    Metric(
        "Total correlation",
        "unsupervised_metrics",
        "gaussian_total_correlation",
        False,
        "Dependence between latents, were they Gaussian, in nats.",
        _LOCATELLO,
    ),
    Metric(
        "Wasserstein correlation",
        "unsupervised_metrics",
        "gaussian_wasserstein_correlation",
        False,
        "Distance of the latents, were they Gaussian, from independent ones.",
        _LOCATELLO,
        headline=False,
    ),
    Metric(
        "Wasserstein correlation, normalised",
        "unsupervised_metrics",
        "gaussian_wasserstein_correlation_norm",
        False,
        "Distance of the latents, were they Gaussian, from independent ones, in units of their total variance.",
        _LOCATELLO,
        headline=False,
    ),
    Metric(
        "MI between latents",
        "unsupervised_metrics",
        "mutual_info_score",
        False,
        "Mutual information of two latents in nats, mean over all pairs.",
        _LOCATELLO,
        headline=False,
    ),
    *(
        Metric(
            f"Unified {name} ({matrix_name})",
            "unified_scores",
            f"{matrix}.{aggregation}",
            True,
            f"{name} computed from the {matrix.removesuffix('_matrix').replace('_', ' ')} matrix.",
            _LOCATELLO,
            headline=False,
        )
        for (matrix, matrix_name), (aggregation, name) in product(_MATRICES.items(), _AGGREGATIONS.items())
    ),
)

# Evaluation functions that draw: the numbers in their results are others' scores.
PICTURES = frozenset(
    {
        "conditional_densities",
        "convergence",
        "importance_matrices",
        "interventional_effects",
        "robustness_tradeoff",
        "witnesses",
    }
)

_BY_FUNCTION: dict[str, list[Metric]] = {}
for _metric in METRICS:
    _BY_FUNCTION.setdefault(_metric.evaluation_fn, []).append(_metric)

_SIZED = {metric.evaluation_fn for metric in METRICS if "{size}" in metric.key}

# What unknown functions return beside scores: settings, sizes, seeds, identifiers.
_BOOKKEEPING = re.compile(
    r"elapsed_time|uuid|(.*[._])?seed|(.*[._])?(size|sizes)|num_.*|(settings|sample|diagnostics|support)\..*"
)


def found_metrics(result: Result) -> list[Metric]:
    """The metrics that a result holds, names and keys filled in.

    Of functions that are not known every number counts, except bookkeeping; nothing is known of its direction.

    Raises:
        ValueError: a known function's result holds none of its numbers; the message is the reason.
    """
    if result.function in PICTURES:
        return []
    known = [_filled(metric, result) for metric in _BY_FUNCTION.get(result.function, ())]
    if found := [metric for metric in known if metric.key in result.scores]:
        return found
    found = [
        Metric(f"{result.evaluation}: {key}", result.function, key, None, f"{key} of {result.function}.", "")
        for key, value in result.scores.items()
        if is_number(value) and not _BOOKKEEPING.fullmatch(key)
    ]
    if known and not found:
        raise ValueError(f"it has no {' or '.join(metric.key for metric in known)} of {result.function}")
    return found


def add_nulls(found: Iterable[tuple[Result, list[Metric]]]) -> None:
    """Add to each result's metrics those that are null in it, but a number in another result of the same evaluation."""
    found = list(found)
    shared: dict[str, dict[str, Metric]] = {}
    for result, metrics in found:
        shared.setdefault(result.evaluation, {}).update({metric.key: metric for metric in metrics})
    for result, metrics in found:
        there = {metric.key for metric in metrics}
        metrics.extend(
            metric
            for key, metric in shared[result.evaluation].items()
            if key not in there and result.scores.get(key, 0) is None
        )


def largest_size(result: Result) -> int | None:
    """Largest training size among the keys of a downstream task; None of any other evaluation."""
    if result.function not in _SIZED:
        return None
    sizes = [
        int(size) for size, colon, _ in (key.partition(":") for key in result.scores) if colon and size.isdecimal()
    ]
    return max(sizes, default=None)


def is_number(value: Any) -> bool:
    """Whether a JSON value is a number; truth values are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def as_score(value: Any, key: str) -> float:
    """A score as the table has it: NaN where it is null, or not finite.

    Raises:
        ValueError: it is no number at all; the message is the reason.
    """
    if value is None:
        return math.nan
    if not is_number(value):
        raise ValueError(f"its {key} is not a number but {str(value)[:60]!r}")
    try:
        return float(value) if math.isfinite(value) else math.nan
    except OverflowError:  # a whole number beyond all floats
        return math.nan


def _filled(metric: Metric, result: Result) -> Metric:
    if "{" not in metric.key:
        return metric
    predictor = result.text("evaluation", "predictor.predictor_fn")
    filled = {"size": largest_size(result), "predictor": _PREDICTORS.get(predictor, f"{predictor or 'accuracy'} ")}
    return replace(metric, name=metric.name.format(**filled), key=metric.key.format(**filled))
