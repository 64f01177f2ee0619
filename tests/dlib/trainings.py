"""Trains models in processes of their own, which may be killed: one JSON object per line in, one per line out.

Started as a script. TensorFlow and disentanglement_lib are imported once; every request is done by a fork of that.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import sys
import traceback
import warnings

COMMON = {
    "dataset.name": "'dummy_data'",
    "model.batch_size": "4",
    "model.training_steps": "8",
    "model.eval_steps": "2",
    "model.random_seed": "3",
    "encoder.encoder_fn": "@test_encoder",
    "encoder.num_latent": "10",
    "decoder.decoder_fn": "@test_decoder",
    "reconstruction_loss.loss_fn": "@bernoulli_loss",
    "vae_optimizer.optimizer_fn": "@AdamOptimizer",
    "AdamOptimizer.learning_rate": "0.001",
}
METHODS = {
    "vae": {"model.model": "@vae()", "vae.beta": "4.0"},
    "convolutional_vae": {
        "model.model": "@vae()",
        "vae.beta": "1.0",
        "encoder.encoder_fn": "@conv_encoder",
        "decoder.decoder_fn": "@deconv_decoder",
    },
    "annealed_vae": {
        "model.model": "@annealed_vae()",
        "annealed_vae.gamma": "10.0",
        "annealed_vae.c_max": "25.0",
        "annealed_vae.iteration_threshold": "8",
    },
    "factor_vae": {
        "model.model": "@factor_vae()",
        "factor_vae.gamma": "10.0",
        "discriminator.discriminator_fn": "@fc_discriminator",
        "discriminator_optimizer.optimizer_fn": "@AdamOptimizer",
    },
    "beta_tc_vae": {"model.model": "@beta_tc_vae()", "beta_tc_vae.beta": "4.0"},
    "dip_vae_i": {
        "model.model": "@dip_vae()",
        "dip_vae.lambda_od": "5.0",
        "dip_vae.lambda_d_factor": "10.0",
        "dip_vae.dip_type": "'i'",
    },
    "dip_vae_ii": {
        "model.model": "@dip_vae()",
        "dip_vae.lambda_od": "5.0",
        "dip_vae.lambda_d_factor": "1.0",
        "dip_vae.dip_type": "'ii'",
    },
}


def train(method, model_dir, folder=None, every=1e9, bindings=(), signals=(), handler=False, kill_in=None):
    """Train as ``dlib_train`` does, and return the steps at start and end and what the handler, if any, was told.

    Args:
        method: A key of ``METHODS``.
        model_dir: Receives the model.
        folder: For resuming, or None.
        every: Seconds from snapshot to snapshot.
        bindings: Gin bindings on top, as a mapping.
        signals: Pairs of a call of the training operation and a signal that comes before it.
        handler: Handle SIGTERM, so that it is of no consequence.
        kill_in: Place in the code where SIGKILL comes.
    """
    from disentanglement_lib.methods.unsupervised import train

    from irs_plugin.dlib.resuming import resumable_training

    settings = {**COMMON, **METHODS[method], **dict(bindings)}
    steps, caught = [], []
    if handler:
        signal.signal(signal.SIGTERM, lambda *_: caught.append("SIGTERM"))
    if kill_in:
        _kill_in(kill_in)
    _signal_before_calls(dict(signals))
    around = contextlib.nullcontext()
    if folder is not None:
        around = resumable_training(folder, every_seconds=every, on_step=lambda step, last: steps.append(step))
    with around:
        train.train_with_gin(model_dir, True, [], [f"{key} = {value}" for key, value in settings.items()])
    return [*steps[:1], *steps[-1:], *caught]


def _signal_before_calls(signals):
    from irs_plugin.dlib import estimator

    class Sender(estimator.SessionRunHook):
        calls = 0

        def before_run(self, run_context):
            Sender.calls += 1
            if Sender.calls in signals:
                os.kill(os.getpid(), signals[Sender.calls])

    original = estimator.TPUEstimator.train
    estimator.TPUEstimator.train = lambda self, **how: original(self, hooks=[Sender()], **how)


def _kill_in(place):
    """Die before or after a step of writing a snapshot, or in what comes after training."""
    import tensorflow.compat.v1 as tf
    from disentanglement_lib.methods.unsupervised import gaussian_encoder_model

    from irs_plugin.dlib import snapshots

    owner, name, times, after = {
        "variables": (tf.train.Saver, "save", 3, True),
        "checksums": (snapshots, "_checksum", 4, False),
        "named": (snapshots.Path, "rename", 2, True),
        "removal": (snapshots.shutil, "rmtree", 3, False),
        "export": (gaussian_encoder_model, "export_as_tf_hub", 1, False),
    }[place]
    original, calls = getattr(owner, name), []

    def deadly(*arguments, **keywords):
        calls.append(name)
        if len(calls) == times and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = original(*arguments, **keywords)
        if len(calls) == times:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, deadly)


def contents(model_dir):
    """What training left, so that equal bits give equal JSON."""
    import numpy as np
    import tensorflow.compat.v1 as tf
    import tensorflow_hub as hub

    reader = tf.train.load_checkpoint(f"{model_dir}/tf_checkpoint")
    variables = {name: _bits(reader.get_tensor(name)) for name in reader.get_variable_to_shape_map()}
    images = np.random.RandomState(0).random_sample((3, 64, 64, 1))
    with tf.Graph().as_default(), tf.Session() as session:
        module = hub.Module(f"{model_dir}/tfhub")
        session.run(tf.global_variables_initializer())
        codes = session.run(module({"images": images}, signature="gaussian_encoder", as_dict=True))
    with open(f"{model_dir}/results/json/train_results.json", encoding="utf-8") as file:
        losses = json.load(file)
    names = os.listdir(f"{model_dir}/tf_checkpoint")
    return {
        "variables": variables,
        "codes": {name: _bits(value) for name, value in codes.items()},
        "losses": {key: value for key, value in losses.items() if key not in ("elapsed_time", "uuid")},
        "files": sorted({"events" if name.startswith("events.") else name for name in names}),
    }


def _bits(array):
    return hashlib.sha256(array.tobytes()).hexdigest()


def _do(request, answer):
    os.environ.update(request.pop("environment", {}))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what is started in the background ignores it
    wanted = request.pop("do")
    try:
        result = {"train": train, "contents": contents}[wanted](**request)
    except BaseException as error:
        result = {"error": f"{type(error).__name__}: {error}"}
        traceback.print_exc()
    with open(answer, "w", encoding="utf-8") as file:
        json.dump(result, file)


def main():
    answer = sys.argv[1]
    from irs_plugin.dlib import hook

    hook.install()
    warnings.filterwarnings("ignore", module="disentanglement_lib")
    import tensorflow.compat.v1 as tf

    tf.disable_eager_execution()
    tf.logging.set_verbosity(tf.logging.ERROR)
    from disentanglement_lib.methods.unsupervised import train  # noqa: F401

    import irs_plugin.dlib.estimator  # noqa: F401

    for line in sys.stdin:
        with contextlib.suppress(FileNotFoundError):
            os.remove(answer)
        child = os.fork()
        if not child:
            sys.stdin.close()
            _do(json.loads(line), answer)
            sys.stderr.flush()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0, flush=True)


if __name__ == "__main__":
    main()
