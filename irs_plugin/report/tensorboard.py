"""Event files for TensorBoard: a run per model with its hyperparameters, scores and pictures, and one of the figures.

Written with the ``tensorboard`` package's own writer and its API for hyperparameters; TensorFlow only serves as its
file system.
"""

from __future__ import annotations

import io
import os
import re
import time
from collections.abc import Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from irs_plugin.results import Collection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from irs_plugin.report.page import Model, Report

# Ends the names of our event files, so that a second report replaces the first one's and no one else's.
_SUFFIX = ".irs_plugin"


def require_tensorboard() -> None:
    """Refuse to go on without the package.

    Raises:
        ValueError: it is not installed.
    """
    if find_spec("tensorboard") is None:
        raise ValueError(
            "event files for TensorBoard need the package tensorboard: pip install tensorboard, or leave "
            "--tensorboard out."
        )


def write_events(collection: Collection, report: Report, folder: str | os.PathLike) -> Path:
    """Write event files below `folder`: ``report/`` with the figures, and a run per model.

    Of several data sets or representations, a run per model and each. Scores that are missing are left out. Event
    files of an earlier report in the same runs are replaced; all others stay.

    Args:
        collection: what the report is of.
        report: as `irs_plugin.report.page.write_report` returned it.
        folder: for ``tensorboard --logdir``; made if need be.

    Raises:
        ValueError: the package tensorboard is not installed.
    """
    require_tensorboard()
    from tensorboard.plugins.hparams import api

    folder = Path(folder)
    with _events(folder) as add:
        metrics = [
            api.Metric(name, display_name=name, description=metric.description)
            for name, metric in collection.metrics.items()
        ]
        names = ("method", "dataset", "representation", "hyperparameter", "value", "seed", "training_steps")
        add(api.hparams_config_pb([api.HParam(name) for name in names], metrics))
    with _events(folder / "report") as add:
        for part in report.parts:
            for drawn in part.drawn.values():
                add(_image(f"{part.comparison.name}: {drawn.title}", drawn.png))
    models = {model.name: model for model in report.models}
    keys = ["model", "dataset", "representation"]
    groups = collection.scores.groupby(keys, sort=False)
    several = groups.ngroups > collection.scores.model.nunique()
    runs = _run_names(["/".join(key) if several else key[0] for key in groups.groups])
    for run, (_, rows) in zip(runs, groups, strict=True):
        with _events(folder / run) as add:
            add(api.hparams_pb(_hyperparameters(rows.iloc[0]), trial_id=run))
            add(_scalars(rows))
            for summary in _pictures(models[rows.model.iloc[0]]):
                add(summary)
    return folder


def _run_names(names: Sequence[str]) -> list[str]:
    """Folder names that are safe anywhere, and different."""
    taken: dict[str, str] = {}
    for name in names:
        safe = re.sub(r"[^\w./ ()=+-]+", "_", name).replace("..", "_").strip("/ ") or "model"
        while safe in taken.values():
            safe += "_"
        taken[name] = safe
    return list(taken.values())


@contextmanager
def _events(folder: Path) -> Iterator[Any]:
    """Give a function that adds a summary to a new event file; our earlier ones go once it is complete."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    earlier = list(folder.glob(f"events.out.tfevents.*{_SUFFIX}"))
    writer = EventFileWriter(str(folder), filename_suffix=_SUFFIX)
    try:
        yield lambda summary: writer.add_event(Event(wall_time=time.time(), step=0, summary=summary))
    finally:
        writer.close()
    for path in earlier:
        path.unlink()


def _hyperparameters(row: pd.Series) -> dict[str, float | int | str]:
    texts = {name: row[name] for name in ("method", "dataset", "representation", "hyperparameter")}
    numbers = {name: row[name] for name in ("value", "seed", "training_steps")}
    return texts | {name: float(value) for name, value in numbers.items() if not pd.isna(value)}


def _scalars(rows: pd.DataFrame) -> Any:
    from tensorboard.compat.proto.summary_pb2 import Summary

    scores = rows.groupby("metric", sort=False).score.mean().dropna()
    chance = rows.groupby("metric", sort=False).chance.mean().dropna()
    values = [*scores.items(), *((f"chance of {name}", level) for name, level in chance.items())]
    return Summary(value=[Summary.Value(tag=name, simple_value=value) for name, value in values])


def _pictures(model: Model) -> Iterator[Any]:
    """What the evaluations drew; disentanglement_lib's animations are too large for event files."""
    for picture in model.album.pictures:
        if picture.drawn and not picture.problem:
            yield _image(picture.name, picture.path)


def _image(tag: str, path: Path) -> Any:
    """A summary with a picture, the file's bytes as they are."""
    from PIL import Image
    from tensorboard.compat.proto.summary_pb2 import Summary

    content = path.read_bytes()
    with Image.open(io.BytesIO(content)) as image:
        height, width = image.height, image.width
    encoded = Summary.Image(height=height, width=width, colorspace=3, encoded_image_string=content)
    return Summary(value=[Summary.Value(tag=tag, image=encoded)])
