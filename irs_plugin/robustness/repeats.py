"""Spread of a score over repeated draws of the evaluation sample.

There is no bootstrap here on purpose. The score is built from maxima, and the n-out-of-n bootstrap of a maximum is
inconsistent: a resample contains the sample's own maximum with probability 1 − 1/e however large the sample, and can
never exceed it, so its spread says little about that of a fresh draw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from irs_plugin.robustness.plain import plain
from irs_plugin.robustness.wrapping import (
    Score,
    Seed,
    check_count,
    check_problem,
    finite_moments,
    named_scores,
    run_tasks,
    spawn,
    stack_scores,
    standard_score,
)


@dataclass(frozen=True)
class Spread:
    """Mean, standard deviation (n − 1), minimum and maximum over repeats, entry by entry; `samples` is `(R, …)`."""

    mean: np.ndarray
    sd: np.ndarray
    min: np.ndarray
    max: np.ndarray
    samples: np.ndarray


@dataclass(frozen=True)
class RepeatedScores:
    """Spread of every number that a score returned.

    Attributes:
        scores: `Spread` by name.
        num_repeats: how many draws.
        num_samples: sample size of each draw.
        method: how the draws were made, in words.
    """

    scores: dict[str, Spread]
    num_repeats: int
    num_samples: tuple[int, ...]
    method: str

    def __getitem__(self, name: str) -> Spread:
        if name not in self.scores:
            raise KeyError(f"no score {name!r}; there are {', '.join(self.scores)}")
        return self.scores[name]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        described = {"method": self.method, "num_repeats": self.num_repeats, "num_samples": self.num_samples}
        return plain({**described, **{name: vars(spread) for name, spread in self.scores.items()}})


def repeated_scores(
    draw: Callable[[np.random.RandomState], tuple[Any, ...]],
    score: Score | None = None,
    num_repeats: int = 10,
    seed: Seed = 0,
    *,
    n_jobs: int = 1,
    progress: bool = True,
) -> RepeatedScores:
    """Score independent draws of the evaluation sample.

    Args:
        draw: `draw(random_state) -> (gen_factors, latents)`, or with a third item, a dict of arrays with a row per
            sample that reach the score by keyword. It is handed a fresh `numpy.random.RandomState` each time, the kind
            that disentanglement_lib's data sets take.
        score: any score (see `irs_plugin.robustness.wrapping`); default `disentanglement_score`.
        num_repeats: at least 2.
        seed: the same seed gives the same draws, whatever `n_jobs`.
        n_jobs: threads; the default of 1 is for encoders that must not be called from several at once.
        progress: whether to show a progress bar on standard error.

    Raises:
        ValueError: bad options, a draw of another form, or a score that returns no numbers.
    """
    num_repeats = check_count(num_repeats, "num_repeats", 2)
    score = standard_score if score is None else score

    def score_draw(generator: np.random.Generator) -> tuple[int, dict[str, np.ndarray]]:
        drawn = draw(np.random.RandomState(generator.integers(2**32, dtype=np.uint32)))
        if not isinstance(drawn, tuple) or len(drawn) not in (2, 3):
            raise ValueError("draw must return (gen_factors, latents) or (gen_factors, latents, dict of arrays).")
        gen_factors, latents, aligned = check_problem(*drawn[:2], drawn[2] if len(drawn) == 3 else None)
        return len(latents), named_scores(score(gen_factors, latents, **aligned))

    method = f"{num_repeats} independent draws of the sample"
    return _repeat(score_draw, num_repeats, seed, n_jobs, progress, "repeats", method)


def subsampled_scores(
    gen_factors: Any,
    latents: Any,
    *,
    score: Score | None = None,
    num_repeats: int = 10,
    subsample_size: int | None = None,
    aligned: Mapping[str, Any] | None = None,
    seed: Seed = 0,
    n_jobs: int = -1,
    progress: bool = True,
    description: str = "subsamples",
) -> RepeatedScores:
    """Score random subsets of a fixed data set, each drawn without replacement.

    For when no fresh sample can be had. The numbers speak of a sample of `subsample_size`, not of the whole; subsets
    overlap, so that their spread falls short of that of independent draws, the more the larger their share (none is
    left at the full size). Why not the bootstrap: see the module's text.

    Args:
        gen_factors: `(num_samples, num_factors)`.
        latents: `(num_samples, num_latents)`.
        score: any score (see `irs_plugin.robustness.wrapping`); default `disentanglement_score`.
        num_repeats: at least 1.
        subsample_size: rows in each subset, 1 to `num_samples`; default half of them.
        aligned: arrays with a row per sample, subsampled alike and passed to the score by keyword.
        seed, n_jobs, progress, description: as for `chance_level`; description titles the progress bar.

    Raises:
        ValueError: bad arrays or options, or a subset on which the score fails.
    """
    gen_factors, latents, aligned = check_problem(gen_factors, latents, aligned)
    num_repeats = check_count(num_repeats, "num_repeats", 1)
    total = len(latents)
    size = max(1, total // 2) if subsample_size is None else check_count(subsample_size, "subsample_size", 1)
    if size > total:
        raise ValueError(f"subsample_size is {size}, but there are {total} samples; draws are without replacement.")
    score = standard_score if score is None else score

    def score_subset(generator: np.random.Generator) -> tuple[int, dict[str, np.ndarray]]:
        # In their old order: some scores read sequences, and the whole set is then scored as it was given.
        rows = np.sort(generator.choice(total, size, replace=False))
        subset = {name: array[rows] for name, array in aligned.items()}
        try:
            return size, named_scores(score(gen_factors[rows], latents[rows], **subset))
        except ValueError as error:
            raise ValueError(f"on a subset of {size} of {total} samples: {error}") from error

    method = f"{num_repeats} subsets of {size} of {total} samples, each drawn without replacement (no bootstrap)"
    return _repeat(score_subset, num_repeats, seed, n_jobs, progress, description, method)


def _repeat(
    score_one: Callable[[np.random.Generator], tuple[int, dict[str, np.ndarray]]],
    num_repeats: int,
    seed: Seed,
    n_jobs: int,
    progress: bool,
    description: str,
    method: str,
) -> RepeatedScores:
    tasks = ((generator,) for generator in spawn(seed, num_repeats))
    runs = run_tasks(score_one, tasks, total=num_repeats, n_jobs=n_jobs, progress=progress, description=description)
    samples = stack_scores([scores for _, scores in runs])
    spreads = {name: Spread(**finite_moments(values), samples=values) for name, values in samples.items()}
    return RepeatedScores(spreads, num_repeats, tuple(size for size, _ in runs), method)
