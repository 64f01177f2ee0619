"""Weights that turn conditioning into intervening on confounded data (method section 5, appendix A; Proposition 1 f).

Within the cell of a realisation g_S, sample n gets a weight such that the weighted cell represents the population's
distribution of what must be adjusted for: the remaining factors G_R, or an observed confounder C, which blocks the
same back-door paths in the model C → G → X. Weights are normalised inside each cell (Hájek).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irs_plugin.robustness.cells import Cells, FactorCodes, label_cells, partition
from irs_plugin.robustness.validation import check_choice, check_fraction, check_quantile

ADJUSTMENTS = ("none", "counts", "propensity", "confounder")

# Below this overlap weights by counts leave nine tenths of the confounding where it was.
_LEAST_OVERLAP = 0.1
# Below this ratio of effective to actual sample size a cell rests on a handful of its samples.
_EFFECTIVE_SHARE = 0.1


class SupportWarning(UserWarning):
    """The data speak for only part of what the number claims."""


@dataclass(frozen=True)
class CellWeights:
    """Weights for one group S of factors, and how far they can be trusted.

    Attributes:
        weights: `(N,)`, or None where every sample of a cell counts the same.
        support: `(num_cells,)` share of the adjusted-for distribution that each cell can speak for.
        effective_sample_size: `(num_cells,)` (Σw)² / Σw² of each cell.
        num_clipped: how many estimated propensities were raised to the clipping bound.
        notes: what a reader of the number must know.
    """

    weights: np.ndarray | None
    support: np.ndarray
    effective_sample_size: np.ndarray
    num_clipped: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Adjuster:
    """How to adjust; see `make_adjuster` for the meaning of each field."""

    method: str
    confounder: np.ndarray | None
    classifier: Any
    num_folds: int
    clip: float
    min_support: float
    seed: int

    def settings(self) -> dict[str, Any]:
        """The options that matter for this method, as plain values."""
        if self.method == "none":
            return {}
        chosen: dict[str, Any] = {"min_support": self.min_support}
        if self.method == "propensity" or self.classifier is not None:
            model = "logistic regression on one-hot columns" if self.classifier is None else repr(self.classifier)
            chosen |= {"classifier": model, "num_folds": self.num_folds, "clip": self.clip, "seed": self.seed}
        return chosen

    def weigh(self, factors: FactorCodes, group: Sequence[int], cells: Cells) -> CellWeights:
        """Weights for the realisations of `group`, whose partition is `cells`."""
        rest = factors.rest(group)
        if not group or not rest:
            # E[Z] needs no adjustment, and with every factor fixed there is nothing left to adjust for.
            return CellWeights(None, np.ones(cells.num_cells), cells.counts.astype(np.float64))
        if self.method == "none":
            full, rest_cells = partition(factors, (*group, *rest)), partition(factors, rest)
            return CellWeights(None, _seen_share(cells, full, rest_cells), cells.counts.astype(np.float64))
        weigh = {"counts": self._by_counts, "propensity": self._by_propensity, "confounder": self._by_confounder}
        found = weigh[self.method](factors, group, rest, cells)
        return self._with_effective_size(found, group, cells)

    def _by_counts(self, factors: FactorCodes, group: Sequence[int], rest: Sequence[int], cells: Cells) -> CellWeights:
        full, rest_cells = partition(factors, (*group, *rest)), partition(factors, rest)
        support = _seen_share(cells, full, rest_cells)
        if np.average(_overlap(support, cells), weights=cells.counts) < _LEAST_OVERLAP:
            singletons = 100.0 * (full.counts == 1).sum() / factors.num_samples
            raise ValueError(
                f"adjustment='counts' would adjust nothing for factors {list(group)}: a realisation meets "
                f"{_percent(_overlap(support, cells), cells)} of the rest that occurs with the others "
                f"({singletons:.1f} % of the {factors.num_samples} samples are the only one of their combination). Use "
                f"adjustment='propensity' or, with an observed confounder, adjustment='confounder'; or discretise "
                f"factors into fewer values."
            )
        return CellWeights(rest_cells.counts[rest_cells.ids] / full.counts[full.ids], support, cells.counts)

    def _by_propensity(
        self, factors: FactorCodes, group: Sequence[int], rest: Sequence[int], cells: Cells
    ) -> CellWeights:
        columns = factors.values[:, list(rest)]
        features = columns if columns.dtype.kind in "iufb" else factors.codes[list(rest)].T
        return self._by_classifier(features, group, cells, "the other factors")

    def _by_confounder(
        self, factors: FactorCodes, group: Sequence[int], rest: Sequence[int], cells: Cells
    ) -> CellWeights:
        confounder = self.confounder
        if len(confounder) != factors.num_samples:
            raise ValueError(
                f"confounder has {len(confounder)} samples and gen_factors has {factors.num_samples}; "
                f"both need one entry per sample."
            )
        if self.classifier is not None:
            features = confounder.reshape(len(confounder), -1)
            return self._by_classifier(features, group, cells, "the confounder")
        strata = label_cells(confounder)
        joint = label_cells(np.column_stack([cells.ids, strata.ids]))
        support = _seen_share(cells, joint, strata)
        if np.average(_overlap(support, cells), weights=cells.counts) < _LEAST_OVERLAP:
            raise ValueError(
                f"the confounder ({strata.num_cells} values in {factors.num_samples} samples) determines factors "
                f"{list(group)}: a realisation meets {_percent(_overlap(support, cells), cells)} of the confounder "
                f"values that occur with the others, so little can be compared at equal confounder. Use a coarser "
                f"confounder, a classifier (classifier=…), or adjustment='propensity'."
            )
        weights = strata.counts[strata.ids] / joint.counts[joint.ids]
        return CellWeights(weights, support, cells.counts)

    def _by_classifier(self, features: np.ndarray, group: Sequence[int], cells: Cells, given: str) -> CellWeights:
        if cells.num_cells == 1:
            return CellWeights(None, np.ones(1), cells.counts)
        if cells.counts.min() < self.num_folds:
            rare = int(cells.counts.argmin())
            raise ValueError(
                f"a classifier of factors {list(group)} cannot be cross-fitted in {self.num_folds} folds: the "
                f"realisation at sample {cells.first[rare]} occurs {cells.counts[rare]} times, so a fold would miss "
                f"it. Use fewer folds (num_folds), merge rare values (irs_plugin.discretise), or adjustment="
                f"'confounder' by counts."
            )
        propensities = self._cross_fit(features, cells)
        support = (propensities > self.clip).mean(axis=0)
        own = propensities[np.arange(len(propensities)), cells.ids]
        clipped = int((own < self.clip).sum())
        notes = ()
        if clipped:
            notes = (f"{clipped} propensities of factors {list(group)} given {given} were raised to {self.clip}",)
        return CellWeights(1.0 / np.maximum(own, self.clip), support, cells.counts, clipped, notes)

    def _cross_fit(self, features: np.ndarray, cells: Cells) -> np.ndarray:
        from sklearn.base import clone
        from sklearn.model_selection import StratifiedKFold

        folds = StratifiedKFold(self.num_folds, shuffle=True, random_state=self.seed)
        model = _default_classifier() if self.classifier is None else clone(self.classifier)
        if not hasattr(model, "predict_proba"):
            raise ValueError(f"classifier must offer predict_proba; {type(model).__name__} does not.")
        propensities = np.zeros((len(features), cells.num_cells))
        for train, test in folds.split(features, cells.ids):
            fitted = clone(model).fit(features[train], cells.ids[train])
            # By the classifier's own order of classes, which need not be ascending.
            propensities[np.ix_(test, fitted.classes_)] = fitted.predict_proba(features[test])
        return propensities

    def _with_effective_size(self, found: CellWeights, group: Sequence[int], cells: Cells) -> CellWeights:
        notes = list(found.notes)
        if found.weights is None:
            effective = cells.counts.astype(np.float64)
        else:
            total = np.bincount(cells.ids, found.weights, cells.num_cells)
            effective = total**2 / np.bincount(cells.ids, found.weights**2, cells.num_cells)
        overlap = _overlap(found.support, cells)
        if overlap.min() < self.min_support:
            notes.append(
                f"adjustment={self.method!r} of factors {list(group)}: a realisation meets only "
                f"{100 * overlap.min():.1f} % of what occurs with the others and is adjusted for (on average "
                f"{_percent(overlap, cells)}, threshold {100 * self.min_support:.0f} %); the rest is extrapolated"
            )
        thin = int(np.sum(effective < _EFFECTIVE_SHARE * cells.counts))
        if thin:
            notes.append(
                f"adjustment={self.method!r} of factors {list(group)}: in {thin} of {cells.num_cells} cells fewer than "
                f"{100 * _EFFECTIVE_SHARE:.0f} % of the samples carry the weight (smallest effective sample size "
                f"{effective.min():.1f})"
            )
        for note in notes[len(found.notes) :]:
            warnings.warn(note, SupportWarning, stacklevel=2)
        return CellWeights(found.weights, found.support, effective, found.num_clipped, tuple(notes))


def make_adjuster(
    adjustment: str = "none",
    *,
    confounder: Any = None,
    classifier: Any = None,
    num_folds: int = 5,
    clip: float = 1e-3,
    min_support: float = 0.5,
    seed: int = 0,
) -> Adjuster:
    """Check the options of an adjustment before any work starts.

    Args:
        adjustment: `none` (conditioning: right when the factors are independent), `counts` (relative frequencies of
            the remaining factors), `propensity` (a cross-fitted classifier of the realisation given the remaining
            factors) or `confounder` (an observed confounder, by counts, or by `classifier` if one is given).
        confounder: `(num_samples,)` or `(num_samples, num_confounders)`, only with `adjustment="confounder"`.
        classifier: a scikit-learn classifier with `predict_proba`; it gets the remaining factors, or the
            confounder, as columns. By default logistic regression on one-hot columns.
        num_folds: folds of the cross-fitting.
        clip: lower bound of estimated propensities, in [0, 1).
        min_support: a warning is given where a realisation meets less than this share of what occurs with the other
            realisations and is adjusted for; in [0, 1].
        seed: shuffles the folds.

    Raises:
        ValueError: an unknown adjustment, or options that do not belong together.
    """
    check_choice(adjustment, "adjustment", ADJUSTMENTS)
    if (confounder is not None) != (adjustment == "confounder"):
        raise ValueError(
            "adjustment='confounder' needs confounder=… of shape (num_samples,) or (num_samples, num_confounders)."
            if confounder is None
            else f"a confounder is given but adjustment={adjustment!r} does not use it; pass adjustment='confounder'."
        )
    if classifier is not None and adjustment not in ("propensity", "confounder"):
        raise ValueError(f"adjustment={adjustment!r} uses no classifier; pass adjustment='propensity' or 'confounder'.")
    if isinstance(num_folds, bool) or not isinstance(num_folds, (int, np.integer)) or num_folds < 2:
        raise ValueError(f"num_folds must be an integer of at least 2; got {num_folds!r}.")
    if confounder is not None:
        confounder = _checked_confounder(confounder)
    return Adjuster(
        adjustment,
        confounder,
        classifier,
        int(num_folds),
        check_fraction(clip, "clip", 0.0, 1.0),
        check_quantile(min_support, "min_support"),
        seed,
    )


def _checked_confounder(confounder: Any) -> np.ndarray:
    confounder = np.asarray(confounder)
    if confounder.ndim not in (1, 2) or 0 in confounder.shape:
        raise ValueError(
            f"confounder must have shape (num_samples,) or (num_samples, num_confounders); got {confounder.shape}."
        )
    if confounder.dtype.kind == "f" and not np.isfinite(confounder).all():
        raise ValueError("confounder must be finite; it holds NaN or infinity. Drop those samples.")
    return confounder


def _default_classifier() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    return make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=1000))


def _seen_share(cells: Cells, joint: Cells, strata: Cells) -> np.ndarray:
    """Share of the strata's distribution that each cell meets at least once (positivity)."""
    owner, stratum = cells.ids[joint.first], strata.ids[joint.first]
    return np.bincount(owner, strata.counts[stratum], cells.num_cells) / len(cells.ids)


def _overlap(support: np.ndarray, cells: Cells) -> np.ndarray:
    """What each cell meets beyond what its own samples bring along: its support of the other cells' distribution."""
    own = cells.counts / cells.counts.sum()
    return (support - own) / np.maximum(1.0 - own, np.finfo(float).tiny) if len(own) > 1 else np.ones(1)


def _percent(overlap: np.ndarray, cells: Cells) -> str:
    return f"{100 * np.average(overlap, weights=cells.counts):.1f} %"
