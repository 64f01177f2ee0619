"""Print the scores that dlib_evaluate wrote below a folder as one table, models as rows and metrics as columns."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irs_plugin import results

if TYPE_CHECKING:
    import pandas as pd

# Name of the evaluation, where it matters, and heading.
Column = tuple[str, str]

# Its presets stand side by side, each with what belongs to the score; of other metrics the heading says it all.
_OWN = "interventional_robustness"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="everything that dlib_evaluate wrote below it is read")


def run(args: argparse.Namespace) -> int:
    collection = results.collect(args.folder)
    for path, reason in collection.damaged:
        print(f"passed over {path}: {reason}", file=sys.stderr)
    if not collection.num_results:
        raise ValueError(results.NOTHING.format(args.folder))
    if collection.scores.empty:
        raise ValueError(f"what was evaluated below {args.folder} are pictures, without a score of their own.")
    print(as_table(collection))
    return 0


def as_table(collection: results.Collection) -> str:
    """Aligned text under two lines of headings; a score that is missing is a dash.

    Raises:
        ValueError: two results claim the same place in the table.
    """
    if collection.duplicates:
        twice = collection.duplicates[0]
        raise ValueError(
            f"{twice.paths[1]} holds another {twice.metric!r} of {twice.model}, after {twice.paths[0]}; "
            f"name a folder with one of each."
        )
    columns: dict[Column, dict[tuple[str, str], Any]] = {}
    for name, metric in collection.metrics.items():
        if not metric.headline:
            continue
        rows = collection.scores[collection.scores.metric == name].set_index(["model", "representation"])
        if metric.evaluation_fn == _OWN:
            parts = {"IRS": rows.score, "chance": rows.chance, "active": rows.active}
            heading = rows.evaluation.iloc[0]
        else:
            parts, heading = {name: rows.score}, ""
        columns |= {
            (heading, part): values.dropna().to_dict() for part, values in parts.items() if values.notna().any()
        }
    names = [name for name, _ in columns]
    first = [name if name not in names[:place] else "" for place, name in enumerate(names)]
    rows = [["", *first], ["", *(heading for _, heading in columns)]]
    for place, label in _labels(collection.scores).items():
        rows.append([label, *(_cell(values.get(place)) for values in columns.values())])
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return "\n".join(_line(row, widths) for row in rows if any(row))


def _labels(scores: pd.DataFrame) -> pd.Series:
    """What a row is called, by model and representation: method and seed, and what it takes to tell rows apart."""
    place = ["model", "representation"]
    rows = scores.drop_duplicates(place).sort_values(["method", "value", "seed", *place])
    labels = rows.method.replace("", "model") + ", seed " + rows.seed.astype(str).replace("<NA>", "unknown")
    for detail in (rows.hyperparameter + " = " + rows.value.map("{:g}".format), rows.representation, rows.model):
        differs = detail.groupby(labels).transform("nunique") > 1
        labels = labels.where(~differs, labels + ", " + detail)
    return labels.set_axis(rows.set_index(place).index)


def _line(row: list[str], widths: list[int]) -> str:
    cells = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
    return "  ".join([row[0].ljust(widths[0]), *cells]).rstrip()


def _cell(score: Any) -> str:
    if score is None:
        return "–"
    return str(score) if isinstance(score, int) else f"{score:.3f}"
