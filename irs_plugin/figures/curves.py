"""Scores along a line: predictive power against demanded robustness, and score against sample size."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from irs_plugin.figures import style
from irs_plugin.robustness.convergence import ConvergenceResult
from irs_plugin.robustness.feature_choice import FeatureChoiceResult


def robustness_tradeoff(result: FeatureChoiceResult, *, size: str = "one_column") -> Figure:
    """Draw the best predictive score against the robustness demanded, and the latents chosen at each threshold.

    Above, the score (mean over the folds, one standard deviation either side) of the best set among the latents that
    pass the threshold, and that of a predictor that ignores the latents. Below, a row per latent that ever passes:
    grey where it passes, blue where it is chosen (paper section 4, last paragraph).

    Args:
        result: what `irs_plugin.robustness.feature_choice.choose_features` returns.
        size: "one_column" or "two_columns", see `SIZES`.

    Returns:
        One figure; it says so if no latent passes any threshold.
    """
    passing = sorted({latent for choice in result.choices for latent in choice.passing})
    if not passing:
        return style.message_figure("No trade-off to draw: no latent passes any of the thresholds.", size)
    width, left, upper, row = style.width_of(size), 0.5, 1.5, 0.14
    note_top = 0.18 + upper + row * len(passing) + 0.32
    note = "Band: 1 sd over the folds. Rows: latents that pass (grey), those chosen among them (blue)."
    with style.settings():
        figure = style.new_figure(width, note_top + style.note_height(note, width))
        above = style.axes_at(figure, left, 0.08, width - left - 0.1, upper)
        below = style.axes_at(figure, left, 0.18 + upper, width - left - 0.1, row * len(passing))
        _draw_best_scores(above, result)
        _draw_chosen(below, result, passing)
        edges = _edges(result.thresholds)
        for axes in (above, below):
            axes.set_xlim(edges[0], edges[-1])
        style.write_note(figure, note, top=note_top)
        above.tick_params(labelbottom=False)
        below.set_xlabel("robustness demanded (threshold)")
    return figure


def _edges(thresholds: np.ndarray) -> np.ndarray:
    """`(num_thresholds + 1,)` what passes a threshold passes lower ones: each choice holds down to the one before."""
    first = np.diff(thresholds).mean() if len(thresholds) > 1 else 0.1
    return np.insert(thresholds, 0, thresholds[0] - first)


def _draw_best_scores(axes: Axes, result: FeatureChoiceResult) -> None:
    edges, best = _edges(result.thresholds), result.best_scores
    spread = np.nan_to_num([choice.score_sd for choice in result.choices])
    low, high = best - spread, best + spread
    axes.fill_between(edges, np.append(low, low[-1]), np.append(high, high[-1]), step="post", color=style.PALE, lw=0)
    axes.stairs(best, edges, baseline=None, color=style.BLUE, linewidth=1.0, label="best set that passes")
    axes.axhline(result.baseline_score, color=style.VERMILION, linestyle=(0, (3, 1.5)), label="without latents")
    axes.set_ylabel(f"score ({result.settings['scoring']})" if "scoring" in result.settings else "score")
    axes.set_ylim(style.span([low, high, np.array([result.baseline_score])]))
    axes.legend(loc="best", handlelength=1.6)


def _draw_chosen(axes: Axes, result: FeatureChoiceResult, passing: list[int]) -> None:
    edges = _edges(result.thresholds)
    state = np.zeros((len(passing), len(result.choices)))
    for column, choice in enumerate(result.choices):
        for place, latent in enumerate(passing):
            state[place, column] = 2 if latent in choice.chosen else 1 if latent in choice.passing else 0
    for place in range(len(passing)):
        for level, colour in ((1, style.PALE), (2, style.BLUE)):
            columns = np.flatnonzero(state[place] == level)
            axes.broken_barh(
                [(edges[column], edges[column + 1] - edges[column]) for column in columns],
                (place - 0.35, 0.7),
                facecolors=colour,
            )
    axes.set_yticks(range(len(passing)), [f"z{latent}" for latent in passing])
    axes.set_ylim(len(passing) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)


def convergence(
    result: ConvergenceResult, *, score: str = "avg_score", axes: Axes | None = None, size: str = "one_column"
) -> Figure:
    """Draw a score against the sample size, with the chance level where it was computed.

    Line: mean over the draws of each size; band: their standard deviation; whiskers to the smallest and largest.

    Args:
        result: what `irs_plugin.robustness.convergence.convergence` returns.
        score: name of one of its scores; a score of several entries gives a line for each.
        axes: where to draw; a new figure if not given.
        size: width of the new figure, "one_column" or "two_columns", see `SIZES`.

    Returns:
        The figure drawn on.

    Raises:
        ValueError: a score that the result does not hold.
    """
    names = list(result.steps[0].scores)
    if score not in names:
        raise ValueError(f"score must be one of {', '.join(names)}; got {score!r}.")
    width, num_lines = style.width_of(size), result.steps[0][score].mean.size
    with style.settings():
        if axes is None:
            # A legend of many lines stands beside the axes.
            axes = style.axes_at(
                style.new_figure(width, 2.0), 0.42, 0.08, width - (0.52 if num_lines == 1 else 1), 1.55
            )
        _draw_convergence(axes, result, score)
    return axes.figure


def _draw_convergence(axes: Axes, result: ConvergenceResult, score: str) -> None:
    sizes = np.array(result.sizes)
    curve = {key: values.reshape(len(sizes), -1) for key, values in result.curve(score).items()}
    chance = None if result.chance is None else result.chance_curve(score).reshape(len(sizes), -1)
    num_lines = curve["mean"].shape[1]
    colours = [style.BLUE] if num_lines == 1 else style.colours_of(num_lines, wraps=False)
    entry = "z" if score.startswith("disentanglement_scores") else "entry "
    for line in np.flatnonzero(~np.isnan(curve["mean"]).all(axis=0)):
        colour, mean, sd = colours[line], curve["mean"][:, line], np.nan_to_num(curve["sd"][:, line])
        axes.fill_between(sizes, mean - sd, mean + sd, color=colour, alpha=0.2, linewidth=0)
        axes.vlines(sizes, curve["min"][:, line], curve["max"][:, line], color=colour, linewidth=0.6)
        label = score if num_lines == 1 else f"{entry}{line}"
        axes.plot(sizes, mean, color=colour, marker="o", markersize=2.2, label=label)
        if chance is not None:
            dashes = {"color": style.VERMILION if num_lines == 1 else colour, "linestyle": "--", "linewidth": 0.7}
            axes.plot(sizes, chance[:, line], label="chance" if num_lines == 1 else None, **dashes)
    axes.set_xscale("log")
    ticks = sizes[:: -(-len(sizes) // 6)]
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("samples" if num_lines == 1 or chance is None else "samples (dashed: chance)")
    axes.set_ylabel(score)
    if num_lines == 1:
        axes.legend(loc="best", handlelength=1.6)
    elif num_lines <= 14:
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.2)
