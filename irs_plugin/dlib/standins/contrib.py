"""``tensorflow.contrib.tpu`` and ``tensorflow.contrib.framework``."""

from types import SimpleNamespace

REASON = "TensorFlow 2 removed tf.contrib, from which the estimator and a checkpoint reader are imported"


def assign_from_checkpoint_fn(model_path, var_list):
    """Return a function of a session that restores the variables, a list or a dict by name in the checkpoint."""
    import tensorflow as tf

    saver = tf.compat.v1.train.Saver(var_list)
    return lambda session: saver.restore(session, model_path)


def supply(path: str) -> SimpleNamespace:
    from irs_plugin.dlib import estimator

    return SimpleNamespace(
        tpu=estimator,
        framework=SimpleNamespace(assign_from_checkpoint_fn=assign_from_checkpoint_fn),
    )
