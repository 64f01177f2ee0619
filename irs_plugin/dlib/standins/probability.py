"""``tensorflow_probability.distributions.Bernoulli``."""

from types import SimpleNamespace

REASON = (
    "disentanglement_lib pins tensorflow_probability 0.7, which does not import on TensorFlow 2; "
    "the one distribution used, Bernoulli, is in tf.compat.v1.distributions"
)


def supply(path: str) -> SimpleNamespace:
    import tensorflow as tf

    return SimpleNamespace(distributions=tf.compat.v1.distributions)
