"""Chance level, repeats and convergence of any score, and the importance metrics, as evaluation functions."""

import gin
import numpy as np
import pytest

import irs_plugin
from irs_plugin.evaluation.chance_level import chance_level
from irs_plugin.evaluation.convergence import convergence
from irs_plugin.evaluation.feature_importance import feature_importance
from irs_plugin.evaluation.mutual_information import mutual_information
from irs_plugin.evaluation.repeated_scores import repeated_scores
from irs_plugin.evaluation.with_factor_names import with_factor_names
from irs_plugin.sampling import random_sample


def encode(observations):
    return np.stack([observations[:, 0], observations[:, 1] + 0.5 * observations[:, 2]], axis=1)


def test_chance_of_a_group_score_bound_in_gin(data, random_state):
    gin.parse_config("""
        import irs_plugin.evaluation
        chance_level.score = @group_score
        chance_level.num_permutations = 5
        group_score.latent_dims = [1]
        group_score.fixed_factors = [1]
        group_score.intervened_factors = [0, 2]
    """)
    found = chance_level(data, encode, random_state, num_train=300)
    sample = random_sample(data, encode, 300, np.random.RandomState(0))
    expected = irs_plugin.interventional_robustness(
        sample.gen_factors, sample.latents, latent_dims=[1], fixed_factors=[1], intervened_factors=[0, 2]
    )
    assert found["irs.observed"] == pytest.approx(expected.irs)
    assert found["irs.mean"] < found["irs.observed"]


def test_confounder_reaches_a_wrapped_score(data, random_state):
    gin.parse_config("""
        import irs_plugin.evaluation
        chance_level.sampling = @confounded_sampling
        chance_level.with_confounder = True
        confounded_sampling.model = @tilted_model
        tilted_model.strength = 0.5
        disentanglement_score.adjustment = "confounder"
    """)
    found = chance_level(data, encode, random_state, num_train=1000, num_permutations=2)
    assert found["avg_score.observed"] > found["avg_score.mean"]
    with pytest.raises(ValueError, match="adjustment='confounder' needs confounder"):
        chance_level(data, encode, random_state, num_train=1000, num_permutations=2, with_confounder=False)


def test_repeats_draw_afresh(data, random_state):
    found = repeated_scores(data, encode, random_state, num_train=100, num_repeats=4)
    samples = found["avg_score.samples"]
    assert len(set(samples)) == 4
    assert found["avg_score.mean"] == pytest.approx(np.mean(samples))
    assert found["avg_score.sd"] == pytest.approx(np.std(samples, ddof=1))
    assert (found["avg_score.min"], found["avg_score.max"]) == (min(samples), max(samples))


def test_convergence_ends_at_the_whole_sample(data, random_state, tmp_path):
    found = convergence(
        data, encode, random_state, str(tmp_path), num_train=300, sizes=[50, 300], num_draws=3, num_permutations=0
    )
    sample = random_sample(data, encode, 300, np.random.RandomState(0))
    assert found["sizes"] == [50, 300]
    assert found["steps"][1]["avg_score"]["mean"] == pytest.approx(
        irs_plugin.disentanglement_score(sample.gen_factors, sample.latents).avg_score
    )


def test_importance_metrics_are_the_array_functions(data, random_state):
    sample = random_sample(data, encode, 1000, np.random.RandomState(0))
    found = mutual_information(data, encode, random_state, num_train=1000)
    expected = irs_plugin.mutual_information(sample.gen_factors, sample.latents).to_dict()
    assert found["matrix"] == expected["matrix"] and found["average"] == expected["average"]
    found = feature_importance(
        data, encode, np.random.RandomState(0), num_train=1000, num_trees=10, min_samples_leaf=20
    )
    assert np.argmax(found["matrix"], axis=1).tolist() == found["parents"]
    assert found["factor_names"] == ["shape", "scale", "posX"]


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        (chance_level, {"num_permutations": 1}, "num_permutations must be an integer of at least 2; got 1"),
        (repeated_scores, {"num_repeats": 1}, "num_repeats must be an integer of at least 2; got 1"),
        (mutual_information, {"num_bins": 0}, "num_bins must be an integer of at least 2; got 0"),
        (feature_importance, {"num_trees": 0}, "num_trees must be an integer of at least 1; got 0"),
        (feature_importance, {"model": "svm"}, "model must be one of 'regressor', 'classifier'; got 'svm'"),
    ],
)
def test_bad_options_end_before_anything_is_encoded(metric, options, message, data, random_state):
    with pytest.raises(ValueError, match=message):
        metric(data, encode, random_state, **options)
    assert data.num_observed == 0


def test_names_for_functions_that_need_them(data, random_state):
    del type(data).factor_names
    try:
        seen = with_factor_names(
            data, encode, random_state, evaluation_fn=lambda data, *rest, artifact_dir: {"names": data.factor_names}
        )
    finally:
        type(data).factor_names = ("shape", "scale", "posX")
    assert seen == {"names": ["factor 0", "factor 1", "factor 2"]}
    with pytest.raises(ValueError, match="evaluation_fn is not bound"):
        with_factor_names(data, encode, random_state)
