"""The page: everything that a study's results say, in one file that needs no network."""

from __future__ import annotations

import base64
import hashlib
import math
import os
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote_from_bytes

import jinja2
import numpy as np
import pandas as pd
from markupsafe import Markup
from matplotlib.figure import Figure

import irs_plugin
from irs_plugin.figures.saving import save_figure
from irs_plugin.report import details, figures
from irs_plugin.report.comparison import (
    FEWEST_COMMON,
    Comparison,
    Measure,
    Ranking,
    compare,
    correlations,
    natural,
    rank,
)
from irs_plugin.report.completeness import Missing, bindings_of, missing_steps, planned_models
from irs_plugin.report.pictures import Album, Budget, data_uri, find_pictures, inline, shrink_png
from irs_plugin.results import Collection, Failure
from irs_plugin.results.gin_files import read_bindings
from irs_plugin.whole_files import whole_file

# Bytes that a page may have, and how many of them its figures.
PAGE, FIGURES = 15_000_000, 8_000_000
# Of more models than these the single results are not listed.
MOST_LISTED = 200


@dataclass(frozen=True)
class Drawn:
    """A figure of the page.

    Attributes:
        title: what it shows.
        alternative: the same for who cannot see it.
        figure: the figure.
        png, svg: its files.
        uri: the picture itself; empty where it is only linked to.
    """

    title: str
    alternative: str
    figure: Figure
    png: Path
    svg: Path
    uri: str


@dataclass(frozen=True)
class Part:
    """What the page says of one data set and representation."""

    anchor: str
    comparison: Comparison
    ranking: Ranking
    correlations: tuple[pd.DataFrame, pd.DataFrame]
    drawn: Mapping[str, Drawn]


@dataclass(frozen=True)
class Model:
    """What the page says of one model.

    Attributes:
        name, anchor: of the model, and where it is told of.
        folder: its folder.
        facts: its row in a comparison's models.
        latents: its weakest latents, by representation and evaluation.
        album: its pictures.
        settings: what sets it apart, as far as it is known.
        gin: file with all settings of its training; None if it has no results.
        results: its rows in the tidy table, by result file.
        failures: the steps that failed.
    """

    name: str
    anchor: str
    folder: Path
    facts: Mapping[str, Any]
    latents: list[details.Latents]
    album: Album
    settings: Mapping[str, str]
    gin: Path | None
    results: Mapping[str, pd.DataFrame]
    failures: list[Failure]


@dataclass(frozen=True)
class Report:
    """A report as it was written.

    Attributes:
        path: the page.
        parts: what it says of each data set and representation, with the figures.
        models: what it says of each model.
    """

    path: Path
    parts: list[Part]
    models: list[Model]


def write_report(collection: Collection, output: str | os.PathLike, *, page_size: int = PAGE) -> Report:
    """Write ``report.html`` and ``figures/`` into `output`.

    Every file appears whole or stays as it was.

    Args:
        collection: what `irs_plugin.results.collect` read.
        output: a folder, made if need be.
        page_size: bytes that the page should not exceed; models' pictures are left out for that.

    Raises:
        ValueError: nothing was collected.
    """
    if collection.scores.empty and not collection.failures:
        raise ValueError(
            f"there is nothing to report below {collection.folder}: no result that can be read and no step that "
            f"failed, {len(collection.damaged)} damaged files."
        )
    output = Path(output)
    comparisons = compare(collection.scores, collection.metrics, planned_models(collection.study))
    methods = sorted({method for comparison in comparisons for method in comparison.methods}, key=natural)
    budget = Budget(FIGURES)
    names = _file_names([comparison.name for comparison in comparisons])
    parts = [
        _part(comparison, figures.palette(methods), output / "figures", name, budget)
        for comparison, name in zip(comparisons, names, strict=True)
    ]
    models, common = _models(collection, comparisons)
    render = partial(_render, collection, output, parts, models, common)
    inline([model.album for model in models], Budget(page_size - len(render())))
    path = output / "report.html"
    _write_whole(path, render())
    return Report(path, parts, models)


def _file_names(names: Sequence[str]) -> list[str]:
    """A different file name for each name."""
    taken: list[str] = []
    for name in names:
        stem = re.sub(r"[^A-Za-z0-9.-]+", "_", name).strip("_.")[:60] or "study"
        number = sum(other == stem or other.startswith(f"{stem}__") for other in taken)
        taken.append(f"{stem}__{number + 1}" if number else stem)
    return taken


def _part(comparison: Comparison, colours: figures.Palette, folder: Path, name: str, budget: Budget) -> Part:
    robustness = comparison.robustness
    count = len(comparison.models)
    wanted = {
        "distributions": (
            "Scores of every metric by method",
            f"A panel per metric; in each, a row per method with a point for each of {count} models.",
            figures.score_distributions(comparison, colours),
        ),
        "hyperparameters": (
            "Scores against hyperparameters",
            "A row of panels per metric, a column per method; lines are means over seeds.",
            figures.scores_by_hyperparameter(comparison, colours),
        ),
        "correlations": (
            "Rank correlation of the metrics",
            "A matrix of Spearman's rank correlations; the table that follows has its numbers.",
            figures.rank_correlations(comparison),
        ),
    }
    if robustness is not None:
        wanted["robustness"] = (
            f"{robustness.label} against every other metric",
            f"A panel per metric with a point for each of {count} models.",
            figures.scores_against(comparison, robustness, colours),
        )
    drawn = {
        kind: _draw(title, alternative, figure, folder / f"{name}_{kind}", budget)
        for kind, (title, alternative, figure) in wanted.items()
    }
    return Part(f"part-{name}", comparison, rank(comparison), correlations(comparison), drawn)


def _draw(title: str, alternative: str, figure: Figure, path: Path, budget: Budget) -> Drawn:
    with warnings.catch_warnings():
        # Names may be written in letters that the font lacks; the page has them all the same.
        warnings.filterwarnings("ignore", r"Glyph \d+")
        png, svg = (save_figure(figure, f"{path}.{kind}", format=kind) for kind in ("png", "svg"))
    uri = data_uri(shrink_png(png.read_bytes()), "image/png")
    return Drawn(title, alternative, figure, png, svg, uri if budget.take(len(uri)) else "")


def _models(collection: Collection, comparisons: Sequence[Comparison]) -> tuple[list[Model], dict[str, str]]:
    """Every model, and the settings that all have in common."""
    folder, rows = collection.folder, dict(list(collection.scores.groupby("model")))
    planned = bindings_of(collection.study)
    failures: dict[str, list[Failure]] = {}
    for failure in collection.failures:
        failures.setdefault(failure.model, []).append(failure)
    names = sorted({*rows, *planned, *failures}, key=natural)
    facts = {
        name: comparison.models.loc[name].to_dict()
        for comparison in reversed(comparisons)
        for name in comparison.models.index
    }
    gins = {name: details.gin_file_of(folder, own.path.iloc[0]) for name, own in rows.items()}
    common, different = details.split_settings({name: read_bindings(path) for name, path in gins.items()})
    models = []
    for number, name in enumerate(names):
        own = rows.get(name)
        place = folder / (name if own is None else details.place_of(folder, own.path.iloc[0]))
        models.append(
            Model(
                name,
                f"model-{number}",
                place,
                facts.get(name, {}),
                [] if own is None else details.weakest_latents(folder, own),
                find_pictures(place),
                different.get(name) or _split(planned.get(name, ())),
                gins.get(name),
                {} if own is None or len(names) > MOST_LISTED else dict(list(own.groupby("path"))),
                failures.get(name, []),
            )
        )
    return models, common


def _split(lines: Iterable[str]) -> dict[str, str]:
    pairs = [[part.strip() for part in line.split("=", 1)] for line in lines]
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def _render(
    collection: Collection,
    output: Path,
    parts: Sequence[Part],
    models: Sequence[Model],
    common: Mapping[str, str],
) -> bytes:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("irs_plugin.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"number": number, "whole": whole, "listed": listed}
    environment.globals |= {"href": partial(_href, start=output), "isnan": _is_missing, "len": len}
    style, script = (_asset(f"report.{kind}") for kind in ("css", "js"))
    study = collection.study or {}
    missing, measures = missing_steps(collection.folder, study), _measures(parts)
    page = environment.get_template("report.html").render(
        title=str(study.get("study") or collection.folder.resolve().name),
        style=Markup(style),
        script=Markup(script),
        style_hash=_digest(style),
        script_hash=_digest(script),
        collection=collection,
        study=study,
        parts=parts,
        models=models,
        common=common,
        methods=sorted({method for part in parts for method in part.comparison.methods}, key=natural),
        measures=measures,
        missing=missing,
        rows=_rows(parts, models, measures),
        failures=_grouped(collection.failures),
        read_first=_read_first(collection, parts, missing),
        made=datetime.now().astimezone().strftime("%d %B %Y, %H:%M %Z"),
        version=irs_plugin.__version__,
        fewest=FEWEST_COMMON,
        most_listed=MOST_LISTED,
    )
    # Names of files need not be valid text.
    return page.encode("utf-8", errors="replace")


def _asset(name: str) -> str:
    return (files("irs_plugin.report") / "templates" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _measures(parts: Sequence[Part]) -> list[Measure]:
    """Every metric once, with its rows in all parts."""
    found: dict[str, list[Measure]] = {}
    for part in parts:
        for measure in part.comparison.measures:
            found.setdefault(measure.label, []).append(measure)
    merged = [Measure(same[0].metric, pd.concat([one.rows for one in same])) for same in found.values()]
    return sorted(merged, key=lambda measure: not measure.metric.headline)


def _rows(parts: Sequence[Part], models: Sequence[Model], measures: Sequence[Measure]) -> list[dict[str, Any]]:
    """The table of models: a row per model, data set and representation."""
    by_name, rows = {model.name: model for model in models}, []
    for part in parts:
        comparison = part.comparison
        scores = comparison.scores.reindex(columns=[measure.label for measure in measures]).to_numpy(float)
        planned = np.isin([measure.label for measure in measures], [measure.label for measure in comparison.measures])
        for facts, values in zip(comparison.models.reset_index(names="model").to_dict("records"), scores, strict=True):
            model = by_name[facts["model"]]
            lacking = int((np.isnan(values) & planned).sum())
            states = ["collapsed"] if facts["collapsed"] else []
            states += [f"{len(model.failures)} failed"] if model.failures else []
            states += [f"{lacking} missing"] if lacking else []
            cells = zip(values, measures, strict=True)
            rows.append(
                {
                    "model": model.name,
                    "anchor": model.anchor,
                    "part": part.anchor,
                    "dataset": comparison.dataset,
                    "representation": comparison.representation,
                    "method": facts["method"],
                    "collapsed": facts["collapsed"],
                    "hyperparameter": "–" if _is_missing(facts["hyperparameter"]) else facts["hyperparameter"] or "–",
                    "value": _sort_key(facts["value"]),
                    "value_shown": whole(facts["value"]),
                    "seed": _sort_key(facts["seed"]),
                    "state": ", ".join(states),
                    "scores": [(_sort_key(v), number(v), not measure.metric.headline) for v, measure in cells],
                }
            )
    return rows


def _sort_key(value: Any) -> str:
    """A number for the page's script, exact; empty where there is none."""
    return "" if _is_missing(value) else repr(float(value)) if isinstance(value, float) else str(value)


def _grouped(failures: Sequence[Failure]) -> list[list[Failure]]:
    """Failures of the same step for the same reason together, the most frequent first."""
    groups: dict[tuple[str, str], list[Failure]] = {}
    for failure in failures:
        groups.setdefault((failure.step, failure.error), []).append(failure)
    return sorted(groups.values(), key=lambda group: -len(group))


def _read_first(collection: Collection, parts: Sequence[Part], missing: Sequence[Missing]) -> str:
    """What a reader should know before looking at any number."""
    if not parts:
        return "There are no scores: every step failed, or none has been run."
    numbers = np.concatenate([part.ranking.totals.to_numpy() for part in parts])
    few, many = int(numbers.min()), int(numbers.max())
    told = [f"Each method stands on {few if few == many else f'{few} to {many}'} model{'s' if many > 1 else ''}."]
    if few < figures.FEWEST_FOR_DENSITY:
        told.append("With so few, ranks describe these models, not the methods.")
    collapsed = sum(int(part.comparison.models.collapsed.sum()) for part in parts)
    if collapsed:
        told.append(f"{collapsed} collapsed and {'is' if collapsed == 1 else 'are'} left out of all means.")
    if missing or collection.failures or collection.damaged:
        told.append("Some results are missing: every mean says how many models it is over.")
    robustness = parts[0].comparison.robustness
    if robustness is not None and robustness.chance is not None:
        told.append(f"Chance is not 0: of {robustness.label} it is {number(robustness.chance[0])}.")
    return " ".join(told)


def _href(path: Path, start: Path) -> str:
    """A link from the page to a file, relative, so that a folder may be moved with its report."""
    relative = Path(os.path.relpath(path, start)).as_posix()
    return quote_from_bytes(os.fsencode(relative))


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def number(value: Any) -> str:
    """A score for a reader: three digits after the point where that says something, and a dash where there is none."""
    if _is_missing(value):
        return "–"
    value = float(value)
    plain = value == 0 or 0.0005 <= abs(value) < 1000
    return (f"{value:.3f}" if plain else f"{value:.2e}").replace("-", "−")


def whole(value: Any) -> str:
    """A hyperparameter, as short as it is; a dash where there is none."""
    return "–" if _is_missing(value) else f"{value:g}".replace("-", "−")


def listed(values: Sequence[Any], most: int = 8) -> str:
    """Values in words, and how many more there are."""
    shown = ", ".join(map(str, values[:most]))
    return f"{shown} and {len(values) - most} more" if len(values) > most else shown or "–"


def _write_whole(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as draft:
        draft.write_bytes(content)
