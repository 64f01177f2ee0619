"""Conditional densities of each latent given one factor at a time (paper appendix E, figure 7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from irs_plugin.figures import style
from irs_plugin.figures.effects import factor_values_of, score_of
from irs_plugin.robustness.cells import encode_factors, partition
from irs_plugin.robustness.disentanglement import DisentanglementResult
from irs_plugin.robustness.expectations import Expectation
from irs_plugin.robustness.plain import plain
from irs_plugin.robustness.validation import check_arrays, check_group

_NUM_POINTS = 256


@dataclass(frozen=True)
class ConditionalDensities:
    """The numbers behind figure 7's violins.

    Attributes:
        factor_names: one per factor.
        factor_values: per factor its realisations, ascending.
        latents: indices of the active latents, ascending.
        inactive: indices of the others.
        points: latent -> `(num_points,)` the code values at which its densities are given, evenly spaced.
        densities: `(latent, factor)` -> `(num_factor_values, num_points)` estimates of p(z_l | g_j).
        medians: `(latent, factor)` -> `(num_factor_values,)`.
        num_samples: samples used.
        reason: why there is no score, if there is none.
    """

    factor_names: tuple[str, ...]
    factor_values: tuple[np.ndarray, ...]
    latents: np.ndarray
    inactive: np.ndarray
    points: Mapping[int, np.ndarray]
    densities: Mapping[tuple[int, int], np.ndarray]
    medians: Mapping[tuple[int, int], np.ndarray]
    num_samples: int
    reason: str | None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values: the medians per latent and factor. The densities are too many for a results file."""
        return plain(
            {
                "factor_values": dict(zip(self.factor_names, self.factor_values, strict=True)),
                "inactive": self.inactive,
                "num_samples": self.num_samples,
                "reason": self.reason,
                "medians": {
                    f"z{latent}": {name: self.medians[latent, j] for j, name in enumerate(self.factor_names)}
                    for latent in self.latents.tolist()
                },
            }
        )


def conditional_densities_data(
    gen_factors: Any,
    latents: Any,
    score: DisentanglementResult | None = None,
    *,
    factor_names: Iterable[str] | None = None,
) -> ConditionalDensities:
    """Estimate p(z_l | g_j) for every active latent, factor and realisation.

    Gaussian kernel estimates with Scott's bandwidth (the realisation's standard deviation times n^(−1/5)), but never
    less than the spacing of the points, on which codes are first counted. Plain conditionals, as in the paper: nothing
    is adjusted for confounding.

    Args:
        gen_factors: `(num_samples, num_factors)`.
        latents: `(num_samples, num_latents)`.
        score: the score of these arrays, for what is active; computed if it is not given.
        factor_names: one per factor; g0, g1, … if not given.

    Raises:
        ValueError: bad arrays or names, or a score of other arrays.
    """
    gen_factors, latents = check_arrays(gen_factors, latents)
    names = style.check_names(factor_names, gen_factors.shape[1])
    score = score_of(gen_factors, latents, score)
    factors = encode_factors(gen_factors)
    active = np.flatnonzero(score.active)
    points = {latent: _points(latents[:, latent]) for latent in active.tolist()}
    densities, medians = {}, {}
    for factor in range(factors.num_factors):
        cells, codes = partition(factors, [factor]), factors.codes[factor]
        # In the order of the codes, which need not be that of the cells.
        order = np.argsort(codes[cells.first])
        middle = Expectation("median").per_cell(latents[:, active], cells)[order]
        for column, latent in enumerate(active.tolist()):
            medians[latent, factor] = middle[:, column]
            densities[latent, factor] = _densities(latents[:, latent], codes, factors.sizes[factor], points[latent])
    return ConditionalDensities(
        factor_names=names,
        factor_values=factor_values_of(factors),
        latents=active,
        inactive=np.flatnonzero(~score.active),
        points=MappingProxyType(points),
        densities=MappingProxyType(densities),
        medians=MappingProxyType(medians),
        num_samples=len(latents),
        reason=score.reason,
    )


def _points(codes: np.ndarray) -> np.ndarray:
    low, high = codes.min(), codes.max()
    room = 0.15 * (high - low)
    return np.linspace(low - room, high + room, _NUM_POINTS)


def _densities(latent: np.ndarray, cells: np.ndarray, num_cells: int, points: np.ndarray) -> np.ndarray:
    """Kernel density of one latent in each cell, `(num_cells, num_points)`, in O(N + num_cells · num_points)."""
    spacing = points[1] - points[0]
    places = (latent - points[0]) / spacing
    below = np.clip(places.astype(np.int64), 0, len(points) - 2)
    share = places - below
    # A sample between two points counts for both by nearness; binning to the nearest would shift densities.
    flat = cells.astype(np.int64) * len(points) + below
    histogram = np.bincount(flat, 1 - share, num_cells * len(points))
    histogram += np.bincount(flat + 1, share, num_cells * len(points))
    counts = np.bincount(cells, minlength=num_cells)
    means = np.bincount(cells, latent, num_cells) / counts
    variances = np.bincount(cells, (latent - means[cells]) ** 2, num_cells) / np.maximum(counts - 1, 1)
    bandwidths = np.maximum(np.sqrt(variances) * counts**-0.2, spacing)
    # Convolution with a Gaussian by its transform; twice the length keeps the ends from meeting.
    frequencies = 2 * np.pi * np.fft.rfftfreq(2 * len(points), spacing)
    kernels = np.exp(-0.5 * (bandwidths[:, None] * frequencies) ** 2)
    spectrum = np.fft.rfft(histogram.reshape(num_cells, -1), 2 * len(points)) * kernels
    smooth = np.fft.irfft(spectrum, 2 * len(points))[:, : len(points)]
    return np.maximum(smooth, 0.0) / (counts[:, None] * spacing)


def conditional_densities(
    gen_factors: Any,
    latents: Any,
    score: DisentanglementResult | None = None,
    *,
    factor_names: Iterable[str] | None = None,
    size: str = "two_columns",
    latents_per_page: int = 10,
) -> list[Figure]:
    """Draw violins of each latent given one factor at a time.

    Args:
        gen_factors, latents, score, factor_names: see `conditional_densities_data`.
        size, latents_per_page: see `draw_conditional_densities`.
    """
    densities = conditional_densities_data(gen_factors, latents, score, factor_names=factor_names)
    return draw_conditional_densities(densities, size=size, latents_per_page=latents_per_page)


def draw_conditional_densities(
    densities: ConditionalDensities, *, size: str = "two_columns", latents_per_page: int = 10
) -> list[Figure]:
    """Draw figure 7: a row per active latent, a column per factor, a violin per realisation.

    Violins are scaled to the same largest width, so widths compare within a violin only; the dot is the median.

    Args:
        densities: the numbers.
        size: "one_column" or "two_columns", see `SIZES`. More than about ten factors make the figure wider.
        latents_per_page: rows on a page.

    Returns:
        One figure per page; a single figure that says so if no latent is active.
    """
    pages = style.pages_of(densities.latents.tolist(), latents_per_page)
    if not pages:
        return [style.message_figure(f"No conditional densities to draw: {densities.reason}", size)]
    return [
        _draw_page(densities, page, size, f"Page {number} of {len(pages)}. " if len(pages) > 1 else "")
        for number, page in enumerate(pages, start=1)
    ]


def _draw_page(densities: ConditionalDensities, latents: list[int], size: str, heading: str) -> Figure:
    num_factors, pitch, left, top = len(densities.factor_names), 0.79, 0.44, 0.14
    width = max(style.width_of(size), left + 0.1 + 0.5 * num_factors)
    note_top = top + pitch * len(latents) + 0.25
    note = f"{heading}Density of each latent given one factor (violins of equal width; dot: median), nothing adjusted; "
    note += f"{densities.num_samples:,} samples. {style.inactive_note(densities.inactive)}"
    with style.settings():
        figure = style.new_figure(width, note_top + style.note_height(note, width))
        column_width = (width - left - 0.05) / num_factors
        for place, latent in enumerate(latents):
            for factor in range(num_factors):
                axes = style.axes_at(
                    figure, left + factor * column_width, top + place * pitch, column_width - 0.07, pitch - 0.09
                )
                draw_density(axes, densities, latent, factor)
                style.trim_labels(axes, first=factor == 0, last=place == len(latents) - 1)
        style.write_note(figure, note, top=note_top)
    return figure


def draw_density(axes: Axes, densities: ConditionalDensities, latent: int, factor: int) -> None:
    """Draw the violins of one latent given one factor on axes of your own.

    Raises:
        ValueError: a latent that is not active, or an index out of range.
    """
    if latent not in densities.points:
        raise ValueError(f"latent must be active, one of {densities.latents.tolist()}; got {latent!r}.")
    check_group(factor, len(densities.factor_names), "factor")
    values, points = densities.factor_values[factor], densities.points[latent]
    positions = style.positions_of(values)
    room = 0.45 * (np.diff(positions).min() if len(positions) > 1 else 1.0)
    outlines = []
    for position, density in zip(positions, densities.densities[latent, factor], strict=True):
        shown = np.flatnonzero(density > 0.02 * density.max())
        shown = slice(shown[0], shown[-1] + 1)
        half = room * density[shown] / density.max()
        sides = np.concatenate([position - half, (position + half)[::-1]])
        outlines.append(np.column_stack([sides, np.concatenate([points[shown], points[shown][::-1]])]))
    axes.add_collection(PolyCollection(outlines, facecolors="#7FB2D6", edgecolors=style.BLUE, linewidths=0.15))
    medians = densities.medians[latent, factor]
    axes.plot(positions, medians, ".", color=style.INK, markersize=1.6 if len(positions) > 10 else 3.0)
    style.set_factor_axis(axes, values, label=densities.factor_names[factor])
    axes.set_ylim(points[0], points[-1])
    axes.set_ylabel(f"z{latent}")
