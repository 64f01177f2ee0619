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
            shutil.rmtree(folder)


def current() -> Resumption | None:
    """What the surrounding ``resumable_training`` has set up, or None."""
    return _current.get()


def recorded(ground_truth_data: Any, seed: int) -> Any:
    """The data set as training should use it: one that takes note of its random state while a training asks for it."""
    resumption = current()
    if resumption is None or not resumption.in_training:
        return ground_truth_data
    resumption.data = RecordedData(ground_truth_data, seed, resumption.batch_size)
    return resumption.data


class Resumption:
    """One training in one folder."""

    def __init__(self, folder: Path, every_seconds: float, on_step: Callable[[int, int | None], None] | None) -> None:
        self.every_seconds = every_seconds
        self.on_step = on_step
        self.checkpoints = folder / _CHECKPOINTS
        self.snapshots = Snapshots(folder)
        self.data: RecordedData | None = None
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


class RecordedData:
    """A ground-truth data set that knows where its random state stood after each batch.

    TensorFlow may draw batches before they are used, so the state of the moment is not the one that counts.
    """

    def __init__(self, data: Any, seed: int, batch_size: int) -> None:
        self.seed = int(seed)
        self._data, self._batch_size = data, batch_size
        self._random_state: Any = None
        self._start: tuple[int, dict[str, Any]] | None = None
        self._states: dict[int, dict[str, Any]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._data, name)

    @property
    def description(self) -> str:
        """What distinguishes it from other data sets, as far as that can be seen."""
        return f"{type(self._data).__name__} {self._data.factors_num_values} {self._data.observation_shape}"

    def sample_observations(self, num: int, random_state: Any) -> Any:
        """The data set's own, in the random state that it was told to start in."""
        if random_state is not self._random_state:  # a pass through the data begins
            self._random_state, self._drawn = random_state, 0
            if self._start is not None:
                batches, state = self._start
                random_state.set_state(state)
                self._drawn = batches * self._batch_size
        observations = self._data.sample_observations(num, random_state)
        self._drawn += num
        if self._drawn % self._batch_size == 0:
            self._states[self._drawn // self._batch_size] = random_state.get_state(legacy=False)
        return observations

    def used(self, batches: int) -> None:
        """Forget the states that are of no more use once so many batches have been used."""
        self._states.pop(batches - 1, None)

    def state_after(self, batches: int) -> dict[str, Any]:
        """The random state after so many batches, as JSON can hold it."""
        state = self._states[batches]
        return {**state, "state": {**state["state"], "key": state["state"]["key"].tolist()}}

    def start_after(self, batches: int, state: dict[str, Any]) -> None:
        """Begin the next pass with the batch after so many, in a random state from ``state_after``."""
        import numpy as np

        key = np.array(state["state"]["key"], dtype=np.uint32)
        state = {**state, "state": {**state["state"], "key": key}}
        self._start, self._states = (batches, state), {batches: state}


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
