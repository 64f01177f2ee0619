"""``tf.keras`` and ``tf.layers`` of TensorFlow 1, from the tf_keras package."""

import importlib

REASON = "Keras 3 has neither tf.layers nor a Keras for graphs; tf_keras has both, beside the program's own Keras 3"

_PLACES = {
    "tensorflow.keras": "tf_keras.api._v2.keras",
    "tensorflow.compat.v1.keras": "tf_keras.api._v1.keras",
    "tensorflow.compat.v1.layers": "tf_keras.api._v1.keras.__internal__.legacy.layers",
}


def supply(path: str):
    return importlib.import_module(_PLACES[path])
