"""Modules that disentanglement_lib exported under TensorFlow 1.15 give the same codes and the same metrics today."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from irs_plugin.dlib import hook

DATA = Path(__file__).parents[1] / "data"
REFERENCE = DATA / "tf1_beta_vae"
# What stock dlib_evaluate wrote for its own irs under TensorFlow 1.15: 10,000 samples, 20 bins, quantile 0.99, seed 0.
IRS_OF_TF1 = 0.4912341101973867


@pytest.fixture(scope="module", autouse=True)
def dlib():
    hook.install()


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """The model and its mean representation, whose weights are the same and kept once."""
    root = tmp_path_factory.mktemp("tf1")
    for name in ("model", "mean"):
        shutil.copytree(REFERENCE / name, root / name)
        shutil.copy(REFERENCE / "variables.data-00000-of-00001", root / name / "tfhub" / "variables")
    return root


@pytest.fixture(scope="module")
def probes():
    with np.load(REFERENCE / "probes.npz") as arrays:
        return dict(arrays)


def call(module, inputs, signature):
    """What the module answers, called as disentanglement_lib calls it."""
    import tensorflow_hub as hub

    with hub.eval_function_for_module(str(module)) as function:
        return function(inputs, signature=signature, as_dict=True)


def test_representation(directory, probes):
    codes = call(directory / "mean" / "tfhub", {"images": probes["images"]}, "representation")["default"]
    assert np.abs(codes - probes["representation"]).max() < 1e-5


def test_encoder_and_decoder(directory, probes):
    module = directory / "model" / "tfhub"
    encoded = call(module, {"images": probes["images"]}, "gaussian_encoder")
    assert np.abs(encoded["mean"] - probes["mean"]).max() < 1e-5
    assert np.abs(encoded["logvar"] - probes["logvar"]).max() < 1e-5
    decoded = call(module, {"latent_vectors": probes["mean"]}, "decoder")["images"]
    # The decoder's logits are of order 100.
    assert np.abs(decoded - probes["decoded_logits"]).max() < 1e-5 * np.abs(probes["decoded_logits"]).max()


def test_postprocessing_extracts_the_same_representation(directory, probes, tmp_path):
    from disentanglement_lib.postprocessing import postprocess

    bindings = [
        "dataset.name = 'dummy_data'",  # not looked at by the mean
        "postprocess.postprocess_fn = @mean_representation",
        "postprocess.random_seed = 0",
    ]
    postprocess.postprocess_with_gin(str(directory / "model"), str(tmp_path / "mean"), gin_bindings=bindings)
    codes = call(tmp_path / "mean" / "tfhub", {"images": probes["images"]}, "representation")["default"]
    assert np.abs(codes - probes["representation"]).max() < 1e-5
    assert (tmp_path / "mean" / "results" / "json" / "train_results.json").exists()


class Replay:
    """The 10,000 samples of the evaluation under TensorFlow 1.15: observations are their numbers."""

    def __init__(self):
        with np.load(DATA / "tf1_beta_vae_codes.npz") as arrays:
            self.gen_factors, self.latents = arrays["gen_factors"].astype(np.int64), arrays["latents"]
        self._next = 0

    def sample(self, num, random_state):
        numbers = np.arange(self._next, self._next + num)
        self._next += num
        return self.gen_factors[numbers], numbers

    def representation(self, numbers):
        return self.latents[numbers]


def test_metric_of_the_library():
    import gin
    from disentanglement_lib.evaluation.metrics import irs

    replay = Replay()
    try:
        gin.parse_config("discretizer.discretizer_fn = @histogram_discretizer\ndiscretizer.num_bins = 20")
        scores = irs.compute_irs(
            replay, replay.representation, np.random.RandomState(0), num_train=10_000, batch_size=16
        )
    finally:
        gin.clear_config()
    # Exactly that on NumPy 1; the library scores float32 codes, and NumPy 2 rounds scalars of them differently.
    assert scores["IRS"] == pytest.approx(IRS_OF_TF1, abs=1e-8)
