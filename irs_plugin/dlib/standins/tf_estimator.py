"""``tf.estimator``."""

REASON = (
    "TensorFlow 2.16 removed tf.estimator, which tensorflow_hub 0.15 and gin.tf name when imported "
    "and disentanglement_lib trains with"
)


def supply(path: str):
    from irs_plugin.dlib import estimator

    return estimator
