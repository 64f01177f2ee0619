"""The evaluation function against the array API, and what it writes."""

import json
import subprocess
import sys

import gin
import numpy as np
import pytest

import irs_plugin
from irs_plugin.evaluation.interventional_robustness import interventional_robustness
from irs_plugin.sampling import random_sample


def encode(observations):
    """Factor 0, a mixture, a constant in single precision, factor 2."""
    mixture = observations[:, 1] + 0.5 * observations[:, 0]
    constant = np.full(len(observations), 0.1, dtype=np.float32)
    return np.stack([observations[:, 0], mixture, constant, observations[:, 2]], axis=1)


def test_reports_what_the_array_api_says(data, random_state):
    found = interventional_robustness(data, encode, random_state, num_train=400)
    sample = random_sample(data, encode, 400, np.random.RandomState(0))
    expected = irs_plugin.disentanglement_score(sample.gen_factors, sample.latents)
    assert found["IRS"] == expected.avg_score
    assert found["mean_score"] == expected.mean_score
    assert found["irs_matrix"] == expected.to_dict()["irs_matrix"]
    assert found["max_deviations"] == expected.max_deviations.tolist()
    assert found["num_samples"] == 400
    assert found["settings.factor_weights"] == "observed"
    assert found["settings.diff_quantile"] == 1.0
    assert found["sample.design"] == "random"


def test_inactive_latents_keep_their_index(data, random_state):
    found = interventional_robustness(data, encode, random_state, num_train=400)
    assert found["active"] == [True, True, False, True]
    assert found["num_active_dims"] == 3
    assert found["disentanglement_scores"][2] is None
    assert found["parents"] == [0, 1, None, 2]
    assert found["parent_names"] == ["shape", "scale", None, "posX"]
    assert found["disentanglement_scores"][0] == pytest.approx(1.0)


@pytest.mark.parametrize("value", [0.0, 0.1, 0.3, 1e6])
def test_collapsed_model(data, random_state, value):
    found = interventional_robustness(
        data, lambda x: np.full((len(x), 4), value, dtype=np.float32), random_state, num_train=100
    )
    assert found["IRS"] == 0.0
    assert found["num_active_dims"] == 0
    assert found["parents"] == [None] * 4
    assert found["reason"]


def test_values_are_plain_and_flat(data, random_state):
    found = interventional_robustness(data, encode, random_state, num_train=200, num_permutations=3)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert not any(isinstance(value, dict) for value in found.values())


def test_chance_level(data, random_state):
    found = interventional_robustness(data, encode, random_state, num_train=300, num_permutations=20)
    assert found["chance.num_permutations"] == 20
    assert found["chance.avg_score.observed"] == found["IRS"]
    assert 0.0 < found["chance.avg_score.mean"] < found["IRS"]


def test_array_api_options_reach_the_score(data, random_state):
    found = interventional_robustness(
        data,
        encode,
        random_state,
        num_train=200,
        expectation="median",
        normalizer_quantile=0.9,
        factor_weights="uniform",
    )
    assert found["settings.expectation"] == "median"
    assert found["settings.normalizer_quantile"] == 0.9
    assert found["settings.replicates"] == "separate"


def test_registers_without_tensorflow():
    program = (
        "import sys, irs_plugin.evaluation, gin;"
        "print(sorted({name.split('.')[0] for name in sys.modules} & {'tensorflow', 'disentanglement_lib'}));"
        "print(gin.get_configurable('interventional_robustness').__name__)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "interventional_robustness"]


def test_dlib_leaves_its_own_arguments_unbound():
    with pytest.raises(ValueError, match="random_state"):
        gin.parse_config("import irs_plugin.evaluation\ninterventional_robustness.random_state = 0")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"diff_quantile": 1.5}, r"diff_quantile must be a number in \[0, 1\]; got 1.5"),
        ({"normalizer_quantile": "all"}, "normalizer_quantile"),
        ({"factor_weights": "equal"}, "'observed', 'uniform'; got 'equal'"),
        ({"quantile": 1.0}, "has no parameter quantile; it has .*diff_quantile"),
        ({"adjustment": "magic"}, "adjustment must be one of"),
        ({"expectation": "mode"}, "expectation must be one of"),
        ({"trim": 0.7}, "trim"),
        ({"num_train": 0}, "num_train must be a positive integer; got 0"),
        ({"batch_size": 2.5}, "batch_size must be a positive integer; got 2.5"),
        ({"num_permutations": -1}, "num_permutations"),
    ],
)
def test_bad_options_end_before_anything_is_encoded(data, random_state, options, message):
    with pytest.raises(ValueError, match=message):
        interventional_robustness(data, encode, random_state, **options)
    assert data.num_observed == 0


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_codes_that_are_not_finite_end_the_encoding(data, random_state, value):
    def diverged(observations):
        codes = encode(observations)
        codes[3, 1] = value
        return codes

    with pytest.raises(ValueError, match=f"latent 1 of sample 3 is {value}; codes must be finite"):
        interventional_robustness(data, diverged, random_state, num_train=100000)
    assert data.num_observed < 2000


def test_confounder_needs_a_design_that_has_one(data, random_state):
    with pytest.raises(ValueError, match="needs an observed confounder, and the random design has none"):
        interventional_robustness(data, encode, random_state, num_train=100, adjustment="confounder")
