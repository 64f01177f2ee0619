"""Chance level: what a score gives when the codes have nothing to do with the factors.

On a sample, both the suprema inside the cells and the normaliser are maxima, over different numbers of samples, so that
pure noise scores well above 0, and more so against a factor with many values. Permuting the rows of the codes against
the factors shows by how much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irs_plugin.robustness.plain import plain
from irs_plugin.robustness.validation import check_quantile
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

AT_PARENT = "disentanglement_scores_at_parent"

# With 1 − chance below this there is no room between chance and a perfect score to measure in.
_NO_ROOM = 1e-9


@dataclass(frozen=True)
class ChanceLevel:
    """One named score beside its permutation null; all arrays but the last two have the shape of the score.

    Attributes:
        observed: the score of the data as they are.
        mean, sd: mean and standard deviation over the permutations; NaN where the score is NaN.
        corrected: `(observed − mean) / (1 − mean)`: 0 at chance, 1 at best, below 0 where worse than chance; NaN where
            chance itself is 1.
        p_value: `(1 + #{null ≥ observed}) / (1 + num_permutations)`; at least `1 / (1 + num_permutations)`.
        quantiles: `(num_quantiles, …)` of the null.
        null: `(num_permutations, …)` the score of each permutation.
    """

    observed: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    corrected: np.ndarray
    p_value: np.ndarray
    quantiles: np.ndarray
    null: np.ndarray


@dataclass(frozen=True)
class ChanceResult:
    """Chance level of every number that a score returned.

    `scores` maps names to `ChanceLevel`. With the disentanglement score two entries speak of `D_l = max_i IRS_li`, a
    maximum chosen after looking:

    * `disentanglement_scores`: the maximum over factors is taken inside every permutation too. This is the null for
      "does latent l encode any factor?", and the one to quote.
    * `disentanglement_scores_at_parent`: the null of the one matrix entry at the observed parent, as if the parent had
      been named beforehand. Right if it was; otherwise pure noise comes out somewhat above 0, because its parent is
      the factor that happened to fit best.

    Attributes:
        scores: by name.
        quantiles: which quantiles of the null are reported.
        num_permutations: how many.
        num_samples: sample size, on which chance depends.
        method: how the numbers were obtained, in words.
    """

    scores: dict[str, ChanceLevel]
    quantiles: tuple[float, ...]
    num_permutations: int
    num_samples: int
    method: str

    def __getitem__(self, name: str) -> ChanceLevel:
        if name not in self.scores:
            raise KeyError(f"no score {name!r}; there are {', '.join(self.scores)}")
        return self.scores[name]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; the single permutations are left out."""
        described = {"method": self.method, "num_permutations": self.num_permutations, "num_samples": self.num_samples}
        for name, level in self.scores.items():
            entries = {key: getattr(level, key) for key in ("observed", "mean", "sd", "corrected", "p_value")}
            levels = {f"{quantile:g}": row for quantile, row in zip(self.quantiles, level.quantiles, strict=True)}
            described[name] = {**entries, "quantiles": levels}
        return plain(described)


def chance_level(
    gen_factors: Any,
    latents: Any,
    *,
    score: Score | None = None,
    num_permutations: int = 200,
    quantiles: Sequence[float] = (0.05, 0.5, 0.95),
    aligned: Mapping[str, Any] | None = None,
    seed: Seed = 0,
    n_jobs: int = -1,
    progress: bool = True,
) -> ChanceResult:
    """Estimate the chance level of a score by permuting the rows of the codes against the factors.

    Rows are permuted whole, so that the latents keep their dependence on each other.

    Args:
        gen_factors: `(num_samples, num_factors)`.
        latents: `(num_samples, num_latents)`.
        score: any score with best value 1 (see `irs_plugin.robustness.wrapping`); default `disentanglement_score`.
            Options are bound beforehand: `functools.partial(disentanglement_score, diff_quantile=0.99)`.
        num_permutations: at least 2.
        quantiles: of the null, in [0, 1].
        aligned: arrays with a row per sample that stay with the factors and reach the score by keyword, e.g.
            `{"confounder": c}`.
        seed: the same seed gives the same numbers, whatever `n_jobs`.
        n_jobs: threads, −1 for all cores.
        progress: whether to show a progress bar on standard error.

    Raises:
        ValueError: bad arrays or options, or a score that returns no numbers.
    """
    gen_factors, latents, aligned = check_problem(gen_factors, latents, aligned)
    num_permutations = check_count(num_permutations, "num_permutations", 2)
    quantiles = tuple(check_quantile(quantile, "quantiles") for quantile in quantiles)
    score = standard_score if score is None else score
    observed = score(gen_factors, latents, **aligned)

    def score_permuted(generator: np.random.Generator) -> dict[str, np.ndarray]:
        return named_scores(score(gen_factors, latents[generator.permutation(len(latents))], **aligned))

    scores = named_scores(observed)
    tasks = ((generator,) for generator in spawn(seed, num_permutations))
    null = stack_scores(
        run_tasks(
            score_permuted,
            tasks,
            total=num_permutations,
            n_jobs=n_jobs,
            progress=progress,
            description="chance level",
        )
    )
    _add_parent_null(scores, null, observed)
    return ChanceResult(
        {name: _compare(scores[name], null[name], quantiles) for name in scores},
        quantiles,
        num_permutations,
        len(latents),
        f"{num_permutations} permutations of the rows of the codes against the factors",
    )


def _add_parent_null(scores: dict[str, np.ndarray], null: dict[str, np.ndarray], observed: Any) -> None:
    parents = getattr(observed, "parents", None)
    if parents is None or "irs_matrix" not in scores:
        return
    rows, parents = np.arange(len(parents)), np.asarray(parents)
    inactive = parents < 0
    for matrices in (scores, null):
        at_parent = matrices["irs_matrix"][..., rows, parents]
        at_parent[..., inactive] = np.nan
        matrices[AT_PARENT] = at_parent


def _compare(observed: np.ndarray, null: np.ndarray, quantiles: Sequence[float]) -> ChanceLevel:
    if observed.shape != null.shape[1:]:
        raise ValueError(f"the score has shape {observed.shape} on the data and {null.shape[1:]} on permuted codes.")
    moments = finite_moments(null)
    room = 1.0 - moments["mean"]
    corrected = np.full(observed.shape, np.nan)
    np.divide(observed - moments["mean"], room, out=corrected, where=room > _NO_ROOM)
    rank = (1.0 + (null >= observed).sum(axis=0)) / (1.0 + len(null))
    known = np.isfinite(observed) & np.isfinite(moments["mean"])
    levels = np.full((len(quantiles), *observed.shape), np.nan)
    if known.any():
        levels[:, known] = np.nanquantile(null[:, known], quantiles, axis=0)
    return ChanceLevel(observed, moments["mean"], moments["sd"], corrected, np.where(known, rank, np.nan), levels, null)
