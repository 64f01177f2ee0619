"""What all pictures share: sizes, settings, colours, names, pages."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, ListedColormap
from matplotlib.figure import Figure

from irs_plugin.robustness.validation import check_choice, check_group

# Inches: column and text width of a two-column conference paper.
SIZES = {"one_column": 3.25, "two_columns": 6.75}

INK = "0.15"
MUTED = "0.45"
# Blue, vermilion and grey stay apart under every common colour blindness (Okabe and Ito's palette).
BLUE, VERMILION, PALE = "#0072B2", "#D55E00", "0.82"

_LINE_HEIGHT = 0.115
_SETTINGS = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.labelpad": 2.0,
    "axes.labelsize": 7.0,
    "axes.linewidth": 0.5,
    "axes.titlepad": 2.5,
    "axes.titlesize": 6.5,
    "font.size": 6.5,
    "legend.fontsize": 6.5,
    "legend.frameon": False,
    "lines.linewidth": 0.9,
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "irs_plugin",
    "text.color": INK,
    "xtick.color": INK,
    "xtick.labelsize": 6.0,
    "xtick.major.pad": 1.5,
    "xtick.major.size": 2.0,
    "xtick.major.width": 0.5,
    "xtick.minor.size": 1.0,
    "xtick.minor.width": 0.4,
    "ytick.color": INK,
    "ytick.labelsize": 6.0,
    "ytick.major.pad": 1.5,
    "ytick.major.size": 2.0,
    "ytick.major.width": 0.5,
}


@contextmanager
def settings() -> Iterator[None]:
    """Matplotlib's defaults with ours on top, whatever the caller has set; the caller's are back afterwards."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        yield


def width_of(size: str) -> float:
    """Return the width in inches of `size`, one of `SIZES`."""
    return SIZES[check_choice(size, "size", tuple(SIZES))]


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure, in inches, that pyplot knows nothing of."""
    figure = Figure(figsize=(width, height), dpi=200)
    FigureCanvasAgg(figure)
    return figure


def axes_at(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Add axes placed in inches from the figure's left and top edge."""
    figure_width, figure_height = figure.get_size_inches()
    return figure.add_axes(
        (left / figure_width, 1 - (top + height) / figure_height, width / figure_width, height / figure_height)
    )


def write_note(figure: Figure, note: str, *, top: float, left: float = 0.05) -> None:
    """Write small print at `top` inches from the figure's top edge; see `note_height`."""
    width, height = figure.get_size_inches()
    text = "\n".join(_wrap(note, width))
    figure.text(left / width, 1 - top / height, text, fontsize=6.0, color=MUTED, va="top", linespacing=1.25)


def note_height(note: str, width: float) -> float:
    """Return the height in inches that `note` takes in a figure of `width` inches."""
    return _LINE_HEIGHT * len(_wrap(note, width)) + 0.05


def _wrap(note: str, width: float) -> list[str]:
    return textwrap.wrap(note, width=int((width - 0.1) / 0.0445), break_on_hyphens=False)


def message_figure(message: str, size: str) -> Figure:
    """Return a figure that says why there is nothing to draw."""
    with settings():
        width = width_of(size)
        figure = new_figure(width, 0.2 + note_height(message, width))
        write_note(figure, message, top=0.1)
    return figure


def sequential() -> Colormap:
    """Viridis without its yellow end, which thin lines on white paper would lose."""
    colours = matplotlib.colormaps["viridis"](np.linspace(0.0, 0.9, 256))
    return ListedColormap(colours, name="irs_sequential")


def cyclic() -> Colormap:
    """Twilight, darkened so that its light end shows on white paper."""
    colours = matplotlib.colormaps["twilight"](np.linspace(0.0, 1.0, 256))
    colours[:, :3] *= 0.85
    return ListedColormap(colours, name="irs_cyclic")


def colours_of(num_values: int, *, wraps: bool) -> np.ndarray:
    """Return one RGBA colour per realisation of a factor, in ascending order; `wraps` if the last adjoins the first."""
    if wraps:
        return cyclic()(np.arange(num_values) / num_values)
    return sequential()(np.arange(num_values) / max(num_values - 1, 1))


def colour_bar(axes: Axes, *, wraps: bool, label: str) -> None:
    """Draw a horizontal bar of the colours of a held factor's realisations, first to last, into `axes`."""
    bar = axes.figure.colorbar(
        ScalarMappable(cmap=cyclic() if wraps else sequential()), cax=axes, orientation="horizontal", ticks=[0, 1]
    )
    bar.ax.set_xticklabels(["first", "last"])
    bar.ax.set_title(label, fontsize=6.5)
    bar.outline.set_linewidth(0.4)


def check_names(names: Sequence[str] | None, num_factors: int) -> tuple[str, ...]:
    """Return a name for each factor: those given, or g0, g1, …"""
    if names is None:
        return tuple(f"g{factor}" for factor in range(num_factors))
    names = tuple(str(name) for name in names)
    if len(names) != num_factors or len(set(names)) != num_factors:
        raise ValueError(f"factor_names must be {num_factors} different names, one per factor; got {list(names)}.")
    return names


def check_cyclic(factors: Iterable[int | str], names: Sequence[str]) -> frozenset[int]:
    """Return the indices of the factors that wrap round, given by index or name."""
    indices = []
    for factor in [factors] if isinstance(factors, (str, int)) else factors:
        if isinstance(factor, str) and factor not in names:
            raise ValueError(f"cyclic_factors holds {factor!r}, which is not a factor; they are {', '.join(names)}.")
        indices.append(names.index(factor) if isinstance(factor, str) else factor)
    return frozenset(check_group(indices, len(names), "cyclic_factors", may_be_empty=True))


def pages_of(items: Sequence[Any], per_page: int) -> list[Sequence[Any]]:
    """Split `items` into pages of at most `per_page`."""
    if isinstance(per_page, bool) or not isinstance(per_page, (int, np.integer)) or per_page < 1:
        raise ValueError(f"latents_per_page must be a whole number from 1; got {per_page!r}.")
    return [items[start : start + per_page] for start in range(0, len(items), per_page)]


def latent_names(latents: Iterable[int]) -> str:
    """Name latents in few words: z0, z3–z7."""
    runs: list[list[int]] = []
    for latent in sorted(int(latent) for latent in latents):
        if runs and latent == runs[-1][1] + 1:
            runs[-1][1] = latent
        else:
            runs.append([latent, latent])
    return ", ".join(f"z{a}" if a == b else f"z{a}, z{b}" if b == a + 1 else f"z{a}–z{b}" for a, b in runs)


def inactive_note(inactive: Sequence[int]) -> str:
    """Say which latents are left out for being inactive; empty if none is."""
    return f"Left out as inactive (constant code): {latent_names(inactive)}." if len(inactive) else ""


def positions_of(values: np.ndarray) -> np.ndarray:
    """Return where a factor's realisations stand on an axis: at their value, or their rank if not numbers."""
    return values.astype(np.float64) if values.dtype.kind in "fiub" else np.arange(len(values), dtype=np.float64)


def set_factor_axis(axes: Axes, values: np.ndarray, *, label: str | None) -> None:
    """Set limits and ticks of an x axis that shows a factor; tick labels and `label` only where `label` is given."""
    positions = positions_of(values)
    gap = np.diff(positions).min() if len(positions) > 1 else 1.0
    margin = max(0.6 * gap, 0.03 * np.ptp(positions))
    axes.set_xlim(positions[0] - margin, positions[-1] + margin)
    shown = np.unique(np.linspace(0, len(values) - 1, min(len(values), 3)).round().astype(int))
    axes.set_xticks(positions[shown], [_short(value) for value in values[shown]] if label is not None else [])
    if label is not None:
        axes.set_xlabel(label, fontsize=font_to_fit(axes, label))
        if len(values) > 10:
            # The last tick is close to the edge; its label must stay clear of the next panel's first.
            axes.get_xticklabels()[-1].set_horizontalalignment("right")


def font_to_fit(axes: Axes, text: str, largest: float = 7.0, smallest: float = 4.0) -> float:
    """Return the font size in points at which `text` is about as wide as `axes`, within bounds."""
    width = 72 * axes.get_window_extent().width / axes.figure.dpi
    return float(np.clip(width / (0.6 * max(len(text), 1)), smallest, largest))


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, (float, np.floating)) else str(value)[:8]


def number(value: float) -> str:
    """Two digits after the point, with a minus sign, and none before what rounds to zero."""
    return f"{round(float(value), 2) + 0.0:.2f}".replace("-", "−")


def span(values: Iterable[np.ndarray]) -> tuple[float, float]:
    """Return limits that hold all finite `values` with a little room."""
    low, high = np.inf, -np.inf
    for array in values:
        finite = array[np.isfinite(array)]
        if finite.size:
            low, high = min(low, finite.min()), max(high, finite.max())
    room = 0.05 * (high - low) or 0.5
    return low - room, high + room


def trim_labels(axes: Axes, *, first: bool, last: bool) -> None:
    """Keep labels at the left and bottom edge of the grid only."""
    axes.locator_params(axis="y", nbins=3)
    if not first:
        axes.set_ylabel("")
        axes.tick_params(labelleft=False)
    if not last:
        axes.set_xlabel("")
        axes.tick_params(labelbottom=False)
