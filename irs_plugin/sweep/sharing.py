"""Metrics that share data sets, modules and codes within a process, and give the numbers that they give alone.

disentanglement_lib loads the data set and the module anew for each metric and encodes an image whenever a metric draws
it. Here both are loaded once, and an image is encoded once where that is safe.

What is safe was found by experiment, with convolutional encoders on TensorFlow 2.21 on CPUs:

* The code of an image does not depend on the other images in its batch, nor on its place among them.
* With oneDNN, TensorFlow's default on x86, it does not depend on the number of threads either, nor on the batch's size,
  but for batches of one image, whose codes differ in the last bits. Without oneDNN that is so on a single thread; on
  several, codes differ between sizes, and between numbers of threads.
* A module with noise that no seed was set for draws anew in every session, alone as well; with a seed, the noise begins
  anew with every session.

None of this is relied on unseen: before codes of batches of one size stand for those of another, some images are
encoded in both, and the bits are compared. Sizes that differ have codes of their own; where the place in the batch or
the neighbours matter, nothing is kept. A module with noise is loaded for each metric, just as it is without sharing.
What remains different between one process and another is what is different between two runs of the library alone:
another number of threads, another processor.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from irs_plugin.dlib.images import Images, Observations, read_binary_images
from irs_plugin.dlib.loading import View

_GROUND_TRUTH = "disentanglement_lib.data.ground_truth."

# Images by whose codes batch sizes are compared: a prime number, so that they come to lie in different places.
_NUM_PROBES = 61
# Images that are encoded for the first time go through the encoder in batches of such sizes, whatever was asked for.
_BATCH_STEP, _LARGEST_BATCH = 8, 64
# Larger batches than this are encoded as they are: trying them out would cost more than it brings.
_LARGEST_SHARED = 4096
# Tables of codes of one module at most, each of 4 bytes a latent and image: 29 MB for 10 latents on dSprites.
_MAX_TABLES = 4

# The data set loaded last and what it was made from. One is kept: they are large, and models come in order.
_latest: tuple[Any, Any] = (None, None)


@contextlib.contextmanager
def shared_data() -> Iterator[None]:
    """Have disentanglement_lib load a data set once per process, and dSprites in an eighth of the memory.

    Within the context, `named_data.get_named_ground_truth_data` returns the same object for the same name and the same
    files; the last one is kept for the next context. Images are handed out as `Observations`. For one thread at a time.
    """
    from disentanglement_lib.data.ground_truth import named_data

    # The function itself stays, so that gin records the name of the data set as ever.
    modules = {
        name: module
        for name, module in vars(named_data).items()
        if isinstance(module, ModuleType) and module.__name__.startswith(_GROUND_TRUTH)
    }
    vars(named_data).update({name: _SharedModule(module) for name, module in modules.items()})
    try:
        yield
    finally:
        vars(named_data).update(modules)


class _SharedModule:
    """A module of data sets whose classes hand out objects that exist already."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Callable:
        return functools.partial(_data_set, self._module, name)


def _data_set(module: ModuleType, name: str, *args: Any, **options: Any) -> Any:
    global _latest
    # Most of the library's modules read the environment when they are imported, into constants, some for each data set.
    places = [value for key, value in vars(module).items() if key.isupper() and isinstance(value, str)]
    made_from = repr((module.__name__, name, args, options, places, os.environ.get("DISENTANGLEMENT_LIB_DATA")))
    if _latest[0] != made_from:
        _latest = (None, None)
        with _packed_images(module):
            data = getattr(module, name)(*args, **options)
        if isinstance(getattr(data, "images", None), np.ndarray):
            data.images = Images(data.images)
        _latest = (made_from, data)
    return _latest[1]


@contextlib.contextmanager
def _packed_images(module: ModuleType) -> Iterator[None]:
    """Have dSprites read its archive without unpacking all of it."""
    if module.__name__ != f"{_GROUND_TRUTH}dsprites":
        yield
        return
    numpy = module.np
    module.np = View(numpy, {"load": lambda: _load_archive, "array": lambda: _array})
    try:
        yield
    finally:
        module.np = numpy


def _load_archive(file: Any, **options: Any) -> dict[str, Any]:
    contents = np.load(file, **options)
    with contents.zip.open("imgs.npy") as member:
        images = read_binary_images(member)
    return {"imgs": contents["imgs"] if images is None else images, "metadata": contents["metadata"]}


def _array(value: Any, *args: Any, **options: Any) -> Any:
    return value if isinstance(value, Images) else np.array(value, *args, **options)


class SharedRepresentation:
    """The function that `hub.eval_function_for_module` gives, which encodes images of a data set once.

    Attributes:
        num_images: codes that are kept.
        num_encoded: images that went through the encoder, with those that batches were filled up with or tried out on.
    """

    def __init__(self, function: Callable) -> None:
        self._function = function
        self._tables: dict[tuple, _Table] = {}
        self._probes: dict[tuple, np.ndarray | None] = {}
        self.num_encoded = 0

    @property
    def num_images(self) -> int:
        return sum(int(table.known.sum()) for table in self._tables.values())

    def __call__(
        self, inputs: Any = None, _sentinel: Any = None, signature: str | None = None, as_dict: bool | None = None
    ) -> Any:
        images = inputs.get("images") if isinstance(inputs, dict) else None
        if signature == "representation" and as_dict and isinstance(images, Observations):
            return {"default": self._codes(images)}
        return self._function(inputs, signature=signature, as_dict=as_dict)

    def _encode(self, observations: Observations) -> np.ndarray:
        self.num_encoded += len(observations)
        inputs = {"images": np.asarray(observations)}
        return np.asarray(self._function(inputs, signature="representation", as_dict=True)["default"])

    def _codes(self, observations: Observations) -> np.ndarray:
        size, indices = len(observations), observations.indices
        table = self._table(observations) if 0 < size <= _LARGEST_SHARED else None
        if table is None:
            return self._encode(observations)
        missing = np.unique(indices[~table.known[indices]])
        if len(missing):
            step = min(-(-len(missing) // _BATCH_STEP) * _BATCH_STEP, _LARGEST_BATCH, size)
            if not _same_bits(self._probe(observations, step), self._probe(observations, size)):
                step = size
            for start in range(0, len(missing), step):
                batch = missing[start : start + step]
                table.codes[batch] = self._encode(observations.of(np.resize(batch, step)))[: len(batch)]
                table.known[batch] = True
        return table.codes[indices]

    def _table(self, observations: Observations) -> _Table | None:
        """The codes that images get in batches of this size, or None if there is no telling, or no room."""
        probe = self._probe(observations, len(observations))
        # A single large batch would not show that images change each other's codes.
        if probe is None or self._probe(observations, _LARGEST_BATCH) is None:
            return None
        key = (observations.form, probe.tobytes())
        if key not in self._tables and len(self._tables) < _MAX_TABLES:
            self._tables[key] = _Table(len(observations.images), probe)
        return self._tables.get(key)

    def _probe(self, observations: Observations, size: int) -> np.ndarray | None:
        """Codes of some images in batches of a size; None if they depend on the place or on the neighbours."""
        key = (observations.form, size)
        if key not in self._probes:
            some = np.linspace(0, len(observations.images) - 1, _NUM_PROBES).astype(np.int64)
            rows = np.resize(some, -(-2 * _NUM_PROBES // size) * size)
            batches = [observations.of(rows[start : start + size]) for start in range(0, len(rows), size)]
            codes = np.concatenate([self._encode(batch) for batch in batches])
            probe = codes[:_NUM_PROBES]
            self._probes[key] = probe if _same_bits(np.resize(probe, codes.shape), codes) else None
        return self._probes[key]


class _Table:
    """Codes by image, as far as they are known; `like` are some codes of the same module."""

    def __init__(self, num_images: int, like: np.ndarray) -> None:
        self.codes = np.empty((num_images, *like.shape[1:]), like.dtype)
        self.known = np.zeros(num_images, bool)


def _same_bits(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    return one is not None and other is not None and one.tobytes() == other.tobytes()


@contextlib.contextmanager
def shared_representation(module_path: str) -> Iterator[SharedRepresentation | None]:
    """Have disentanglement_lib's `evaluate` use one loaded module for all metrics of a representation.

    Args:
        module_path: folder of the module, such as `<representation>/tfhub`. Other modules are loaded as ever.

    Yields:
        The function in the module's place, which counts; None if the representation is noisy and thus not shared.
    """
    from disentanglement_lib.evaluation import evaluate

    hub = evaluate.hub
    if not is_deterministic(module_path):
        yield None
        return
    with hub.eval_function_for_module(module_path) as function:
        shared = SharedRepresentation(function)

        @contextlib.contextmanager
        def eval_function_for_module(spec: Any, tags: Any = None) -> Iterator[Callable]:
            if isinstance(spec, str) and not tags and os.path.realpath(spec) == os.path.realpath(module_path):
                yield shared
            else:
                with hub.eval_function_for_module(spec, tags) as other:
                    yield other

        evaluate.hub = View(hub, {"eval_function_for_module": lambda: eval_function_for_module})
        try:
            yield shared
        finally:
            evaluate.hub = hub


def is_deterministic(module_path: str) -> bool:
    """Tell whether a module's representation depends on nothing but the images and its variables."""
    import tensorflow as tf
    import tensorflow_hub as hub

    with tf.Graph().as_default():
        module = hub.Module(module_path)
        expected = module.get_input_info_dict("representation")
        inputs = {name: tf.compat.v1.placeholder(info.dtype, info.get_shape(), name) for name, info in expected.items()}
        outputs = module(inputs, signature="representation", as_dict=True)
        if set(inputs) != {"images"} or set(outputs) != {"default"}:
            return False
        waiting, seen = [outputs["default"].op], set()
        while waiting:
            op = waiting.pop()
            if op not in seen:
                seen.add(op)
                waiting += [tensor.op for tensor in op.inputs] + list(op.control_inputs)
        return all(op.type in _STATE or not op.op_def.is_stateful for op in seen)


# Operations that have a state, and whose state an evaluation does not change.
_STATE = frozenset(("VarHandleOp", "ReadVariableOp", "Variable", "VariableV2"))
