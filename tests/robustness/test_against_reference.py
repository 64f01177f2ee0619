"""Every fast path against the slow reference, on random small problems."""

from __future__ import annotations

import numpy as np
import pytest
import reference_implementation as reference
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import StratifiedKFold
from strategies import as_lists, expectations, groups, problems

from irs_plugin import (
    DisentanglementStatistics,
    disentanglement_score,
    domain_shift_robustness,
    interventional_robustness,
)
from irs_plugin.robustness.adjustment import SupportWarning
from irs_plugin.robustness.expectations import interventional_expectation

pytestmark = pytest.mark.filterwarnings(f"ignore::{SupportWarning.__module__}.{SupportWarning.__name__}")

thorough = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
brief = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def or_refused(call):
    """The result, or a discarded example where the adjustment says that it cannot work on these data."""
    try:
        return call()
    except ValueError as error:
        assume("would adjust nothing" not in str(error) and "determines factors" not in str(error))
        assume("cannot be cross-fitted" not in str(error))
        raise


def assert_same_expectation(found, expected):
    """Cells may come in any order, so they are matched by realisation."""
    rows = [tuple(row) for row in found.realisations.tolist()]
    assert sorted(rows) == sorted(expected)
    for k, row in enumerate(rows):
        cell = expected[row]
        scale = max(map(abs, cell.value)) + 1
        assert found.values[k] == pytest.approx(cell.value, rel=1e-10, abs=1e-10 * scale)
        assert found.counts[k] == len(cell.rows)
        if cell.support is not None:
            assert found.support[k] == pytest.approx(cell.support, abs=1e-12)
        assert found.effective_sample_size[k] == pytest.approx(cell.effective_sample_size, rel=1e-10)


@thorough
@given(st.data(), problems(), expectations())
def test_conditioning(data, problem, how):
    gen_factors, latents = problem
    group = data.draw(groups(gen_factors.shape[1]))
    found = interventional_expectation(gen_factors, latents, group, **how)
    assert_same_expectation(found, reference.interventional_expectation(*as_lists(*problem), group, **how))


@thorough
@given(st.data(), problems(min_factors=2), expectations())
def test_adjustment_by_counts(data, problem, how):
    gen_factors, latents = problem
    group = data.draw(groups(gen_factors.shape[1]))
    found = or_refused(lambda: interventional_expectation(gen_factors, latents, group, adjustment="counts", **how))
    expected = reference.interventional_expectation(*as_lists(*problem), group, adjustment="counts", **how)
    assert_same_expectation(found, expected)


@thorough
@given(st.data(), problems(min_factors=2), expectations(), st.integers(1, 2))
def test_adjustment_by_an_observed_confounder(data, problem, how, num_confounders):
    gen_factors, latents = problem
    group = data.draw(groups(gen_factors.shape[1]))
    size = len(latents) * num_confounders
    values = data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    confounder = np.reshape(values, (len(latents), num_confounders))
    found = or_refused(
        lambda: interventional_expectation(
            gen_factors, latents, group, adjustment="confounder", confounder=confounder, **how
        )
    )
    expected = reference.interventional_expectation(
        *as_lists(*problem), group, adjustment="confounder", confounder=list(map(tuple, confounder.tolist())), **how
    )
    assert_same_expectation(found, expected)


class SmoothedFrequencies(ClassifierMixin, BaseEstimator):
    """p(label | features) by counting, one pseudo-count a label."""

    def fit(self, features, labels):
        self.classes_ = np.unique(labels)
        self.seen_ = {}
        for row, label in zip(np.asarray(features).tolist(), labels, strict=True):
            counts = self.seen_.setdefault(tuple(row), [1.0] * len(self.classes_))
            counts[list(self.classes_).index(label)] += 1
        return self

    def predict_proba(self, features):
        flat = [1.0] * len(self.classes_)
        counts = np.array([self.seen_.get(tuple(row), flat) for row in np.asarray(features).tolist()])
        return counts / counts.sum(axis=1, keepdims=True)

    def predict(self, features):
        return self.classes_[self.predict_proba(features).argmax(axis=1)]


def cross_fitted(features: list, labels: list, num_folds: int, seed: int) -> list:
    """The probability of each sample's own label, from a classifier that has not seen the sample's fold."""
    own = [None] * len(labels)
    names = sorted(set(labels))
    numbers = np.array([names.index(label) for label in labels])
    for seen, unseen in StratifiedKFold(num_folds, shuffle=True, random_state=seed).split(numbers, numbers):
        model = SmoothedFrequencies().fit([features[n] for n in seen], numbers[seen])
        for n in unseen:
            own[n] = model.predict_proba([features[n]])[0][list(model.classes_).index(numbers[n])]
    return own


@settings(brief, suppress_health_check=list(HealthCheck))
@given(st.data(), problems(max_samples=40, min_factors=2, max_values=2), expectations(), st.sampled_from([0.0, 0.3]))
@pytest.mark.parametrize("given_confounder", [False, True])
def test_adjustment_by_a_classifier(given_confounder, data, problem, how, clip):
    """Propensities p(g_S | g_R), or p(g_S | c) where a confounder is given."""
    gen_factors, latents = problem
    factors, codes = as_lists(*problem)
    group = data.draw(groups(gen_factors.shape[1], min_size=1))
    rest = reference.rest_of(group, gen_factors.shape[1])
    assume(rest)
    options = {"adjustment": "propensity"}
    background = [reference.realisation(g, rest) for g in factors]
    if given_confounder:
        confounder = data.draw(st.lists(st.integers(0, 2), min_size=len(codes), max_size=len(codes)))
        options = {"adjustment": "confounder", "confounder": confounder}
        background = [(c,) for c in confounder]
    labels = [reference.realisation(g, group) for g in factors]
    assume(len(set(labels)) > 1 and min(map(labels.count, labels)) >= 2)

    classifier = {"classifier": SmoothedFrequencies(), "num_folds": 2, "seed": 3, "clip": clip}
    found = interventional_expectation(gen_factors, latents, group, **options, **classifier, **how)
    expected = reference.interventional_expectation(
        factors,
        codes,
        group,
        adjustment="propensity",
        propensities={group: cross_fitted(background, labels, 2, 3)},
        clip=clip,
        **how,
    )
    # The support of a fitted classifier is its own notion, tested with the adjustments.
    assert_same_expectation(found, {g: cell._replace(support=None) for g, cell in expected.items()})


def assert_same_disentanglement(found, expected, gen_factors, latents):
    """Equal where the score is defined, marked where it is not."""
    magnitudes = np.abs(np.asarray(latents, dtype=np.float64)).max(axis=0)
    shares = np.array(expected.max_deviations) / np.where(magnitudes > 0, magnitudes, 1)
    assume(((shares < 1e-7) | (shares > 1e-5)).all())  # in between it is a matter of the tolerance
    assert found.active.tolist() == (shares > 1e-5).tolist()
    assert found.max_deviations == pytest.approx(
        np.array(expected.max_deviations), rel=1e-9, abs=1e-12 * max(magnitudes)
    )
    unsupported = found.diagnostics["unsupported_factors"]
    assert unsupported == unsupported_factors(gen_factors, found.settings["replicates"])
    as_dlib = found.settings["factor_weights"] == "uniform" and found.settings["replicates"] == "separate"
    scored = [i for i in range(len(gen_factors[0])) if as_dlib or i not in unsupported]
    best = {}
    for latent in np.flatnonzero(found.active):
        tolerance = 1e-10 + 1e-13 / shares[latent]
        row = np.array(expected.irs_matrix[latent])
        assert found.irs_matrix[latent, scored] == pytest.approx(row[scored], abs=tolerance)
        assert np.isnan(np.delete(found.irs_matrix[latent], scored)).all()
        best[latent] = row[scored].max()
        assert found.disentanglement_scores[latent] == pytest.approx(best[latent], abs=tolerance)
        assert row[found.parents[latent]] == pytest.approx(best[latent], abs=tolerance)
    assert np.isnan(found.irs_matrix[~found.active]).all() and (found.parents[~found.active] == -1).all()
    if best:
        weights = [expected.max_deviations[latent] for latent in best]
        tolerance = 1e-10 + 1e-13 / shares[shares > 1e-5].min()
        assert found.avg_score == pytest.approx(np.average(list(best.values()), weights=weights), abs=tolerance)
        assert found.mean_score == pytest.approx(np.mean(list(best.values())), abs=tolerance)
    else:
        assert found.avg_score == found.mean_score == 0.0 and "collapsed" in found.reason


def unsupported_factors(gen_factors: list, replicates: str) -> list:
    """Factors none of whose values meets two realisations (of the others, or samples): there is nothing to compare."""
    realisations = gen_factors if replicates == "separate" else sorted(set(gen_factors))
    columns = [[g[i] for g in realisations] for i in range(len(gen_factors[0]))]
    return [i for i, column in enumerate(columns) if len(set(column)) == len(column)]


quantiles = st.sampled_from([1.0, 0.99, 0.75, 0.5, 0.0])
conventions = st.fixed_dictionaries(
    {
        "factor_weights": st.sampled_from(["observed", "uniform"]),
        "replicates": st.sampled_from(["mean", "separate"]),
        "diff_quantile": quantiles,
        "normalizer_quantile": quantiles,
    }
)


def or_nothing_to_score(call):
    """The result, or a discarded example where every factor is unsupported."""
    try:
        return or_refused(call)
    except ValueError as error:
        assume("no factor can be scored" not in str(error))
        raise


@thorough
@given(problems(), conventions, expectations())
def test_disentanglement_score(problem, convention, how):
    found = or_nothing_to_score(lambda: disentanglement_score(*problem, **convention, **how))
    factors, codes = as_lists(*problem)
    expected = reference.disentanglement_score(factors, codes, **convention, **how)
    assert_same_disentanglement(found, expected, factors, codes)


@thorough
@given(st.data(), problems(min_factors=2), conventions, expectations(), st.sampled_from(["counts", "confounder"]))
def test_adjusted_disentanglement_score(data, problem, convention, how, adjustment):
    factors, codes = as_lists(*problem)
    how = dict(how, adjustment=adjustment)
    if adjustment == "confounder":
        how["confounder"] = data.draw(st.lists(st.integers(0, 1), min_size=len(codes), max_size=len(codes)))
    found = or_nothing_to_score(lambda: disentanglement_score(*problem, **convention, **how))
    expected = reference.disentanglement_score(factors, codes, **convention, **how)
    assert_same_disentanglement(found, expected, factors, codes)


@thorough
@given(
    st.data(), problems(min_factors=2), st.sampled_from(["mean", "separate"]), st.sampled_from(["observed", "uniform"])
)
def test_statistics_of_batches(data, problem, replicates, factor_weights):
    factors, codes = as_lists(*problem)
    numbers = np.column_stack([np.unique(column, return_inverse=True)[1] for column in problem[0].T])
    convention = {"replicates": replicates, "factor_weights": factor_weights}
    sizes = [data.draw(st.integers(size, size + 2)) for size in numbers.max(axis=0) + 1]
    cut, second = sorted(data.draw(st.lists(st.integers(0, len(codes)), min_size=2, max_size=2)))
    parts = [DisentanglementStatistics(sizes, len(codes[0]), **convention) for _ in range(2)]
    for part, rows in ((0, slice(0, cut)), (1, slice(cut, second)), (1, slice(second, None))):
        if len(numbers[rows]):
            parts[part].update(numbers[rows], problem[1][rows])
    found = or_nothing_to_score(parts[0].merge(parts[1]).compute)
    assert_same_disentanglement(found, reference.disentanglement_score(factors, codes, **convention), factors, codes)


def lopsided(a, b):
    """Not symmetric, so that the order of its arguments shows: moves up count double."""
    return np.where(b > a, 2 * (b - a), a - b).sum(axis=-1)


def drawn_groups(data, problem):
    """L, I and J for a problem; I may be empty and some factors may be in neither."""
    gen_factors, latents = problem
    latent_dims = data.draw(groups(latents.shape[1], min_size=1))
    intervened = data.draw(groups(gen_factors.shape[1], min_size=1))
    fixed = tuple(k for k in data.draw(groups(gen_factors.shape[1])) if k not in intervened)
    return latent_dims, fixed, intervened


def assert_same_robustness(found, expected, quantile):
    """Equal numbers; witnesses where the reference finds the same distance; a reason where there is no score."""
    realisations = [tuple(row) for row in found.realisations.tolist()]
    scale = 1e-9 * (1 + expected.normalizer)
    assert sorted(realisations) == sorted(expected.mpida)
    assert found.empida == pytest.approx(expected.empida, rel=1e-9, abs=scale)
    assert found.normalizer == pytest.approx(expected.normalizer, rel=1e-9, abs=scale)
    fixed = len(found.settings["fixed_factors"])
    pida = {}
    for realisation, distance in zip(found.pida.realisations.tolist(), found.pida.distances, strict=True):
        pida.setdefault(tuple(realisation[:fixed]), []).append(distance)
    for k, g_i in enumerate(realisations):
        distances = sorted(expected.pida[g_i].values())
        assert found.mpida[k] == pytest.approx(expected.mpida[g_i], rel=1e-9, abs=scale)
        assert found.weights[k] == pytest.approx(expected.weights[g_i])
        assert sorted(pida[g_i]) == pytest.approx(distances, rel=1e-9, abs=scale)
        witness = found.witness[k]
        assert witness.fixed == g_i
        # The smallest distance that reaches the quantile; the largest if that is the supremum.
        deciding = distances[int(np.ceil(quantile * (len(distances) - 1) - 1e-9))]
        assert witness.distance == pytest.approx(deciding, rel=1e-9, abs=scale)
    if found.reason is None:
        assert found.irs == pytest.approx(expected.irs, abs=1e-8)
    else:
        assert np.isnan(found.irs) and found.to_dict()["irs"] is None


distances = st.sampled_from(["l2", "l1", "linf", lopsided])
shared_options = st.fixed_dictionaries(
    {
        "diff_quantile": quantiles,
        "normalizer_quantile": quantiles,
        "replicates": st.sampled_from(["mean", "separate"]),
        "distance": distances,
    }
)


def compared_robustness(problem, latent_dims, fixed, intervened, options, how):
    factors, codes = as_lists(*problem)
    found = or_refused(
        lambda: interventional_robustness(
            *problem,
            latent_dims=latent_dims,
            fixed_factors=fixed,
            intervened_factors=intervened,
            return_pida=True,
            **options,
            **how,
        )
    )
    for_reference = dict(options)
    if callable(options["distance"]):
        for_reference["distance"] = lambda a, b: float(options["distance"](np.array(a), np.array(b)))
    expected = reference.interventional_robustness(
        factors, codes, latent_dims, fixed, intervened, **for_reference, **how
    )
    return found, expected


@thorough
@given(st.data(), problems(), shared_options, expectations())
def test_interventional_robustness(data, problem, options, how):
    latent_dims, fixed, intervened = drawn_groups(data, problem)
    found, expected = compared_robustness(problem, latent_dims, fixed, intervened, options, how)
    assert_same_robustness(found, expected, options["diff_quantile"])


@thorough
@given(st.data(), problems(min_factors=2), shared_options, expectations(), st.sampled_from(["counts", "confounder"]))
def test_adjusted_interventional_robustness(data, problem, options, how, adjustment):
    latent_dims, fixed, intervened = drawn_groups(data, problem)
    how = dict(how, adjustment=adjustment)
    if adjustment == "confounder":
        num_samples = len(problem[0])
        how["confounder"] = data.draw(st.lists(st.integers(0, 1), min_size=num_samples, max_size=num_samples))
    found, expected = compared_robustness(problem, latent_dims, fixed, intervened, options, how)
    assert_same_robustness(found, expected, options["diff_quantile"])


@settings(brief, suppress_health_check=list(HealthCheck))
@given(st.data(), problems(max_samples=40, min_factors=2, max_factors=3, max_values=2), expectations())
def test_interventional_robustness_adjusted_by_propensities(data, problem, how):
    """Each of the two expectations of PIDA has propensities of its own."""
    latent_dims, fixed, intervened = drawn_groups(data, problem)
    factors = as_lists(*problem)[0]
    propensities = {}
    for group in (fixed, fixed + intervened):
        labels = [reference.realisation(g, group) for g in factors]
        assume(min(map(labels.count, labels)) >= 2)
        rest = reference.rest_of(group, len(factors[0]))
        if len(set(labels)) == 1:
            propensities[group] = [1.0] * len(factors)
        elif rest:
            background = [reference.realisation(g, rest) for g in factors]
            propensities[group] = cross_fitted(background, labels, 2, 0)
    classifier = {"classifier": SmoothedFrequencies(), "num_folds": 2, "clip": 0.2}
    found = interventional_robustness(
        *problem,
        latent_dims=latent_dims,
        fixed_factors=fixed,
        intervened_factors=intervened,
        adjustment="propensity",
        return_pida=True,
        **classifier,
        **how,
    )
    expected = reference.interventional_robustness(
        *as_lists(*problem),
        latent_dims,
        fixed,
        intervened,
        adjustment="propensity",
        propensities=propensities,
        clip=0.2,
        **how,
    )
    assert_same_robustness(found, expected, 1.0)


@thorough
@given(st.data(), problems(), expectations())
def test_mahalanobis_distance(data, problem, how):
    latent_dims, fixed, intervened = drawn_groups(data, problem)
    selected = np.asarray(problem[1], dtype=np.float64)[:, latent_dims]
    spread = np.linalg.eigvalsh(np.atleast_2d(np.cov(selected, rowvar=False))) if len(selected) > 1 else np.zeros(1)
    assume(spread.min() > 1e-8 * spread.max() and spread.max() > 1e-12)  # collinear latents have a test of their own
    options = {"distance": "mahalanobis"}
    found, expected = compared_robustness(problem, latent_dims, fixed, intervened, options, how)
    assert_same_robustness(found, expected, 1.0)


@thorough
@given(st.data(), problems())
def test_witnesses_and_their_rows(data, problem):
    latent_dims, fixed, intervened = drawn_groups(data, problem)
    found, expected = compared_robustness(problem, latent_dims, fixed, intervened, {"distance": "l2"}, {})
    factors = as_lists(*problem)[0]
    for witness in found.witness:
        distances = expected.pida[witness.fixed]
        assert distances[witness.intervened] == pytest.approx(max(distances.values()), rel=1e-9, abs=1e-9)
        rows = reference.cells(factors, fixed + intervened)[witness.fixed + witness.intervened]
        assert witness.rows.tolist() == rows and witness.num_rows == len(rows)
    worst = found.normalizer_witness
    assert worst.fixed == () and worst.distance == pytest.approx(expected.normalizer)
    assert worst.rows.tolist() == reference.cells(factors, tuple(range(len(factors[0]))))[worst.intervened]


@thorough
@given(st.data(), problems(), expectations())
def test_domain_shift_robustness(data, problem, how):
    latent_dims = data.draw(groups(problem[1].shape[1], min_size=1))
    shifted = data.draw(groups(problem[0].shape[1], min_size=1))
    found = domain_shift_robustness(*problem, latent_dims=latent_dims, shifted_factors=shifted, return_pida=True, **how)
    expected = reference.domain_shift_robustness(*as_lists(*problem), latent_dims, shifted, **how)
    assert_same_robustness(found, expected, 1.0)


@thorough
@given(problems(min_factors=2), st.sampled_from(["mean", "separate"]), quantiles, expectations())
def test_the_general_score_gives_the_disentanglement_score(problem, replicates, quantile, how):
    """Both are the plugin's own; the general path for one latent and one factor is the special one."""
    how = dict(how, replicates=replicates, diff_quantile=quantile)
    special = or_nothing_to_score(lambda: disentanglement_score(*problem, **how))
    num_factors = problem[0].shape[1]
    for latent in np.flatnonzero(special.active):
        for factor in range(num_factors):
            others = reference.rest_of((factor,), num_factors)
            general = interventional_robustness(
                *problem, latent_dims=latent, fixed_factors=factor, intervened_factors=others, **how
            )
            if factor not in special.diagnostics["unsupported_factors"]:
                assert general.normalizer == pytest.approx(special.max_deviations[latent])
            if general.reason is None:
                tolerance = 1e-10 + 1e-12 * float(np.abs(problem[1][:, latent]).max()) / general.normalizer
                assert general.irs == pytest.approx(special.irs_matrix[latent, factor], abs=tolerance)
