"""Writing figures: PNG, PDF or SVG, whole or not at all, the same bytes for the same picture."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from irs_plugin.figures.style import settings
from irs_plugin.robustness.validation import check_choice
from irs_plugin.whole_files import whole_file

# Metadata that would differ from one run to the next is left out.
FORMATS = {"png": {"Software": None}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}


def save_figure(figure: Figure, path: str | os.PathLike, *, format: str | None = None, dpi: int = 200) -> Path:
    """Write `figure` to a file and return its path.

    The file appears whole or not at all; one that is there already is replaced. In PDF and SVG text stays text.

    Args:
        figure: what to write.
        path: with or without its suffix; missing folders are made.
        format: "png", "pdf" or "svg"; None takes the path's suffix, or PNG where it has none of these.
        dpi: pixels per inch of a PNG.

    Raises:
        ValueError: an unknown format, or one that contradicts the path's suffix.
    """
    path = Path(path)
    named = path.suffix[1:].lower() if path.suffix[1:].lower() in FORMATS else None
    format = check_choice(format or named or "png", "format", tuple(FORMATS))
    if named not in (None, format):
        raise ValueError(f"format {format!r} contradicts the path {str(path)!r}; leave one of the two out.")
    if named is None:
        path = path.with_name(f"{path.name}.{format}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with settings(), whole_file(path) as draft, open(draft, "xb") as file:
        figure.savefig(file, format=format, dpi=dpi, metadata=FORMATS[format])
    return path


def save_figures(
    figures: Sequence[Figure], path: str | os.PathLike, *, format: str | None = None, dpi: int = 200
) -> list[Path]:
    """Write the pages of a picture; several get `_01`, `_02`, … after the path's stem. See `save_figure`."""
    path = Path(path)
    if len(figures) == 1:
        return [save_figure(figures[0], path, format=format, dpi=dpi)]
    suffix = path.suffix if path.suffix[1:].lower() in FORMATS else ""
    stem, digits = path.name.removesuffix(suffix), max(2, len(str(len(figures))))
    return [
        save_figure(page, path.with_name(f"{stem}_{number:0{digits}d}{suffix}"), format=format, dpi=dpi)
        for number, page in enumerate(figures, start=1)
    ]
