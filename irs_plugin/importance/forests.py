"""Feature importance by random forests (Eastwood & Williams 2018, as set in Suter et al. 2019, appendix D)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from irs_plugin.importance.result import (
    ImportanceResult,
    active_latents,
    notes_on_factors,
    rows_of_active,
    why_no_average,
)
from irs_plugin.robustness.validation import check_arrays, check_choice, check_fraction

# Share of the samples that a bootstrap of the same size holds.
_IN_BAG = 1 - math.exp(-1)

MODELS = {"regressor": "out-of-bag R²", "classifier": "out-of-bag accuracy"}


def feature_importance(
    gen_factors: Any,
    latents: Any,
    *,
    num_trees: int = 50,
    min_samples_leaf: int = 500,
    max_features: int = 1,
    model: str = "regressor",
    inactive_tolerance: float = 1e-6,
    seed: int | np.random.RandomState = 0,
    n_jobs: int | None = -1,
) -> ImportanceResult:
    """How exclusively each latent serves to predict one factor: one random forest per factor.

    With R[l, j] the importance of latent l in the forest of factor j (impurity decrease, summing to 1 over latents):

        P[l, j] = R[l, j] / Σ_k R[l, k],   D_l = 1 + Σ_k P[l, k] log_K P[l, k],
        ρ_l = Σ_j R[l, j] / Σ R,           average = Σ_l ρ_l D_l.

    Args:
        gen_factors: `(num_samples, num_factors)`.
        latents: `(num_samples, num_latents)`.
        num_trees: trees in each forest.
        min_samples_leaf: smallest leaf. A tree sees 63 % of the samples, so with fewer than about 3.2 times as many
            (1,600 for the default) none can split, and nothing is scored.
        max_features: latents tried at each split. The paper's single one gives every latent the same chance.
        model: `regressor` (the paper's word; factor values count as numbers, and informativeness is R²) or `classifier`
            (values are names without order, and informativeness is accuracy). Shapes and other nominal factors depend
            on how they are numbered under a regressor, while a classifier tells many ordered values poorly apart.
        inactive_tolerance: a latent is inactive, and kept from the forests, if its largest deviation from its mean is
            at most this share of its largest absolute value.
        seed: an integer or `RandomState`. The same seed gives the same result for any `n_jobs`.
        n_jobs: scikit-learn's; −1 uses all cores.

    Raises:
        ValueError: bad arrays or options, or factors that are not numbers under a regressor.
    """
    check_choice(model, "model", tuple(MODELS))
    check_fraction(inactive_tolerance, "inactive_tolerance", 0.0, 1.0)
    gen_factors, latents = check_arrays(gen_factors, latents)
    options = {"num_trees": num_trees, "min_samples_leaf": min_samples_leaf, "max_features": max_features}
    for name, value in options.items():
        _check_count(value, name, at_most=latents.shape[1] if name == "max_features" else None)
    if model == "regressor" and gen_factors.dtype.kind not in "iufb":
        raise ValueError(
            f"a regressor needs factors that are numbers; gen_factors has dtype {gen_factors.dtype}. Pass "
            f"model='classifier'."
        )
    active = active_latents(latents, inactive_tolerance)
    forests = _fit_all(gen_factors, latents[:, active], model, options, seed, n_jobs)
    settings = {"model": model, **options, "inactive_tolerance": inactive_tolerance, "informativeness": MODELS[model]}
    if not isinstance(seed, np.random.RandomState):
        settings["seed"] = seed
    return _assemble(forests, active, len(latents), settings)


@dataclass(frozen=True)
class _Forest:
    """What is kept of a factor's forest.

    Attributes:
        importances: `(num_active,)`, NaN where nothing was learned.
        informativeness: out-of-bag score, NaN likewise, or where a sample was in the bag of every tree.
        mean_leaves: leaves per tree; 1 means that nothing was split.
        fault: why nothing was learned, or None.
    """

    importances: np.ndarray
    informativeness: float
    mean_leaves: float
    fault: str | None = None


def _fit_all(
    gen_factors: np.ndarray,
    codes: np.ndarray,
    model: str,
    options: dict[str, int],
    seed: int | np.random.RandomState,
    n_jobs: int | None,
) -> list[_Forest]:
    from sklearn.utils import check_random_state

    seeds = check_random_state(seed).randint(np.iinfo(np.int32).max, size=gen_factors.shape[1])
    return [_fit(gen_factors[:, j], codes, model, options, int(seeds[j]), n_jobs) for j in range(gen_factors.shape[1])]


def _fit(
    factor: np.ndarray, codes: np.ndarray, model: str, options: dict[str, int], seed: int, n_jobs: int | None
) -> _Forest:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    nothing = np.full(codes.shape[1], np.nan)
    leaf = options["min_samples_leaf"]
    if (factor == factor[0]).all():
        return _Forest(nothing, np.nan, 1.0, "one value only, so there is nothing to predict")
    if codes.shape[1] == 0:
        return _Forest(nothing, np.nan, 1.0)
    if len(factor) < 2 * leaf:
        return _Forest(nothing, np.nan, 1.0, _no_split(len(factor), leaf))
    kind = {"regressor": RandomForestRegressor, "classifier": RandomForestClassifier}[model]
    forest = kind(
        n_estimators=options["num_trees"],
        min_samples_leaf=leaf,
        max_features=min(options["max_features"], codes.shape[1]),
        bootstrap=True,
        random_state=seed,
        n_jobs=n_jobs,
    ).fit(codes, factor)
    leaves = float(np.mean([tree.get_n_leaves() for tree in forest.estimators_]))
    if leaves == 1.0:
        return _Forest(nothing, np.nan, leaves, _no_split(len(factor), leaf))
    return _Forest(forest.feature_importances_, _out_of_bag_score(forest, codes, factor), leaves)


def _no_split(num_samples: int, leaf: int) -> str:
    needed = math.ceil(2 * leaf / _IN_BAG)
    if num_samples < needed:
        return (
            f"{num_samples} samples are too few to split into leaves of at least {leaf}, as a tree sees "
            f"{100 * _IN_BAG:.0f} % of them; give at least {needed}, better many times that, or lower min_samples_leaf"
        )
    return f"no tree has a split; no threshold on a latent leaves {leaf} samples on both sides"


def _out_of_bag_score(forest: Any, codes: np.ndarray, factor: np.ndarray) -> float:
    """R² or accuracy of each sample's prediction by the trees that have not seen it; NaN if every tree saw one.

    scikit-learn's own `oob_score_` counts such a sample as predicted to be 0.
    """
    from sklearn.metrics import accuracy_score, r2_score

    classifies = hasattr(forest, "classes_")
    total = np.zeros((len(codes), len(forest.classes_) if classifies else 1))
    num_trees = np.zeros(len(codes))
    for tree, in_bag in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        unseen = np.ones(len(codes), dtype=bool)
        unseen[in_bag] = False
        predicted = tree.predict_proba(codes[unseen]) if classifies else tree.predict(codes[unseen])[:, None]
        total[unseen] += predicted
        num_trees[unseen] += 1
    if not num_trees.all():
        return float("nan")
    if classifies:
        return float(accuracy_score(factor, forest.classes_[total.argmax(axis=1)]))
    return float(r2_score(factor, total[:, 0] / num_trees))


def _assemble(
    forests: list[_Forest], active: np.ndarray, num_samples: int, settings: dict[str, Any]
) -> ImportanceResult:
    matrix = rows_of_active(np.column_stack([forest.importances for forest in forests]), active)
    scored = tuple(j for j, forest in enumerate(forests) if not np.isnan(forest.importances).any() and active.any())
    totals = np.where(active, matrix[:, scored].sum(axis=1), 0.0) if scored else np.zeros(len(active))
    informative = totals > 0
    notes = _notes(forests, active, informative, settings)
    reason = why_no_average(active, informative, scored, notes)
    scores = np.full(len(active), np.nan)
    parents = np.full(len(active), -1, dtype=np.int64)
    weights = np.zeros(len(active))
    if reason is None:
        shares = matrix[np.ix_(informative, scored)] / totals[informative, None]
        scores[informative] = 1.0 + _sum_p_log_p(shares) / np.log(len(scored))
        parents[informative] = np.array(scored)[shares.argmax(axis=1)]
        weights = totals / totals.sum()
    return ImportanceResult(
        metric="feature_importance",
        matrix=matrix,
        scores=scores,
        parents=parents,
        weights=weights,
        average=float(weights[informative] @ scores[informative]) if reason is None else float("nan"),
        informativeness=np.array([forest.informativeness for forest in forests]),
        active=active,
        scored_factors=scored,
        reason=reason,
        notes=tuple(notes),
        num_samples=num_samples,
        settings=settings,
        diagnostics={"mean_leaves": [forest.mean_leaves for forest in forests]},
    )


def _sum_p_log_p(shares: np.ndarray) -> np.ndarray:
    from scipy.special import xlogy

    return xlogy(shares, shares).sum(axis=1)


def _notes(forests: list[_Forest], active: np.ndarray, informative: np.ndarray, settings: dict[str, Any]) -> list[str]:
    notes = notes_on_factors([forest.fault for forest in forests])
    learned = [j for j, forest in enumerate(forests) if not forest.fault and active.any()]
    unknown = [j for j in learned if np.isnan(forests[j].informativeness)]
    if unknown:
        notes.append(
            f"factors {unknown} have no out-of-bag score: {settings['num_trees']} trees are so few that a sample is in "
            f"the bag of every tree"
        )
    useless = np.flatnonzero(active & ~informative).tolist()
    if useless and learned:
        notes.append(f"latents {useless} have no importance for any factor, so no score")
    return notes


def _check_count(value: Any, name: str, at_most: int | None = None) -> None:
    limit = "" if at_most is None else f" and at most {at_most}, the number of latents"
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < 1 or (at_most is not None and value > at_most):
        raise ValueError(f"{name} must be an integer of at least 1{limit}; got {value!r}.")
