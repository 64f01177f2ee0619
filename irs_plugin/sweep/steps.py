"""Doing a model's steps, in a worker process that keeps TensorFlow and the data set loaded.

Each result is written into a folder of its own, ``<folder>.partial``, which takes its name when it is whole. A step
that fails leaves the reason in ``<model>/failed`` and does not keep the others from being done.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import random
import shutil
import time
import traceback
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cache
from pathlib import Path
from typing import TextIO

from irs_plugin.sweep.plan import METRICS, POSTPROCESS, TRAIN, VISUALIZE, Model, Step
from irs_plugin.sweep.worker import dlib
from irs_plugin.whole_files import to_disk, write_json

RUNNING, DONE, FAILED, NOT_RUN = "running", "done", "failed", "not run"

# Seconds between two snapshots of a model in training.
SNAPSHOT_INTERVAL = 120

# Part of a training that tells how fast it is.
_SETTLED = 0.02


@dataclass(frozen=True)
class Outcome:
    """What became of a step: ``running``, ``done``, ``failed``, or ``not run`` because one that it needs failed.

    ``seconds`` is 0 for a step that was complete before; ``reason`` is one line; ``fraction`` tells how far it is;
    ``whole`` is the seconds that all of it takes, by what was seen of it, and 0 if that does not tell.
    """

    model: str
    step: str
    state: str
    seconds: float = 0.0
    reason: str = ""
    fraction: float = 0.0
    whole: float = 0.0


class _Clock:
    """Seconds that a step has had, and what all of it takes: a training may go on where another process was killed."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._first: tuple[float, float] | None = None
        self._latest = (0.0, 0.0)

    @property
    def seconds(self) -> float:
        """Since the step began in this process."""
        return time.monotonic() - self._started

    def tell(self, fraction: float) -> None:
        """Take note of how far the step is, before its first update and from then on."""
        self._latest = (self.seconds, fraction)
        self._first = self._first or self._latest

    def whole(self, ended: bool) -> float:
        """Seconds of all of it; 0 if too little of it was done here to tell."""
        (began, start), (now, fraction) = self._first or self._latest, self._latest
        if fraction - start > _SETTLED:
            return self.seconds + (start + 1 - fraction) * (now - began) / (fraction - start)
        return self.seconds if ended and not start else 0.0


# Is told of every step that begins, goes on and ends.
Listener = Callable[[Outcome], None]


class _Module:
    """The representation that is loaded: metrics of the same one share it, the next one takes its place."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._stack = contextlib.ExitStack()

    def use(self, path: Path) -> None:
        """Load a module unless it is loaded."""
        if path != self._path:
            self.release()
            self._stack.enter_context(dlib().shared_representation(str(path)))
            self._path = path

    def release(self) -> None:
        """Make room."""
        self._path = None
        self._stack.close()


def run_model(model: Model, listener: Listener | None = None, retry_failed: bool = True) -> list[Outcome]:
    """Do what is missing of a model, one step after the other.

    Args:
        model: The model.
        listener: Is told when a step begins, how far a training is, and what became of each step.
        retry_failed: Whether steps that failed in an earlier sweep are tried again.

    Returns:
        An outcome for each step, in order.
    """
    model.folder.mkdir(parents=True, exist_ok=True)
    listener = listener or (lambda outcome: None)
    outcomes: dict[str, Outcome] = {}
    with _only_one(model.folder), _into_log(model.folder / "log.txt"):
        module = _Module()
        try:
            for step in model.steps:
                before = outcomes.get(step.needs or "")
                outcomes[step.name] = _outcome(model, step, before, module, listener, retry_failed)
                listener(outcomes[step.name])
        finally:
            module.release()
    return list(outcomes.values())


def _outcome(
    model: Model, step: Step, before: Outcome | None, module: _Module, listener: Listener, retry_failed: bool
) -> Outcome:
    if step.is_complete():
        failure(model, step.name).unlink(missing_ok=True)
        if step.kind == TRAIN:
            # A kill may have come between the result and the removal of what it was made with.
            _remove(_snapshots(step))
        return Outcome(model.name, step.name, DONE)
    if before is not None and before.state != DONE:
        return Outcome(model.name, step.name, NOT_RUN, reason=f"{before.step} {before.state}")
    if not retry_failed and (earlier := read_failure(model, step.name)):
        return Outcome(model.name, step.name, FAILED, reason=earlier)
    clock = _Clock()

    def on_step(done: int, total: int) -> None:
        clock.tell(done / total)
        whole = clock.whole(ended=False)
        listener(Outcome(model.name, step.name, RUNNING, clock.seconds, fraction=done / total, whole=whole))

    listener(Outcome(model.name, step.name, RUNNING))
    # Should the process be killed, this tells in which step.
    _under_way(model).write_text(step.name, encoding="utf-8")
    print(f"== {datetime.now(timezone.utc).isoformat(timespec='seconds')} {step.name}", flush=True)
    try:
        _run(model, step, module, on_step)
    except (Exception, SystemExit) as error:
        traceback.print_exc()
        reason = record_failure(model, step.name, error)
        forget_killed_step(model)
        return Outcome(model.name, step.name, FAILED, clock.seconds, reason)
    forget_killed_step(model)
    failure(model, step.name).unlink(missing_ok=True)
    return Outcome(model.name, step.name, DONE, clock.seconds, fraction=1.0, whole=clock.whole(ended=True))


def _run(model: Model, step: Step, module: _Module, on_step: Callable[[int, int], None]) -> None:
    """Do one step and give its result its name."""
    library = dlib()
    partial = step.folder.with_name(f"{step.folder.name}.partial")
    _remove(partial)
    partial.parent.mkdir(parents=True, exist_ok=True)
    # Some scikit-learn models in the library draw from the global generator, which no seed of its own sets.
    _seed(f"{model.name} {step.name}")
    files, bindings = [str(step.config)] if step.config else [], list(step.bindings)
    if step.kind != METRICS:
        module.release()
    resumable = contextlib.nullcontext()
    if step.kind == TRAIN:
        resumable = library.resumable_training(_snapshots(step), every_seconds=SNAPSHOT_INTERVAL, on_step=on_step)
    with library.fresh(), library.shared_data(), resumable:
        if step.kind == TRAIN:
            library.train(str(partial), False, files, bindings)
        elif step.kind == VISUALIZE:
            library.visualize(str(step.source), str(partial))
        elif step.kind == POSTPROCESS:
            library.postprocess(str(step.source), str(partial), False, files, bindings)
        elif step.kind == METRICS:
            module.use(step.source / "tfhub")
            library.evaluate(str(step.source), str(partial), False, files, bindings)
        # Snapshots go at the end of the block, when the result has its name.
        _give_name(partial, step.folder)


def _snapshots(step: Step) -> Path:
    """Folder of what a training goes on from."""
    return step.folder.with_name(f"{step.folder.name}.training")


def progress_of(model: Model) -> tuple[int, int]:
    """How far a model has come: complete steps, and how often the training under way was snapshot last."""
    taken = [
        int(path.name.rpartition("-")[2])
        for step in model.steps
        if step.kind == TRAIN
        for path in _snapshots(step).glob("snapshot-*")
    ]
    return len(model.steps) - len(model.missing()), max(taken, default=0)


def killed_step(model: Model) -> str:
    """Name of the step that was being done when the process was killed, or an empty text."""
    path = _under_way(model)
    return path.read_text(encoding="utf-8") if path.exists() else ""


def forget_killed_step(model: Model) -> None:
    """Forget what an earlier sweep's process was killed in."""
    _under_way(model).unlink(missing_ok=True)


def _under_way(model: Model) -> Path:
    return model.folder / ".step"


def failure(model: Model, step: str) -> Path:
    """File that says why a step of a model failed."""
    return model.folder / "failed" / f"{step.replace('/', '.')}.json"


def record_failure(model: Model, step: str, error: BaseException) -> str:
    """Write down why a step failed.

    Returns:
        The reason in one line.
    """
    # gin adds a line for every function that the error passed through.
    message = " ".join(str(error).partition("\n  In call to configurable")[0].split())
    reason = f"{type(error).__name__}: {message}"
    path = failure(model, step)
    path.parent.mkdir(parents=True, exist_ok=True)
    trace = "".join(traceback.format_exception(error))
    entry = {"step": step, "error": reason, "traceback": trace, "time": datetime.now(timezone.utc).isoformat()}
    write_json(path, entry)
    return reason


def read_failure(model: Model, step: str) -> str:
    """The reason why a step failed the last time, or an empty text."""
    try:
        return str(json.loads(failure(model, step).read_text(encoding="utf-8"))["error"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _seed(name: str) -> None:
    import numpy as np

    seed = zlib.crc32(name.encode())
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002


def _give_name(partial: Path, folder: Path) -> None:
    """Replace the folder, which is incomplete if it exists, by the complete one, which would survive a power cut."""
    for path in (*partial.rglob("*"), partial):
        to_disk(path)
    if folder.exists():
        old = folder.with_name(f"{folder.name}.incomplete.partial")
        _remove(old)
        os.rename(folder, old)
        os.rename(partial, folder)
        _remove(old)
    else:
        os.rename(partial, folder)
    to_disk(folder.parent)


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)


@contextlib.contextmanager
def _only_one(folder: Path) -> Iterator[None]:
    """Wait until no other process works on the model, such as a worker that outlived its sweep."""
    with open(folder / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _into_log(path: Path) -> Iterator[None]:
    """Append to the model's log what this process prints, TensorFlow's own lines included."""
    streams = [_stream(descriptor) for descriptor in (1, 2)]
    before = [os.dup(stream.fileno()) for stream in streams]
    try:
        with open(path, "a", encoding="utf-8") as log:
            for stream in streams:
                os.dup2(log.fileno(), stream.fileno())
        with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
            yield
    finally:
        for stream, copy in zip(streams, before, strict=True):
            stream.flush()
            os.dup2(copy, stream.fileno())
            os.close(copy)


@cache
def _stream(descriptor: int) -> TextIO:
    """What is printed while a model is worked on; never closed, as loggers keep the stream that they began with."""
    return open(descriptor, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
