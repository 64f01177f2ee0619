"""Figures of a study: distributions per method, hyperparameters, rank correlations, robustness against the rest.

Each takes a `Comparison` and returns one figure of the width of two columns. Methods keep their colour and marker in
all of them. Names come from files and may be anything: `fit` makes them fit to be drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator, NullFormatter, NullLocator
from scipy.stats import gaussian_kde

from irs_plugin.figures import style
from irs_plugin.report.comparison import FEWEST_COMMON, Comparison, Measure, correlations, hyperparameters

# Okabe and Ito's colours that show on white, and markers whose number has no divisor in common with theirs.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h")
# Fewer points do not tell a density.
FEWEST_FOR_DENSITY = 5

_SIZE = "two_columns"
_LEGEND_ROW = 0.15

Palette = Mapping[str, tuple[str, str]]


def palette(methods: Sequence[str]) -> Palette:
    """A colour and a marker for every method; no two methods share both as long as there are fewer than 78."""
    return {
        method: (_COLOURS[place % len(_COLOURS)], _MARKERS[place % len(_MARKERS)])
        for place, method in enumerate(methods)
    }


def fit(name: str, longest: int = 24) -> str:
    """A name as matplotlib may draw it: one line, not too long, and no mathematics."""
    shown = "".join(character if character.isprintable() else "�" for character in " ".join(str(name).split()))
    if len(shown) > longest:
        kept = longest - 1
        shown = f"{shown[: kept - kept // 2]}…{shown[len(shown) - kept // 2 :]}"
    return shown.replace("$", r"\$")


def score_distributions(comparison: Comparison, colours: Palette) -> Figure:
    """Draw every headline metric's scores by method: a point per model, and their density from five models on."""
    measures, methods = comparison.headlines, comparison.methods
    note = (
        "Points: models; bar: mean; dashed: mean chance level. Arrows: which way is better. "
        f"Densities (Gaussian kernel, Scott's bandwidth) from {FEWEST_FOR_DENSITY} models on. {_left_out(comparison)}"
    )
    row = 0.15 * len(methods) + 0.06
    with style.settings():
        figure, panels = _panels(len(measures), note, columns=4, height=max(row, 0.5), left=_label_room(methods))
        for place, (axes, measure) in enumerate(zip(panels, measures, strict=True)):
            for height, method in enumerate(methods):
                _draw_distribution(axes, comparison.of_method(method)[measure.label].dropna(), height, colours[method])
            _draw_chance(axes, measure, vertical=True)
            axes.set_ylim(len(methods) - 0.4, -0.6)
            axes.set_yticks(range(len(methods)), [fit(method) for method in methods] if place % 4 == 0 else [])
            axes.tick_params(axis="y", length=0)
            axes.xaxis.set_major_locator(MaxNLocator(4))
            axes.set_title(_title(measure))
            _say_if_empty(axes, comparison, measure)
    return figure


def _draw_distribution(axes: Axes, scores, height: int, look: tuple[str, str]) -> None:
    colour, marker = look
    values = scores.to_numpy(float)
    if len(values) >= FEWEST_FOR_DENSITY and np.ptp(values) > 1e-9 * np.abs(values).max():
        grid = np.linspace(values.min(), values.max(), 100)
        density = gaussian_kde(values)(grid)
        half = 0.4 * density / density.max()
        axes.fill_between(grid, height - half, height + half, color=colour, alpha=0.25, linewidth=0)
    # Spread by a sequence that fills evenly: the same picture every time, no point on another.
    offsets = 0.3 * (np.modf(np.arange(len(values)) * 0.618034 + 0.5)[0] - 0.5)
    many = len(values) > 100
    axes.plot(
        values,
        height + offsets,
        linestyle="",
        marker=marker,
        markersize=1.2 if many else 3.0,
        alpha=0.5 if many else 0.9,
        color=colour,
        markeredgewidth=0,
    )
    if len(values):
        axes.vlines(values.mean(), height - 0.4, height + 0.4, color=style.MUTED, linewidth=0.8, zorder=1.5)


def scores_by_hyperparameter(comparison: Comparison, colours: Palette) -> Figure:
    """Draw every headline metric (rows) against each method's hyperparameter (columns)."""
    measures, groups = comparison.headlines, hyperparameters(comparison)
    if not groups:
        return style.message_figure("No model has a hyperparameter that is known to have been swept.", _SIZE)
    note = f"Points: models, one per seed; line: mean over seeds; dashed: mean chance level. {_left_out(comparison)}"
    width, left, top, cell, gap = style.width_of(_SIZE), 1.05, 0.34, 0.55, 0.08
    column = (width - left - 0.05) / max(len(groups), 4)
    bottom = top + len(measures) * (cell + gap) + 0.2
    with style.settings():
        figure = style.new_figure(width, bottom + style.note_height(note, width))
        for row, measure in enumerate(measures):
            low, high = style.span([comparison.usable[measure.label].to_numpy(float), np.array(measure.chance or ())])
            # Markers at the ends need room in so low a panel.
            limits = low - 0.05 * (high - low), high + 0.05 * (high - low)
            for place, ((method, hyperparameter), rows) in enumerate(groups.items()):
                axes = style.axes_at(figure, left + place * column, top + row * (cell + gap), column - gap, cell)
                _draw_against(axes, rows[["value", measure.label]].dropna(), colours[method])
                _draw_chance(axes, measure, vertical=False)
                axes.set_ylim(limits)
                axes.yaxis.set_major_locator(MaxNLocator(3))
                _value_axis(axes, rows.value.to_numpy(float))
                if row == 0:
                    longest = max(int(column / 0.055), 6)
                    swept = hyperparameter.rpartition(".")[2]
                    axes.set_title(f"{fit(method, longest)}\n{fit(swept, longest)}", fontsize=6.0)
                axes.tick_params(labelleft=place == 0, left=place == 0, labelbottom=row == len(measures) - 1)
                if place == 0:
                    label = "\n".join(fit(line, 15) for line in wrap(measure.label, 15)[:3]) + _arrow(measure)
                    figure.text(
                        0.05 / width,
                        1 - (top + row * (cell + gap) + cell / 2) / figure.get_figheight(),
                        label,
                        va="center",
                        fontsize=6.5,
                    )
        style.write_note(figure, note, top=bottom)
    return figure


def _draw_against(axes: Axes, rows, look: tuple[str, str]) -> None:
    colour, marker = look
    columns = rows.to_numpy(float)
    axes.plot(*columns.T, linestyle="", marker=marker, markersize=3.0, alpha=0.6, color=colour, markeredgewidth=0)
    values, places = np.unique(columns[:, 0], return_inverse=True)
    if len(values):
        means = np.bincount(places, columns[:, 1]) / np.bincount(places)
        axes.plot(values, means, color=colour, linewidth=1.0)


def _value_axis(axes: Axes, values: np.ndarray) -> None:
    """An axis of a swept hyperparameter, logarithmic where its values spread over more than a factor of five."""
    values = np.unique(values)
    if values[0] > 0 and values[-1] > 5 * values[0]:
        axes.set_xscale("log")
        room = (values[-1] / values[0]) ** 0.12
        axes.set_xlim(values[0] / room, values[-1] * room)
    else:
        room = 0.12 * np.ptp(values) or 0.5
        axes.set_xlim(values[0] - room, values[-1] + room)
    ends = values if len(values) < 3 else values[[0, -1]]
    axes.xaxis.set_major_locator(FixedLocator(list(ends)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xticks(list(ends), [f"{value:g}" for value in ends])


def rank_correlations(comparison: Comparison) -> Figure:
    """Draw Spearman's rank correlation of every two headline metrics, and over how many models it is."""
    values, common = correlations(comparison)
    measures = comparison.headlines
    if len(measures) < 2:
        return style.message_figure("Nothing to correlate: there is only one metric.", _SIZE)
    note = (
        f"Spearman's rank correlation over the models that have both scores, their number below. Grey: undefined "
        f"(fewer than {FEWEST_COMMON} common models, or one of the two the same for all). Scores are taken as they "
        f"are: where lower is better (↓) a negative correlation is agreement. {_left_out(comparison)}"
    )
    width, left, under = style.width_of(_SIZE), 1.05, 0.75
    cell = min((width - left - 0.75) / len(measures), 0.55)
    side = cell * len(measures)
    with style.settings():
        figure = style.new_figure(width, 0.1 + side + under + style.note_height(note, width))
        axes = style.axes_at(figure, left, 0.1, side, side)
        image = axes.imshow(np.ma.masked_invalid(values.to_numpy(float)), cmap="RdBu", vmin=-1, vmax=1, aspect="auto")
        # Seen where there is no number.
        axes.set_facecolor("0.88")
        _write_cells(axes, values.to_numpy(float), common.to_numpy(), font=float(np.clip(14 * cell, 2.5, 6.5)))
        names = [_title(measure, 17) for measure in measures]
        axes.set_xticks(range(len(measures)), names, rotation=45, ha="right", rotation_mode="anchor")
        axes.set_yticks(range(len(measures)), names)
        axes.tick_params(length=0)
        bar = figure.colorbar(image, cax=style.axes_at(figure, left + side + 0.12, 0.1, 0.1, min(side, 1.5)))
        bar.outline.set_linewidth(0.4)
        bar.set_label("Spearman's ρ")
        style.write_note(figure, note, top=0.1 + side + under)
    return figure


def _write_cells(axes: Axes, values: np.ndarray, common: np.ndarray, font: float) -> None:
    for row, column in np.ndindex(*values.shape):
        value = values[row, column]
        colour = "white" if abs(value) > 0.55 else style.INK
        shown = "–" if np.isnan(value) else style.number(value)
        axes.text(column, row - 0.12, shown, ha="center", va="center", fontsize=font, color=colour)
        axes.text(
            column, row + 0.27, f"n={common[row, column]}", ha="center", va="center", fontsize=0.68 * font, color=colour
        )


def scores_against(comparison: Comparison, robustness: Measure, colours: Palette) -> Figure:
    """Draw the interventional robustness score against every other headline metric, a point per model."""
    others = [measure for measure in comparison.headlines if measure.label != robustness.label]
    if not others:
        return style.message_figure(f"Nothing to draw {fit(robustness.label)} against: no other metric.", _SIZE)
    values, common = correlations(comparison)
    note = f"Points: models. Dashed: mean chance level, where it is known. {_left_out(comparison)}"
    methods, width = comparison.methods, style.width_of(_SIZE)
    rooms = [0.32 + 0.05 * len(fit(method)) for method in methods]
    across = len(methods) if sum(rooms) < width else max(1, int(width / max(rooms)))
    legend = _LEGEND_ROW * -(-len(methods) // across) + 0.1
    with style.settings():
        figure, panels = _panels(len(others), note, columns=4, height=1.05, left=0.45, top=legend, label=0.14)
        for place, (axes, measure) in enumerate(zip(panels, others, strict=True)):
            for method in methods:
                pairs = comparison.of_method(method)[[robustness.label, measure.label]].dropna().to_numpy(float)
                colour, marker = colours[method]
                axes.plot(
                    *pairs.T,
                    linestyle="",
                    marker=marker,
                    markersize=3.2 if len(comparison.models) <= 100 else 1.8,
                    alpha=0.9 if len(comparison.models) <= 100 else 0.5,
                    color=colour,
                    markeredgewidth=0,
                )
            _draw_chance(axes, robustness, vertical=True)
            _draw_chance(axes, measure, vertical=False)
            axes.locator_params(nbins=4)
            axes.set_xlabel(fit(robustness.label) if place >= len(others) - 4 else "")
            rho, number = values.loc[robustness.label, measure.label], common.loc[robustness.label, measure.label]
            shown = "undefined" if np.isnan(rho) else style.number(rho)
            axes.set_title(f"{_title(measure, 20)}\nρ = {shown}, n = {number}")
        handles = [
            Line2D([], [], linestyle="", marker=colours[m][1], color=colours[m][0], markersize=3.6, markeredgewidth=0)
            for m in methods
        ]
        figure.legend(
            handles,
            [fit(method) for method in methods],
            loc="upper left",
            bbox_to_anchor=(0.0, 1.0),
            ncols=across,
            handletextpad=0.3,
            columnspacing=1.2,
            borderaxespad=0.2,
        )
    return figure


def _panels(
    number: int, note: str, *, columns: int, height: float, left: float, top: float = 0.0, label: float = 0.0
) -> tuple[Figure, list[Axes]]:
    """A figure with `number` equal axes in rows, `left` inches free beside and `top` inches above them."""
    width, rows = style.width_of(_SIZE), -(-number // columns)
    gap = 0.13 if label == 0 else 0.35
    step = (width - left - 0.08 + gap) / columns
    pitch = height + 0.36 + label
    bottom = top + rows * pitch + 0.05
    figure = style.new_figure(width, bottom + style.note_height(note, width))
    panels = [
        style.axes_at(
            figure,
            left + place % columns * step,
            top + 0.24 + label / 2 + place // columns * pitch,
            step - gap,
            height - label / 2,
        )
        for place in range(number)
    ]
    style.write_note(figure, note, top=bottom)
    return figure, panels


def _label_room(names: Sequence[str]) -> float:
    return 0.15 + 0.05 * max(len(fit(name)) for name in names)


def _title(measure: Measure, longest: int = 26) -> str:
    return fit(measure.label, longest) + _arrow(measure)


def _arrow(measure: Measure) -> str:
    return {True: " ↑", False: " ↓", None: ""}[measure.metric.higher_is_better]


def _draw_chance(axes: Axes, measure: Measure, *, vertical: bool) -> None:
    if measure.chance is not None:
        line = axes.axvline if vertical else axes.axhline
        line(measure.chance[0], color=style.MUTED, linestyle=(0, (3, 2)), linewidth=0.7, zorder=0)


def _say_if_empty(axes: Axes, comparison: Comparison, measure: Measure) -> None:
    if comparison.usable[measure.label].notna().sum() == 0:
        axes.text(0.5, 0.5, "no score", transform=axes.transAxes, ha="center", va="center", color=style.MUTED)
        axes.set_xticks([])


def _left_out(comparison: Comparison) -> str:
    collapsed, unscored = int(comparison.models.collapsed.sum()), int((~comparison.models.scored.astype(bool)).sum())
    told = [f"{collapsed} collapsed"] if collapsed else []
    told += [f"{unscored} without any score"] if unscored else []
    total = len(comparison.models)
    return f"Left out: {' and '.join(told)} of {total} models." if told else f"{total} models, none collapsed."
