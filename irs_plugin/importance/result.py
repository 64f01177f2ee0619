"""What both comparison metrics return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irs_plugin.robustness.plain import plain


@dataclass(frozen=True)
class ImportanceResult:
    """A latent × factor matrix with a score per latent, and how it was obtained.

    Attributes:
        metric: `feature_importance` or `mutual_information`.
        matrix: `(num_latents, num_factors)` importance, or information in nats; NaN in the rows of inactive latents and
            in the columns of factors that could not be scored.
        scores: `(num_latents,)` 1 where a latent concerns one factor only, 0 where all factors alike; NaN where a
            latent concerns none.
        parents: `(num_latents,)` the factor with the largest entry; −1 where there is no score.
        weights: `(num_latents,)` what each latent contributes to the average; sums to 1, or is 0 throughout where there
            is no average.
        average: weighted mean of the scores; NaN where `reason` says why there is none.
        informativeness: `(num_factors,)` how well the latents tell each factor; NaN where undefined. What it measures
            is in `settings["informativeness"]`.
        active: `(num_latents,)` whether the latent varies by more than the tolerance.
        scored_factors: indices of the factors behind the scores; K is their number.
        reason: why there is no average, or None.
        notes: what a reader of the numbers must know.
        num_samples: N.
        settings: how it was obtained.
        diagnostics: mean number of leaves of each factor's trees, or entropy of each factor.
    """

    metric: str
    matrix: np.ndarray
    scores: np.ndarray
    parents: np.ndarray
    weights: np.ndarray
    average: float
    informativeness: np.ndarray
    active: np.ndarray
    scored_factors: tuple[int, ...]
    reason: str | None
    notes: tuple[str, ...]
    num_samples: int
    settings: dict[str, Any]
    diagnostics: dict[str, Any]

    @property
    def avg_informativeness(self) -> float:
        """Mean informativeness of the factors that have one; NaN if none has."""
        known = self.informativeness[~np.isnan(self.informativeness)]
        return float(known.mean()) if len(known) else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; what is undefined is None, never NaN."""
        values = {name: plain(getattr(self, name)) for name in self.__dataclass_fields__}
        values["parents"] = [None if parent < 0 else parent for parent in values["parents"]]
        return values | {"avg_informativeness": plain(self.avg_informativeness)}


def active_latents(latents: np.ndarray, tolerance: float) -> np.ndarray:
    """`(num_latents,)` whether the largest deviation from the mean exceeds this share of the largest absolute value."""
    deviations = np.abs(latents - latents.mean(axis=0)).max(axis=0)
    return deviations > tolerance * np.abs(latents).max(axis=0)


def notes_on_factors(faults: Sequence[str | None]) -> list[str]:
    """One note for each kind of fault that keeps factors from being scored, naming the factors."""
    kinds = dict.fromkeys(fault for fault in faults if fault)
    return [f"factors {[j for j, fault in enumerate(faults) if fault == kind]}: {kind}" for kind in kinds]


def why_no_average(
    active: np.ndarray, informative: np.ndarray, scored_factors: tuple[int, ...], notes: Sequence[str]
) -> str | None:
    """The sentence for `reason` that both metrics share, or None."""
    if not active.any():
        return f"collapsed: none of the {len(active)} latents varies"
    if len(scored_factors) < 2:
        sentence = f"a score per latent compares at least two factors, and {len(scored_factors)} could be scored"
        return "; ".join([sentence, *notes])
    if not informative.any():
        return "no latent says anything about any factor"
    return None


def rows_of_active(values: np.ndarray, active: np.ndarray) -> np.ndarray:
    """`(num_latents, num_factors)` with the rows of active latents filled and NaN elsewhere."""
    matrix = np.full((len(active), values.shape[1]), np.nan)
    matrix[active] = values
    return matrix
