"""All results below a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irs_plugin.results.metrics import Metric, add_nulls, as_score, found_metrics
from irs_plugin.results.result import Result, printable, read_object, read_result
from irs_plugin.results.table import tabulate
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

    def __str__(self) -> str:
        return f"{self.metric} of {self.model}, {self.representation or 'unnamed'} ({' and '.join(self.paths)})"


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
        """A row per result file, as disentanglement_lib's ``aggregate_results`` has it.

        Every setting and every result of every step has a column of its own; ``path`` is the file.
        """
        import pandas as pd

        return pd.DataFrame(self._values)

    @cached_property
    def duplicates(self) -> list[Duplicate]:
        """Places that several results claim."""
        place = ["model", "representation", "metric"]
        claimed = self.scores[self.scores.duplicated(place, keep=False)]
        return [Duplicate(*names, tuple(rows.path)) for names, rows in claimed.groupby(place, sort=False)]

    @property
    def num_results(self) -> int:
        """How many result files were read."""
        return len(self._values)

    def warnings(self) -> list[str]:
        """A line on each thing that is amiss: what could not be read, what failed, what is there twice."""
        return [
            *(f"passed over {path}: {reason}" for path, reason in self.damaged),
            *(f"failed: {failure.step} of model {failure.model}: {failure.error}" for failure in self.failures),
            *(f"claimed more than once, all kept: {duplicate}" for duplicate in self.duplicates),
        ]


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
    bar = partial(tqdm, unit=" files", disable=None if progress else True)

    def readable(paths: Iterable[Path], read: Callable[[Path], Any]) -> Iterator[Any]:
        for path in paths:
            try:
                yield read(path)
            except ValueError as error:
                problems.append((path, str(error)))

    paths: dict[str, list[Path]] = {"evaluation": [], "failure": [], "study": []}
    for kind, path in bar(walk(folder, problems), "finding results"):
        paths[kind].append(path)
    found = list(readable(bar(paths["evaluation"], "reading results"), partial(_read_metrics, folder)))
    failures = list(readable(paths["failure"], partial(_read_failure, folder)))
    study = next(readable(paths["study"], read_object), None)

    add_nulls(found)
    scores, metrics = tabulate(found)
    damaged = [(printable(path.relative_to(folder)), reason) for path, reason in problems]
    values = [{**result.values, "path": printable(result.path)} for result, _ in found]
    return Collection(folder, scores, metrics, damaged, failures, study, values)


def _read_metrics(folder: Path, path: Path) -> tuple[Result, list[Metric]]:
    result = read_result(folder, path)
    metrics = found_metrics(result)
    for metric in metrics:
        as_score(result.scores[metric.key], metric.key)
    return result, metrics


def _read_failure(folder: Path, path: Path) -> Failure:
    record = read_object(path)
    if "step" not in record or "error" not in record:
        raise ValueError("it does not say which step failed and why (step, error)")
    texts = {key: str(record.get(key, "")) for key in ("step", "error", "traceback", "time")}
    place = path.relative_to(folder)
    # Collected from inside a model, or from the folder of failures itself, the model is where the collection is.
    model = place.parents[1] if len(place.parts) > 2 else Path()
    return Failure(printable(model), **texts, path=printable(place))
