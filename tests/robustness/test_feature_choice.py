"""Feature choice: what passes, what is found best, and how."""

import itertools
import json

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier

from irs_plugin import choose_features, domain_shift_robustness
from irs_plugin.robustness.adjustment import SupportWarning
from irs_plugin.robustness.feature_choice import EXHAUSTIVE, GREEDY

NUISANCE = 1


def problem():
    """Three factors on a grid, four times over; latent 0 is robust and crude, 1 precise and fragile, 2 robust."""
    grid = np.array(list(itertools.product(range(4), range(5), range(6))) * 4)
    latents = np.column_stack(
        [
            grid[:, 0] // 2,
            grid[:, 0] + 0.1 * grid[:, NUISANCE],
            grid[:, 2],
            np.full(len(grid), 0.5),
        ]
    ).astype(float)
    return grid, latents


def choose(**options):
    chosen = {"nuisance_factors": NUISANCE, "estimator": DecisionTreeClassifier(), "progress": False, **options}
    target = chosen.pop("target", 0)
    return choose_features(*problem(), target, **chosen)


@pytest.fixture(scope="module")
def result():
    return choose()


def test_robustness_is_that_against_a_shift_of_the_nuisance(result):
    factors, latents = problem()
    expected = [
        domain_shift_robustness(factors, latents, latent_dims=[latent], shifted_factors=[NUISANCE]).irs
        for latent in range(3)
    ]
    np.testing.assert_allclose(result.robustness[:3], expected)
    assert result.robustness[0] == result.robustness[2] == pytest.approx(1.0)
    # z = g_0 + 0.1 g_1: shifts move it by 0.2 at most, anything by 1.5 + 0.2.
    assert result.robustness[1] == pytest.approx(1 - 0.2 / 1.7)
    assert np.isnan(result.robustness[3])


def test_demanding_robustness_costs_prediction(result):
    np.testing.assert_allclose(result.thresholds, np.unique(result.robustness[:3]))
    lax, strict = result.choices
    assert lax.passing == (0, 1, 2)
    assert lax.chosen == (1,)
    assert lax.score == pytest.approx(1.0)
    assert strict.passing == (0, 2)
    assert strict.chosen == (0,)
    assert 0.4 < strict.score < 0.6
    assert result.baseline_score == pytest.approx(0.25, abs=0.01)


def test_group_robustness_is_that_of_the_chosen_set(result):
    assert result.choices[0].group_robustness == pytest.approx(result.robustness[1])
    assert result.choices[1].group_robustness == pytest.approx(1.0)


def test_every_subset_was_tried(result):
    assert {choice.search for choice in result.choices} == {EXHAUSTIVE}
    assert len(result.scores_by_set) == 7
    assert result.choices[0].score == max(result.scores_by_set.values())


def test_greedy_search_says_so():
    found = choose(exhaustive_limit=2)
    assert [choice.search for choice in found.choices] == [GREEDY, EXHAUSTIVE]
    assert found.choices[0].chosen == (1,)
    assert (0, 1, 2) in found.scores_by_set
    assert len(choose(exhaustive_limit=0, thresholds=[0.0]).scores_by_set) == 6


def test_greedy_search_joins_latents_that_only_work_together():
    rng = np.random.default_rng(0)
    grid = np.array(list(itertools.product(range(4), range(5))) * 30)
    latents = np.column_stack([grid[:, 0] % 2, grid[:, 0] // 2, rng.normal(size=(len(grid), 2))])
    for limit in (0, 4):
        found = choose_features(
            grid,
            latents,
            0,
            nuisance_factors=[1],
            thresholds=[-1.0],
            estimator=DecisionTreeClassifier(),
            exhaustive_limit=limit,
            progress=False,
        )
        assert found.choices[0].chosen == (0, 1)
        assert found.choices[0].score == pytest.approx(1.0)


def test_no_latent_passes():
    choice = choose(thresholds=[1.5, 0.0]).choices[-1]
    assert choice.passing == choice.chosen == ()
    assert np.isnan(choice.score)


def test_scores_never_rise_with_the_threshold():
    rng = np.random.default_rng(3)
    factors = np.column_stack([rng.integers(0, size, 600) for size in (3, 4)])
    latents = factors @ rng.normal(size=(2, 4)) + 0.3 * rng.normal(size=(600, 4))
    found = choose_features(
        factors, latents, 0, nuisance_factors=1, estimator=DecisionTreeClassifier(max_depth=3), progress=False, cv=3
    )
    assert len(found.choices) == 4
    assert (np.diff(found.best_scores) <= 0).all()


def test_any_scorer_splitter_and_target():
    factors, _ = problem()
    response = factors[:, 0] + 0.5 * factors[:, 2] + 0.25
    found = choose(
        target=response,
        estimator=LinearRegression(),
        scoring="neg_mean_absolute_error",
        cv=KFold(4, shuffle=True, random_state=0),
        thresholds=[0.0],
    )
    assert {1, 2} <= set(found.choices[0].chosen)
    assert -0.2 < found.choices[0].score < 0
    assert found.settings["scoring"] == "neg_mean_absolute_error"
    assert found.settings["num_folds"] == 4
    names = np.array(["a", "b", "c", "d"])[factors[:, 0]]
    named = choose(target=names, estimator=LogisticRegression(), scoring="balanced_accuracy", thresholds=[0.0])
    assert named.choices[0].score > 0.9


def test_default_estimator_classifies_classes_and_regresses_numbers():
    factors, _ = problem()
    rng = np.random.default_rng(0)
    classes = choose(estimator=None, thresholds=[0.95], cv=2)
    numbers = choose(estimator=None, thresholds=[0.95], cv=2, target=factors[:, 2] + 0.1 * rng.normal(size=480))
    assert "Classifier" in classes.to_dict()["settings"]["estimator"]
    assert "Regressor" in numbers.to_dict()["settings"]["estimator"]
    assert numbers.choices[0].chosen == (2,)
    assert numbers.choices[0].score > 0.95


def test_seed_decides_and_threads_do_not():
    runs = [choose(seed=seed, n_jobs=n_jobs, cv=3).scores_by_set for seed, n_jobs in ((1, 1), (1, 2), (2, 1))]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_plain_values(result):
    values = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert values["robustness"][3] is None
    assert values["choices"][0]["chosen"] == [1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": 1}, "target 1 is among the nuisance factors"),
        ({"target": 3}, "target holds 3, out of range"),
        ({"target": np.zeros(480)}, "single value"),
        ({"target": np.zeros(3)}, r"or have shape \(480,\); got \(3,\)"),
        ({"nuisance_factors": []}, "nuisance_factors is empty"),
        ({"thresholds": [np.nan]}, "thresholds must be finite"),
        ({"cv": 1}, "cv must be an integer of at least 2"),
        ({"target": np.arange(480) // 479}, "class 1 of the target has 1 samples, too few for 5 folds"),
        ({"robustness_options": {"distance": "l3"}}, "distance must be one of"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        choose(**options)


def test_collapsed_codes_have_nothing_to_choose_from():
    factors, latents = problem()
    with pytest.raises(ValueError, match="no latent has a robustness against factors"):
        choose_features(factors, np.full_like(latents, 0.1), 0, nuisance_factors=NUISANCE, progress=False)


def test_thin_support_is_said_once():
    factors, latents = problem()
    rows = np.random.default_rng(0).permutation(120)[:50]
    with pytest.warns(SupportWarning, match="meet one realisation") as caught:
        found = choose_features(
            factors[rows],
            latents[rows],
            0,
            nuisance_factors=NUISANCE,
            thresholds=[0.0],
            estimator=DecisionTreeClassifier(),
            cv=2,
            progress=False,
        )
    assert len(caught) == len(found.notes) == 1
