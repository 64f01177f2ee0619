"""All results below a folder."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irs_plugin.results.metrics import Metric, as_score, found_metrics
from irs_plugin.results.result import read_object, read_result
from irs_plugin.results.table import Found, tabulate
from irs_plugin.results.walking import walk

if TYPE_CHECKING:
    import pandas as pd

NOTHING = "nothing below {} was written by dlib_evaluate (results/aggregate/evaluation.json)."


@dataclass(frozen=True)
class Failure:
    """A step of a study that failed.

    Attributes:
        model: folder of the model, relative to what was collected.
        step: such as "metrics/mean/dci".
        error: why, in one line.
        traceback: of the error.
        time: when, in ISO 8601.
        path: the file that says so, relative to what was collected.
    """

    model: str
    step: str
    error: str
    traceback: str
    time: str
    path: str


@dataclass(frozen=True)
class Duplicate:
    """Results that claim the same place: all are in the table.

    Attributes:
        model, representation, metric: the place.
        paths: of the results, relative to what was collected.
    """

    model: str
    representation: str
    metric: str
    paths: tuple[str, ...]


@dataclass(frozen=True)
class Collection:
    """What was found below a folder.

    Attributes:
        folder: where it was looked for.
        scores: the tidy table, a row per model, representation and metric; see `irs_plugin.results.COLUMNS`.
        metrics: what each name in the table's ``metric`` column is.
        damaged: (path relative to the folder, reason) of what could not be read.
        failures: steps that failed, as a study records them.
        study: the folder's ``study.json``, or None.
    """

    folder: Path
    scores: pd.DataFrame
    metrics: dict[str, Metric]
    damaged: list[tuple[str, str]]
    failures: list[Failure]
    study: dict[str, Any] | None
    _values: list[dict[str, Any]] = field(repr=False)

    @cached_property
    def flat(self) -> pd.DataFrame:
        """A row per result file, in the form of disentanglement_lib's ``aggregate_results``: every setting and result of
        every step in a column of its own, and ``path``."""
        import pandas as pd

        return pd.DataFrame(self._values)

    @cached_property
    def duplicates(self) -> list[Duplicate]:
        """Places that several results claim."""
        place = ["model", "representation", "metric"]
        claimed = self.scores[self.scores.duplicated(place, keep=False)]
        return [Duplicate(*names, tuple(rows.path)) for names, rows in claimed.groupby(place, sort=False)]


def collect(folder: str | os.PathLike, *, progress: bool = False) -> Collection:
    """Read every result that disentanglement_lib, or a study of this package, left below a folder.

    Damaged files are listed and passed over; a step that has not finished (``*.partial``) and hidden folders are
    ignored.

    Args:
        folder: anything that holds ``results/aggregate/evaluation.json``, at any depth.
        progress: show a bar on a terminal.

    Returns:
        What was found; without a result its table is empty.

    Raises:
        ValueError: there is no such folder.
    """
    from tqdm import tqdm

    folder = Path(folder)
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}: name one with what dlib_evaluate or a study wrote.")
    problems: list[tuple[Path, str]] = []
    paths = {"evaluation": [], "failure": []}
    for kind, path in walk(folder, problems):
        paths[kind].append(path)

    found: list[Found] = []
    bar = tqdm(paths["evaluation"], "results", unit=" files", disable=None if progress else True)
    for path in bar:
        try:
            result = read_result(folder, path)
            metrics = found_metrics(result)
            for metric in metrics:
                as_score(result.scores[metric.key], metric.key)
            found.append((result, metrics))
        except ValueError as error:
            problems.append((path, str(error)))
    failures = []
    for path in paths["failure"]:
        try:
            failures.append(_read_failure(folder, path))
        except ValueError as error:
            problems.append((path, str(error)))
    study = None
    if os.path.lexists(folder / "study.json"):
        try:
            study = read_object(folder / "study.json")
        except ValueError as error:
            problems.append((folder / "study.json", str(error)))

    scores, metrics = tabulate(found)
    damaged = [(os.path.relpath(path, folder), reason) for path, reason in problems]
    values = [{**result.values, "path": str(result.path)} for result, _ in found]
    return Collection(folder, scores, metrics, damaged, failures, study, values)


def _read_failure(folder: Path, path: Path) -> Failure:
    record = read_object(path)
    if "step" not in record or "error" not in record:
        raise ValueError("it does not say which step failed and why (step, error)")
    texts = {key: str(record.get(key, "")) for key in ("step", "error", "traceback", "time")}
    model, place = (os.path.relpath(entry, folder) for entry in (path.parents[1], path))
    return Failure(Path(model).as_posix(), **texts, path=Path(place).as_posix())
