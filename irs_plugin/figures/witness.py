"""The images behind each latent's worst interventions: what a practitioner can act on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from irs_plugin.figures import style
from irs_plugin.figures.effects import score_of
from irs_plugin.robustness.adjustment import make_adjuster
from irs_plugin.robustness.cells import encode_factors
from irs_plugin.robustness.disentanglement import DisentanglementResult
from irs_plugin.robustness.expectations import expect, make_expectation
from irs_plugin.robustness.plain import plain
from irs_plugin.robustness.validation import check_arrays

Images = np.ndarray | Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Witness:
    """One latent's worst change of nuisance factors while its parent stays at one realisation.

    Attributes:
        latent: which.
        parent: index of its parent factor.
        parent_value: the realisation at which the parent is held.
        reference: row of the sample of that realisation whose code is closest to `expected`.
        extreme: row of the sample of that realisation whose code is farthest from `expected`.
        expected: E[Z_l | do(g_parent)], the centre that PIDA measures distances from.
        reference_code, extreme_code: the latent in the two samples.
        distance: |extreme_code − expected|, which the score's supremum sees, in units of the latent.
        relative_distance: `distance` as a share of the largest distance of any sample's code from E[Z_l].
        changed: factor name -> (value in the reference, value in the extreme sample), where they differ.
    """

    latent: int
    parent: int
    parent_value: Any
    reference: int
    extreme: int
    expected: float
    reference_code: float
    extreme_code: float
    distance: float
    relative_distance: float
    changed: dict[str, tuple[Any, Any]]


@dataclass(frozen=True)
class Witnesses:
    """Witnesses of all active latents.

    Attributes:
        factor_names: one per factor.
        witnesses: latent by latent, worst first.
        scores: `(num_latents,)` the disentanglement scores; NaN where inactive.
        inactive: indices of the latents without a score.
        num_samples: samples searched.
        adjustment: how confounding was dealt with in `expected`.
        reason: why there is no score, if there is none.
    """

    factor_names: tuple[str, ...]
    witnesses: tuple[Witness, ...]
    scores: np.ndarray
    inactive: np.ndarray
    num_samples: int
    adjustment: str
    reason: str | None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, the parent by name."""
        return plain(
            {
                "witnesses": [
                    vars(witness) | {"parent": self.factor_names[witness.parent]} for witness in self.witnesses
                ],
                "inactive": self.inactive,
                "num_samples": self.num_samples,
                "adjustment": self.adjustment,
                "reason": self.reason,
            }
        )


def witnesses_data(
    gen_factors: Any,
    latents: Any,
    score: DisentanglementResult | None = None,
    *,
    num_per_latent: int = 3,
    factor_names: Iterable[str] | None = None,
    expectation: str = "mean",
    trim: float = 0.1,
    adjustment: str = "none",
    **adjustment_options: Any,
) -> Witnesses:
    """Find, for each active latent, the realisations of its parent at which other factors move it most.

    For each realisation of the parent the sample farthest from E[Z_l | do(g_parent)] is the extreme one and the sample
    closest to it the reference. Samples are taken one by one: where samples agree in all factors they are not averaged,
    though the score may average them. Ties go to the first row.

    Args:
        gen_factors: `(num_samples, num_factors)`.
        latents: `(num_samples, num_latents)`.
        score: the score of these arrays, for parents; computed with the options below if not given.
        num_per_latent: how many realisations of the parent, the worst first.
        factor_names: one per factor; g0, g1, … if not given.
        expectation, trim: see `irs_plugin.robustness.expectations.make_expectation`.
        adjustment, adjustment_options: see `irs_plugin.robustness.adjustment.make_adjuster`.

    Raises:
        ValueError: bad arrays or options, or a score of other arrays.
    """
    gen_factors, latents = check_arrays(gen_factors, latents)
    names = style.check_names(factor_names, gen_factors.shape[1])
    if isinstance(num_per_latent, bool) or not isinstance(num_per_latent, (int, np.integer)) or num_per_latent < 1:
        raise ValueError(f"num_per_latent must be a whole number from 1; got {num_per_latent!r}.")
    adjuster, expectation_of = make_adjuster(adjustment, **adjustment_options), make_expectation(expectation, trim)
    score = score_of(
        gen_factors, latents, score, expectation=expectation, trim=trim, adjustment=adjustment, **adjustment_options
    )
    factors = encode_factors(gen_factors)
    found: dict[int, list[Witness]] = {}
    for parent in np.unique(score.parents[score.active]).tolist():
        children = np.flatnonzero(score.active & (score.parents == parent))
        effect = expect(factors, latents[:, children], [parent], adjuster, expectation_of)
        overall = expect(factors, latents[:, children], [], adjuster, expectation_of).values[0]
        largest = np.abs(latents[:, children] - overall).max(axis=0)
        for column, latent in enumerate(children.tolist()):
            pairs = _worst(latents[:, latent], effect.cells.ids, effect.values[:, column], num_per_latent)
            found[latent] = [
                _witness(gen_factors, latents[:, latent], latent, parent, names, largest[column], *pair)
                for pair in pairs
            ]
    return Witnesses(
        factor_names=names,
        witnesses=tuple(witness for latent in sorted(found) for witness in found[latent]),
        scores=score.disentanglement_scores,
        inactive=np.flatnonzero(~score.active),
        num_samples=len(latents),
        adjustment=adjustment,
        reason=score.reason,
    )


def _worst(codes: np.ndarray, cells: np.ndarray, expected: np.ndarray, count: int) -> list[tuple[int, int, float]]:
    """`(reference row, extreme row, expected)` of the cells with the largest distance, largest first."""
    distances = np.abs(codes - expected[cells])
    order = np.lexsort((distances, cells))
    starts = np.searchsorted(cells[order], np.arange(len(expected)))
    # Stable sorting puts the first of equally far samples at the end of its run only if rows run backwards.
    backwards = len(codes) - 1 - np.lexsort((distances[::-1], cells[::-1]))
    ends = np.append(starts[1:], len(codes)) - 1
    nearest, farthest = order[starts], backwards[ends]
    worst = np.argsort(-distances[farthest], kind="stable")[:count]
    return [(int(nearest[cell]), int(farthest[cell]), float(expected[cell])) for cell in worst]


def _witness(
    gen_factors: np.ndarray,
    codes: np.ndarray,
    latent: int,
    parent: int,
    names: tuple[str, ...],
    largest: float,
    reference: int,
    extreme: int,
    expected: float,
) -> Witness:
    before, after = gen_factors[reference].tolist(), gen_factors[extreme].tolist()
    distance = float(abs(codes[extreme] - expected))
    return Witness(
        latent=latent,
        parent=parent,
        parent_value=before[parent],
        reference=reference,
        extreme=extreme,
        expected=expected,
        reference_code=float(codes[reference]),
        extreme_code=float(codes[extreme]),
        distance=distance,
        relative_distance=distance / float(largest),
        changed={name: (a, b) for name, a, b in zip(names, before, after, strict=True) if a != b},
    )


def witnesses(
    gen_factors: Any,
    latents: Any,
    images: Images,
    score: DisentanglementResult | None = None,
    *,
    size: str = "two_columns",
    latents_per_page: int = 7,
    **options: Any,
) -> list[Figure]:
    """Draw the images behind each latent's worst interventions.

    Args:
        gen_factors, latents, score, options: see `witnesses_data`.
        images, size, latents_per_page: see `draw_witnesses`.
    """
    found = witnesses_data(gen_factors, latents, score, **options)
    return draw_witnesses(found, images, size=size, latents_per_page=latents_per_page)


def draw_witnesses(
    found: Witnesses, images: Images, *, size: str = "two_columns", latents_per_page: int = 7
) -> list[Figure]:
    """Draw pairs of images, a row per latent, its worst pair first.

    Left the reference, right the sample that lies farthest with the parent at the same value; below, where the code
    moved, how far that is as a share of the largest distance of any code from the mean, and what else changed.

    Args:
        found: the witnesses.
        images: `(num_samples, height, width)` or `(…, channels)` with 1 or 3 channels, rows as in the arrays searched,
            or a callable that gives such images for an array of rows. Integers run from 0 to 255, or to 1 where no
            image has more; floats from 0 to 1.
        size: "one_column" or "two_columns", see `SIZES`; one column has room for the worst pair only.
        latents_per_page: rows on a page.

    Returns:
        One figure per page; a single figure that says so if no latent is active.

    Raises:
        ValueError: images of another number or shape.
    """
    latents = sorted({witness.latent for witness in found.witnesses})
    pages = style.pages_of(latents, latents_per_page)
    if not pages:
        return [style.message_figure(f"No witnesses to draw: {found.reason}", size)]
    abreast = 1 if size == "one_column" else max(len(_of_latent(found, latent, None)) for latent in latents)
    rows = sorted({row for witness in found.witnesses for row in (witness.reference, witness.extreme)})
    pictures = dict(zip(rows, _fetch(images, np.array(rows), found.num_samples), strict=True))
    return [
        _draw_page(found, page, pictures, abreast, size, f"Page {number} of {len(pages)}. " if len(pages) > 1 else "")
        for number, page in enumerate(pages, start=1)
    ]


def _of_latent(found: Witnesses, latent: int, limit: int | None) -> list[Witness]:
    return [witness for witness in found.witnesses if witness.latent == latent][:limit]


def _fetch(images: Images, rows: np.ndarray, num_samples: int) -> np.ndarray:
    """Images of `rows`, scaled to [0, 1], `(num_rows, height, width)` or `(…, 3)`."""
    if not callable(images) and len(images) != num_samples:
        raise ValueError(f"images must be one per sample, {num_samples}; got {len(images)}.")
    pictures = np.asarray(images(rows) if callable(images) else images[rows])
    if pictures.ndim == 4 and pictures.shape[-1] == 1:
        pictures = pictures[..., 0]
    if len(pictures) != len(rows) or not (pictures.ndim == 3 or (pictures.ndim == 4 and pictures.shape[-1] == 3)):
        raise ValueError(
            f"images must be ({len(rows)}, height, width), with 1 or 3 channels as a last axis if there are any; got "
            f"{pictures.shape}."
        )
    whole = pictures.dtype.kind in "iu"
    return np.clip(pictures / (255.0 if whole and pictures.max() > 1 else 1.0), 0.0, 1.0)


def _draw_page(
    found: Witnesses, latents: list[int], pictures: dict[int, np.ndarray], abreast: int, size: str, heading: str
) -> Figure:
    width, label, gap = style.width_of(size), 0.6, 0.12
    pair_width = (width - label - 0.05) / abreast
    image = min((pair_width - gap) / 2, 0.75)
    lines = [2 + len(witness.changed) for witness in found.witnesses]
    pitch = image + 0.1 * min(max(lines), 3) + 0.12
    adjusted = "" if found.adjustment == "none" else f" (adjusted: {found.adjustment})"
    note = (
        f"{heading}Left: the sample closest to E[z | do(parent)]{adjusted}; right: the sample farthest from it, parent "
        f"unchanged. Below: the code in both, the right one's distance from E[z | do(parent)] as a share of the "
        f"largest distance of any code from E[z], and the factors that differ. Found among {found.num_samples:,} "
        f"samples. {style.inactive_note(found.inactive)}"
    )
    note_top = 0.08 + pitch * len(latents)
    with style.settings():
        figure = style.new_figure(width, note_top + style.note_height(note, width))
        height = figure.get_size_inches()[1]
        for place, latent in enumerate(latents):
            top = 0.08 + place * pitch
            group = _of_latent(found, latent, abreast)
            parent = found.factor_names[group[0].parent]
            text = f"z{latent}\n{parent}\nIRS {style.number(found.scores[latent])}"
            figure.text(0.05 / width, 1 - (top + image / 2) / height, text, va="center", fontsize=6.5)
            for column, witness in enumerate(group):
                _draw_pair(figure, witness, parent, pictures, label + column * pair_width, top, image, pair_width)
        style.write_note(figure, note, top=note_top)
    return figure


def _draw_pair(
    figure: Figure,
    witness: Witness,
    parent: str,
    pictures: dict[int, np.ndarray],
    left: float,
    top: float,
    image: float,
    pair_width: float,
) -> None:
    width, height = figure.get_size_inches()
    for place, row in enumerate((witness.reference, witness.extreme)):
        axes = style.axes_at(figure, left + place * (image + 0.04), top, image, image)
        axes.imshow(pictures[row], cmap="gray", vmin=0, vmax=1, interpolation="nearest")
        axes.set_xticks([])
        axes.set_yticks([])
    before, after = (f"{code:.3g}".replace("-", "−") for code in (witness.reference_code, witness.extreme_code))
    moved = f"{before} → {after} ({100 * witness.relative_distance:.0f} %)"
    changes = [f"{name} {before} → {after}" for name, (before, after) in witness.changed.items()]
    changes = changes or ["no factor differs"]
    caption = "\n".join([f"{parent} = {witness.parent_value}: {moved}", *_fill(changes, pair_width)])
    figure.text(left / width, 1 - (top + image + 0.03) / height, caption, va="top", fontsize=5.0, linespacing=1.15)


def _fill(changes: list[str], width: float) -> list[str]:
    """Put as many changes on a line as fit into `width` inches."""
    lines: list[str] = []
    for change in changes:
        if lines and len(lines[-1]) + len(change) + 2 <= width / 0.038:
            lines[-1] += f", {change}"
        else:
            lines.append(change)
    return lines
