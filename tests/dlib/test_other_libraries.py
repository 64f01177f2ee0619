"""A program that imports disentanglement_lib finds everything else as it was."""

from __future__ import annotations

PROGRAM = """
import builtins, copy, importlib, inspect, pickle, sys
before = dict(vars(builtins))
from disentanglement_lib.evaluation import evaluate
from disentanglement_lib.methods.unsupervised import train, vae
from disentanglement_lib.utils import results

import gin, numpy, tensorflow as tf

def fails(name):
    try:
        importlib.import_module(name)
    except Exception:
        return True

assert tf.keras.__version__.startswith("3."), tf.keras.__version__
assert not hasattr(tf, "estimator") and not hasattr(tf, "contrib") and not hasattr(tf.compat.v1, "estimator")
assert fails("tensorflow.contrib") and fails("tensorflow_probability")
assert tf.executing_eagerly()
assert hasattr(numpy, "float_") == (int(numpy.__version__.split(".")[0]) < 2)
assert all(vars(builtins)[name] is value for name, value in before.items())
try:
    gin.configurable("f", blacklist=["x"])
except TypeError:
    pass
else:
    raise AssertionError("gin is patched")
assert not [name for name in sys.modules if name.startswith(("tensorflow.contrib", "tensorflow.estimator"))]
for name, module in sys.modules.items():
    assert not type(module).__name__ == "View", name

assert pickle.loads(pickle.dumps(results.gin_dict)) is results.gin_dict
assert copy.deepcopy(vae.BetaVAE(beta=1.0)).beta == 1.0
assert "experiment_timer" in inspect.getsource(train)
assert vae.__spec__.name == "disentanglement_lib.methods.unsupervised.vae" and vae.tf.layers.dense
assert type(train).__name__ == "module" and train.__file__.endswith("train.py")
inputs = tf.keras.Input((3,))
model = tf.keras.Model(inputs, tf.keras.layers.Dense(2)(inputs))
model.compile("sgd", "mse")
model.fit(numpy.zeros((4, 3)), numpy.zeros((4, 2)), verbose=0)
importlib.reload(results)
assert results.np.float_ is numpy.float64
print("undisturbed")
"""


def test_they_are_undisturbed(python):
    process = python("-c", PROGRAM)
    assert process.stdout.strip() == "undisturbed", process.stderr


def test_an_unsupported_tensorflow_is_refused_in_one_sentence(python):
    code = (
        "import tensorflow as tf; tf.__version__ = '2.15.1'\n"
        "try:\n    import disentanglement_lib.utils.results\n"
        "except ImportError as error:\n    print(error)"
    )
    sentence = python("-c", code).stdout.strip()
    assert sentence.startswith("disentanglement_lib runs here on TensorFlow 2.16 to 2.21, but 2.15.1 is installed")
    assert sentence.endswith("pip install 'tf_keras>=2.16,<2.22'")
