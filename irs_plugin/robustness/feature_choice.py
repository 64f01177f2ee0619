"""Features to build a predictor on: predictive power against robustness (the paper, section 4, last paragraph).

Latents that nuisance factors can push around make a predictor fail when those factors shift. Each latent gets its
domain shift robustness against the nuisance factors; as the threshold on it rises, fewer latents pass, and the best
prediction from those that do gets worse.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from irs_plugin.robustness.adjustment import SupportWarning
from irs_plugin.robustness.plain import plain
from irs_plugin.robustness.scores import RobustnessResult, domain_shift_robustness
from irs_plugin.robustness.validation import check_arrays, check_group
from irs_plugin.robustness.wrapping import check_count, run_tasks

EXHAUSTIVE = "every subset of the passing latents"
GREEDY = "all passing latents, and greedy forward selection among them"


@dataclass(frozen=True)
class FeatureChoice:
    """The best set at one threshold.

    Attributes:
        threshold: latents with at least this robustness pass.
        passing: their indices.
        chosen: the best set among them; empty if none passes.
        score, score_sd: mean and standard deviation (n − 1) over the folds; NaN if none passes.
        group_robustness: domain shift robustness of the chosen latents taken together; NaN if none passes. A
            group's distance and normaliser differ from those of its members, so it need not pass itself.
        search: how the sets to try were found.
    """

    threshold: float
    passing: tuple[int, ...]
    chosen: tuple[int, ...]
    score: float
    score_sd: float
    group_robustness: float
    search: str


@dataclass(frozen=True)
class FeatureChoiceResult:
    """Best predictive score against the robustness demanded.

    Attributes:
        robustness: `(num_latents,)` against the nuisance factors; NaN for latents without one (collapsed), which never
            pass.
        choices: a `FeatureChoice` for each threshold, ascending.
        baseline_score: cross-validated score of a predictor that ignores the latents.
        scores_by_set: mean score of every set that was tried.
        notes: what a reader of the robustness must know, e.g. how thin its support is.
        settings: how the numbers were obtained.
    """

    robustness: np.ndarray
    choices: tuple[FeatureChoice, ...]
    baseline_score: float
    scores_by_set: dict[tuple[int, ...], float]
    notes: tuple[str, ...]
    settings: dict[str, Any]

    @property
    def thresholds(self) -> np.ndarray:
        """`(num_thresholds,)`."""
        return np.array([choice.threshold for choice in self.choices])

    @property
    def best_scores(self) -> np.ndarray:
        """`(num_thresholds,)` never rising with the threshold; NaN where no latent passes."""
        return np.array([choice.score for choice in self.choices])

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return plain(
            {
                "robustness": self.robustness,
                "choices": [vars(choice) for choice in self.choices],
                "baseline_score": self.baseline_score,
                "scores_by_set": [
                    {"latents": latents, "score": score} for latents, score in self.scores_by_set.items()
                ],
                "notes": self.notes,
                "settings": self.settings,
            }
        )


def choose_features(
    gen_factors: Any,
    latents: Any,
    target: Any,
    *,
    nuisance_factors: int | Sequence[int],
    thresholds: Sequence[float] | None = None,
    estimator: Any = None,
    scoring: Any = None,
    cv: Any = 5,
    exhaustive_limit: int = 5,
    robustness_options: Mapping[str, Any] | None = None,
    seed: int = 0,
    n_jobs: int = -1,
    progress: bool = True,
) -> FeatureChoiceResult:
    """Find the best predictive score reachable with the latents whose robustness passes a threshold, as it moves.

    The best of many sets is picked by the very scores that are reported, so these lean to the optimistic side; judge
    the finally chosen set on samples that were kept out of the choice.

    Args:
        gen_factors: `(num_samples, num_factors)`.
        latents: `(num_samples, num_latents)`.
        target: index of the factor to predict, or an array `(num_samples,)`; real numbers that are not all whole are
            regressed, anything else is classified.
        nuisance_factors: the factors whose shift the features are to withstand.
        thresholds: on the robustness; default: each robustness that occurs, which gives every step of the curve.
        estimator: any scikit-learn classifier or regressor; default 25 extremely randomised trees. Random states left
            at None are set from `seed`.
        scoring: any scikit-learn scorer or its name; default the estimator's own score (accuracy or R²).
        cv: number of folds (shuffled, stratified for classes) or a scikit-learn splitter. All sets share the folds.
        exhaustive_limit: up to this many passing latents every subset is tried; beyond it, all of them together and
            greedy forward selection (add whichever latent helps most, to the end). Each choice says which was used.
        robustness_options: further arguments of `domain_shift_robustness`.
        seed: for folds and estimators.
        n_jobs: threads, −1 for all cores.
        progress: whether to show a progress bar on standard error.

    Raises:
        ValueError: bad arrays, indices or options, a target among the nuisance factors, or a class with fewer members
            than folds.
    """
    gen_factors, latents = check_arrays(gen_factors, latents)
    nuisance = check_group(nuisance_factors, gen_factors.shape[1], "nuisance_factors")
    values = _target_values(gen_factors, target, nuisance)
    exhaustive_limit = check_count(exhaustive_limit, "exhaustive_limit", 0)
    thresholds = _check_thresholds(thresholds)
    predictor = _Predictor.make(latents, values, estimator, scoring, cv, seed, n_jobs, progress)

    def measure(group: Sequence[int]) -> RobustnessResult:
        options = robustness_options or {}
        return domain_shift_robustness(gen_factors, latents, latent_dims=group, shifted_factors=nuisance, **options)

    with warnings.catch_warnings():
        # The same for every latent, so said once, below.
        warnings.simplefilter("ignore", SupportWarning)
        measured = [measure([latent]) for latent in range(latents.shape[1])]
    notes = tuple(dict.fromkeys(note for result in measured for note in result.notes))
    for note in notes:
        warnings.warn(note, SupportWarning, stacklevel=2)
    robustness = np.array([result.irs for result in measured])
    if not np.isfinite(robustness).any():
        raise ValueError(f"no latent has a robustness against factors {list(nuisance)}: {measured[0].reason}.")
    if thresholds is None:
        thresholds = sorted(set(robustness[np.isfinite(robustness)].tolist()))
    choices: dict[float, FeatureChoice] = {}
    # From strict to lax: whatever was tried for few latents counts again when more pass.
    for threshold in reversed(thresholds):
        passing = tuple(int(latent) for latent in np.flatnonzero(robustness >= threshold))
        search = _try_sets(predictor, passing, exhaustive_limit)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SupportWarning)
            choices[threshold] = _best(predictor, threshold, passing, search, measure)
    settings = {
        "target": int(target) if np.ndim(target) == 0 else "array",
        "nuisance_factors": nuisance,
        "estimator": predictor.estimator,
        "scoring": predictor.scoring_name,
        "num_folds": len(predictor.folds),
        "exhaustive_limit": exhaustive_limit,
        "robustness_options": dict(robustness_options or {}),
        "num_samples": len(latents),
        "seed": seed,
    }
    means = {group: float(np.mean(scores)) for group, scores in predictor.tried.items()}
    return FeatureChoiceResult(
        robustness,
        tuple(choices[threshold] for threshold in thresholds),
        predictor.baseline(),
        means,
        notes,
        settings,
    )


def _target_values(gen_factors: np.ndarray, target: Any, nuisance: Sequence[int]) -> np.ndarray:
    if np.ndim(target) == 0:
        (index,) = check_group(target, gen_factors.shape[1], "target")
        if index in nuisance:
            raise ValueError(f"target {index} is among the nuisance factors {list(nuisance)}; it cannot be both.")
        _, values = np.unique(gen_factors[:, index], return_inverse=True)
    else:
        values = np.asarray(target)
        if values.shape != (len(gen_factors),):
            raise ValueError(f"target must be a factor index or have shape ({len(gen_factors)},); got {values.shape}.")
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise ValueError("target must be finite; it holds NaN or infinity. Drop those samples.")
    if (values == values[0]).all():
        raise ValueError(f"target has a single value ({values[0]}), so there is nothing to predict.")
    return values


def _check_thresholds(thresholds: Sequence[float] | None) -> list[float] | None:
    if thresholds is None:
        return None
    checked = sorted({float(threshold) for threshold in np.atleast_1d(np.asarray(thresholds, dtype=np.float64))})
    if not checked or not np.isfinite(checked).all():
        raise ValueError(f"thresholds must be finite numbers on the scale of the score, at most 1; got {thresholds}.")
    return checked


@dataclass(frozen=True)
class _Predictor:
    """Cross-validated scores of sets of latents, each computed once."""

    latents: np.ndarray
    values: np.ndarray
    estimator: Any
    scorer: Any
    scoring_name: str
    folds: list[tuple[np.ndarray, np.ndarray]]
    n_jobs: int
    progress: bool
    tried: dict[tuple[int, ...], np.ndarray]

    @classmethod
    def make(
        cls,
        latents: np.ndarray,
        values: np.ndarray,
        estimator: Any,
        scoring: Any,
        cv: Any,
        seed: int,
        n_jobs: int,
        progress: bool,
    ) -> _Predictor:
        from sklearn.metrics import check_scoring

        classify = not (values.dtype.kind == "f" and (values != np.rint(values)).any())
        estimator = _seeded(_default_estimator(classify) if estimator is None else estimator, seed)
        folds = _folds(latents, values, cv, classify, seed)
        name = scoring if isinstance(scoring, str) else repr(scoring or ("accuracy" if classify else "R²"))
        scorer = check_scoring(estimator, scoring=scoring)
        return cls(latents, values, estimator, scorer, name.strip("'"), folds, n_jobs, progress, {})

    def try_all(self, groups: Sequence[tuple[int, ...]]) -> None:
        """Score those groups that have not been scored yet."""
        fresh = [group for group in groups if group not in self.tried]
        if not fresh:
            return
        tasks = [(self.estimator, self.latents[:, list(group)], fold) for group in fresh for fold in self.folds]
        scores = run_tasks(
            self._score_fold,
            tasks,
            total=len(tasks),
            n_jobs=self.n_jobs,
            progress=self.progress,
            description=f"{len(fresh)} sets of up to {max(map(len, fresh))} latents",
        )
        self.tried.update(zip(fresh, np.reshape(scores, (len(fresh), -1)), strict=True))

    def mean(self, group: tuple[int, ...]) -> float:
        return float(np.mean(self.tried[group]))

    def baseline(self) -> float:
        """Score of predicting the commonest class or the mean."""
        from sklearn.base import is_classifier
        from sklearn.dummy import DummyClassifier, DummyRegressor

        dummy = DummyClassifier(strategy="prior") if is_classifier(self.estimator) else DummyRegressor()
        return float(np.mean([self._score_fold(dummy, self.latents, fold) for fold in self.folds]))

    def _score_fold(self, estimator: Any, features: np.ndarray, fold: tuple[np.ndarray, np.ndarray]) -> float:
        from sklearn.base import clone

        train, test = fold
        fitted = clone(estimator).fit(features[train], self.values[train])
        return float(self.scorer(fitted, features[test], self.values[test]))


def _default_estimator(classify: bool) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

    # Random splits predict about as well as a random forest's best ones and are found many times faster; there are
    # many sets to try.
    forest = ExtraTreesClassifier if classify else ExtraTreesRegressor
    return forest(n_estimators=25, min_samples_leaf=5)


def _seeded(estimator: Any, seed: int) -> Any:
    from sklearn.base import clone

    estimator = clone(estimator)
    states = {
        name: seed
        for name, value in estimator.get_params().items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return estimator.set_params(**states)


def _folds(
    latents: np.ndarray, values: np.ndarray, cv: Any, classify: bool, seed: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    from sklearn.model_selection import KFold, StratifiedKFold, check_cv

    if isinstance(cv, (int, np.integer)):
        cv = check_count(cv, "cv", 2)
        if classify:
            classes, counts = np.unique(values, return_counts=True)
            if counts.min() < cv:
                rare = counts.argmin()
                raise ValueError(
                    f"class {classes[rare]} of the target has {counts[rare]} samples, too few for {cv} folds: one "
                    f"would miss it. Use fewer folds (cv), merge rare classes, or pass a splitter of your own."
                )
        elif len(values) < cv:
            raise ValueError(f"cv={cv} folds need at least as many samples; got {len(values)}.")
        # Shuffled, as data sets often come in the order of their factors.
        cv = (StratifiedKFold if classify else KFold)(cv, shuffle=True, random_state=seed)
    return list(check_cv(cv, values, classifier=classify).split(latents, values))


def _try_sets(predictor: _Predictor, passing: tuple[int, ...], exhaustive_limit: int) -> str:
    """Score the sets that come into question; return how they were found."""
    if len(passing) <= exhaustive_limit:
        predictor.try_all([group for size in range(1, len(passing) + 1) for group in combinations(passing, size)])
        return EXHAUSTIVE
    predictor.try_all([passing])
    grown: tuple[int, ...] = ()
    while len(grown) < len(passing) - 1:
        candidates = [tuple(sorted((*grown, latent))) for latent in passing if latent not in grown]
        predictor.try_all(candidates)
        grown = max(candidates, key=predictor.mean)
    return GREEDY


def _best(
    predictor: _Predictor,
    threshold: float,
    passing: tuple[int, ...],
    search: str,
    measure: Callable[[Sequence[int]], RobustnessResult],
) -> FeatureChoice:
    eligible = [group for group in predictor.tried if set(group) <= set(passing)]
    if not eligible:
        return FeatureChoice(threshold, passing, (), np.nan, np.nan, np.nan, search)
    # Of equally good sets the smaller, then the earlier: the choice must not hang on the order of the search.
    chosen = min(eligible, key=lambda group: (-predictor.mean(group), len(group), group))
    scores = predictor.tried[chosen]
    spread = float(np.std(scores, ddof=1)) if len(scores) > 1 else np.nan
    return FeatureChoice(threshold, passing, chosen, predictor.mean(chosen), spread, measure(list(chosen)).irs, search)
