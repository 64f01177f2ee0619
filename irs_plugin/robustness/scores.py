"""The interventional robustness score for any groups of latents and factors (method section 4, equation 2)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from irs_plugin.robustness.adjustment import SupportWarning, make_adjuster
from irs_plugin.robustness.cells import Cells, FactorCodes, encode_factors, partition
from irs_plugin.robustness.distances import Distance, make_distance
from irs_plugin.robustness.expectations import Expectation, InterventionalExpectation, expect, make_expectation
from irs_plugin.robustness.plain import plain
from irs_plugin.robustness.quantiles import grouped_quantile
from irs_plugin.robustness.validation import (
    check_arrays,
    check_choice,
    check_fraction,
    check_group,
    check_quantile,
    refuse_magnitude,
)

# Squares of codes within these bounds are ordinary floats.
_SMALLEST, _LARGEST = 1e-140, 1e140
# Rows listed behind each supremum; a cell may hold millions.
_MAX_ROWS = 100


@dataclass(frozen=True)
class Witness:
    """Where a supremum is reached.

    Attributes:
        fixed: the realisation g_I (empty where nothing is held fixed).
        intervened: the realisation g_J whose distance decides: the largest, or with a quantile below 1 the smallest
            that reaches it.
        distance: that distance, in units of the latents.
        rows: indices of the samples behind it, at most the first hundred.
        num_rows: how many there are.
    """

    fixed: tuple
    intervened: tuple
    distance: float
    rows: np.ndarray
    num_rows: int

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {name: plain(getattr(self, name)) for name in self.__dataclass_fields__}


class Witnesses(Sequence):
    """A `Witness` for every realisation g_I, made when asked for; there may be very many.

    Args:
        factors: the factors of all samples.
        changed: the expectations among which the suprema are taken.
        fixed, intervened: the groups I and J.
        deciding: `(num_witnesses,)` the cell of `changed` that decides each supremum.
        distances: `(num_cells,)` distance of every cell of `changed`.
    """

    def __init__(
        self,
        factors: FactorCodes,
        changed: InterventionalExpectation,
        fixed: Sequence[int],
        intervened: Sequence[int],
        deciding: np.ndarray,
        distances: np.ndarray,
    ) -> None:
        cells = changed.cells
        first = cells.first[deciding]
        self.fixed = factors.values[np.ix_(first, list(fixed))]
        self.intervened = factors.values[np.ix_(first, list(intervened))]
        self.distances = distances[deciding]
        self.num_rows = cells.counts[deciding]
        wanted = np.zeros(cells.num_cells, dtype=bool)
        wanted[deciding] = True
        rows = np.flatnonzero(wanted[cells.ids])
        owners = cells.ids[rows]
        order = np.argsort(owners, kind="stable")
        self._rows = rows[order]
        self._starts = np.searchsorted(owners[order], deciding)

    def __len__(self) -> int:
        return len(self.distances)

    def __getitem__(self, n: Any) -> Any:
        if isinstance(n, slice):
            return [self[k] for k in range(*n.indices(len(self)))]
        start = self._starts[n]
        return Witness(
            fixed=tuple(self.fixed[n].tolist()),
            intervened=tuple(self.intervened[n].tolist()),
            distance=float(self.distances[n]),
            rows=self._rows[start : start + min(self.num_rows[n], _MAX_ROWS)],
            num_rows=int(self.num_rows[n]),
        )


@dataclass(frozen=True)
class Pida:
    """Post-interventional disagreement of every cell (g_I, g_J).

    Attributes:
        realisations: `(num_cells, |I| + |J|)` factor values, those of I first.
        distances: `(num_cells,)` d(E[Z_L | do(g_I)], E[Z_L | do(g_I, g_J)]).
        counts: `(num_cells,)` samples.
        support, effective_sample_size: `(num_cells,)` of the expectation at (g_I, g_J).
    """

    realisations: np.ndarray
    distances: np.ndarray
    counts: np.ndarray
    support: np.ndarray
    effective_sample_size: np.ndarray

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {name: plain(getattr(self, name)) for name in self.__dataclass_fields__}


@dataclass(frozen=True)
class RobustnessResult:
    """Interventional robustness of a latent group, and how it was obtained.

    Attributes:
        irs: 1 − empida / normalizer, in [−1, 1]; NaN where `reason` says why there is no score.
        empida: expected maximal post-interventional disagreement EMPIDA(L | I, J), in units of the latents.
        normalizer: EMPIDA(L | ∅, all factors), likewise.
        realisations: `(num_cells, |I|)` the realisations g_I that occur.
        mpida: `(num_cells,)` MPIDA(L | g_I, J).
        weights: `(num_cells,)` p(g_I), observed.
        counts: `(num_cells,)` samples with g_I.
        num_interventions: `(num_cells,)` realisations g_J that occur with g_I; where it is 1 nothing was intervened on.
        witness: for every g_I where its supremum is reached.
        normalizer_witness: the fully specified realisation that decides the normaliser.
        pida: every cell's disagreement, if asked for.
        support: smallest and mean support and effective sample size of both expectations, and what was clipped.
        notes: what a reader of the number must know.
        reason: why there is no score, or None.
        num_samples: N.
        settings: groups, distance, estimator, expectation, quantiles.
    """

    irs: float
    empida: float
    normalizer: float
    realisations: np.ndarray
    mpida: np.ndarray
    weights: np.ndarray
    counts: np.ndarray
    num_interventions: np.ndarray
    witness: Witnesses = field(repr=False)
    normalizer_witness: Witness = field(repr=False)
    pida: Pida | None = field(repr=False)
    support: dict[str, Any] = field(repr=False)
    notes: tuple[str, ...]
    reason: str | None
    num_samples: int
    settings: dict[str, Any] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; an undefined score is None, never NaN."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        values["witness"] = [witness.to_dict() for witness in self.witness]
        values["normalizer_witness"] = self.normalizer_witness.to_dict()
        values["pida"] = None if self.pida is None else self.pida.to_dict()
        return plain(values)


def interventional_robustness(
    gen_factors: Any,
    latents: Any,
    *,
    latent_dims: int | Sequence[int],
    fixed_factors: int | Sequence[int],
    intervened_factors: int | Sequence[int],
    distance: str | Distance = "l2",
    diff_quantile: float = 1.0,
    normalizer_quantile: float = 1.0,
    expectation: str = "mean",
    trim: float = 0.1,
    replicates: str = "mean",
    inactive_tolerance: float = 1e-6,
    return_pida: bool = False,
    adjustment: str = "none",
    **adjustment_options: Any,
) -> RobustnessResult:
    """Robustness of the latents L, which are to capture the factors I, against interventions on the factors J.

    IRS(L | I, J) = 1 − EMPIDA(L | I, J) / EMPIDA(L | ∅, all): while g_I is held fixed, the largest move of the expected
    code under changes of g_J, averaged over p(g_I), as a share of the largest move there is (Suter et al. 2019,
    section 4). 1 is perfectly robust, 0 not robust; negative values, down to −1, are legitimate.

    Args:
        gen_factors: `(num_samples, num_factors)`.
        latents: `(num_samples, num_latents)`.
        latent_dims: the group L, not empty.
        fixed_factors: the group I, possibly empty.
        intervened_factors: the group J, not empty, disjoint from I. Factors in neither are averaged over.
        distance: `l2`, `l1`, `linf`, `mahalanobis`, or a callable from two arrays `(num_pairs, |L|)` to `(num_pairs,)`.
        diff_quantile: quantile over the realisations g_J in place of the supremum; 1.0 is the paper.
        normalizer_quantile: the same for the normaliser, over all fully specified realisations.
        expectation, trim: `mean`, `trimmed_mean` (weight share `trim` cut from either end) or `median` for every E[·].
        replicates: `mean` averages samples that share all factors into E[Z | g] (the paper); `separate` lets each
            count as a fully specified realisation of its own (disentanglement_lib).
        inactive_tolerance: there is no score if the normaliser is at most this share of the largest distance of a
            code from zero.
        return_pida: keep the disagreement of every cell.
        adjustment: `none`, `counts`, `propensity` or `confounder`.
        **adjustment_options: `confounder`, `classifier`, `num_folds`, `clip`, `min_support`, `seed`; see
            `irs_plugin.robustness.adjustment.make_adjuster`.

    Raises:
        ValueError: bad arrays, groups or options, or an adjustment that cannot work on these data.
    """
    check_quantile(diff_quantile, "diff_quantile")
    check_quantile(normalizer_quantile, "normalizer_quantile")
    check_choice(replicates, "replicates", ("mean", "separate"))
    check_fraction(inactive_tolerance, "inactive_tolerance", 0.0, 1.0)
    adjuster, expected = make_adjuster(adjustment, **adjustment_options), make_expectation(expectation, trim)
    gen_factors, latents = check_arrays(gen_factors, latents)
    fixed, intervened, dims = _check_groups(gen_factors, latents, latent_dims, fixed_factors, intervened_factors)
    factors, codes = encode_factors(gen_factors), np.ascontiguousarray(latents[:, dims])
    largest = np.abs(codes).max()
    if largest > 0.0 and not _SMALLEST < largest < _LARGEST:
        refuse_magnitude(largest)
    measure = make_distance(distance, codes)

    held = expect(factors, codes, fixed, adjuster, expected)
    changed = _changed(factors, codes, (*fixed, *intervened), adjuster, expected, replicates)
    owners = held.cells.ids[changed.cells.first]
    distances = measure(held.values[owners], changed.values)
    mpida, deciding = grouped_quantile(distances, owners, held.cells.num_cells, diff_quantile)
    weights = held.counts / factors.num_samples
    normalizer, normalizer_witness = _normalizer(
        factors, codes, changed, expected, replicates, measure, normalizer_quantile
    )
    empida = float(weights @ mpida)
    num_interventions = np.bincount(owners, minlength=held.cells.num_cells)
    scale = float(measure(codes, np.zeros_like(codes)).max())
    reason = _reason(normalizer, inactive_tolerance, scale, num_interventions)
    return RobustnessResult(
        irs=float("nan") if reason else 1.0 - empida / normalizer,
        empida=empida,
        normalizer=normalizer,
        realisations=held.realisations,
        mpida=mpida,
        weights=weights,
        counts=held.counts,
        num_interventions=num_interventions,
        witness=Witnesses(factors, changed, fixed, intervened, deciding, distances),
        normalizer_witness=normalizer_witness,
        pida=_pida(changed, distances) if return_pida else None,
        support=_support(held, changed),
        notes=_notes(held, changed, num_interventions, weights),
        reason=reason,
        num_samples=factors.num_samples,
        settings={
            "latent_dims": list(dims),
            "fixed_factors": list(fixed),
            "intervened_factors": list(intervened),
            "distance": distance if isinstance(distance, str) else getattr(distance, "__name__", repr(distance)),
            "estimator": adjuster.method,
            "expectation": expected.kind,
            "diff_quantile": diff_quantile,
            "normalizer_quantile": normalizer_quantile,
            "replicates": replicates,
            "inactive_tolerance": inactive_tolerance,
            **({"trim": trim} if expected.kind == "trimmed_mean" else {}),
            **adjuster.settings(),
        },
    )


def domain_shift_robustness(
    gen_factors: Any,
    latents: Any,
    *,
    latent_dims: int | Sequence[int],
    shifted_factors: int | Sequence[int],
    **options: Any,
) -> RobustnessResult:
    """Robustness of the latents L when only the factors S shift and every other is held fixed: IRS(L | {1..K} \\ S, S).

    Args:
        gen_factors: `(num_samples, num_factors)`.
        latents: `(num_samples, num_latents)`.
        latent_dims: the group L.
        shifted_factors: the group S, not empty.
        **options: those of `interventional_robustness`.

    Suter et al. 2019, section 4, the special case for domain shift and feature choice.
    """
    gen_factors, latents = check_arrays(gen_factors, latents)
    num_factors = gen_factors.shape[1]
    shifted = check_group(shifted_factors, num_factors, "shifted_factors")
    fixed = [k for k in range(num_factors) if k not in shifted]
    return interventional_robustness(
        gen_factors, latents, latent_dims=latent_dims, fixed_factors=fixed, intervened_factors=shifted, **options
    )


def _check_groups(
    gen_factors: np.ndarray,
    latents: np.ndarray,
    latent_dims: int | Sequence[int],
    fixed_factors: int | Sequence[int],
    intervened_factors: int | Sequence[int],
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    dims = check_group(latent_dims, latents.shape[1], "latent_dims")
    fixed = check_group(fixed_factors, gen_factors.shape[1], "fixed_factors", may_be_empty=True)
    intervened = check_group(intervened_factors, gen_factors.shape[1], "intervened_factors")
    overlap = sorted(set(fixed) & set(intervened))
    if overlap:
        raise ValueError(
            f"fixed_factors {list(fixed)} and intervened_factors {list(intervened)} share {overlap}; a factor is "
            f"either held fixed or changed. Drop it from one of them."
        )
    return fixed, intervened, dims


def _changed(
    factors: FactorCodes,
    codes: np.ndarray,
    group: Sequence[int],
    adjuster: Any,
    expected: Expectation,
    replicates: str,
) -> InterventionalExpectation:
    """E[Z_L | do(g_I, g_J)]; a fully specified realisation may be every sample by itself."""
    if replicates == "mean" or factors.rest(group):
        return expect(factors, codes, group, adjuster, expected)
    ones = np.ones(factors.num_samples)
    every = np.arange(factors.num_samples)
    cells = Cells(every.astype(np.int32), ones.astype(np.int64), every)
    realisations = factors.realisations(cells, group)
    return InterventionalExpectation(tuple(group), cells, realisations, codes, cells.counts, ones, ones, 0, ())


def _normalizer(
    factors: FactorCodes,
    codes: np.ndarray,
    changed: InterventionalExpectation,
    expected: Expectation,
    replicates: str,
    measure: Distance,
    quantile: float,
) -> tuple[float, Witness]:
    """EMPIDA(L | ∅, all): how far any fully specified realisation's expectation lies from the overall one."""
    everything = tuple(range(factors.num_factors))
    points = changed
    if factors.rest(changed.factors):
        points = _changed(factors, codes, everything, make_adjuster(), expected, replicates)
    centre = expected.per_cell(codes, partition(factors, ()))
    distances = measure(np.broadcast_to(centre, points.values.shape), points.values)
    found, deciding = grouped_quantile(distances, np.zeros(len(distances), dtype=np.int32), 1, quantile)
    witness = Witnesses(factors, points, (), everything, deciding, distances)
    return float(found[0]), witness[0]


def _reason(normalizer: float, tolerance: float, scale: float, num_interventions: np.ndarray) -> str | None:
    if normalizer <= tolerance * scale:
        return (
            f"collapsed: the normaliser {normalizer:g} is at most {tolerance:g} of the largest distance of a code from "
            f"zero, {scale:g}, so these latents do not vary and there is nothing to be robust"
        )
    if num_interventions.max() == 1:
        return (
            "unsupported: no realisation of the fixed factors meets two realisations of the intervened factors, so no "
            "intervention is observed (one sample per realisation would score 1 for pure noise)"
        )
    return None


def _support(held: InterventionalExpectation, changed: InterventionalExpectation) -> dict[str, Any]:
    return {
        name: {
            "min_support": float(found.support.min()),
            "mean_support": float(found.support.mean()),
            "min_effective_sample_size": float(found.effective_sample_size.min()),
            "mean_effective_sample_size": float(found.effective_sample_size.mean()),
            "num_clipped": found.num_clipped,
            "num_cells": found.cells.num_cells,
        }
        for name, found in (("fixed", held), ("intervened", changed))
    }


def _notes(
    held: InterventionalExpectation,
    changed: InterventionalExpectation,
    num_interventions: np.ndarray,
    weights: np.ndarray,
) -> tuple[str, ...]:
    notes = [*held.notes, *changed.notes]
    alone = float(weights[num_interventions == 1].sum())
    if 0.0 < alone < 1.0:
        note = (
            f"realisations of the fixed factors with {100 * alone:.1f} % of the weight meet one realisation of the "
            f"intervened factors only, so no intervention is observed there"
        )
        notes.append(note)
        warnings.warn(note, SupportWarning, stacklevel=3)
    return tuple(notes)


def _pida(changed: InterventionalExpectation, distances: np.ndarray) -> Pida:
    return Pida(changed.realisations, distances, changed.counts, changed.support, changed.effective_sample_size)
