"""The dlib preset against disentanglement_lib's own functions on the same sample."""

from pathlib import Path
from types import SimpleNamespace

import gin
import numpy as np
import pytest

from irs_plugin.config_files import find_config
from irs_plugin.evaluation.interventional_robustness import interventional_robustness

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def preset():
    from disentanglement_lib.evaluation import evaluate  # noqa: F401 (makes dlib's names known to gin)
    from disentanglement_lib.evaluation.metrics import irs

    gin.parse_config_file(str(find_config("metrics/irs_dlib")))
    return irs


def encode(dtype):
    def representation(observations):
        codes = observations @ np.array([[1.0, 0.2, 0.1], [0.0, 1.0, 0.4], [0.3, 0.1, 1.0]]).T
        return np.sin(codes).astype(dtype)

    return representation


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-6)])
def test_same_sample_same_number(data, preset, dtype, tolerance):
    ours = interventional_robustness(data, encode(dtype), np.random.RandomState(3), num_train=1000)
    theirs = preset.compute_irs(
        data, encode(dtype), np.random.RandomState(3), diff_quantile=0.99, num_train=1000, batch_size=16
    )
    assert ours["dlib_IRS"] == theirs["IRS"]
    assert ours["IRS"] == pytest.approx(theirs["IRS"], abs=tolerance)
    assert ours["num_active_dims"] == 3


def test_the_number_of_a_published_kind_of_model(preset):
    """The codes of a model trained and scored under TensorFlow 1.15, whose own IRS was 0.4912341101973867."""
    with np.load(DATA / "tf1_beta_vae_codes.npz") as arrays:
        factors, codes = arrays["gen_factors"].astype(np.int64), arrays["latents"]
    rows = iter(range(0, len(codes), 16))

    def sample(num, random_state):
        start = next(rows)
        return factors[start : start + num], codes[start : start + num]

    found = interventional_robustness(SimpleNamespace(sample=sample), lambda x: x, np.random.RandomState(0))
    assert found["num_samples"] == 10_000
    assert found["IRS"] == pytest.approx(0.4912341101973867, abs=1e-6)
    assert found["dlib_IRS"] == pytest.approx(0.4912341101973867, abs=1e-8)


def test_the_bins_are_reported(data, preset):
    data.factors_num_values = (3, 4, 50)
    found = interventional_robustness(data, encode(np.float64), np.random.RandomState(0), num_train=1000)
    assert found["sample.factor_values"] == [3, 4, 50]
    assert found["sample.factor_values_scored"] == [3, 4, 20]


def test_a_collapsed_model_is_inactive_whatever_dlib_says(data, preset):
    found = interventional_robustness(
        data, lambda x: np.full((len(x), 2), 0.1, dtype=np.float32), np.random.RandomState(0), num_train=1000
    )
    assert found["IRS"] == 0.0
    assert found["num_active_dims"] == 0
    assert "dlib_IRS" in found
