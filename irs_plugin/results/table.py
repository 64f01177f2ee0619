"""The tidy table of scores: a row per model, representation and metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from zlib import crc32

from irs_plugin.results.methods import method_of, swept_settings
from irs_plugin.results.metrics import METRICS, Metric, as_score, is_number, largest_size
from irs_plugin.results.result import Result, whole_number

if TYPE_CHECKING:
    import pandas as pd

# Column to type. Texts are empty where there is none, so that grouping by them loses no row; numbers are missing.
COLUMNS = {
    "model": "str",
    "model_num": "Int64",
    "dataset": "str",
    "method": "str",
    "hyperparameter": "str",
    "value": "float64",
    "seed": "Int64",
    "training_steps": "Int64",
    "representation": "str",
    "evaluation": "str",
    "metric": "str",
    "score": "float64",
    "chance": "float64",
    "sample_size": "Int64",
    "active": "Int64",
    "estimator": "str",
    "evaluation_seed": "Int64",
    "elapsed_seconds": "float64",
    "path": "str",
}


def tabulate(found: Sequence[tuple[Result, list[Metric]]]) -> tuple[pd.DataFrame, dict[str, Metric]]:
    """The table of results and their metrics, and what each metric is under the name it has there, in registry order.

    A metric that several evaluations computed, such as two presets of one function, has each one's name added to its
    own, so that a name stands for one thing.
    """
    import pandas as pd

    evaluations: dict[str, set[str]] = {}
    for result, metrics in found:
        for metric in metrics:
            evaluations.setdefault(metric.name, set()).add(result.evaluation)
    swept = swept_settings(result for result, _ in found)
    models = _name_models([result for result, _ in found])
    rows, legend = [], {}
    for (result, metrics), model in zip(found, models, strict=True):
        shared = {"model": model, **_describe(result, swept)}
        for metric in metrics:
            name = (
                _with_evaluation(metric.name, result.evaluation) if len(evaluations[metric.name]) > 1 else metric.name
            )
            legend[name] = replace(metric, name=name)
            rows.append({**shared, "metric": name, **_measured(result, metric)})
    table = pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)
    order = {metric.evaluation_fn: place for place, metric in enumerate(METRICS)}
    return table, dict(sorted(legend.items(), key=lambda entry: order.get(entry[1].evaluation_fn, len(METRICS))))


def _with_evaluation(name: str, evaluation: str) -> str:
    """ "IRS (irs_grid)", "IRS (dlib, irs_grid)"."""
    return f"{name[:-1]}, {evaluation})" if name.endswith(")") else f"{name} ({evaluation})"


def _name_models(results: Sequence[Result]) -> list[str]:
    """A model's folder, with the start of the training's identifier where a folder has results of several trainings."""
    trainings: dict[str, set[str]] = {}
    for result in results:
        trainings.setdefault(result.place[0], set()).add(result.training)
    return [
        result.place[0] if len(trainings[result.place[0]]) == 1 else f"{result.place[0]} ({_short(result.training)})"
        for result in results
    ]


def _short(training: str) -> str:
    return training[:8] if training[:8].isalnum() else f"{crc32(training.encode()):08x}"


def _describe(result: Result, swept: dict[str, str]) -> dict[str, Any]:
    method = method_of(result)
    value = result.setting("train", swept[method]) if method in swept else None
    known = is_number(value)
    number = result.number("train", "model.model_num")
    folder = result.place[0].rpartition("/")[2]
    if number is None and folder.isdecimal():
        number = whole_number(int(folder))
    return {
        "model_num": number,
        "dataset": result.text("evaluation", "dataset.name") or result.text("train", "dataset.name"),
        "method": method,
        "hyperparameter": swept[method] if known else "",
        "value": float(value) if known else math.nan,
        "seed": result.number("train", "model.random_seed"),
        "training_steps": result.number("train", "model.training_steps"),
        "representation": result.representation,
        "evaluation": result.evaluation,
        "sample_size": _sample_size(result),
        "active": _active(result),
        "estimator": _estimator(result),
        "evaluation_seed": result.number("evaluation", "evaluation.random_seed"),
        "elapsed_seconds": _number(result.scores.get("elapsed_time")),
        "path": result.relative,
    }


def _measured(result: Result, metric: Metric) -> dict[str, float]:
    chance = result.scores.get(metric.chance_key) if metric.chance_key else None
    return {"score": as_score(result.scores[metric.key], metric.key), "chance": _number(chance)}


def _number(value: Any) -> float:
    return as_score(value, "") if is_number(value) else math.nan


def _sample_size(result: Result) -> int | None:
    drawn = whole_number(result.scores.get("num_samples"))
    return drawn or largest_size(result) or result.number("evaluation", f"{result.function}.num_train", optional=True)


def _active(result: Result) -> int | None:
    # What dlib's irs writes under this name is a sum of codes.
    return None if result.function == "irs" else whole_number(result.scores.get("num_active_dims"))


def _estimator(result: Result) -> str:
    """How a score was obtained, for the functions that have a choice."""
    if result.function == "irs":
        quantile = result.setting("evaluation", "irs.diff_quantile")
        return ", ".join([*_quantile(quantile), "uniform weights", *_binned(result)])
    if predictor := result.text("evaluation", "predictor.predictor_fn", optional=True):
        return predictor.replace("_", " ")
    scores = result.scores
    parts = _quantile(scores.get("settings.diff_quantile"))
    if weights := scores.get("settings.factor_weights"):
        parts.append(f"{weights} weights")
    if scores.get("settings.estimator") not in (None, "none"):
        parts.append(f"adjusted by {scores['settings.estimator']}")
    if scores.get("sample.design") not in (None, "random"):
        parts.append(f"{scores['sample.design']} sample")
    return ", ".join([*parts, *_binned(result), *_groups(result)])


def _quantile(quantile: Any) -> list[str]:
    if not is_number(quantile):
        return []
    return ["supremum" if quantile == 1 else f"{quantile:g} quantile"]


def _binned(result: Result) -> list[str]:
    bins = result.number("evaluation", "discretizer.num_bins", optional=True)
    return [] if bins is None else [f"{bins} bins"]


def _groups(result: Result) -> list[str]:
    """The groups of latents and factors, for robustness of groups."""
    factors = result.scores.get("factor_names")
    named = dict(enumerate(factors)) if isinstance(factors, list) else {}
    parts = []
    for key, what, names in (
        ("latent_dims", "latents", {}),
        ("fixed_factors", "fixed", named),
        ("intervened_factors", "intervened", named),
    ):
        group = result.scores.get(f"settings.{key}")
        if isinstance(group, list):
            listed = " + ".join(str(names.get(index, index)) for index in group)
            parts.append(f"{what} {listed or 'none'}")
    return parts
