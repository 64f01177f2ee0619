"""The estimator trains, evaluates and goes on from its checkpoints."""

from __future__ import annotations

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow").compat.v1

from irs_plugin.dlib.estimator import (  # noqa: E402
    ModeKeys,
    RunConfig,
    SessionRunHook,
    TPUEstimator,
    TPUEstimatorSpec,
)
from irs_plugin.dlib.resuming import resumable_training  # noqa: E402
from irs_plugin.dlib.standins import legacy_keras  # noqa: E402

SLOPE = 3.0


def input_fn(num_batches=None, value=None):
    def build(params):
        draws = np.random.RandomState(0).randn(64, 1).astype(np.float32)
        inputs = draws if value is None else np.full_like(draws, value)
        data = tf.data.Dataset.from_tensor_slices((inputs, SLOPE * inputs)).repeat()
        data = data.batch(params["batch_size"], drop_remainder=True)
        return tf.data.make_one_shot_iterator(data if num_batches is None else data.take(num_batches)).get_next()

    return build


def model_fn(features, labels, mode, params):
    weight = tf.get_variable("weight", shape=(), initializer=tf.zeros_initializer())
    error = features * weight - labels
    loss = tf.reduce_mean(error**2)
    if mode == ModeKeys.EVAL:
        metrics = (lambda x: {"mean_error": tf.metrics.mean(x), "size": tf.metrics.mean(tf.shape(x)[0])}, [error])
        return TPUEstimatorSpec(mode=mode, loss=loss, eval_metrics=metrics)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
    return TPUEstimatorSpec(mode=mode, loss=loss, train_op=train_op)


def estimator(folder, model=model_fn, **config):
    return TPUEstimator(
        model_fn=model,
        model_dir=str(folder),
        config=RunConfig(tf_random_seed=0, keep_checkpoint_max=1, **config),
        use_tpu=False,
        train_batch_size=16,
        eval_batch_size=8,
    )


def test_trains_evaluates_and_resumes(tmp_path):
    first = estimator(tmp_path)
    assert first.latest_checkpoint() is None
    first.train(input_fn(), steps=5)
    early = first.evaluate(input_fn(num_batches=8))
    assert early["global_step"] == 5
    assert early["size"] == 8
    weight = tf.train.load_variable(first.latest_checkpoint(), "weight")
    assert 0 < weight < SLOPE

    again = estimator(tmp_path).train(input_fn(), steps=60)
    late = again.evaluate(input_fn(num_batches=8), name="test")
    assert late["global_step"] == 65
    assert late["loss"] < early["loss"]
    assert tf.train.load_variable(again.latest_checkpoint(), "weight") == pytest.approx(SLOPE, abs=0.05)
    assert len(list(tmp_path.glob("model.ckpt-*.index"))) == 1
    assert list((tmp_path / "eval_test").glob("events.*"))


def test_evaluates_the_whole_input_or_so_many_steps(tmp_path):
    trained = estimator(tmp_path).train(input_fn(), steps=1)
    weight = tf.train.load_variable(trained.latest_checkpoint(), "weight")
    results = trained.evaluate(input_fn(num_batches=3, value=2.0))
    assert results["mean_error"] == pytest.approx(2 * (weight - SLOPE), rel=1e-5)
    assert results["loss"] == pytest.approx((2 * (weight - SLOPE)) ** 2, rel=1e-5)
    assert trained.evaluate(input_fn(value=1.0), steps=2)["mean_error"] == pytest.approx(weight - SLOPE, rel=1e-5)


def test_max_steps_counts_from_the_beginning(tmp_path):
    estimator(tmp_path).train(input_fn(), steps=4)
    trained = estimator(tmp_path).train(input_fn(), max_steps=6)
    assert trained.latest_checkpoint().endswith("model.ckpt-6")


def test_stops_on_time_where_a_call_counts_two_steps(tmp_path):
    def two_steps(features, labels, mode, params):
        spec = model_fn(features, labels, mode, params)
        with tf.control_dependencies([spec.train_op]):
            counted = tf.assign_add(tf.train.get_global_step(), 1).op
        return TPUEstimatorSpec(mode=mode, loss=spec.loss, train_op=counted)

    trained = estimator(tmp_path, two_steps).train(input_fn(), steps=12)
    assert trained.latest_checkpoint().endswith("model.ckpt-12")
    trained.train(input_fn(), max_steps=12)
    assert trained.latest_checkpoint().endswith("model.ckpt-12")


def test_two_trainings_with_one_seed_agree(tmp_path):
    weights = []
    for name in ("a", "b"):
        trained = estimator(tmp_path / name).train(input_fn(), steps=7)
        weights.append(tf.train.load_variable(trained.latest_checkpoint(), "weight"))
    assert weights[0] == weights[1]


def layered_model_fn(features, labels, mode, params):
    layers = legacy_keras.supply("tensorflow.compat.v1.layers")
    loss = tf.reduce_mean((layers.dense(features, 3, name="layer") - labels) ** 2)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
    return TPUEstimatorSpec(mode=mode, loss=loss, train_op=train_op)


def test_initial_weights_of_layers_follow_from_the_seed_and_no_other_state(tmp_path):
    weights = []
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        config = RunConfig(tf_random_seed=seed)
        trained = TPUEstimator(layered_model_fn, str(tmp_path / name), config, train_batch_size=4)
        trained.train(input_fn(), steps=1)
        weights.append(tf.train.load_variable(trained.latest_checkpoint(), "layer/kernel"))
    assert np.array_equal(weights[0], weights[1])
    assert not np.array_equal(weights[0], weights[2])


def shuffled_input_fn(params):
    draws = np.random.RandomState(0).randn(64, 1).astype(np.float32)
    data = tf.data.Dataset.from_tensor_slices((draws, SLOPE * draws)).shuffle(64, seed=1).repeat()
    data = data.batch(params["batch_size"], drop_remainder=params.get("fixed", True))
    return tf.data.make_one_shot_iterator(data).get_next()


def noisy_model_fn(features, labels, mode, params):
    shape = tf.shape(features)
    noise = [
        tf.random_normal(shape),
        tf.truncated_normal(shape),
        tf.nn.dropout(tf.ones_like(features), rate=0.5),
        tf.to_float(tf.random_uniform(shape, maxval=5, dtype=tf.int32)),
        tf.random_gamma(shape, alpha=2.0),
    ]
    return model_fn(features + 0.01 * tf.random_shuffle(tf.add_n(noise)), labels, mode, params)


class StopsAfter(SessionRunHook):
    def __init__(self, calls):
        self.left = calls

    def after_run(self, run_context, run_values):
        self.left -= 1
        if not self.left:
            raise InterruptedError


def test_resumes_other_models_and_inputs_exactly(tmp_path, capsys):
    whole = estimator(tmp_path / "whole", noisy_model_fn).train(shuffled_input_fn, steps=30)
    capsys.readouterr()
    told = []
    resumable = {"folder": tmp_path / "training", "on_step": lambda *step: told.append(step)}
    for calls, start in ((7, 0), (1, 7), (15, 8)):
        with pytest.raises(InterruptedError), resumable_training(**resumable, every_seconds=0):
            interrupted = estimator(tmp_path / "resumed", noisy_model_fn)
            interrupted.train(shuffled_input_fn, hooks=[StopsAfter(calls)], steps=30)
        assert told[0] == (start, 30)
        told.clear()
    with resumable_training(**resumable):
        resumed = estimator(tmp_path / "resumed", noisy_model_fn).train(shuffled_input_fn, steps=30)
        assert (told[0], told[-1]) == ((23, 30), (30, 30))
        with pytest.raises(ValueError, match="is for one training"):
            resumed.train(shuffled_input_fn, steps=1)
    assert capsys.readouterr().err == ""
    assert not (tmp_path / "training").exists()
    assert resumed.latest_checkpoint().endswith("model.ckpt-30")
    for name in ("weight", "global_step"):
        values = [tf.train.load_variable(trained.latest_checkpoint(), name) for trained in (whole, resumed)]
        assert values[0] == values[1]


def test_what_cannot_be_resumed_exactly_is_refused_before_it_begins(tmp_path):
    def with_branch(features, labels, mode, params):
        noise = tf.cond(tf.reduce_sum(features) > 0, lambda: tf.random_normal([16, 1]), lambda: features)
        return model_fn(features + noise, labels, mode, params)

    def with_variable_shape(features, labels, mode, params):
        return model_fn(features + tf.random_normal(tf.to_int32(labels[:2, 0])), labels, mode, params)

    def refused(message, model=noisy_model_fn, params=None, **config):
        run_config = RunConfig(**{"tf_random_seed": 0, **config})
        trained = TPUEstimator(model, str(tmp_path / "model"), run_config, params, train_batch_size=16)
        with resumable_training(tmp_path / "training"), pytest.raises(ValueError, match=message):
            trained.train(shuffled_input_fn, steps=1)
        assert not list((tmp_path / "training").glob("snapshot-*"))

    refused("depends on control flow", with_branch)
    refused("the shape of random_normal/.* depends on Iterator", with_variable_shape)
    refused(r"the shape of (random_normal/\S+|RandomShuffle) is not fixed", params={"fixed": False})
    refused("tf_random_seed is None", tf_random_seed=None)
    estimator(tmp_path / "model").train(input_fn(), steps=1)
    refused("model holds checkpoints already")


def test_checkpoints_can_be_moved(tmp_path):
    estimator(tmp_path / "here").train(input_fn(), steps=2)
    (tmp_path / "here").rename(tmp_path / "there")
    assert estimator(tmp_path / "there").evaluate(input_fn(num_batches=1))["global_step"] == 2


def test_a_loss_that_is_not_a_number_stops_training(tmp_path):
    with pytest.raises(RuntimeError, match="NaN loss"):
        estimator(tmp_path).train(input_fn(value=np.nan), steps=10)


def test_mistakes(tmp_path):
    with pytest.raises(ValueError, match="no checkpoint in"):
        estimator(tmp_path).evaluate(input_fn(num_batches=1))
    with pytest.raises(ValueError, match="model_dir is None"):
        TPUEstimator(model_fn=model_fn)
    with pytest.raises(ValueError, match="use_tpu=True"):
        TPUEstimator(model_fn=model_fn, model_dir=str(tmp_path), use_tpu=True)
    trained = estimator(tmp_path).train(input_fn(), steps=1)
    with pytest.raises(ValueError, match="no batch"):
        trained.evaluate(input_fn(num_batches=0))
