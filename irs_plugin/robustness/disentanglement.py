"""The disentanglement score D_l = max_i IRS({l} | {i}, all others) and the overall IRS (section 4, equation 3).

The same quantities as `irs_plugin.robustness.scores` gives for a single latent and a single fixed factor, for all
latents and factors at once.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from irs_plugin.robustness.adjustment import Adjuster, SupportWarning, make_adjuster
from irs_plugin.robustness.cells import FactorCodes, encode_factors, partition, repeated_cells
from irs_plugin.robustness.expectations import Expectation, expect, make_expectation
from irs_plugin.robustness.plain import plain
from irs_plugin.robustness.quantiles import Partition, deviation_quantiles
from irs_plugin.robustness.statistics import FactorStatistics, PackedStatistics
from irs_plugin.robustness.validation import (
    check_arrays,
    check_choice,
    check_fraction,
    check_quantile,
    refuse_not_finite,
)

FACTOR_WEIGHTS = ("observed", "uniform")
REPLICATES = ("mean", "separate")


@dataclass(frozen=True)
class DisentanglementResult:
    """The disentanglement score of every latent, and how it was obtained.

    Attributes:
        irs_matrix: `(num_latents, num_factors)` IRS({l} | {i}, all others), in [−1, 1]; NaN in the rows of inactive
            latents and in the columns of factors that cannot be scored.
        disentanglement_scores: `(num_latents,)` D_l, the row maxima; NaN where inactive.
        parents: `(num_latents,)` the maximising factor; −1 where inactive.
        max_deviations: `(num_latents,)` the normalisers EMPIDA({l} | ∅, all), in units of the latent.
        active: `(num_latents,)` whether the latent varies by more than the tolerance.
        num_active_dims: how many are active.
        avg_score: mean of D_l over active latents weighted by normaliser (disentanglement_lib's `IRS`); 0 if none is.
        mean_score: unweighted mean of D_l over active latents; 0 if none is.
        reason: why the number is not an ordinary score, or None.
        num_samples: N.
        settings: how it was obtained: weights, quantiles, estimator, expectation, replicates, tolerance.
        diagnostics: what the data support: factor sizes, combinations seen, notes.
    """

    irs_matrix: np.ndarray
    disentanglement_scores: np.ndarray
    parents: np.ndarray
    max_deviations: np.ndarray
    active: np.ndarray
    num_active_dims: int
    avg_score: float
    mean_score: float
    reason: str | None
    num_samples: int
    settings: dict[str, Any] = field(repr=False)
    diagnostics: dict[str, Any] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; what is undefined (an inactive latent's score or parent) is None, never NaN."""
        values = {name: plain(getattr(self, name)) for name in self.__dataclass_fields__}
        values["parents"] = [None if parent < 0 else parent for parent in values["parents"]]
        return values


@dataclass(frozen=True)
class _Options:
    diff_quantile: float
    normalizer_quantile: float
    factor_weights: str
    replicates: str
    expectation: Expectation
    adjuster: Adjuster
    inactive_tolerance: float

    @property
    def plain_means(self) -> bool:
        return self.adjuster.method == "none" and self.expectation.kind == "mean"

    @property
    def as_dlib(self) -> bool:
        """Whether disentanglement_lib's conventions are asked for, its treatment of lone samples included."""
        return self.factor_weights == "uniform" and self.replicates == "separate"

    def settings(self) -> dict[str, Any]:
        chosen = {
            "estimator": self.adjuster.method,
            "expectation": self.expectation.kind,
            "diff_quantile": self.diff_quantile,
            "normalizer_quantile": self.normalizer_quantile,
            "factor_weights": self.factor_weights,
            "replicates": self.replicates,
            "inactive_tolerance": self.inactive_tolerance,
        }
        if self.expectation.kind == "trimmed_mean":
            chosen["trim"] = self.expectation.trim
        return chosen | self.adjuster.settings()


def _make_options(
    *,
    diff_quantile: float = 1.0,
    factor_weights: str = "observed",
    normalizer_quantile: float = 1.0,
    replicates: str | None = None,
    expectation: str = "mean",
    trim: float = 0.1,
    inactive_tolerance: float = 1e-6,
    adjustment: str = "none",
    **adjustment_options: Any,
) -> _Options:
    check_choice(factor_weights, "factor_weights", FACTOR_WEIGHTS)
    if replicates is None:
        replicates = "mean" if factor_weights == "observed" else "separate"
    return _Options(
        check_quantile(diff_quantile, "diff_quantile"),
        check_quantile(normalizer_quantile, "normalizer_quantile"),
        factor_weights,
        check_choice(replicates, "replicates", REPLICATES),
        make_expectation(expectation, trim),
        make_adjuster(adjustment, **adjustment_options),
        check_fraction(inactive_tolerance, "inactive_tolerance", 0.0, 1.0),
    )


def disentanglement_score(
    gen_factors: Any,
    latents: Any,
    *,
    diff_quantile: float = 1.0,
    factor_weights: str = "observed",
    normalizer_quantile: float = 1.0,
    replicates: str | None = None,
    expectation: str = "mean",
    trim: float = 0.1,
    inactive_tolerance: float = 1e-6,
    adjustment: str = "none",
    **adjustment_options: Any,
) -> DisentanglementResult:
    """Score how robustly each latent captures one generative factor (Suter et al. 2019, section 4, equation 3).

    For latent l and factor i, with g_i fixed: the largest distance any other change of factors moves the expected
    code, averaged over g_i, as a share of the largest distance any code lies from the overall mean; IRS is one minus
    that share. 1 is perfectly robust, 0 not at all; below 0, down to −1, codes lie farther from their group's mean
    than any lies from the overall mean.

    Args:
        gen_factors: `(num_samples, num_factors)` realisations of the generative factors.
        latents: `(num_samples, num_latents)` codes, for a VAE the posterior means.
        diff_quantile: quantile of the distances in place of the supremum; 1.0 is the paper.
        factor_weights: weight of each g_i: `observed` frequency (the paper) or `uniform` (disentanglement_lib).
        normalizer_quantile: the same quantile for the normaliser.
        replicates: samples that agree in all factors are averaged into E[Z | g] (`mean`, the paper; the default with
            observed weights) or each count as a realisation of their own (`separate`, disentanglement_lib; the
            default with uniform weights). The same where no combination occurs twice.
        expectation, trim: `mean`, `trimmed_mean` or `median` in place of every expectation.
        inactive_tolerance: a latent is inactive if its largest deviation from its mean is at most this share of its
            largest absolute value; the default lies just above the rounding noise of single precision.
        adjustment: `none`, `counts`, `propensity` or `confounder`, for confounded factors.
        **adjustment_options: `confounder`, `classifier`, `num_folds`, `clip`, `min_support`, `seed`; see
            `irs_plugin.robustness.adjustment.make_adjuster`.

    Returns:
        A frozen result. With `factor_weights="uniform"` (and the default replicates) its IRS matrix is that of
        disentanglement_lib's `scalable_disentanglement_score` at the same `diff_quantile`.

    Raises:
        ValueError: arrays that are not finite, empty, one-dimensional or of differing length, continuous factors,
            options out of range, an adjustment that cannot work, or data in which no factor can be scored.

    Example:
        >>> import numpy as np
        >>> g = np.array([[a, b] for a in range(4) for b in range(3)])
        >>> round(disentanglement_score(g, g[:, :1] + 0.0).avg_score, 6)
        1.0
    """
    options = _make_options(
        diff_quantile=diff_quantile,
        factor_weights=factor_weights,
        normalizer_quantile=normalizer_quantile,
        replicates=replicates,
        expectation=expectation,
        trim=trim,
        inactive_tolerance=inactive_tolerance,
        adjustment=adjustment,
        **adjustment_options,
    )
    # Whether codes are finite shows for nothing in the statistics that are taken first.
    gen_factors, latents = check_arrays(gen_factors, latents, finite=False)
    return _score(encode_factors(gen_factors), latents, options)


def _score(factors: FactorCodes, latents: np.ndarray, options: _Options) -> DisentanglementResult:
    """The score of whole arrays, under any options."""
    # Where no combination occurs twice, as in a grid, there is nothing to average and no cell to number.
    everything = repeated_cells(factors)
    if everything is None or options.replicates == "separate":
        points = _Points.of(latents, factors.codes, factors.sizes)
    else:
        values = options.expectation.per_cell(latents, everything)
        codes = np.take(factors.codes, everything.first, axis=1)
        points = _Points.of(values, codes, factors.sizes, everything.counts, np.abs(latents).max(axis=0))
    if not points.statistics.finite:
        refuse_not_finite(latents)
    centres = centre = None
    notes: list[str] = []
    if not options.plain_means:
        found = [
            expect(factors, latents, (i,), options.adjuster, options.expectation) for i in range(len(factors.sizes))
        ]
        centres = [expected.values for expected in found]
        notes = [note for expected in found for note in expected.notes]
        centre = options.expectation.per_cell(latents, partition(factors, ()))[0]
    num_combinations = len(latents) if everything is None else everything.num_cells
    return _evaluate(points, options, num_combinations, centres, centre, notes)


@dataclass(frozen=True)
class _Points:
    """Expectations E[Z | g] of fully specified realisations: samples, or averages of samples that share all factors.

    Attributes:
        values: `(M, num_latents)`, or None where only their statistics are kept.
        codes: `(K, M)` likewise.
        statistics: by value of every factor.
        magnitudes: `(num_latents,)` largest absolute values of the samples; None where these are the points.
    """

    values: np.ndarray | None
    codes: np.ndarray | None
    statistics: PackedStatistics
    magnitudes: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        values: np.ndarray,
        codes: np.ndarray,
        sizes: Sequence[int],
        multiplicities: np.ndarray | None = None,
        magnitudes: np.ndarray | None = None,
    ) -> _Points:
        statistics = PackedStatistics(sizes, values.shape[1], len(values))
        statistics.update(codes, values, multiplicities)
        return cls(values, codes, statistics, magnitudes)


def _evaluate(
    points: _Points,
    options: _Options,
    num_combinations: int | None,
    centres: list[np.ndarray] | None = None,
    centre: np.ndarray | None = None,
    notes: Sequence[str] = (),
) -> DisentanglementResult:
    """From the points to the result.

    Args:
        points, options: see there.
        num_combinations: different factor combinations among the samples, None where nobody counted.
        centres: E[Z | do(g_i)] for every factor, `(size, num_latents)` each; None for the means of the samples.
        centre: E[Z]; None for the mean of the samples.
        notes: what a reader of the number must know.
    """
    factors = points.statistics.factors()
    whole = factors[0]
    num_samples = int(whole.counts.sum())
    least, most = whole.minima.min(axis=0), whole.maxima.max(axis=0)
    centre = whole.sums.sum(axis=0) / num_samples if centre is None else centre
    max_deviations = np.maximum(most - centre, centre - least)
    if options.normalizer_quantile < 1.0:
        one = Partition(np.zeros(len(points.values), dtype=np.int32), np.array([len(points.values)]), centre[None])
        max_deviations = deviation_quantiles(points.values, [one], options.normalizer_quantile)[0][0]
    if centres is None:
        centres = [factor.sums / np.maximum(factor.counts, 1)[:, None] for factor in factors]
    farthest = _farthest(points, factors, centres, options.diff_quantile)
    deviations = np.column_stack(
        [_average(far, factor.counts, options) for far, factor in zip(farthest, factors, strict=True)]
    )
    lone = [i for i, factor in enumerate(factors) if factor.num_points.max() == 1]
    sizes = [int(np.count_nonzero(factor.counts)) for factor in factors]
    diagnostics = _support(sizes, num_combinations, lone, notes)
    magnitudes = np.maximum(np.abs(least), np.abs(most)) if points.magnitudes is None else points.magnitudes
    return _assemble(deviations, max_deviations, magnitudes, lone, num_samples, options, diagnostics)


def _farthest(
    points: _Points, factors: Sequence[FactorStatistics], centres: Sequence[np.ndarray], quantile: float
) -> list[np.ndarray]:
    """MPIDA of every latent for every value of each factor, `(size, num_latents)`; 0 for values that do not occur."""
    if quantile < 1.0:
        partitions = [
            Partition(codes, factor.num_points, centre)
            for codes, factor, centre in zip(points.codes, factors, centres, strict=True)
        ]
        return deviation_quantiles(points.values, partitions, quantile)
    # The farthest point from a centre is the smallest or the largest.
    return [
        np.where(factor.counts[:, None] > 0, np.maximum(factor.maxima - centre, centre - factor.minima), 0.0)
        for factor, centre in zip(factors, centres, strict=True)
    ]


def _average(farthest: np.ndarray, counts: np.ndarray, options: _Options) -> np.ndarray:
    if options.factor_weights == "uniform":
        return farthest.sum(axis=0) / np.count_nonzero(counts)
    return (counts / counts.sum()) @ farthest


def _support(
    sizes: Sequence[int], num_combinations: int | None, lone: Sequence[int], notes: Sequence[str]
) -> dict[str, Any]:
    possible = float(np.prod([float(size) for size in sizes]))
    return {
        "factor_sizes": list(sizes),
        "num_combinations": num_combinations,
        "share_of_combinations": None if num_combinations is None else num_combinations / possible,
        "constant_factors": [i for i, size in enumerate(sizes) if size == 1],
        "unsupported_factors": list(lone),
        "notes": list(notes),
    }


def _assemble(
    deviations: np.ndarray,
    max_deviations: np.ndarray,
    magnitudes: np.ndarray,
    lone: Sequence[int],
    num_samples: int,
    options: _Options,
    diagnostics: dict[str, Any],
) -> DisentanglementResult:
    if lone and not options.as_dlib:
        _refuse_or_mark(deviations, lone, num_samples, options, diagnostics)
    if diagnostics["constant_factors"]:
        diagnostics["notes"].append(
            f"factors {diagnostics['constant_factors']} take one value only: holding them fixed changes nothing, so "
            f"their column shows what is left when nothing is held fixed"
        )
    active = max_deviations > options.inactive_tolerance * magnitudes
    irs_matrix = np.full(deviations.shape, np.nan)
    irs_matrix[active] = 1.0 - deviations[active] / max_deviations[active, None]
    scores = np.full(len(active), np.nan)
    parents = np.full(len(active), -1, dtype=np.int64)
    average = mean = 0.0
    reason = None
    if active.any():
        parents[active] = np.nanargmax(irs_matrix[active], axis=1)
        scores[active] = np.nanmax(irs_matrix[active], axis=1)
        average = float(np.average(scores[active], weights=max_deviations[active]))
        mean = float(scores[active].mean())
    else:
        reason = (
            f"collapsed: none of the {len(active)} latents deviates from its mean by more than "
            f"{options.inactive_tolerance:g} of its largest absolute value"
        )
    return DisentanglementResult(
        irs_matrix,
        scores,
        parents,
        max_deviations,
        active,
        int(active.sum()),
        average,
        mean,
        reason,
        num_samples,
        options.settings(),
        diagnostics,
    )


def _refuse_or_mark(
    deviations: np.ndarray, lone: Sequence[int], num_samples: int, options: _Options, diagnostics: dict[str, Any]
) -> None:
    """A factor none of whose values meets two realisations of the others would score 1 for pure noise."""
    num_factors = deviations.shape[1]
    if len(lone) == num_factors:
        raise ValueError(
            f"no factor can be scored: in {num_samples} samples no value of any of the {num_factors} factors meets two "
            f"different realisations of the others, so no intervention is observed. Give more samples or factors, "
            f"merge values (irs_plugin.discretise)"
            + (", or count repeated samples one by one (replicates='separate')." if num_factors == 1 else ".")
        )
    deviations[:, list(lone)] = np.nan
    note = (
        f"factors {list(lone)} cannot be scored: none of their values meets two different realisations of the others "
        f"(one sample per value would score 1 for pure noise)"
    )
    diagnostics["notes"].append(note)
    warnings.warn(note, SupportWarning, stacklevel=2)


class DisentanglementStatistics:
    """The disentanglement score of a data set that comes in batches, in memory that does not grow with it.

    Args:
        factor_sizes: number of values of each factor; factors are integers from 0 to size − 1.
        num_latents: number of latents.
        **options: those of `disentanglement_score`, as far as they follow from sums over cells: with
            `replicates="separate"` conditional means and the supremum (quantile 1). With `replicates="mean"` also
            quantiles, at the price of a table of all factor combinations.

    Two instances with the same arguments merge into that of the whole data set.
    """

    # A table of 2^27 numbers takes 1 GiB.
    _MAX_TABLE = 1 << 27

    def __init__(self, factor_sizes: Sequence[int], num_latents: int, **options: Any) -> None:
        self._options = _make_options(**options)
        self.factor_sizes = tuple(int(size) for size in factor_sizes)
        self.num_latents = int(num_latents)
        if not self.factor_sizes or min(self.factor_sizes) < 1 or self.num_latents < 1:
            raise ValueError(
                f"factor_sizes must be positive integers and num_latents at least 1; got {list(factor_sizes)} and "
                f"{num_latents}."
            )
        self._check_options()
        self._statistics = self._counts = self._sums = self._magnitudes = None
        if self._options.replicates == "separate":
            self._statistics = PackedStatistics(self.factor_sizes, self.num_latents, 1 << 20)
            return
        combinations = int(np.prod(self.factor_sizes, dtype=object))
        if combinations * self.num_latents > self._MAX_TABLE:
            raise ValueError(
                f"{combinations} factor combinations × {self.num_latents} latents exceed the table limit of "
                f"{self._MAX_TABLE} numbers; pass replicates='separate', or score fewer latents at a time."
            )
        self._counts = np.zeros(combinations, dtype=np.int64)
        self._sums = np.zeros((combinations, self.num_latents))
        self._magnitudes = np.zeros(self.num_latents)

    def _check_options(self) -> None:
        options = self._options
        if options.expectation.kind != "mean" or options.adjuster.method != "none":
            raise ValueError(
                f"statistics of batches give conditional means only; got expectation={options.expectation.kind!r}, "
                f"adjustment={options.adjuster.method!r}. Score the whole arrays with disentanglement_score."
            )
        quantiles = (options.diff_quantile, options.normalizer_quantile)
        if options.replicates == "separate" and quantiles != (1.0, 1.0):
            raise ValueError(
                f"quantiles {quantiles} of single samples do not follow from sums over cells; use 1.0, "
                f"replicates='mean', or score the whole arrays with disentanglement_score."
            )

    def update(self, gen_factors: Any, latents: Any) -> DisentanglementStatistics:
        """Add a batch: `(num_samples, num_factors)` and `(num_samples, num_latents)`."""
        gen_factors, latents = check_arrays(gen_factors, latents)
        expected = (len(self.factor_sizes), self.num_latents)
        if (gen_factors.shape[1], latents.shape[1]) != expected:
            raise ValueError(
                f"expected {expected[0]} factors and {expected[1]} latents; got {gen_factors.shape[1]} and "
                f"{latents.shape[1]}."
            )
        low, high = gen_factors.min(axis=0), gen_factors.max(axis=0)
        if gen_factors.dtype.kind not in "iub" or (low < 0).any() or (high >= self.factor_sizes).any():
            raise ValueError(
                f"factors must be integers from 0 to size − 1 with sizes {list(self.factor_sizes)}; got "
                f"{gen_factors.dtype} from {low.tolist()} to {high.tolist()}."
            )
        codes = np.ascontiguousarray(gen_factors.T, dtype=np.int32)
        if self._statistics is not None:
            self._statistics.update(codes, latents)
            return self
        keys = np.ravel_multi_index(tuple(codes), self.factor_sizes)
        np.add.at(self._counts, keys, 1)
        np.add.at(self._sums, keys, latents)
        np.maximum(self._magnitudes, np.abs(latents).max(axis=0), out=self._magnitudes)
        return self

    def merge(self, other: DisentanglementStatistics) -> DisentanglementStatistics:
        """Add the samples behind `other`."""
        mine, theirs = ((part.factor_sizes, part.num_latents, part._options.settings()) for part in (self, other))
        if mine != theirs:
            raise ValueError(f"statistics of different problems do not merge: {mine} and {theirs}.")
        if self._statistics is not None:
            self._statistics.merge(other._statistics)
        else:
            self._counts += other._counts
            self._sums += other._sums
            np.maximum(self._magnitudes, other._magnitudes, out=self._magnitudes)
        return self

    def compute(self) -> DisentanglementResult:
        """The score of everything added so far; the same as of the whole arrays."""
        if self._statistics is not None:
            points, num_combinations = _Points(None, None, self._statistics), None
        else:
            seen = np.flatnonzero(self._counts)
            codes = np.array(np.unravel_index(seen, self.factor_sizes), dtype=np.int32)
            counts, num_combinations = self._counts[seen], len(seen)
            values = self._sums[seen] / counts[:, None]
            points = _Points.of(values, codes, self.factor_sizes, counts, self._magnitudes)
        if not points.statistics.num_samples:
            raise ValueError("nothing to score: no samples were added; call update first.")
        return _evaluate(points, self._options, num_combinations)
