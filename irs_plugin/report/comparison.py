"""What a report compares: the scores of the models of one data set and representation, by method.

Scores of collapsed models (no active latent) are left out of every mean, rank and correlation, and counted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from irs_plugin.results import Metric

# Fewer common models give no correlation worth the name.
FEWEST_COMMON = 3
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Measure:
    """A metric, and its rows in the tidy table: those of one data set and representation."""

    metric: Metric
    rows: pd.DataFrame

    @property
    def label(self) -> str:
        return self.metric.name

    @property
    def direction(self) -> str:
        """Which way is better, in words."""
        return {True: "higher is better", False: "lower is better", None: "no direction"}[self.metric.higher_is_better]

    @cached_property
    def chance(self) -> tuple[float, float, float] | None:
        """Mean, least and largest chance level over the models; None where none is known."""
        known = self.rows.chance[np.isfinite(self.rows.chance)]
        return None if known.empty else (float(known.mean()), float(known.min()), float(known.max()))

    def distinct(self, column: str) -> list:
        """The different values of a column of the tidy table, sorted, without missing ones."""
        return sorted(value for value in self.rows[column].dropna().unique().tolist() if value != "")


@dataclass(frozen=True)
class Comparison:
    """The models of one data set and representation.

    Attributes:
        dataset, representation: what they have in common.
        models: indexed by model, in the order of their numbers: method, hyperparameter, value, seed, collapsed.
            Models that were planned and have no scores are there too.
        scores: models × labels of the measures; NaN where a score is missing or not finite.
        measures: headline metrics first, then those that accompany them.
        repeated: how many scores are means over several results of the same model.
    """

    dataset: str
    representation: str
    models: pd.DataFrame
    scores: pd.DataFrame
    measures: tuple[Measure, ...]
    repeated: int

    @property
    def name(self) -> str:
        return f"{self.dataset}, {self.representation}"

    @cached_property
    def usable(self) -> pd.DataFrame:
        """Scores that may be averaged: those of collapsed models are NaN."""
        return self.scores.where(~self.models.collapsed.to_numpy(bool)[:, None] & self.scores.notna())

    @property
    def headlines(self) -> tuple[Measure, ...]:
        """Measures that an evaluation is known by; all others accompany one."""
        return tuple(measure for measure in self.measures if measure.metric.headline)

    @property
    def methods(self) -> list[str]:
        return sorted(self.models.method.unique())

    @property
    def robustness(self) -> Measure | None:
        """The interventional robustness score: that with a chance level if there are several."""
        found = [measure for measure in self.measures if _is_robustness(measure.metric)]
        return max(found, key=lambda measure: measure.chance is not None, default=None)

    def of_method(self, method: str) -> pd.DataFrame:
        return self.usable[self.models.method == method]


def _is_robustness(metric: Metric) -> bool:
    return (metric.evaluation_fn, metric.key) in {
        ("interventional_robustness", "IRS"),
        ("chance_level", "avg_score.observed"),
    }


def compare(
    scores: pd.DataFrame, metrics: Mapping[str, Metric], planned: pd.DataFrame | None = None
) -> list[Comparison]:
    """Split a tidy table by data set and representation.

    Args:
        scores: the tidy table, see `irs_plugin.results`.
        metrics: what each name in its column ``metric`` is.
        planned: indexed by model: dataset, method, seed of the models that a study planned.
    """
    named = {column: scores[column].replace("", UNKNOWN) for column in ("dataset", "method", "representation")}
    scores = scores.assign(**named, score=scores.score.where(np.isfinite(scores.score)))
    return [
        _comparison(rows, dataset, representation, metrics, planned)
        for (dataset, representation), rows in scores.groupby(["dataset", "representation"])
    ]


def _comparison(
    rows: pd.DataFrame,
    dataset: str,
    representation: str,
    metrics: Mapping[str, Metric],
    planned: pd.DataFrame | None,
) -> Comparison:
    measures = sorted((Measure(metrics[name], found) for name, found in rows.groupby("metric")), key=_order)
    models = _models(rows, dataset, planned)
    by_place = rows.groupby(["model", "metric"]).score
    return Comparison(
        dataset,
        representation,
        models,
        by_place.mean().unstack("metric").reindex(index=models.index, columns=[m.label for m in measures]),
        tuple(measures),
        int((by_place.count() > 1).sum()),
    )


def _order(measure: Measure) -> tuple:
    """Headlines before others, robustness before the rest, then by name."""
    return not measure.metric.headline, not measure.label.startswith("IRS"), measure.label.casefold(), measure.label


def _models(rows: pd.DataFrame, dataset: str, planned: pd.DataFrame | None) -> pd.DataFrame:
    known = rows.drop_duplicates("model").set_index("model")[
        ["model_num", "method", "hyperparameter", "value", "seed", "training_steps"]
    ]
    collapsed = rows[rows.active.fillna(-1) == 0].model
    models = known.assign(scored=True)
    if planned is not None:
        unscored = planned[(planned.dataset == dataset) & ~planned.index.isin(models.index)]
        models = pd.concat([models, unscored[["method", "seed"]].assign(scored=False)]) if len(unscored) else models
    models["collapsed"] = models.index.isin(collapsed)
    return models.loc[sorted(models.index, key=natural)]


def natural(name: str) -> list[tuple[int, str]]:
    """Key that sorts model 2 before model 10."""
    parts = re.split(r"([0-9]+)", str(name))
    return [(int(part), "") if place % 2 else (0, part) for place, part in enumerate(parts)]


@dataclass(frozen=True)
class Ranking:
    """Methods side by side, as in table 1 of the paper.

    Attributes:
        methods: the best mean rank first; those without one last.
        means, deviations: methods × labels; sample standard deviations (n − 1), NaN for a single model.
        counts: methods × labels, how many models each mean is over.
        totals: per method, how many models there are.
        collapsed: per method, how many of them have collapsed.
        ranks: methods × labels, 1 is best and ties share the mean of their places; NaN where there is nothing to rank.
        mean_ranks: per method, over the headline metrics that rank it.
        ranked: per method, how many those are.
    """

    methods: list[str]
    means: pd.DataFrame
    deviations: pd.DataFrame
    counts: pd.DataFrame
    totals: pd.Series
    collapsed: pd.Series
    ranks: pd.DataFrame
    mean_ranks: pd.Series
    ranked: pd.Series

    @property
    def largest_total(self) -> int:
        return int(self.totals.max())


def rank(comparison: Comparison) -> Ranking:
    """Rank methods by the mean of each metric that has a direction, and by their mean rank."""
    groups = comparison.usable.groupby(comparison.models.method.to_numpy())
    means, deviations, counts = groups.mean(), groups.std(ddof=1), groups.count()
    ranks = pd.DataFrame(np.nan, means.index, means.columns)
    for measure in comparison.measures:
        values = means[measure.label].dropna()
        if measure.metric.higher_is_better is None or len(values) < 2:
            continue
        # Rounded, so that the order of a sum does not break ties.
        signed = (-values if measure.metric.higher_is_better else values).round(12)
        ranks.loc[values.index, measure.label] = rankdata(signed, method="average")
    headline_ranks = ranks[[measure.label for measure in comparison.headlines]]
    mean_ranks = headline_ranks.mean(axis=1)
    methods = sorted(means.index, key=lambda name: (np.nan_to_num(mean_ranks[name], nan=np.inf), natural(name)))
    by_method = comparison.models.groupby("method")
    return Ranking(
        methods,
        means,
        deviations,
        counts,
        by_method.size(),
        by_method.collapsed.sum().astype(int),
        ranks,
        mean_ranks,
        headline_ranks.count(axis=1),
    )


def correlations(comparison: Comparison) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Spearman's rank correlation of every two headline metrics over the models that have both.

    Returns:
        Correlations and numbers of common models, both labels × labels. A correlation is NaN where fewer than
        `FEWEST_COMMON` models are common, or one of the two is the same for all of them.
    """
    scores = comparison.usable[[measure.label for measure in comparison.headlines]]
    present = scores.notna().astype(int)
    return scores.corr(method="spearman", min_periods=FEWEST_COMMON), present.T @ present


def hyperparameters(comparison: Comparison) -> Mapping[tuple[str, str], pd.DataFrame]:
    """(method, hyperparameter) -> the models with a value of it, columns value and every label, sorted by value."""
    models = comparison.models
    known = models[models.value.notna() & models.hyperparameter.notna() & models.scored]
    return {
        key: comparison.usable.loc[rows.index].assign(value=rows.value.astype(float)).sort_values("value")
        for key, rows in known.groupby(["method", "hyperparameter"])
        if comparison.usable.loc[rows.index].notna().any(axis=None)
    }
