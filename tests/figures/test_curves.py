import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.tree import DecisionTreeClassifier

from irs_plugin.figures import convergence, robustness_tradeoff
from irs_plugin.robustness.convergence import convergence as measure_convergence
from irs_plugin.robustness.feature_choice import choose_features


@pytest.fixture
def choice():
    """z0 is g0 and robust; z1 is g0 times 3 plus g1: fine a predictor, but moved by g1."""
    factors = np.random.RandomState(0).randint(4, size=(600, 3))
    codes = np.column_stack([np.minimum(factors[:, 0], 2), 3 * factors[:, 0] + 2 * factors[:, 1]]).astype(float)
    return choose_features(
        factors, codes, 0, nuisance_factors=[1], estimator=DecisionTreeClassifier(), cv=3, n_jobs=1, progress=False
    )


@pytest.fixture
def measured(grid):
    factors, codes = grid
    return measure_convergence(
        factors, codes, sizes=[60, 90, 120], num_draws=3, num_permutations=2, n_jobs=1, progress=False
    )


def test_tradeoff_shows_scores_baseline_and_sets(choice):
    figure = robustness_tradeoff(choice)
    figure.draw_without_rendering()
    above, below = figure.axes
    (steps,) = (artist for artist in above.patches if hasattr(artist, "get_data"))
    values, edges, _ = steps.get_data()
    np.testing.assert_array_equal(values, choice.best_scores)
    # A set that passes a threshold passes every lower one, so its step ends at its own threshold.
    np.testing.assert_array_equal(edges[1:], choice.thresholds)
    assert above.lines[0].get_ydata()[0] == choice.baseline_score
    assert above.get_ylabel() == "score (accuracy)"
    passing = sorted({latent for step in choice.choices for latent in step.passing})
    assert [label.get_text() for label in below.get_yticklabels()] == [f"z{latent}" for latent in passing]
    drawn = [len(bars.get_paths()) for bars in below.collections]
    expected = []
    for latent in passing:
        chosen = sum(latent in step.chosen for step in choice.choices)
        expected += [sum(latent in step.passing for step in choice.choices) - chosen, chosen]
    assert drawn == expected


def test_no_latent_passes(choice):
    nothing = type(choice)(**{**vars(choice), "choices": choice.choices[:0]})
    assert "no latent passes" in robustness_tradeoff(nothing).texts[0].get_text()


def test_convergence_shows_mean_spread_and_chance(measured):
    figure = convergence(measured)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    mean, chance = axes.lines
    np.testing.assert_array_equal(mean.get_xdata(), [60, 90, 120])
    np.testing.assert_array_equal(mean.get_ydata(), measured.curve("avg_score")["mean"])
    np.testing.assert_array_equal(chance.get_ydata(), measured.chance_curve("avg_score"))
    assert [label.get_text() for label in axes.get_xticklabels()] == ["60", "90", "120"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["avg_score", "chance"]


def test_convergence_of_every_active_latent_on_axes_of_the_caller(measured):
    axes = Figure().subplots()
    assert convergence(measured, score="disentanglement_scores", axes=axes) is axes.figure
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["z0", "z1", "z3"]
    assert len(axes.lines) == 2 * 3


def test_unknown_score(measured):
    with pytest.raises(ValueError, match=r"score must be one of .*avg_score.*; got 'irs'"):
        convergence(measured, score="irs")
