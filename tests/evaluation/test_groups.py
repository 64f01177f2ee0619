"""Group and domain shift robustness as evaluation functions, and the designs they draw from."""

import json

import gin
import numpy as np
import pytest

import irs_plugin
from irs_plugin.evaluation.domain_shift_robustness import domain_shift_robustness
from irs_plugin.evaluation.group_robustness import group_robustness
from irs_plugin.evaluation.groups import NUM_LISTED
from irs_plugin.evaluation.interventional_robustness import interventional_robustness
from irs_plugin.evaluation.sampling import grid_sampling

GROUPS = {"latent_dims": [0, 1], "fixed_factors": ["shape"], "intervened_factors": ["scale", "posX"]}


def encode(observations):
    return np.stack([observations[:, 0] + 0.1 * observations[:, 2], observations[:, 1]], axis=1)


def grid(data):
    sizes = data.factors_num_values
    return np.stack(np.unravel_index(np.arange(np.prod(sizes)), sizes), axis=1)


def test_group_robustness_is_the_array_score(data, random_state):
    found = group_robustness(data, encode, random_state, sampling=grid_sampling, distance="l1", **GROUPS)
    factors = grid(data)
    expected = irs_plugin.interventional_robustness(
        factors,
        encode(factors.astype(np.float32)),
        latent_dims=[0, 1],
        fixed_factors=[0],
        intervened_factors=[1, 2],
        distance="l1",
    )
    assert found["IRS"] == pytest.approx(expected.irs, abs=1e-12)
    assert found["num_samples"] == 60
    assert found["num_realisations"] == 3
    assert sorted(found["mpida"], reverse=True) == found["mpida"]
    assert found["witness"][0]["distance"] == pytest.approx(max(expected.mpida))
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_domain_shift_is_the_array_score(data, random_state):
    found = domain_shift_robustness(
        data, encode, random_state, latent_dims=[0], shifted_factors="posX", sampling=grid_sampling
    )
    factors = grid(data)
    expected = irs_plugin.domain_shift_robustness(
        factors, encode(factors.astype(np.float32)), latent_dims=[0], shifted_factors=[2]
    )
    assert found["IRS"] == pytest.approx(expected.irs, abs=1e-12)
    assert found["num_realisations"] == 12 and len(found["mpida"]) == 12 <= NUM_LISTED


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"latent_dims": None}, "latent_dims is not bound"),
        ({"latent_dims": []}, "latent_dims is empty"),
        ({"latent_dims": [7]}, "latent_dims holds 7, out of range: indices run from 0 to 1"),
        ({"fixed_factors": None}, "fixed_factors is not bound"),
        ({"intervened_factors": []}, "intervened_factors is empty"),
        ({"intervened_factors": ["shape"]}, r"factors \[0\] are both fixed and intervened on"),
        ({"intervened_factors": [5]}, "intervened_factors holds 5, out of range"),
        ({"distance": "l3"}, "distance must be one of"),
        ({"adjustment": "magic"}, "adjustment must be one of"),
    ],
)
def test_bad_groups_end_before_the_sample_is_encoded(data, random_state, change, message):
    with pytest.raises(ValueError, match=message):
        group_robustness(data, encode, random_state, **{**GROUPS, **change})
    assert data.num_observed <= 1


def test_confounded_design_from_gin(data, random_state):
    gin.parse_config("""
        import irs_plugin.evaluation
        interventional_robustness.sampling = @confounded_sampling
        interventional_robustness.adjustment = "confounder"
        confounded_sampling.model = @tilted_model
        tilted_model.strength = 0.8
    """)
    found = interventional_robustness(data, encode, random_state, num_train=3000)
    assert found["sample.design"] == "confounded"
    assert found["settings.estimator"] == "confounder"
    assert len(found["sample.confounder_probabilities"]) == 2


def test_pair_correlation_from_gin(data, random_state):
    gin.parse_config("""
        import irs_plugin.evaluation
        interventional_robustness.sampling = @confounded_sampling
        confounded_sampling.model = @PairCorrelation()
        PairCorrelation.pair = (0, 1)
        PairCorrelation.sigma = 0.4
    """)
    found = interventional_robustness(data, encode, random_state, num_train=500)
    assert found["sample.sigma"] == 0.4


def test_sub_grid_by_name(data, random_state):
    gin.parse_config("""
        import irs_plugin.evaluation
        interventional_robustness.sampling = @grid_sampling
        grid_sampling.sub_grid = {"posX": [0, 4], "scale": 2}
    """)
    found = interventional_robustness(data, encode, random_state)
    assert found["num_samples"] == 3 * 2 * 2
    assert found["sample.factor_values"] == [3, 2, 2]


def test_kbins_discretizer_from_gin(data, random_state):
    gin.parse_config("""
        import irs_plugin.evaluation
        interventional_robustness.discretizer = @kbins_discretizer
        kbins_discretizer.factors = [2]
        kbins_discretizer.num_bins = 2
    """)
    found = interventional_robustness(data, encode, random_state, num_train=300)
    assert found["sample.factor_values_scored"] == [3, 4, 2]
