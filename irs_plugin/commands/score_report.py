"""The report of `irs_plugin score` as text for the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any


def as_table(report: dict[str, Any]) -> str:
    """Scores as a table, and below it how they were obtained.

    Args:
        report: what the command writes as JSON.
    """
    scores = _disentanglement if report["score"] == "disentanglement" else _groups
    return "\n".join([*scores(report), "", *_settings(report)])


def _disentanglement(report: dict[str, Any]) -> list[str]:
    result, names = report["result"], report["factor_names"]
    header = ["latent", *names, "parent", "score", *_extra_headers(report)]
    rows = []
    for latent, label in enumerate(report["latent_names"]):
        parent = result["parents"][latent]
        rows.append(
            [
                label,
                *(_number(entry) for entry in result["irs_matrix"][latent]),
                "inactive" if parent is None else names[parent],
                _number(result["disentanglement_scores"][latent]),
                *_extra_cells(report, "disentanglement_scores", latent),
            ]
        )
    overall = [
        f"IRS {_number(result['avg_score'])} (mean over latents weighted by their normalisers), "
        f"unweighted {_number(result['mean_score'])}, "
        f"{result['num_active_dims']} of {len(result['active'])} latents active"
    ]
    if "chance" in report:
        level = report["chance"]["avg_score"]
        overall.append(f"IRS by chance {_number(level['mean'])}, corrected {_number(level['corrected'])}")
    if "repeats" in report:
        spread = report["repeats"]["avg_score"]
        overall.append(
            f"IRS over subsets: mean {_number(spread['mean'])}, sd {_number(spread['sd'])}, "
            f"from {_number(spread['min'])} to {_number(spread['max'])}"
        )
    return [*_aligned([header, *rows]), "", *overall, *_reasons([result])]


def _groups(report: dict[str, Any]) -> list[str]:
    results = report["result"]["groups"]
    header = ["latents", "IRS", "EMPIDA", "normaliser", *_extra_headers(report)]
    rows = [
        [
            " ".join(report["latent_names"][latent] for latent in result["settings"]["latent_dims"]),
            _number(result["irs"]),
            f"{result['empida']:.4g}",
            f"{result['normalizer']:.4g}",
            *_extra_cells(report, "irs", place),
        ]
        for place, result in enumerate(results)
    ]
    return [*_aligned([header, *rows]), *_reasons(results)]


def _extra_headers(report: dict[str, Any]) -> list[str]:
    chance = ["chance", "corrected", "p"] if "chance" in report else []
    return chance + (["subsets", "sd"] if "repeats" in report else [])


def _extra_cells(report: dict[str, Any], name: str, place: int) -> list[str]:
    cells = []
    if "chance" in report:
        level = report["chance"][name]
        cells += [_number(level[key][place]) for key in ("mean", "corrected", "p_value")]
    if "repeats" in report:
        spread = report["repeats"][name]
        cells += [_number(spread[key][place]) for key in ("mean", "sd")]
    return cells


def _reasons(results: Sequence[dict[str, Any]]) -> list[str]:
    return _wrapped(dict.fromkeys(result["reason"] for result in results if result["reason"] is not None))


def _settings(report: dict[str, Any]) -> list[str]:
    results = report["result"].get("groups", [report["result"]])
    settings, names = results[0]["settings"], report["factor_names"]
    lines = [f"{report['score']} score, {results[0]['num_samples']} samples, preset {report['preset']}"]
    chosen = []
    for name, value in settings.items():
        if name == "latent_dims":
            continue
        shown = " ".join(names[k] for k in value) or "none" if name.endswith("_factors") else value
        chosen.append(f"{name.replace('_', ' ')} {shown}")
    lines.append(", ".join(chosen))
    if report["confounder_names"]:
        lines.append(f"confounder: {' '.join(report['confounder_names'])}")
    if "discretisation" in report:
        lines.append(_discretisation(report["discretisation"], names))
    if "chance" in report:
        lines.append(
            f"chance: {report['chance']['method']}; a latent's score is the maximum over factors, and so is its chance "
            f"level; corrected = (score − chance) / (1 − chance)"
            if report["score"] == "disentanglement"
            else f"chance: {report['chance']['method']}; corrected = (IRS − chance) / (1 − chance)"
        )
    if "repeats" in report:
        lines.append(f"subsets: {report['repeats']['method']}")
    notes = dict.fromkeys(note for result in results for note in _notes(result))
    return _wrapped([*lines, *(f"note: {note}" for note in notes)])


def _notes(result: dict[str, Any]) -> Sequence[str]:
    return result["notes"] if "notes" in result else result["diagnostics"]["notes"]


def _discretisation(done: dict[str, Any], names: Sequence[str]) -> str:
    binned = [f"{names[k]} ({done['values_before'][k]} values → {done['values_after'][k]})" for k in done["binned"]]
    return f"binned ({done['strategy']}, {done['num_bins']} bins): {', '.join(binned) or 'none'}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns of equal width, the first flush left."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _wrapped(lines: Any) -> list[str]:
    return [part for line in lines for part in textwrap.wrap(line, 100, subsequent_indent="  ")]
