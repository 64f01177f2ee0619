"""Print the scores that dlib_evaluate wrote below a folder as one table, models as rows and metrics as columns."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

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


def read_scores(folder: Path) -> dict[str, dict[str, float]]:
    """Model -> heading -> score.

    A heading of this package's own score carries the name of its evaluation, which tells the presets apart; models are
    told apart by name and seed.

    Raises:
        ValueError: nothing was evaluated below the folder, or two results claim the same place in the table.
    """
    results = {
        path: json.loads(path.read_text()) for path in sorted(folder.glob("**/results/aggregate/evaluation.json"))
    }
    if not results:
        raise ValueError(f"nothing below {folder} was written by dlib_evaluate (results/aggregate/evaluation.json).")
    table: dict[str, dict[str, float]] = {}
    for path, result in results.items():
        row = table.setdefault(_model(result), {})
        for heading, score in _scores(result):
            if heading in row:
                raise ValueError(
                    f"{path.parents[2]} holds another {heading!r} of {_model(result)}; name a folder with one of each."
                )
            row[heading] = score
    return table


def _model(result: dict[str, Any]) -> str:
    name = _setting(result, "train_config.model.name") or "model"
    return f"{name}, seed {_setting(result, 'train_config.model.random_seed')}"


def _scores(result: dict[str, Any]) -> Iterable[tuple[str, Any]]:
    function = _setting(result, "evaluation_config.evaluation.evaluation_fn").lstrip("@")
    name = _setting(result, "evaluation_config.evaluation.name")
    for key, heading in HEADLINES.get(function, ()):
        if f"evaluation_results.{key}" in result:
            own = function == "interventional_robustness"
            yield (f"{name}: {heading}" if own else heading), result[f"evaluation_results.{key}"]


def _setting(result: dict[str, Any], key: str) -> str:
    """A gin setting as dlib copies it into its results: the value's text, quotes included."""
    return str(result.get(key, "")).strip("'\"")


def as_table(scores: dict[str, dict[str, float]]) -> str:
    """Aligned text; a score that is missing is a dash."""
    found = {heading for row in scores.values() for heading in row}
    order = [heading for headlines in HEADLINES.values() for _, heading in headlines]
    headings = sorted(found, key=lambda heading: (order.index(heading.rpartition(": ")[2]), heading))
    # Presets stay together.
    headings.sort(key=lambda heading: heading.rpartition(": ")[0] or "~")
    rows = [["", *headings]]
    rows += [[model, *(_cell(row.get(heading)) for heading in headings)] for model, row in sorted(scores.items())]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    )


def _cell(score: float | None) -> str:
    if score is None:
        return "–"
    return str(score) if isinstance(score, int) else f"{score:.3f}"
