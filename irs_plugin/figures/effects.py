"""Interventional effects: what moves each latent, and what should not (paper section 6.3, figures 13 to 17)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from irs_plugin.figures import style
from irs_plugin.robustness.adjustment import Adjuster, make_adjuster
from irs_plugin.robustness.cells import FactorCodes, encode_factors
from irs_plugin.robustness.disentanglement import DisentanglementResult, disentanglement_score
from irs_plugin.robustness.expectations import Expectation, expect, make_expectation
from irs_plugin.robustness.validation import check_arrays, check_group


@dataclass(frozen=True)
class ParentEffect:
    """A latent's distribution given an intervention on its parent, per realisation of the parent `(num_values,)`."""

    mean: np.ndarray
    median: np.ndarray
    standard_deviation: np.ndarray


@dataclass(frozen=True)
class InterventionalEffects:
    """The numbers behind the picture of interventional effects.

    Attributes:
        factor_names: one per factor.
        factor_values: per factor its realisations, ascending.
        latents: `(num_active,)` indices of the active latents, ascending.
        inactive: indices of the others.
        parents: `(num_active,)` the parent of each active latent.
        scores: `(num_active,)` its disentanglement score.
        curves: `(latent, factor)` -> `(num_parent_values, num_factor_values)`, the expectation of the latent under
            do(parent, factor) for every factor but the parent; NaN where the pair of realisations does not occur.
        parent_effects: latent -> its mean, median and standard deviation under do(parent).
        num_samples: samples used.
        expectation: what stands in for E in `curves`.
        adjustment: how confounding was dealt with.
        reason: why there is no score, if there is none.
    """

    factor_names: tuple[str, ...]
    factor_values: tuple[np.ndarray, ...]
    latents: np.ndarray
    inactive: np.ndarray
    parents: np.ndarray
    scores: np.ndarray
    curves: Mapping[tuple[int, int], np.ndarray]
    parent_effects: Mapping[int, ParentEffect]
    num_samples: int
    expectation: str
    adjustment: str
    reason: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values; a pair of realisations that does not occur is None."""
        return {
            "factor_names": list(self.factor_names),
            "factor_values": {
                name: values.tolist() for name, values in zip(self.factor_names, self.factor_values, strict=True)
            },
            "inactive": self.inactive.tolist(),
            "num_samples": self.num_samples,
            "expectation": self.expectation,
            "adjustment": self.adjustment,
            "reason": self.reason,
            "latents": {
                f"z{latent}": self._latent_to_dict(int(latent), int(parent), float(score))
                for latent, parent, score in zip(self.latents, self.parents, self.scores, strict=True)
            },
        }

    def _latent_to_dict(self, latent: int, parent: int, score: float) -> dict[str, Any]:
        effect = self.parent_effects[latent]
        return {
            "parent": self.factor_names[parent],
            "score": score,
            "mean": effect.mean.tolist(),
            "median": effect.median.tolist(),
            "standard_deviation": effect.standard_deviation.tolist(),
            "curves": {
                name: [[None if np.isnan(value) else value for value in curve] for curve in curves.tolist()]
                for factor, name in enumerate(self.factor_names)
                if (curves := self.curves.get((latent, factor))) is not None
            },
        }


def interventional_effects_data(
    gen_factors: Any,
    latents: Any,
    score: DisentanglementResult | None = None,
    *,
    factor_names: Iterable[str] | None = None,
    expectation: str = "mean",
    trim: float = 0.1,
    adjustment: str = "none",
    **adjustment_options: Any,
) -> InterventionalEffects:
    """Estimate how each latent answers to interventions on its parent and on one other factor at a time.

    Args:
        gen_factors: `(num_samples, num_factors)`.
        latents: `(num_samples, num_latents)`.
        score: the score of these arrays, for parents, scores and what is active; computed with the options below and
            the score's other defaults if it is not given.
        factor_names: one per factor; g0, g1, … if not given.
        expectation, trim: see `irs_plugin.robustness.expectations.make_expectation`; they concern the curves.
        adjustment, adjustment_options: see `irs_plugin.robustness.adjustment.make_adjuster`; they concern every number.

    Raises:
        ValueError: bad arrays or options, or a score of other arrays.
    """
    gen_factors, latents = check_arrays(gen_factors, latents)
    names = style.check_names(factor_names, gen_factors.shape[1])
    expectation_of = make_expectation(expectation, trim)
    adjuster = make_adjuster(adjustment, **adjustment_options)
    score = score_of(
        gen_factors, latents, score, expectation=expectation, trim=trim, adjustment=adjustment, **adjustment_options
    )
    factors = encode_factors(gen_factors)
    active = np.flatnonzero(score.active)
    curves: dict[tuple[int, int], np.ndarray] = {}
    parent_effects: dict[int, ParentEffect] = {}
    for parent in np.unique(score.parents[active]).tolist():
        children = np.flatnonzero(score.active & (score.parents == parent))
        parent_effects.update(_parent_effects(factors, latents, parent, children, adjuster))
        for factor in factors.rest([parent]):
            grid = _pair_effects(factors, latents[:, children], parent, factor, adjuster, expectation_of)
            curves.update({(latent, factor): grid[..., column] for column, latent in enumerate(children.tolist())})
    return InterventionalEffects(
        factor_names=names,
        factor_values=factor_values_of(factors),
        latents=active,
        inactive=np.flatnonzero(~score.active),
        parents=score.parents[active],
        scores=score.disentanglement_scores[active],
        curves=MappingProxyType(curves),
        parent_effects=MappingProxyType(parent_effects),
        num_samples=len(latents),
        expectation=expectation,
        adjustment=adjustment,
        reason=score.reason,
    )


def score_of(
    gen_factors: np.ndarray, latents: np.ndarray, score: DisentanglementResult | None, **options: Any
) -> DisentanglementResult:
    """Return `score` if it can be one of these arrays, or compute it."""
    if score is None:
        return disentanglement_score(gen_factors, latents, **options)
    expected = (latents.shape[1], gen_factors.shape[1])
    if score.irs_matrix.shape != expected:
        raise ValueError(
            f"score has an IRS matrix of shape {score.irs_matrix.shape}; these arrays need {expected}. Hand in the "
            f"score of the same arrays, or none to have it computed."
        )
    return score


def factor_values_of(factors: FactorCodes) -> tuple[np.ndarray, ...]:
    """Return the realisations of each factor, in the order of its codes."""
    columns = []
    for factor, size in enumerate(factors.sizes):
        column = np.empty(size, dtype=factors.values.dtype)
        column[factors.codes[factor]] = factors.values[:, factor]
        columns.append(column)
    return tuple(columns)


def _parent_effects(
    factors: FactorCodes, latents: np.ndarray, parent: int, children: np.ndarray, adjuster: Adjuster
) -> dict[int, ParentEffect]:
    # Centred first, so that the second moment loses no digits to a large mean.
    centres = latents[:, children].mean(axis=0)
    centred = latents[:, children] - centres
    moments = expect(factors, np.hstack([centred, centred**2]), [parent], adjuster, Expectation("mean")).values
    means, squares = np.hsplit(moments, 2)
    medians = expect(factors, centred, [parent], adjuster, Expectation("median")).values
    deviations = np.sqrt(np.maximum(squares - means**2, 0.0))
    return {
        int(latent): ParentEffect(
            mean=means[:, column] + centres[column],
            median=medians[:, column] + centres[column],
            standard_deviation=deviations[:, column],
        )
        for column, latent in enumerate(children)
    }


def _pair_effects(
    factors: FactorCodes,
    latents: np.ndarray,
    parent: int,
    factor: int,
    adjuster: Adjuster,
    expectation: Expectation,
) -> np.ndarray:
    """`(num_parent_values, num_factor_values, num_latents)`, NaN where a pair does not occur."""
    effect = expect(factors, latents, [parent, factor], adjuster, expectation)
    grid = np.full((factors.sizes[parent], factors.sizes[factor], latents.shape[1]), np.nan)
    first = effect.cells.first
    grid[factors.codes[parent, first], factors.codes[factor, first]] = effect.values
    return grid


def interventional_effects(
    gen_factors: Any,
    latents: Any,
    score: DisentanglementResult | None = None,
    *,
    cyclic_factors: Iterable[int | str] = (),
    size: str = "two_columns",
    latents_per_page: int = 10,
    **options: Any,
) -> list[Figure]:
    """Draw how each latent answers to interventions on its parent and on one other factor at a time.

    Args:
        gen_factors, latents, score, options: see `interventional_effects_data`.
        cyclic_factors, size, latents_per_page: see `draw_interventional_effects`.
    """
    effects = interventional_effects_data(gen_factors, latents, score, **options)
    return draw_interventional_effects(
        effects, cyclic_factors=cyclic_factors, size=size, latents_per_page=latents_per_page
    )


def draw_interventional_effects(
    effects: InterventionalEffects,
    *,
    cyclic_factors: Iterable[int | str] = (),
    size: str = "two_columns",
    latents_per_page: int = 10,
) -> list[Figure]:
    """Draw the grid of section 6.3, a row per active latent and a column per factor.

    In the parent's column: mean, median and one standard deviation either side of the latent against the parent. In
    the others: a curve per realisation of the parent, held fixed while the column's factor is set. Curves of a robust
    latent are level and apart by colour. Rows share their y axis, columns their x axis.

    Args:
        effects: the numbers.
        cyclic_factors: names or indices of factors whose last realisation adjoins the first, such as an orientation;
            they get cyclic colours when they are a parent.
        size: "one_column" or "two_columns", see `SIZES`. More than about ten factors make the figure wider.
        latents_per_page: rows on a page.

    Returns:
        One figure per page; a single figure that says so if no latent is active.
    """
    wrapping = style.check_cyclic(cyclic_factors, effects.factor_names)
    rows = list(range(len(effects.latents)))
    pages = style.pages_of(rows, latents_per_page)
    if not pages:
        return [style.message_figure(f"No interventional effects to draw: {effects.reason}", size)]
    return [
        _draw_page(effects, page, wrapping, size, f"Page {number} of {len(pages)}. " if len(pages) > 1 else "")
        for number, page in enumerate(pages, start=1)
    ]


# Inches: between rows of panels, left of them, above them, and the strips below the axis labels.
_PITCH, _LEFT, _TOP, _LEGEND, _BARS = 0.79, 0.44, 0.2, 0.2, 0.42


def _draw_page(
    effects: InterventionalEffects, rows: list[int], wrapping: frozenset[int], size: str, heading: str
) -> Figure:
    num_factors = len(effects.factor_names)
    width = max(style.width_of(size), _LEFT + 0.1 + 0.5 * num_factors)
    held = {int(effects.parents[row]) in wrapping for row in rows} if num_factors > 1 else set()
    legend_top = _TOP + _PITCH * len(rows) + 0.13
    bars_top = legend_top if width > 5 else legend_top + _LEGEND
    note_top = max(legend_top + _LEGEND, bars_top + _BARS if held else 0)
    note = heading + _note(effects)
    with style.settings():
        figure = style.new_figure(width, note_top + style.note_height(note, width))
        column_width = (width - _LEFT - 0.05) / num_factors
        for place, row in enumerate(rows):
            limits, wraps = _limits(effects, row), int(effects.parents[row]) in wrapping
            for factor in range(num_factors):
                axes = style.axes_at(
                    figure, _LEFT + factor * column_width, _TOP + place * _PITCH, column_width - 0.07, _PITCH - 0.19
                )
                draw_effect(axes, effects, int(effects.latents[row]), factor, wraps=wraps)
                axes.set_ylim(limits)
                style.trim_labels(axes, first=factor == 0, last=place == len(rows) - 1)
        _legend(figure, legend_top)
        _colour_bars(figure, bars_top, held)
        style.write_note(figure, note, top=note_top)
    return figure


def draw_effect(axes: Axes, effects: InterventionalEffects, latent: int, factor: int, *, wraps: bool = False) -> None:
    """Draw one panel of the grid on axes of your own.

    Args:
        axes: where to draw.
        effects: the numbers.
        latent: an active latent.
        factor: index of the factor on the x axis; the latent's parent gives mean, median and spread.
        wraps: whether the parent's last realisation adjoins its first, for the colours of its curves.

    Raises:
        ValueError: a latent that is not active, or an index out of range.
    """
    if latent not in effects.parent_effects:
        raise ValueError(f"latent must be active, one of {effects.latents.tolist()}; got {latent!r}.")
    check_group(factor, len(effects.factor_names), "factor")
    row = int(np.searchsorted(effects.latents, latent))
    values = effects.factor_values[factor]
    positions = style.positions_of(values)
    if factor == effects.parents[row]:
        _draw_parent(axes, positions, effects.parent_effects[latent])
        title = f"{effects.factor_names[factor]}, IRS {style.number(effects.scores[row])}"
        # Wider than the last panel, a centred title would run off the page.
        runs_off = factor == len(effects.factor_names) - 1 and style.font_to_fit(axes, title) < 6.5
        axes.set_title(title, loc="right" if runs_off else "center")
    else:
        _draw_curves(axes, positions, effects.curves[latent, factor], wraps)
    style.set_factor_axis(axes, values, label=effects.factor_names[factor])
    axes.set_ylabel(f"z{latent}")


def _draw_parent(axes: Axes, positions: np.ndarray, effect: ParentEffect) -> None:
    low, high = effect.mean - effect.standard_deviation, effect.mean + effect.standard_deviation
    axes.fill_between(positions, low, high, color=style.PALE, linewidth=0, label="± 1 sd")
    axes.plot(positions, effect.mean, color=style.BLUE, label="mean", **_marker(positions))
    axes.plot(positions, effect.median, color=style.VERMILION, linestyle=(0, (2, 1.2)), label="median")


def _marker(positions: np.ndarray) -> dict[str, Any]:
    # Few realisations are points that happen to be joined, many are a curve.
    return {"marker": "o", "markersize": 2.0} if len(positions) <= 10 else {}


def _draw_curves(axes: Axes, positions: np.ndarray, curves: np.ndarray, wraps: bool) -> None:
    colours = style.colours_of(len(curves), wraps=wraps)
    seen = np.isfinite(curves)
    axes.add_collection(
        LineCollection(
            [np.column_stack([positions, curve]) for curve in curves],
            colors=colours,
            linewidths=0.9 if len(curves) <= 10 else 0.55,
        )
    )
    # A point between two gaps has no line to show it; few realisations are shown as points anyway.
    beside = np.zeros_like(seen)
    beside[:, 1:] |= seen[:, :-1]
    beside[:, :-1] |= seen[:, 1:]
    dots = seen & (~beside | (len(positions) <= 10))
    which, where = np.nonzero(dots)
    if len(which):
        axes.scatter(positions[where], curves[which, where], s=2.0, c=colours[which], linewidths=0, zorder=3)


def _limits(effects: InterventionalEffects, row: int) -> tuple[float, float]:
    latent = int(effects.latents[row])
    effect = effects.parent_effects[latent]
    shown = [effect.mean - effect.standard_deviation, effect.mean + effect.standard_deviation, effect.median]
    shown += [curves for (owner, _), curves in effects.curves.items() if owner == latent]
    return style.span(shown)


def _legend(figure: Figure, top: float) -> None:
    height = figure.get_size_inches()[1]
    figure.legend(
        handles=[
            Line2D([], [], color=style.BLUE, label="mean"),
            Line2D([], [], color=style.VERMILION, linestyle=(0, (2, 1.2)), label="median"),
            Patch(color=style.PALE, linewidth=0, label="± 1 sd, against the parent"),
        ],
        loc="upper left",
        bbox_to_anchor=(0.0, 1 - top / height),
        ncols=3,
        columnspacing=1.0,
        handlelength=1.5,
        borderaxespad=0.1,
    )


def _colour_bars(figure: Figure, top: float, held: set[bool]) -> None:
    """One bar for all curves of each kind: parents that do not wrap round, and those that do."""
    width = float(figure.get_size_inches()[0])
    for place, wraps in enumerate(sorted(held, reverse=True)):
        axes = style.axes_at(figure, width - 1.45 - 1.6 * place, top + 0.16, 1.25, 0.07)
        style.colour_bar(axes, wraps=wraps, label=f"parent held fixed at{' (cyclic)' if wraps else ''}")


def _note(effects: InterventionalEffects) -> str:
    expectation = {"mean": "Mean", "median": "Median", "trimmed_mean": "Trimmed mean"}[effects.expectation]
    adjusted = "" if effects.adjustment == "none" else f", adjusted for confounding ({effects.adjustment})"
    note = f"{expectation} of each latent under do(parent, factor){adjusted}; {effects.num_samples:,} samples. "
    if any(np.isnan(curves).any() for curves in effects.curves.values()):
        note += "Gaps: pairs that do not occur. "
    return note + style.inactive_note(effects.inactive)
