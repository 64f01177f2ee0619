from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from irs_plugin import feature_importance


def problem(num_samples: int = 3000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three factors; latents that code one each, one that mixes two, and noise."""
    random_state = np.random.RandomState(seed)
    g = np.column_stack([random_state.randint(size, size=num_samples) for size in (3, 6, 10)])
    mixture = g[:, 0] / 3 + g[:, 1] / 6
    z = np.column_stack([g, mixture]) + 0.05 * random_state.randn(num_samples, 4)
    return g, np.column_stack([z, random_state.randn(num_samples)])


@pytest.fixture(scope="module")
def result():
    return feature_importance(*problem(), min_samples_leaf=100)


def test_exclusive_latents_score_high_and_noise_weighs_little(result):
    assert result.parents[:3].tolist() == [0, 1, 2]
    assert (result.scores[:3] > 0.6).all() and result.scores[3] < 0.55
    assert result.weights[4] < 0.1
    assert (result.informativeness > 0.7).all()


def test_scores_follow_from_the_matrix_as_in_the_paper(result):
    total = result.matrix.sum()
    average = 0.0
    for latent in range(5):
        row = [float(value) for value in result.matrix[latent]]
        shares = [value / sum(row) for value in row]
        score = 1.0 + sum(p * np.log(p) / np.log(3) for p in shares if p > 0)
        assert result.scores[latent] == pytest.approx(score, abs=1e-12)
        assert result.weights[latent] == pytest.approx(sum(row) / total, abs=1e-12)
        average += sum(row) / total * score
    assert result.average == pytest.approx(average, abs=1e-12)


@pytest.mark.parametrize(
    ("model", "forest"), [("regressor", RandomForestRegressor), ("classifier", RandomForestClassifier)]
)
def test_matrix_and_informativeness_are_those_of_scikit_learn(model, forest):
    g, z = problem(800)
    found = feature_importance(g, z, model=model, num_trees=30, min_samples_leaf=50, max_features=2, seed=7)
    seeds = np.random.RandomState(7).randint(np.iinfo(np.int32).max, size=3)
    for j in range(3):
        options = {"max_features": 2, "oob_score": True, "random_state": seeds[j]}
        theirs = forest(n_estimators=30, min_samples_leaf=50, **options).fit(z, g[:, j])
        assert found.matrix[:, j] == pytest.approx(theirs.feature_importances_, abs=1e-12)
        assert found.informativeness[j] == pytest.approx(theirs.oob_score_, abs=1e-12)
    assert found.matrix.sum(axis=0) == pytest.approx(np.ones(3))
    assert found.avg_informativeness == pytest.approx(found.informativeness.mean())


def test_the_papers_forests_are_the_default():
    settings = feature_importance(*problem(1100)).settings
    assert (settings["num_trees"], settings["min_samples_leaf"], settings["max_features"]) == (50, 500, 1)
    assert settings["model"] == "regressor" and settings["informativeness"] == "out-of-bag R²"


def test_same_seed_same_result_on_any_number_of_cores(result):
    for n_jobs in (1, 2):
        again = feature_importance(*problem(), min_samples_leaf=100, n_jobs=n_jobs)
        assert again.to_dict() == result.to_dict()
    drawn = feature_importance(*problem(), min_samples_leaf=100, seed=np.random.RandomState(0))
    assert (drawn.matrix == result.matrix).all() and "seed" not in drawn.settings
    assert (feature_importance(*problem(), min_samples_leaf=100, seed=1).matrix != result.matrix).any()


def test_a_perfect_code_scores_one():
    random_state = np.random.RandomState(0)
    g = random_state.randint(2, size=(2000, 3))
    # A single split per tree, and every latent tried at it: only the right one is ever used.
    found = feature_importance(g, g * 1.0, max_features=3, min_samples_leaf=550)
    assert found.matrix == pytest.approx(np.eye(3))
    assert found.scores == pytest.approx(np.ones(3)) and found.average == pytest.approx(1.0)
    assert found.informativeness == pytest.approx(np.ones(3), abs=1e-9)


def test_inactive_latents_keep_their_place_and_change_nothing():
    g, z = problem(1000)
    constant = np.full(len(z), np.float32(0.1))
    widened = np.column_stack([z[:, 0], constant, z[:, 1:]])
    found, plain = (feature_importance(g, codes, min_samples_leaf=50) for codes in (widened, z))
    assert found.active.tolist() == [True, False, True, True, True, True]
    kept = [0, 2, 3, 4, 5]
    assert (found.matrix[kept] == plain.matrix).all() and found.average == plain.average
    assert np.isnan(found.matrix[1]).all() and np.isnan(found.scores[1])
    assert found.parents[1] == -1 and found.weights[1] == 0.0
    assert found.to_dict()["matrix"][1] == [None] * 3 and found.to_dict()["parents"][1] is None


@pytest.mark.parametrize("num_samples", [20, 999, 1400])
def test_too_few_samples_for_the_leaves_are_said_to_be_so(num_samples):
    found = feature_importance(*problem(num_samples))
    assert np.isnan(found.average) and np.isnan(found.matrix).all() and np.isnan(found.informativeness).all()
    assert f"{num_samples} samples are too few" in found.reason and "at least 1582" in found.reason
    assert (found.parents == -1).all() and found.avg_informativeness != found.avg_informativeness
    values = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert values["average"] is None and values["scores"] == [None] * 5 and values["avg_informativeness"] is None


def test_latents_that_leave_no_threshold():
    g, _ = problem(1000)
    rare = (np.arange(1000) < 20)[:, None] * 1.0
    found = feature_importance(g, rare, min_samples_leaf=100)
    assert "no tree has a split" in found.reason and np.isnan(found.average)
    assert found.diagnostics["mean_leaves"] == [1.0] * 3


def test_a_factor_with_one_value_is_left_out_and_named():
    g, z = problem(1000)
    with_constant = np.column_stack([g, np.full(len(g), 3)])
    found, plain = (feature_importance(factors, z, min_samples_leaf=50) for factors in (with_constant, g))
    assert found.scored_factors == (0, 1, 2)
    assert np.isnan(found.matrix[:, 3]).all() and np.isnan(found.informativeness[3])
    assert found.notes == ("factors [3]: one value only, so there is nothing to predict",)
    assert np.isfinite(found.average) and 0 <= found.average <= 1
    assert np.isfinite(plain.average)


def test_a_single_factor_has_importances_but_no_score():
    g, z = problem(1000)
    found = feature_importance(g[:, :1], z, min_samples_leaf=50)
    assert found.matrix[:, 0].sum() == pytest.approx(1.0)
    assert np.isnan(found.average) and "at least two factors" in found.reason
    assert found.informativeness[0] > 0.8


def test_a_single_latent():
    g, z = problem(1000)
    found = feature_importance(g, z[:, :1], min_samples_leaf=50)
    assert found.matrix == pytest.approx(np.ones((1, 3)))  # the only one there is, for every factor
    assert found.scores[0] == pytest.approx(0.0) and found.weights.tolist() == [1.0]


def test_collapsed_codes():
    found = feature_importance(problem(1200)[0], np.full((1200, 3), 0.3, dtype=np.float32))
    assert "collapsed" in found.reason and np.isnan(found.average)
    assert not found.active.any() and np.isnan(found.matrix).all()
    json.dumps(found.to_dict(), allow_nan=False)


def test_an_unused_latent_has_no_score():
    """With all latents tried at each split a copy of nothing useful is never chosen."""
    random_state = np.random.RandomState(0)
    g = random_state.randint(2, size=(1000, 2))
    rare = (np.arange(1000) < 5) * 1.0  # no threshold leaves enough samples beyond it
    found = feature_importance(g, np.column_stack([g, rare]), min_samples_leaf=50)
    assert found.matrix[2].tolist() == [0.0, 0.0]
    assert np.isnan(found.scores[2]) and found.parents[2] == -1 and found.weights[2] == 0.0
    assert "latents [2] have no importance for any factor, so no score" in found.notes


def test_too_few_trees_for_an_out_of_bag_score():
    found = feature_importance(*problem(1000), num_trees=2, min_samples_leaf=50)
    assert np.isnan(found.informativeness).all() and any("no out-of-bag score" in note for note in found.notes)
    assert np.isfinite(found.average)


def test_names_of_values_do_not_matter_to_a_classifier():
    g, z = problem(1000)
    names = np.array(list("cabdjihgfe"))
    numbers, text = (
        feature_importance(factors, z, model="classifier", min_samples_leaf=50) for factors in (g, names[g])
    )
    assert text.matrix == pytest.approx(numbers.matrix, abs=1e-12)
    assert text.informativeness == pytest.approx(numbers.informativeness, abs=0.01)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_trees": 0}, "num_trees must be an integer of at least 1; got 0"),
        ({"min_samples_leaf": 2.5}, "min_samples_leaf must be an integer"),
        ({"max_features": 6}, "at most 5, the number of latents; got 6"),
        ({"model": "lasso"}, "model must be one of 'regressor', 'classifier'; got 'lasso'"),
        ({"inactive_tolerance": 1.0}, "inactive_tolerance must be a number"),
    ],
)
def test_options_out_of_range(options, message):
    with pytest.raises(ValueError, match=message):
        feature_importance(*problem(50), **options)


def test_text_needs_a_classifier():
    g, z = problem(50)
    with pytest.raises(ValueError, match="model='classifier'"):
        feature_importance(g.astype(str), z)


def test_bad_arrays():
    g, z = problem(50)
    with pytest.raises(ValueError, match="latents must be finite"):
        feature_importance(g, np.where(z > 1, np.nan, z))
    with pytest.raises(ValueError, match="49"):
        feature_importance(g[:-1], z)
