"""Print the scores that dlib_evaluate wrote below a folder as one table, models as rows and metrics as columns."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

# Name of the evaluation, where it matters, and heading.
Column = tuple[str, str]

# What each evaluation function's results are known by: (key, heading), in the order of the columns.
HEADLINES: dict[str, tuple[tuple[str, str], ...]] = {
    "interventional_robustness": (("IRS", "IRS"), ("chance.avg_score.mean", "chance"), ("num_active_dims", "active")),
    "irs": (("IRS", "IRS of dlib"),),
    "beta_vae_sklearn": (("eval_accuracy", "BetaVAE"),),
    "factor_vae_score": (("eval_accuracy", "FactorVAE"),),
    "mig": (("discrete_mig", "MIG"),),
    "sap_score": (("SAP_score", "SAP"),),
    "dci": (("disentanglement", "DCI"),),
    "modularity_explicitness": (("modularity_score", "modularity"),),
    "feature_importance": (("average", "FI"),),
    "mutual_information": (("average", "MI"),),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="everything that dlib_evaluate wrote below it is read")


def run(args: argparse.Namespace) -> int:
    print(as_table(read_scores(args.folder)))
    return 0


def read_scores(folder: Path) -> dict[str, dict[Column, float]]:
    """Model -> column -> score; models are told apart by name and seed.

    Raises:
        ValueError: nothing was evaluated below the folder, or two results claim the same place in the table.
    """
    paths = sorted(folder.glob("**/results/aggregate/evaluation.json"))
    if not paths:
        raise ValueError(f"nothing below {folder} was written by dlib_evaluate (results/aggregate/evaluation.json).")
    table: dict[str, dict[Column, float]] = {}
    for path in paths:
        result = json.loads(path.read_text())
        row = table.setdefault(_model(result), {})
        for column, score in _scores(result):
            if column in row:
                raise ValueError(
                    f"{path.parents[2]} holds another {' '.join(column).strip()!r} of {_model(result)}; "
                    f"name a folder with one of each."
                )
            row[column] = score
    return table


def _model(result: dict[str, Any]) -> str:
    name = _setting(result, "train_config.model.name") or "model"
    return f"{name}, seed {_setting(result, 'train_config.model.random_seed')}"


def _scores(result: dict[str, Any]) -> Iterable[tuple[Column, Any]]:
    function = _setting(result, "evaluation_config.evaluation.evaluation_fn").lstrip("@")
    # The name tells presets of this package's own score apart; elsewhere the heading says it all.
    own = function == "interventional_robustness"
    name = _setting(result, "evaluation_config.evaluation.name") if own else ""
    for key, heading in HEADLINES.get(function, ()):
        if f"evaluation_results.{key}" in result:
            yield (name, heading), result[f"evaluation_results.{key}"]


def _setting(result: dict[str, Any], key: str) -> str:
    """A gin setting as dlib copies it into its results: the value's text, quotes included."""
    return str(result.get(key, "")).strip("'\"")


def as_table(scores: dict[str, dict[Column, float]]) -> str:
    """Aligned text under two lines of headings; a score that is missing is a dash."""
    order = [heading for headlines in HEADLINES.values() for _, heading in headlines]
    found = {column for row in scores.values() for column in row}
    columns = sorted(found, key=lambda column: (column[0] == "", column[0], order.index(column[1])))
    names = [name for name, _ in columns]
    first = [name if name not in names[:place] else "" for place, name in enumerate(names)]
    rows = [["", *first], ["", *(heading for _, heading in columns)]]
    rows += [[model, *(_cell(row.get(column)) for column in columns)] for model, row in sorted(scores.items())]
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return "\n".join(_line(row, widths) for row in rows if any(row))


def _line(row: list[str], widths: list[int]) -> str:
    cells = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
    return "  ".join([row[0].ljust(widths[0]), *cells]).rstrip()


def _cell(score: float | None) -> str:
    if score is None:
        return "–"
    return str(score) if isinstance(score, int) else f"{score:.3f}"
