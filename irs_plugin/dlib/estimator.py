"""``tf.estimator`` and ``tf.contrib.tpu``: as much of the estimator as disentanglement_lib calls, on local devices.

Training and evaluation build a graph of their own each time and meet in the checkpoints of ``model_dir``, so that
training goes on where the latest checkpoint stands. Within ``resuming.resumable_training`` it goes on exactly.
"""

from __future__ import annotations

import contextlib
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf
from tqdm import tqdm

from irs_plugin.dlib import resuming
from irs_plugin.dlib.continuation import Continuation

SessionRunHook = tf.train.SessionRunHook


class ModeKeys:
    """What a model function is asked to build."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


class Exporter:
    """Base class that tensorflow_hub's exporter derives from; nothing here calls exporters."""


@dataclass(frozen=True)
class TPUConfig:
    """Accepted for the caller's sake: every step is a session call of its own on local devices."""

    iterations_per_loop: int = 2


@dataclass(frozen=True)
class RunConfig:
    """How to train: seed, how often to save and report. Defaults are those of TensorFlow 1."""

    model_dir: str | None = None
    tf_random_seed: int | None = 1
    save_summary_steps: int = 100
    save_checkpoints_secs: int = 600
    keep_checkpoint_max: int = 5
    log_step_count_steps: int = 100
    session_config: Any = None
    tpu_config: TPUConfig = field(default_factory=TPUConfig)


@dataclass(frozen=True)
class TPUEstimatorSpec:
    """What a model function returns: ``eval_metrics`` is a function and the tensors to call it with."""

    mode: str
    predictions: Any = None
    loss: Any = None
    train_op: Any = None
    eval_metrics: tuple[Callable, Sequence] | None = None
    training_hooks: Sequence[SessionRunHook] = ()
    evaluation_hooks: Sequence[SessionRunHook] = ()


class _Steps(SessionRunHook):
    """Counts steps, shows them, and stops after the last.

    They go to ``on_step``, or else to standard error with loss and time left.

    TensorFlow's own hook reads the step while it is being changed. Where one call counts two steps, as with FactorVAE,
    that decides by chance whether there is one call more; this one reads it after the change.
    """

    def __init__(
        self,
        spec: TPUEstimatorSpec,
        steps: int | None,
        max_steps: int | None,
        on_step: Callable[[int, int | None], None] | None,
    ) -> None:
        with tf.control_dependencies([spec.train_op]):
            step = tf.train.get_global_step().read_value()
        self._fetches = {"loss": spec.loss, "step": step}
        self._steps, self._last = steps, max_steps
        self._on_step, self._told = on_step, 0.0
        self._bar: tqdm | None = None

    def after_create_session(self, session: tf.Session, coord: tf.train.Coordinator) -> None:
        start = int(session.run(tf.train.get_global_step()))
        if self._steps is not None:
            self._last = start + self._steps
        if self._last is not None and start >= self._last:
            coord.request_stop()
        if self._on_step is not None:
            self._tell(start)
            return
        interval = 1.0 if sys.stderr.isatty() else 60.0
        self._bar = tqdm(desc="training", unit="step", initial=start, total=self._last, mininterval=interval)

    def before_run(self, run_context: Any) -> Any:
        return tf.train.SessionRunArgs(self._fetches)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        step = int(run_values.results["step"])
        at_end = self._last is not None and step >= self._last
        if self._bar is not None:
            self._bar.set_postfix(loss=f"{run_values.results['loss']:.4g}", refresh=False)
            self._bar.update(step - self._bar.n)
        elif at_end or time.monotonic() - self._told >= 1:
            self._tell(step)
        if at_end:
            run_context.request_stop()

    def _tell(self, step: int) -> None:
        self._on_step(step, self._last)
        self._told = time.monotonic()

    def close(self) -> None:
        """Finish the line, however training ended."""
        if self._bar is not None:
            self._bar.close()


class TPUEstimator:
    """Trains and evaluates ``model_fn(features, labels, mode, params)``; ``params`` tells it the batch size."""

    def __init__(
        self,
        model_fn: Callable[..., TPUEstimatorSpec],
        model_dir: str | None = None,
        config: RunConfig | None = None,
        params: dict[str, Any] | None = None,
        use_tpu: bool = False,
        train_batch_size: int | None = None,
        eval_batch_size: int | None = None,
    ) -> None:
        if use_tpu:
            raise ValueError("use_tpu=True is not supported: training runs on local devices (CPU or GPU)")
        self.config = config or RunConfig()
        self.model_dir = model_dir or self.config.model_dir
        if self.model_dir is None:
            raise ValueError("model_dir is None: name the folder that receives the checkpoints")
        self.params = dict(params or {})
        self._model_fn = model_fn
        self._batch_sizes = {ModeKeys.TRAIN: train_batch_size, ModeKeys.EVAL: eval_batch_size}

    def latest_checkpoint(self) -> str | None:
        """The path of the latest checkpoint, or None before training."""
        return tf.train.latest_checkpoint(self.model_dir)

    def train(
        self,
        input_fn: Callable,
        hooks: Sequence[SessionRunHook] = (),
        steps: int | None = None,
        max_steps: int | None = None,
    ) -> TPUEstimator:
        """Train for ``steps`` more steps, or up to global step ``max_steps``, or until the input ends.

        A loss that is not a number ends it with TensorFlow's ``NanLossDuringTrainingError``.
        """
        resumption = resuming.current()
        if resumption is None:
            self._train(input_fn, hooks, steps, max_steps, self.model_dir, None)
        else:
            if self.config.tf_random_seed is None:
                raise ValueError("tf_random_seed is None: training can be resumed exactly only with a seed")
            # Such a training begins at step 0, whenever this process began.
            last = max_steps if steps is None else steps
            with resumption.training(self.model_dir, self._batch_sizes[ModeKeys.TRAIN]):
                self._train(input_fn, hooks, None, last, str(resumption.checkpoints), resumption)
        return self

    def _train(
        self,
        input_fn: Callable,
        hooks: Sequence[SessionRunHook],
        steps: int | None,
        max_steps: int | None,
        folder: str,
        resumption: resuming.Resumption | None,
    ) -> None:
        """Train with the checkpoints in a folder, and from the latest snapshot if it can be resumed."""
        with self._graph(ModeKeys.TRAIN, input_fn) as spec, contextlib.ExitStack() as stack:
            continuation = []
            if resumption is not None:
                continuation.append(Continuation(resumption, spec.train_op, {"last step": max_steps}))
            saver = tf.train.Saver(max_to_keep=self.config.keep_checkpoint_max, save_relative_paths=True)
            tf.summary.scalar("loss", spec.loss)
            counter = stack.enter_context(
                contextlib.closing(_Steps(spec, steps, max_steps, resumption and resumption.on_step))
            )
            session = tf.train.MonitoredTrainingSession(
                checkpoint_dir=folder,
                scaffold=tf.train.Scaffold(saver=saver),
                hooks=[tf.train.NanTensorHook(spec.loss), *continuation, counter, *spec.training_hooks, *hooks],
                save_checkpoint_secs=self.config.save_checkpoints_secs,
                save_summaries_steps=self.config.save_summary_steps,
                log_step_count_steps=self.config.log_step_count_steps,
                config=self.config.session_config,
            )
            for each in continuation:
                stack.enter_context(each.signals_wait_for_a_snapshot())
            with session:
                while not session.should_stop():
                    session.run(spec.train_op)

    def evaluate(
        self,
        input_fn: Callable,
        steps: int | None = None,
        checkpoint_path: str | None = None,
        name: str | None = None,
    ) -> dict[str, np.generic]:
        """Average the metrics and the loss over ``steps`` batches, or until the input ends.

        Returns the metrics by name, with ``loss`` and ``global_step``. They are also written as a summary to
        ``model_dir/eval``, or ``model_dir/eval_<name>``.
        """
        checkpoint = checkpoint_path or self.latest_checkpoint()
        if checkpoint is None:
            raise ValueError(f"no checkpoint in {self.model_dir}: call train() first")
        with self._graph(ModeKeys.EVAL, input_fn) as spec:
            metric_fn, tensors = spec.eval_metrics or (dict, ())
            metrics = {**metric_fn(*tensors), "loss": tf.metrics.mean(spec.loss)}
            values = {key: value for key, (value, _) in metrics.items()}
            update = tf.group([update for _, update in metrics.values()])
            saver = tf.train.Saver()
            with tf.Session(config=self.config.session_config) as session:
                saver.restore(session, checkpoint)
                session.run([tf.local_variables_initializer(), tf.tables_initializer()])
                _run_until_end(session, update, steps)
                results = session.run({**values, "global_step": tf.train.get_global_step()})
        self._write_summary(results, name)
        return results

    @contextlib.contextmanager
    def _graph(self, mode: str, input_fn: Callable) -> Iterator[TPUEstimatorSpec]:
        """Build input and model in a graph of their own."""
        params = {**self.params, "batch_size": self._batch_sizes[mode]}
        seed = self.config.tf_random_seed
        with tf.Graph().as_default(), _seeded_initializers(seed):
            tf.set_random_seed(seed)
            tf.train.create_global_step()
            with tf.device("/cpu:0"):
                batch = input_fn(params)
            features, labels = batch if isinstance(batch, tuple) else (batch, None)
            yield self._model_fn(features=features, labels=labels, mode=mode, params=params)

    def _write_summary(self, results: dict[str, np.generic], name: str | None) -> None:
        """Leave the results of an evaluation for TensorBoard."""
        values = [
            tf.Summary.Value(tag=key, simple_value=float(value))
            for key, value in results.items()
            if key != "global_step"
        ]
        folder = os.path.join(self.model_dir, "eval" if name is None else f"eval_{name}")
        with tf.Graph().as_default(), tf.summary.FileWriter(folder) as writer:
            writer.add_summary(tf.Summary(value=values), int(results["global_step"]))


def _run_until_end(session: tf.Session, operation: tf.Operation, steps: int | None) -> None:
    """Run the operation ``steps`` times, or until the input ends."""
    done = 0
    with contextlib.suppress(tf.errors.OutOfRangeError):
        while steps is None or done < steps:
            session.run(operation)
            done += 1
    if not done:
        raise ValueError("the evaluation got no batch: its input is empty, or steps is 0")


@contextlib.contextmanager
def _seeded_initializers(seed: int | None) -> Iterator[None]:
    """Let the layers' initial weights follow from the seed, as they did in TensorFlow 1.

    tf_keras draws the seeds of initialisers from this generator, or else from Python's, and ignores the graph's seed.
    """
    from tf_keras.src import backend

    before = getattr(backend._SEED_GENERATOR, "generator", None)
    backend._SEED_GENERATOR.generator = random.Random(seed)
    try:
        yield
    finally:
        backend._SEED_GENERATOR.generator = before
