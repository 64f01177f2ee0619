"""IRS, feature importance and mutual information of one model side by side (paper figures 6 and 8 to 12)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from irs_plugin.figures import style
from irs_plugin.importance.result import ImportanceResult
from irs_plugin.robustness.disentanglement import DisentanglementResult

_TITLES = {"feature_importance": "FI", "mutual_information": "MI (nats)"}


@dataclass(frozen=True)
class ImportanceMatrix:
    """A latent × factor matrix to draw.

    Attributes:
        title: what the entries are.
        matrix: `(num_latents, num_factors)`; NaN where there is no entry.
        scores: `(num_latents,)` the score of each row; NaN where there is none.
        average: the average score; NaN if there is none.
        highest: the value of the darkest colour; None takes the largest entry.
    """

    title: str
    matrix: np.ndarray
    scores: np.ndarray
    average: float = np.nan
    highest: float | None = None

    def __post_init__(self) -> None:
        matrix, scores = np.asarray(self.matrix, dtype=np.float64), np.asarray(self.scores, dtype=np.float64)
        if matrix.ndim != 2 or scores.shape != matrix.shape[:1]:
            raise ValueError(
                f"{self.title!r} needs a matrix (num_latents, num_factors) and a score for each row; got shapes "
                f"{matrix.shape} and {scores.shape}."
            )
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "scores", scores)

    @classmethod
    def of(cls, result: DisentanglementResult | ImportanceResult | ImportanceMatrix) -> ImportanceMatrix:
        """Take matrix, row scores and average from a result."""
        if isinstance(result, cls):
            return result
        if isinstance(result, DisentanglementResult):
            return cls("IRS", result.irs_matrix, result.disentanglement_scores, result.avg_score, highest=1.0)
        return cls(_TITLES[result.metric], result.matrix, result.scores, result.average)


def importance_matrices(
    matrices: Iterable[DisentanglementResult | ImportanceResult | ImportanceMatrix],
    *,
    factor_names: Sequence[str] | None = None,
    informativeness: np.ndarray | None = None,
    size: str = "two_columns",
    latents_per_page: int = 30,
) -> list[Figure]:
    """Draw matrices side by side, a row per latent with its score in its label, a column per factor.

    Latents without an entry in any of the matrices are inactive; they are left out and named. The largest entry of
    each row is bold. Each matrix has its own colour scale from its smallest entry, or 0, to its `highest`.

    Args:
        matrices: results of `disentanglement_score`, `feature_importance`, `mutual_information`, or matrices of your
            own, all of the same model.
        factor_names: one per factor; g0, g1, … if not given.
        informativeness: `(num_factors,)` how well the latents tell each factor, drawn as bars beside the matrices; if
            not given it is that of the feature importance among `matrices`, if there.
        size: "two_columns" for side by side, "one_column" for one above the other.
        latents_per_page: rows on a page.

    Returns:
        One figure per page; a single figure that says so if no latent is active.

    Raises:
        ValueError: no matrices, matrices of different shapes, or names or informativeness that do not fit them.
    """
    results = list(matrices)
    panels = [ImportanceMatrix.of(result) for result in results]
    if len({panel.matrix.shape for panel in panels}) != 1:
        raise ValueError(f"matrices must be of one shape; got {[panel.matrix.shape for panel in panels]}.")
    num_latents, num_factors = panels[0].matrix.shape
    names = style.check_names(factor_names, num_factors)
    if informativeness is None:
        forests = [result for result in results if getattr(result, "metric", None) == "feature_importance"]
        informativeness = forests[0].informativeness if forests else None
    elif np.shape(informativeness) != (num_factors,):
        raise ValueError(f"informativeness must be ({num_factors},), one per factor; got {np.shape(informativeness)}.")
    active = ~np.all([np.isnan(panel.matrix).all(axis=1) for panel in panels], axis=0)
    pages = style.pages_of(np.flatnonzero(active).tolist(), latents_per_page)
    note = style.inactive_note(np.flatnonzero(~active))
    if not pages:
        return [style.message_figure(f"No importance matrix to draw: all {num_latents} latents are inactive.", size)]
    headings = [f"Page {number} of {len(pages)}. " if len(pages) > 1 else "" for number in range(1, len(pages) + 1)]
    return [
        _draw_page(panels, latents, names, informativeness, size, heading + note)
        for heading, latents in zip(headings, pages, strict=True)
    ]


# Inches: row labels, title, a row, the least width of a cell, the names of the factors, informativeness.
_LABEL, _TITLE, _ROW, _CELL, _NAMES, _BARS, _BARS_GAP = 0.52, 0.2, 0.17, 0.3, 0.5, 0.9, 0.2


def _draw_page(
    panels: list[ImportanceMatrix],
    latents: list[int],
    names: tuple[str, ...],
    informativeness: np.ndarray | None,
    size: str,
    note: str,
) -> Figure:
    stacked, bars = size == "one_column", informativeness is not None
    beside = _BARS + _BARS_GAP if bars and not stacked else 0.0
    columns = 1 if stacked else len(panels)
    width = max(style.width_of(size), columns * (_LABEL + _CELL * len(names)) + beside)
    panel_width = (width - beside - 0.04) / columns
    panel_height = _ROW * len(latents)
    block = _TITLE + panel_height + _NAMES
    note_top = block * (len(panels) if stacked else 1) + (_TITLE + _BARS + _NAMES if stacked and bars else 0)
    with style.settings():
        figure = style.new_figure(width, note_top + (style.note_height(note, width) if note else 0))
        for place, panel in enumerate(panels):
            left, top = (0, place * block) if stacked else (place * panel_width, 0)
            axes = style.axes_at(figure, left + _LABEL, top + _TITLE, panel_width - _LABEL - 0.02, panel_height)
            draw_matrix(axes, panel, latents, factor_names=names)
        if bars:
            box = (_LABEL, len(panels) * block + _TITLE, panel_width - _LABEL - 0.02, _BARS)
            if not stacked:
                box = (width - _BARS - 0.05, _TITLE, _BARS, panel_height)
            _draw_informativeness(style.axes_at(figure, *box), names, np.asarray(informativeness, dtype=np.float64))
        if note:
            style.write_note(figure, note, top=note_top)
    return figure


def draw_matrix(
    axes: Axes,
    panel: ImportanceMatrix,
    latents: Sequence[int] | None = None,
    *,
    factor_names: Sequence[str] | None = None,
) -> None:
    """Draw one matrix with its entries on axes of your own; `latents` selects rows, all if not given."""
    latents = list(range(len(panel.matrix))) if latents is None else list(latents)
    names = style.check_names(factor_names, panel.matrix.shape[1])
    entries = panel.matrix[latents]
    known = panel.matrix[np.isfinite(panel.matrix)]
    low = min(0.0, known.min(initial=0.0))
    high = panel.highest or known.max(initial=0.0) or 1.0
    axes.imshow(np.ma.masked_invalid(entries), cmap="Blues", vmin=low, vmax=high, aspect="auto", rasterized=True)
    for (place, factor), entry in np.ndenumerate(entries):
        if np.isfinite(entry):
            axes.text(
                factor,
                place,
                style.number(entry),
                ha="center",
                va="center",
                fontsize=5.5,
                color="white" if entry - low > 0.6 * (high - low) else style.INK,
                fontweight="bold" if entry == np.nanmax(entries[place]) else "normal",
            )
    scores = [style.number(score) if np.isfinite(score) else "–" for score in panel.scores[latents]]
    axes.set_yticks(range(len(latents)), [f"z{latent}  {score}" for latent, score in zip(latents, scores, strict=True)])
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right", rotation_mode="anchor")
    axes.tick_params(length=0)
    axes.set_title(panel.title + (f", avg {style.number(panel.average)}" if np.isfinite(panel.average) else ""))


def _draw_informativeness(axes: Axes, names: tuple[str, ...], informativeness: np.ndarray) -> None:
    places = np.arange(len(names))
    axes.bar(places, np.nan_to_num(informativeness), color=style.BLUE, width=0.7)
    for place, value in zip(places, informativeness, strict=True):
        axes.text(
            place,
            max(value, 0.0) if np.isfinite(value) else 0.0,
            style.number(value) if np.isfinite(value) else "–",
            ha="center",
            va="bottom",
            fontsize=5.0,
        )
    axes.set_xticks(places, names, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_ylim(min(0.0, np.nan_to_num(informativeness).min()), 1.12)
    axes.set_yticks([])
    axes.spines[["top", "right", "left"]].set_visible(False)
    known = informativeness[np.isfinite(informativeness)]
    axes.set_title("informativeness" + (f", {style.number(known.mean())}" if len(known) else ""), loc="right")
