"""disentanglement_lib in a worker process: imported once, called many times."""

from __future__ import annotations

import contextlib
import functools
import os
import warnings
from collections.abc import Iterator
from types import SimpleNamespace


def thread_settings(threads: int) -> dict[str, str]:
    """Environment in which TensorFlow and the array libraries use so many threads."""
    libraries = ("OMP", "OPENBLAS", "MKL", "NUMBA")
    names = ["TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", *(f"{name}_NUM_THREADS" for name in libraries)]
    return {**dict.fromkeys(names, str(threads)), "TF_CPP_MIN_LOG_LEVEL": "3"}


def limit_threads(threads: int) -> None:
    """The same in a process that runs already; libraries that are loaded keep what they have."""
    os.environ.update(thread_settings(threads))


@functools.cache
def dlib() -> SimpleNamespace:
    """The library's steps, and what lets them share data and modules."""
    from irs_plugin.dlib import hook

    hook.install()
    warnings.filterwarnings("ignore", category=UserWarning, module="disentanglement_lib")
    warnings.filterwarnings("ignore", category=DeprecationWarning, module="disentanglement_lib")
    import tensorflow as tf

    # As in the library's own scripts.
    tf.compat.v1.disable_eager_execution()
    from disentanglement_lib.evaluation import evaluate
    from disentanglement_lib.methods.unsupervised import train
    from disentanglement_lib.postprocessing import postprocess

    # Registers the functions that metric bindings may name.
    import irs_plugin.evaluation  # noqa: F401
    from irs_plugin.dlib.resuming import resumable_training
    from irs_plugin.sweep.sharing import shared_data, shared_representation

    return SimpleNamespace(
        train=train.train_with_gin,
        postprocess=postprocess.postprocess_with_gin,
        evaluate=evaluate.evaluate_with_gin,
        visualize=_visualize,
        fresh=_fresh,
        resumable_training=resumable_training,
        shared_data=shared_data,
        shared_representation=shared_representation,
    )


def _visualize(model: str, output: str) -> None:
    from disentanglement_lib.visualize import visualize_model

    visualize_model.visualize(model, output)


@contextlib.contextmanager
def _fresh() -> Iterator[None]:
    """No setting and no picture of the step before, however it ended."""
    import gin
    from matplotlib import pyplot

    gin.clear_config()
    try:
        yield
    finally:
        gin.clear_config()
        # The library leaves its figures open, of its visualisations some 80 MB for every model.
        pyplot.close("all")
