"""What the evaluation functions that draw pictures share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import irs_plugin
from irs_plugin.evaluation.drawing import Draw
from irs_plugin.evaluation.options import check_options, uses_confounder
from irs_plugin.robustness.disentanglement import DisentanglementResult
from irs_plugin.robustness.validation import check_choice
from irs_plugin.robustness.wrapping import check_count

# Options of the score that its pictures do not take: they concern how distances become a score.
_ONLY_OF_THE_SCORE = (
    "diff_quantile",
    "normalizer_quantile",
    "factor_weights",
    "replicates",
    "inactive_tolerance",
)


def check_picture(
    artifact_dir: str | None,
    output_dir: str | None,
    format: str,
    size: str,
    options: Mapping[str, Any],
    *,
    latents_per_page: int = 1,
) -> Path:
    """Check where and how to draw, and the score's options, before anything is encoded; return the folder.

    Raises:
        ValueError: nowhere to write to, an unknown format or size, no latent on a page, or bad options.
    """
    from irs_plugin.figures.saving import FORMATS
    from irs_plugin.figures.style import width_of

    check_choice(format, "format", tuple(FORMATS))
    width_of(size)
    check_count(latents_per_page, "latents_per_page", 1)
    check_options(irs_plugin.disentanglement_score, options, of="this picture")
    folder = output_dir or artifact_dir
    if folder is None:
        raise ValueError("a picture needs a folder: dlib hands over artifact_dir; elsewhere bind output_dir.")
    return Path(folder)


def scored(drawn: Draw, options: Mapping[str, Any]) -> tuple[DisentanglementResult, dict[str, Any]]:
    """The score behind a picture, and the options that the picture's own numbers share with it."""
    aligned = drawn.aligned(uses_confounder(options))
    score = irs_plugin.disentanglement_score(drawn.gen_factors, drawn.latents, **options, **aligned)
    shared = {name: value for name, value in options.items() if name not in _ONLY_OF_THE_SCORE}
    return score, {**shared, **aligned}


def save(figures: Any, folder: Path, name: str, format: str) -> dict[str, list[str]]:
    """Write the pages of a picture; return their paths under the key that all pictures use."""
    from irs_plugin.figures import save_figures

    pages = figures if isinstance(figures, list) else [figures]
    return {"figures": [str(path.absolute()) for path in save_figures(pages, folder / name, format=format)]}
