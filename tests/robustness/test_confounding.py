"""Confounded closed forms: conditioning stays biased, the right adjustments converge; and where each cannot work.

C is binary, G_1 and G_2 depend on C, and z = g_1 + c · g_2. Conditioning estimates g_1 + c · E[g_2 | g_1]; the truth is
g_1 + c · E[g_2].
"""

import warnings

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Perceptron

import irs_plugin
from irs_plugin.robustness.adjustment import SupportWarning, make_adjuster
from irs_plugin.robustness.expectations import interventional_expectation

INFLUENCE = 0.5
P_FIRST, P_SECOND = (0.2, 0.8), (0.3, 0.7)  # p(g = 1 | c) for c = 0, 1
TRUTH = np.array([0.0, 1.0]) + INFLUENCE * 0.5


def confounded(num_samples, seed):
    rng = np.random.default_rng(seed)
    confounder = rng.integers(0, 2, num_samples)
    first = (rng.random(num_samples) < np.take(P_FIRST, confounder)).astype(int)
    second = (rng.random(num_samples) < np.take(P_SECOND, confounder)).astype(int)
    return np.column_stack([first, second]), (first + INFLUENCE * second)[:, None], confounder


def error(num_samples, adjustment, seed):
    gen_factors, latents, confounder = confounded(num_samples, seed)
    options = {"confounder": confounder} if adjustment == "confounder" else {}
    found = interventional_expectation(gen_factors, latents, 0, adjustment=adjustment, **options)
    return np.abs(found.values[:, 0] - TRUTH).max()


def mean_error(num_samples, adjustment):
    return np.mean([error(num_samples, adjustment, seed) for seed in range(8)])


@pytest.mark.parametrize("adjustment", ["counts", "propensity", "confounder"])
def test_the_right_adjustments_converge(adjustment):
    errors = [mean_error(n, adjustment) for n in (500, 50_000)]
    assert errors[1] < 0.2 * errors[0]
    assert errors[1] < 0.003


def test_conditioning_stays_biased_by_the_closed_form():
    # E[g_2 | g_1 = 1] = Σ_c p(c | g_1 = 1) p(g_2 = 1 | c) = 0.2 · 0.3 + 0.8 · 0.7 = 0.62, so the bias is 0.5 · 0.12.
    assert mean_error(200_000, "none") == pytest.approx(INFLUENCE * 0.12, abs=0.003)


@pytest.mark.parametrize(("adjustment", "tolerance"), [("counts", 0.002), ("propensity", 0.002), ("confounder", 0.005)])
def test_score_of_the_confounded_problem(adjustment, tolerance):
    """E[Z | do(g_1)] = g_1 + c/2, so PIDA = c/2; the farthest code lies (1 + c)/2 from the mean: IRS = 1/(1 + c)."""
    gen_factors, latents, confounder = confounded(200_000, seed=0)
    options = {"confounder": confounder} if adjustment == "confounder" else {}
    found = irs_plugin.interventional_robustness(
        gen_factors,
        latents,
        latent_dims=0,
        fixed_factors=0,
        intervened_factors=1,
        adjustment=adjustment,
        **options,
    )
    assert found.irs == pytest.approx(1.0 / (1.0 + INFLUENCE), abs=tolerance)
    whole = irs_plugin.disentanglement_score(gen_factors, latents, adjustment=adjustment, **options)
    assert whole.irs_matrix[0, 0] == pytest.approx(found.irs, abs=1e-12)
    assert found.support["fixed"]["min_support"] == 1.0
    assert found.support["fixed"]["min_effective_sample_size"] < 100_000


def test_conditioning_scores_the_confounded_problem_wrongly():
    """Conditioning gives E[Z | g_1] = g_1 + c (0.38 or 0.62): PIDA 0.31 instead of 0.25 in both cells."""
    gen_factors, latents, _ = confounded(200_000, seed=0)
    found = irs_plugin.interventional_robustness(
        gen_factors, latents, latent_dims=0, fixed_factors=0, intervened_factors=1
    )
    assert found.irs == pytest.approx(1.0 - 0.31 / 0.75, abs=0.005)


def test_a_full_grid_needs_no_adjustment_and_gets_none():
    gen_factors = np.array([[a, b, c] for a in range(4) for b in range(3) for c in range(2)])
    latents = np.random.default_rng(0).normal(size=(24, 2))
    plain = irs_plugin.disentanglement_score(gen_factors, latents)
    adjusted = irs_plugin.disentanglement_score(gen_factors, latents, adjustment="counts")
    np.testing.assert_allclose(adjusted.irs_matrix, plain.irs_matrix, rtol=0, atol=1e-12)


def test_any_classifier_estimates_the_propensity():
    gen_factors, latents, _ = confounded(20_000, seed=3)
    for classifier in (LogisticRegression(C=100.0), HistGradientBoostingClassifier(max_iter=20, random_state=0)):
        found = interventional_expectation(gen_factors, latents, 0, adjustment="propensity", classifier=classifier)
        assert np.abs(found.values[:, 0] - TRUTH).max() < 0.02


class DescendingClasses(LogisticRegression):
    """A classifier whose columns run from the largest class to the smallest."""

    def fit(self, features, labels):
        super().fit(features, labels)
        self.classes_ = self.classes_[::-1]
        return self

    def predict_proba(self, features):
        one = 1.0 / (1.0 + np.exp(-(features @ self.coef_.T + self.intercept_)))
        return np.hstack([one, 1.0 - one])


def test_probabilities_are_taken_in_the_classifiers_own_order_of_classes():
    gen_factors, latents, _ = confounded(20_000, seed=3)
    ascending, descending = (
        interventional_expectation(gen_factors, latents, 0, adjustment="propensity", classifier=classifier()).values
        for classifier in (LogisticRegression, DescendingClasses)
    )
    np.testing.assert_allclose(descending, ascending, rtol=0, atol=1e-9)


def test_a_classifier_of_a_continuous_confounder():
    rng = np.random.default_rng(0)
    confounder = rng.normal(size=50_000)
    gen_factors = (rng.random((50_000, 2)) < 1.0 / (1.0 + np.exp(-1.5 * confounder[:, None]))).astype(int)
    latents = gen_factors[:, :1] + INFLUENCE * gen_factors[:, 1:]
    options = {"adjustment": "confounder", "confounder": confounder, "classifier": LogisticRegression()}
    found = interventional_expectation(gen_factors, latents, 0, **options)
    assert np.abs(found.values[:, 0] - TRUTH).max() < 0.01
    with pytest.raises(ValueError, match=r"50000 values.*determines factors.*classifier"):
        interventional_expectation(gen_factors, latents, 0, adjustment="confounder", confounder=confounder)


def test_counts_of_singletons_are_refused_and_the_alternative_named():
    rng = np.random.default_rng(0)
    gen_factors, latents = rng.integers(0, 50, (400, 4)), rng.normal(size=(400, 1))
    with pytest.raises(
        ValueError, match=r"would adjust nothing.*only one of their combination.*propensity.*confounder"
    ):
        interventional_expectation(gen_factors, latents, 0, adjustment="counts")


def test_counts_that_hardly_overlap_are_refused():
    """A cell's own samples always meet half of the rest distribution here; that must not pass for support."""
    rng = np.random.default_rng(0)
    confounder = rng.integers(0, 2, 3_000)
    first = np.where(rng.random(3_000) < 0.8, confounder, 1 - confounder)
    others = rng.binomial(9, 0.4 + 0.2 * confounder[:, None], (3_000, 7))
    gen_factors = np.column_stack([first, others])
    with pytest.raises(ValueError, match=r"would adjust nothing.*meets 0\.9 % of the rest"):
        interventional_expectation(gen_factors, first[:, None], 0, adjustment="counts")


def test_low_support_is_said():
    gen_factors, latents, _ = confounded(2_000, seed=0)
    # With the third factor 0 nearly always goes g_1 = 0.
    rest = np.where(np.arange(2_000) < 20, 1 - gen_factors[:, 0], gen_factors[:, 0])
    kept = ~((gen_factors[:, 0] == 1) & (rest == 0))
    factors = np.column_stack([gen_factors[:, 0], rest])[kept]
    with pytest.warns(SupportWarning, match=r"meets only"):
        found = interventional_expectation(factors, latents[kept], 0, adjustment="counts", min_support=0.9)
    assert found.support.min() < 0.9
    assert any("meets only" in note for note in found.notes)


def test_tiny_effective_sample_size_is_said():
    # Three of the 2,000 samples with g_1 = 0 have to speak for the half of the distribution with g_2 = 1.
    factors = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [1_997, 3, 3, 1_997], axis=0)
    with pytest.warns(SupportWarning, match="smallest effective sample size"):
        found = interventional_expectation(factors, factors[:, 1:] + 0.0, 0, adjustment="counts")
    # Weights of 2000/1997 and 2000/3: (Σw)² / Σw² = 4000² / (2000²/1997 + 2000²/3).
    np.testing.assert_allclose(found.effective_sample_size, 4.0 / (1.0 / 1_997 + 1.0 / 3.0))


def test_clipping_is_counted():
    gen_factors, latents, confounder = confounded(5_000, seed=0)
    options = {"adjustment": "confounder", "confounder": confounder, "classifier": LogisticRegression()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SupportWarning)
        found = interventional_expectation(gen_factors, latents, 0, clip=0.5, **options)
    rare = (gen_factors[:, 0] != confounder).sum()  # p(g_1 | c) = 0.2 there
    assert found.num_clipped == rare
    assert any("raised to 0.5" in note for note in found.notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"adjustment": "magic"}, "must be one of 'none', 'counts', 'propensity', 'confounder'; got 'magic'"),
        ({"adjustment": "confounder"}, "needs confounder="),
        ({"confounder": [0, 1]}, "does not use it"),
        ({"adjustment": "counts", "classifier": LogisticRegression()}, "uses no classifier"),
        ({"adjustment": "propensity", "num_folds": 1}, "num_folds must be an integer of at least 2"),
        ({"adjustment": "propensity", "clip": 1.0}, r"clip must be a number in \[0.0, 1.0\)"),
        ({"adjustment": "propensity", "min_support": 2}, "min_support"),
        ({"adjustment": "confounder", "confounder": [[[0]]]}, "confounder must have shape"),
        ({"adjustment": "confounder", "confounder": [0.0, float("nan")]}, "confounder must be finite"),
    ],
)
def test_options_are_checked_before_work_starts(options, message):
    with pytest.raises(ValueError, match=message):
        make_adjuster(**options)


def test_data_that_an_adjustment_cannot_work_on():
    gen_factors, latents, confounder = confounded(500, seed=0)
    with pytest.raises(ValueError, match=r"determines factors \[0\]"):
        interventional_expectation(
            gen_factors, latents, 0, adjustment="confounder", confounder=gen_factors[:, 0] + 2 * confounder
        )
    with pytest.raises(ValueError, match="confounder has 499 samples and gen_factors has 500"):
        interventional_expectation(gen_factors, latents, 0, adjustment="confounder", confounder=confounder[1:])
    rare = gen_factors.copy()
    rare[7, 0] = 5
    with pytest.raises(ValueError, match=r"sample 7 occurs 1 times.*num_folds"):
        interventional_expectation(rare, latents, 0, adjustment="propensity")
    with pytest.raises(ValueError, match="Perceptron does not"):
        interventional_expectation(gen_factors, latents, 0, adjustment="propensity", classifier=Perceptron())
