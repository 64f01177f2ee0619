"""Taking snapshots of a training in TensorFlow, and going on from one."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.core.protobuf import config_pb2

from irs_plugin.dlib.resuming import Resumption
from irs_plugin.versions import version_of

_FORMAT = 2
_VARIABLES = "variables"
_INPUT = ("IteratorGetNext", "IteratorGetNextSync")
_SHAPE_OF = ("Shape", "ShapeN", "Size", "Rank")
# They do, or may do, less or more than once in each call what they contain.
_FLOW = ("Switch", "RefSwitch", "If", "Case", "While", "StatefulPartitionedCall", "PyFunc", "EagerPyFunc")


class Continuation(tf.train.SessionRunHook):
    """Starts the session from the latest snapshot and takes new ones.

    Made in the training graph when the model has been built; ``settings`` is what a snapshot must share to be used.
    """

    def __init__(self, resumption: Resumption, train_op: tf.Operation, settings: dict[str, Any]) -> None:
        self._resumption = resumption
        self._random = RandomOperations(train_op, with_input=resumption.data is None)
        self._settings = {**settings, **_settings(resumption)}
        self._saver = tf.train.Saver(max_to_keep=None)
        self._calls = self._saved = 0
        self._time = time.monotonic()
        self._signal: int | None = None
        self._handlers: dict[int, Any] = {}

    def after_create_session(self, session: tf.Session, coord: tf.train.Coordinator) -> None:
        found = self._resumption.snapshots.latest()
        if found is not None:
            path, state = found
            _require_same(state["settings"], self._settings, path)
            self._saver.restore(session, str(path / _VARIABLES))
            self._calls = self._saved = state["calls"]
            data = self._resumption.data
            if data is not None:
                data.start_after(self._calls, state["data"])
            self._random.advance(session, self._calls)
        self._time = time.monotonic()

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._calls += 1
        if self._resumption.data is not None:
            self._resumption.data.used(self._calls)
        if self._signal is not None:
            self._save(run_context.session)
            number = self._deliver()
            # It was of no consequence, so the training goes on.
            signal.signal(number, self._remember)
        elif time.monotonic() - self._time >= self._resumption.every_seconds:
            self._save(run_context.session)

    def end(self, session: tf.Session) -> None:
        # What comes after the training may be killed as well.
        self._save(session)

    @contextlib.contextmanager
    def signals_wait_for_a_snapshot(self) -> Iterator[None]:
        """Around the steps: SIGINT and SIGTERM do what they always do, but after the step and a snapshot."""
        if threading.current_thread() is threading.main_thread():
            handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
            self._handlers = {number: how for number, how in handlers.items() if how not in (None, signal.SIG_IGN)}
        for number in self._handlers:
            signal.signal(number, self._remember)
        try:
            yield
        finally:
            for number, handler in self._handlers.items():
                signal.signal(number, handler)
            self._deliver()

    def _remember(self, number: int, frame: Any) -> None:
        self._signal = number
        # Whoever insists does not wait.
        signal.signal(number, self._handlers[number])

    def _deliver(self) -> int | None:
        """Let the signal that has come, if any, do what it would have done."""
        number, self._signal = self._signal, None
        if number is not None:
            signal.signal(number, self._handlers[number])
            signal.raise_signal(number)
        return number

    def _save(self, session: tf.Session) -> None:
        if self._calls > self._saved:
            data = self._resumption.data
            state = {
                "calls": self._calls,
                "data": None if data is None else data.state_after(self._calls),
                "settings": self._settings,
            }
            self._resumption.snapshots.write(self._calls, state, lambda folder: self._write(session, folder))
            self._saved = self._calls
        self._time = time.monotonic()

    def _write(self, session: tf.Session, folder: Path) -> None:
        self._saver.save(session, str(folder / _VARIABLES), write_meta_graph=False, write_state=False)


class RandomOperations:
    """The random operations that an operation depends on, which can be brought to where its calls would have.

    Each has a counter of its own in the session, which moves on by what its output's shape demands. So they are called
    as often, with zeros for what they are computed from.

    Args:
        operation: Calls every operation that it depends on once.
        with_input: Include the input, to go through it batch by batch.

    Raises:
        ValueError: there is a random operation whose shape is not known beforehand, or control flow.
    """

    def __init__(self, operation: tf.Operation, with_input: bool) -> None:
        needed = _upstream(operation)
        for op in needed:
            if op.type in _FLOW:
                raise ValueError(f"training depends on control flow ({op.name}), so it cannot be resumed exactly")
        random = [op for op in needed if op.op_def.is_stateful and "seed" in {attr.name for attr in op.op_def.attr}]
        self._feeds = list(dict.fromkeys(tensor for op in random for tensor in _computed_from(op)))
        self._targets = random + [op for op in needed if with_input and op.type in _INPUT]

    def advance(self, session: tf.Session, calls: int) -> None:
        """Call them so many times, in a session in which nothing has called them."""
        if not self._targets:
            return
        names = {"target": [op.name for op in self._targets], "feed": [tensor.name for tensor in self._feeds]}
        # session.run would take ten times as long.
        call = session._make_callable_from_options(config_pb2.CallableOptions(**names))
        zeros = [np.zeros(tensor.shape, tensor.dtype.as_numpy_dtype) for tensor in self._feeds]
        for _ in range(calls):
            call(*zeros)


def _upstream(operation: tf.Operation) -> list[tf.Operation]:
    """The operation and all that it depends on, in no particular order."""
    found, waiting = {}, [operation]
    while waiting:
        op = waiting.pop()
        if op.name not in found:
            found[op.name] = op
            waiting += [tensor.op for tensor in op.inputs] + list(op.control_inputs)
    return list(found.values())


def _computed_from(random: tf.Operation) -> Iterator[tf.Tensor]:
    """The tensors that decide on nothing but a random operation's shape, and in whose place zeros do."""
    waiting = []
    if random.type == "RandomShuffle":
        yield _fed(random.inputs[0], random)
    else:
        waiting += [tensor.op for tensor in random.inputs]
    waiting += random.control_inputs
    while waiting:
        op = waiting.pop()
        if op.type in _SHAPE_OF:
            yield from (_fed(tensor, random) for tensor in op.inputs)
        elif op.op_def.is_stateful:
            raise ValueError(f"the shape of {random.name} depends on {op.name}, so training cannot be resumed exactly")
        else:
            waiting += [tensor.op for tensor in op.inputs] + list(op.control_inputs)


def _fed(tensor: tf.Tensor, random: tf.Operation) -> tf.Tensor:
    if not tensor.shape.is_fully_defined():
        raise ValueError(f"the shape of {random.name} is not fixed, so training cannot be resumed exactly")
    return tensor


def _settings(resumption: Resumption) -> dict[str, Any]:
    """Everything that the result of a training depends on, as JSON would give it back."""
    data = resumption.data
    devices = [device.name for device in tf.config.list_physical_devices() if device.device_type != "CPU"]
    return {
        "format": _FORMAT,
        "bindings": _bindings(),
        "model": _digest(tf.get_default_graph()),
        "batch size": resumption.batch_size,
        "data": None if data is None else f"{data.description}, seed {data.seed}",
        "versions": {name: version_of(name) for name in ("disentanglement_lib", "tensorflow", "numpy")},
        "threads": {name: os.environ.get(f"TF_NUM_{name}_THREADS", _processors()) for name in ("INTRAOP", "INTEROP")},
        "switches": {name: os.environ.get(name) for name in ("TF_ENABLE_ONEDNN_OPTS", "TF_DETERMINISTIC_OPS")},
        "machine": {"processor": _processor(), "accelerators": devices},
    }


def _bindings() -> list[str]:
    """The gin bindings in force, sorted."""
    gin = sys.modules.get("gin")
    lines = gin.config_str(max_line_length=10_000).splitlines() if gin else []
    return sorted(line for line in lines if line and not line.startswith(("#", "import ")))


def _digest(graph: tf.Graph) -> str:
    """Checksum of the operations, their attributes and constants; the names of functions differ in every process."""
    nodes = []
    for node in graph.as_graph_def().node:
        for key in [key for key, value in node.attr.items() if value.HasField("func")]:
            del node.attr[key]
        nodes.append(node.SerializeToString(deterministic=True))
    return hashlib.sha256(b"".join(sorted(nodes))).hexdigest()


def _processors() -> int:
    """How many TensorFlow may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def _processor() -> str:
    """What the processor calls itself."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _require_same(saved: dict[str, Any], ours: dict[str, Any], path: Path) -> None:
    """Refuse a snapshot of another training; warn of one that another machine took.

    Raises:
        ValueError: names what differs.
    """
    saved, ours = dict(saved), dict(ours)
    machines = saved.pop("machine", None), ours.pop("machine")
    differences = [
        f"{key} (snapshot: {_only(saved.get(key), ours.get(key))}; now: {_only(ours.get(key), saved.get(key))})"
        for key in sorted({*saved, *ours})
        if saved.get(key) != ours.get(key)
    ]
    if differences:
        raise ValueError(
            f"{path} is of another training; what differs: {'; '.join(differences)}. "
            "Train with the same settings, or delete the folder to start over"
        )
    if machines[0] != machines[1]:
        warnings.warn(f"{path} is from another machine: the last bits may differ from one go on one", stacklevel=2)


def _only(value: Any, other: Any) -> Any:
    """The value; of a list or mapping only what the other lacks."""
    if isinstance(value, dict) and isinstance(other, dict):
        return {key: item for key, item in value.items() if other.get(key) != item}
    if isinstance(value, list) and isinstance(other, list):
        return [item for item in value if item not in other]
    return value
