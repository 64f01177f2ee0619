"""Training that may be killed at any time and ends as if it had not been.

Snapshots hold what the rest of the training depends on: the variables, how often the training operation was called, and
where the random state of the data stands. The random operations of the graph cannot be saved; they are brought to where
they stood by calling them as often as before (``irs_plugin.dlib.continuation``).
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from irs_plugin.dlib.snapshots import Snapshots
from irs_plugin.dlib.training_input import TrainingInput

_LOCK, _CHECKPOINTS = "lock", "tf_checkpoint"

_current: ContextVar[Resumption | None] = ContextVar("resumption", default=None)


@contextlib.contextmanager
def resumable_training(
    folder: str | Path, every_seconds: float = 600, on_step: Callable[[int, int | None], None] | None = None
) -> Iterator[None]:
    """Let one stock training inside the ``with`` block go on where an earlier one with this folder was killed.

    The result is bit for bit that of a training that was never interrupted, with as many threads. ``folder`` is removed
    at the end of the block if the training came to its end and nothing after it in the block failed. SIGTERM and SIGINT
    take effect after the step that is being done and a last snapshot.

    Args:
        folder: For this training alone and outside its ``model_dir``; made if need be.
        every_seconds: How often to take a snapshot.
        on_step: Called with the step and the last step, or None if that is not known, about once a second; there is no
            progress bar then.

    Raises:
        ValueError: the folder holds something else, or another process trains with it; within the block: it holds a
            snapshot of a training with other settings, or the training cannot be continued exactly.
    """
    folder = Path(folder).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / _LOCK).exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} holds other files: name a folder for this training alone")
    with _locked(folder / _LOCK):
        resumption = Resumption(folder, every_seconds, on_step)
        token = _current.set(resumption)
        try:
            yield
        finally:
            _current.reset(token)
        if resumption.finished:
            resumption.snapshots.clear()
            _remove(folder)


def current() -> Resumption | None:
    """What the surrounding ``resumable_training`` has set up, or None."""
    return _current.get()


def training_input(data: Any, seed: int) -> TrainingInput | None:
    """What the surrounding training is to read in place of the stock input, or None if nobody has to resume it.

    Raises:
        ValueError: it has an input already.
    """
    resumption = current()
    if resumption is None or not resumption.in_training:
        return None
    if resumption.data is not None:
        raise ValueError("a training with two inputs cannot be resumed exactly: train outside resumable_training")
    resumption.data = TrainingInput(data, seed, resumption.batch_size)
    return resumption.data


class Resumption:
    """One training in one folder."""

    def __init__(self, folder: Path, every_seconds: float, on_step: Callable[[int, int | None], None] | None) -> None:
        self.every_seconds = every_seconds
        self.on_step = on_step
        self.checkpoints = folder / _CHECKPOINTS
        self.snapshots = Snapshots(folder)
        self.data: TrainingInput | None = None
        self.batch_size = 0
        self.in_training = self.finished = False
        self._folder = folder

    @contextlib.contextmanager
    def training(self, model_dir: str, batch_size: int) -> Iterator[None]:
        """Around the training: ``checkpoints`` is its folder, whose content is in ``model_dir`` afterwards.

        Raises:
            ValueError: this is not the first training, ``model_dir`` holds checkpoints, or the folder is gone.
        """
        if self.finished:
            raise ValueError(
                "resumable_training is for one training: enter it again, with another folder, for the next"
            )
        if (Path(model_dir) / "checkpoint").exists():
            raise ValueError(f"{model_dir} holds checkpoints already: name a new folder, or train outside the block")
        if not self._folder.exists():
            raise ValueError(f"{self._folder} has been deleted: name a folder outside the one that receives the model")
        # The snapshots decide where training goes on. Of what the killed one left, its events are worth keeping.
        for path in (*self.checkpoints.glob("checkpoint*"), *self.checkpoints.glob("model.ckpt*")):
            path.unlink()
        self.batch_size, self.in_training = batch_size, True
        try:
            yield
        finally:
            self.in_training = False
        shutil.copytree(self.checkpoints, model_dir, dirs_exist_ok=True)
        self.finished = True


def _remove(folder: Path) -> None:
    """Remove the lock last: without it, what a kill leaves would be taken for somebody else's."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != _LOCK:
            path.unlink()
    (folder / _LOCK).unlink()
    folder.rmdir()


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the file; the operating system lets go of it however the process ends."""
    import fcntl

    with open(path, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(f"another process trains with {path.parent}: wait for it, or end it") from None
        yield
