"""A score against the sample size, so that an evaluation's size can be chosen rather than guessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irs_plugin.robustness.chance import ChanceResult, chance_level
from irs_plugin.robustness.plain import plain
from irs_plugin.robustness.repeats import RepeatedScores, subsampled_scores
from irs_plugin.robustness.wrapping import Score, Seed, check_count, check_problem, spawn


@dataclass(frozen=True)
class ConvergenceResult:
    """Score, and chance level where asked for, at each sample size.

    Attributes:
        sizes: `(num_sizes,)` ascending.
        steps: the repeated scores at each size; a single one at the full size, where all draws are the same.
        chance: the chance level at each size, or None. It is that of one draw of that size.
    """

    sizes: tuple[int, ...]
    steps: tuple[RepeatedScores, ...]
    chance: tuple[ChanceResult, ...] | None

    def curve(self, name: str) -> dict[str, np.ndarray]:
        """`mean`, `sd`, `min` and `max` of the score called `name`, each `(num_sizes, …)`."""
        return {
            key: np.stack([getattr(step[name], key) for step in self.steps]) for key in ("mean", "sd", "min", "max")
        }

    def chance_curve(self, name: str) -> np.ndarray:
        """Mean chance level of the score called `name`, `(num_sizes, …)`."""
        if self.chance is None:
            raise ValueError("chance levels were not asked for: pass num_permutations to convergence().")
        return np.stack([step[name].mean for step in self.chance])

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        chance = None if self.chance is None else [step.to_dict() for step in self.chance]
        return plain({"sizes": self.sizes, "steps": [step.to_dict() for step in self.steps], "chance": chance})


def convergence(
    gen_factors: Any,
    latents: Any,
    *,
    score: Score | None = None,
    sizes: Sequence[int] | None = None,
    num_draws: int = 5,
    num_permutations: int = 0,
    aligned: Mapping[str, Any] | None = None,
    seed: Seed = 0,
    n_jobs: int = -1,
    progress: bool = True,
) -> ConvergenceResult:
    """Score subsets of growing size, up to all the data (e.g. the full grid of factor combinations).

    Args:
        gen_factors: `(num_samples, num_factors)`.
        latents: `(num_samples, num_latents)`.
        score: any score (see `irs_plugin.robustness.wrapping`); default `disentanglement_score`.
        sizes: sample sizes, each at most `num_samples`; default: 1, 2, 5, 10, 20, 50 … hundred, and all.
        num_draws: subsets per size, drawn without replacement.
        num_permutations: permutations per size for the chance level; 0 leaves it out.
        aligned, seed, n_jobs, progress: as for `chance_level`.

    Raises:
        ValueError: bad arrays or options, or a size at which the score fails.
    """
    gen_factors, latents, aligned = check_problem(gen_factors, latents, aligned)
    num_draws = check_count(num_draws, "num_draws", 1)
    num_permutations = check_count(num_permutations, "num_permutations", 0)
    sizes = _check_sizes(sizes, len(latents))
    options = {"score": score, "n_jobs": n_jobs, "progress": progress}
    steps, chance = [], []
    for size, generator in zip(sizes, spawn(seed, len(sizes)), strict=True):
        draws, permutations = generator.spawn(2)
        repeats = 1 if size == len(latents) else num_draws
        described = {"subsample_size": size, "description": f"{size} samples"}
        steps.append(
            subsampled_scores(
                gen_factors, latents, num_repeats=repeats, aligned=aligned, seed=draws, **described, **options
            )
        )
        if num_permutations:
            rows = np.sort(permutations.choice(len(latents), size, replace=False))
            subset = {name: array[rows] for name, array in aligned.items()}
            chance.append(
                chance_level(
                    gen_factors[rows],
                    latents[rows],
                    num_permutations=num_permutations,
                    aligned=subset,
                    seed=permutations,
                    **options,
                )
            )
    return ConvergenceResult(sizes, tuple(steps), tuple(chance) if num_permutations else None)


def _check_sizes(sizes: Sequence[int] | None, total: int) -> tuple[int, ...]:
    if sizes is None:
        ladder = [step * 10**power for power in range(2, 9) for step in (1, 2, 5)]
        return (*(size for size in ladder if size < total), total)
    checked = sorted({check_count(size, "sizes", 2) for size in sizes})
    if not checked or checked[-1] > total:
        raise ValueError(f"sizes must lie in 2 … {total}, the number of samples; got {list(sizes)}.")
    return tuple(checked)
