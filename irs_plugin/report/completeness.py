"""What a study planned, by its ``study.json``, and what of it is not there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irs_plugin.report.comparison import UNKNOWN, natural
from irs_plugin.results.gin_files import literal

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Missing:
    """A planned step that some models lack.

    Attributes:
        step: such as "train" or "metrics/mean/dci".
        models: those without it, in order.
        planned: how many models it was planned for.
    """

    step: str
    models: tuple[str, ...]
    planned: int

    @property
    def count(self) -> int:
        return len(self.models)


def bindings_of(study: Mapping[str, Any] | None) -> dict[str, tuple[str, ...]]:
    """Model -> its gin bindings; empty where there is no study, or none that says so."""
    models = (study or {}).get("models")
    if not isinstance(models, dict):
        return {}
    return {str(name): tuple(map(str, lines if isinstance(lines, list) else ())) for name, lines in models.items()}


def planned_models(study: Mapping[str, Any] | None) -> pd.DataFrame | None:
    """The planned models, indexed by name: dataset, method and seed as far as their bindings tell; None without any.

    Models that were trained elsewhere say nothing of themselves.
    """
    import pandas as pd

    rows = {}
    for name, lines in bindings_of(study).items():
        values = dict(part for line in lines if len(part := tuple(map(str.strip, line.split("=", 1)))) == 2)
        seed = literal(values.get("model.random_seed", "None"))
        rows[name] = {
            "dataset": str(literal(values.get("dataset.name", UNKNOWN))),
            "method": str(literal(values.get("model.name", UNKNOWN))),
            "seed": seed if isinstance(seed, int) else pd.NA,
        }
    return pd.DataFrame.from_dict(rows, orient="index").astype({"seed": "Int64"}) if rows else None


def missing_steps(folder: Path, study: Mapping[str, Any] | None) -> list[Missing]:
    """Planned steps whose results are not below `folder`, most often missing first."""
    bindings = bindings_of(study)
    names = {key: [str(name) for name in (study or {}).get(key) or ()] for key in ("postprocess", "metrics")}
    trained = [name for name, lines in bindings.items() if not any(line.startswith("trained in") for line in lines)]
    steps = {"train": ("model/results/aggregate/train.json", trained)}
    for representation in names["postprocess"]:
        mark = f"postprocessed/{representation}/results/aggregate/postprocess.json"
        steps[f"postprocess/{representation}"] = (mark, list(bindings))
        for metric in names["metrics"]:
            mark = f"metrics/{representation}/{metric}/results/aggregate/evaluation.json"
            steps[f"metrics/{representation}/{metric}"] = (mark, list(bindings))
    found = [Missing(step, _lacking(folder, mark, models), len(models)) for step, (mark, models) in steps.items()]
    return sorted((missing for missing in found if missing.models), key=lambda missing: -len(missing.models))


def _lacking(folder: Path, mark: str, models: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted((name for name in models if not (folder / name / mark).is_file()), key=natural))
