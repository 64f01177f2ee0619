import math
import statistics
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from irs_plugin.report.comparison import compare, correlations, hyperparameters, natural, rank
from irs_plugin.report.completeness import missing_steps, planned_models
from irs_plugin.results import COLUMNS, Metric


def table(*rows):
    """A tidy table from (model, method, metric, score), or with more in a dictionary at the end."""
    common = {"dataset": "d", "representation": "mean", "evaluation": "e", "hyperparameter": "x.y", "value": 1.0}
    records = []
    for model, method, metric, score, *more in rows:
        record = {"model": model, "method": method, "metric": metric, "score": score, "path": f"{model}/{metric}"}
        records.append(common | record | (more[0] if more else {}))
    return pd.DataFrame(records, columns=list(COLUMNS)).astype(COLUMNS)


def metrics(**directions):
    return {name: Metric(name, name, name, direction, "", "") for name, direction in directions.items()}


@pytest.fixture(scope="module")
def comparison(collection):
    (found,) = compare(collection.scores, collection.metrics, planned_models(collection.study))
    return found


def test_ranking_equals_an_independent_computation(collection, comparison):
    ranking = rank(comparison)
    rows = collection.scores[collection.scores.model != "3"].to_dict("records")
    for measure in comparison.measures:
        means = {}
        for method in comparison.methods:
            scores = [r["score"] for r in rows if r["method"] == method and r["metric"] == measure.label]
            assert ranking.counts.loc[method, measure.label] == len(scores)
            means[method] = statistics.mean(scores)
            assert ranking.means.loc[method, measure.label] == pytest.approx(means[method])
            deviation = ranking.deviations.loc[method, measure.label]
            if len(scores) > 1:
                assert deviation == pytest.approx(statistics.stdev(scores))
            else:
                assert math.isnan(deviation)
        order = sorted(means, key=means.get, reverse=measure.metric.higher_is_better)
        assert [ranking.ranks.loc[method, measure.label] for method in order] == list(range(1, 8))
    names = [measure.label for measure in comparison.headlines]
    for method in comparison.methods:
        mean_rank = statistics.mean(ranking.ranks.loc[method, names])
        assert ranking.mean_ranks[method] == pytest.approx(mean_rank)
    assert ranking.methods == sorted(comparison.methods, key=lambda method: ranking.mean_ranks[method])


def test_collapsed_failed_and_missing_models_are_counted_and_never_averaged(comparison):
    ranking = rank(comparison)
    assert comparison.models.index[comparison.models.collapsed].tolist() == ["3"]
    assert comparison.scores.loc["3", "MIG"] > 0
    assert comparison.usable.loc["3"].isna().all()
    assert ranking.collapsed["beta_vae"] == 1
    assert ranking.totals.tolist() == [2] * 7
    assert (ranking.counts.loc["beta_vae"] == 1).all()
    # Model 9 was never trained, and counts as planned.
    assert (ranking.counts.loc["dip_vae_ii"] == 1).all()
    assert ranking.counts.loc["factor_vae", "DCI"] == ranking.counts.loc["dip_vae_i", "MIG"] == 1


def test_scores_that_are_not_finite_are_missing():
    scores = table(("0", "a", "m", 1.0), ("1", "a", "m", math.inf), ("2", "a", "m", math.nan), ("3", "b", "m", -1.0))
    (found,) = compare(scores, metrics(m=True))
    assert rank(found).counts.m.to_dict() == {"a": 1, "b": 1}
    assert rank(found).means.m.to_dict() == {"a": 1.0, "b": -1.0}


def test_ties_share_the_mean_of_their_places_whatever_the_order_of_a_sum():
    scores = table(
        *((f"a{i}", "a", "m", score) for i, score in enumerate((0.1, 0.2, 0.3))),
        *((f"b{i}", "b", "m", score) for i, score in enumerate((0.3, 0.2, 0.1))),
        ("c", "c", "m", 0.9),
        ("d", "d", "m", 0.0),
    )
    (found,) = compare(scores, metrics(m=True))
    assert rank(found).ranks.m.to_dict() == {"a": 2.5, "b": 2.5, "c": 1.0, "d": 4.0}


def test_lower_is_better_ranks_ascending_and_no_direction_is_not_ranked():
    scores = table(*((m, m, name, x) for m, x in (("a", 1.0), ("b", 2.0)) for name in ("up", "down", "none")))
    (found,) = compare(scores, metrics(up=True, down=False, none=None))
    ranks = rank(found).ranks
    assert ranks.up.to_dict() == {"a": 2.0, "b": 1.0}
    assert ranks.down.to_dict() == {"a": 1.0, "b": 2.0}
    assert ranks.none.isna().all()
    assert rank(found).ranked.to_dict() == {"a": 2, "b": 2}


def test_a_method_alone_is_not_ranked_and_one_without_scores_comes_last():
    scores = table(("0", "b", "m", 0.5), ("1", "a", "m", math.nan))
    (found,) = compare(scores, metrics(m=True))
    ranking = rank(found)
    assert ranking.ranks.m.isna().all()
    assert ranking.mean_ranks.isna().all()
    assert ranking.counts.m.to_dict() == {"a": 0, "b": 1}


def test_several_results_of_a_model_count_once_with_their_mean():
    scores = table(("0", "a", "m", 0.2), ("0", "a", "m", 0.4, {"path": "again"}), ("1", "a", "m", 0.9))
    (found,) = compare(scores, metrics(m=True))
    assert found.repeated == 1
    assert found.scores.m.to_dict() == pytest.approx({"0": 0.3, "1": 0.9})
    assert rank(found).counts.m["a"] == 2


def test_data_sets_and_representations_are_apart():
    scores = table(
        ("0", "a", "m", 0.2),
        ("0", "a", "m", 0.4, {"representation": "sampled"}),
        ("1", "a", "m", 0.6, {"dataset": ""}),
    )
    found = compare(scores, metrics(m=True))
    assert [one.name for one in found] == ["d, mean", "d, sampled", "unknown, mean"]
    assert [one.scores.m.tolist() for one in found] == [[0.2], [0.4], [0.6]]


def test_correlations_equal_scipys_over_common_models(comparison):
    rho, common = correlations(comparison)
    names = [measure.label for measure in comparison.headlines]
    assert rho.columns.tolist() == names
    for one, other in combinations(names, 2):
        pairs = comparison.usable[[one, other]].dropna()
        assert common.loc[one, other] == len(pairs)
        assert rho.loc[one, other] == pytest.approx(spearmanr(pairs[one], pairs[other]).statistic)
    assert common.loc["DCI", "MIG"] == 10


def test_correlations_of_few_models_or_constant_metrics_are_undefined():
    nan = math.nan
    columns = {"x": [1, 2, 3, 4], "few": [1, 2, nan, nan], "flat": [5, 5, 5, 5], "y": [4, 3, 2, nan]}
    scores = table(*((str(i), "a", name, x) for name, values in columns.items() for i, x in enumerate(values)))
    rho, common = correlations(compare(scores, metrics(x=True, few=True, flat=True, y=True))[0])
    assert rho.loc["x", "y"] == -1.0
    assert np.isnan(rho.loc["x", "few"])
    assert np.isnan(rho.loc["x", "flat"])
    assert common.loc["x", "few"] == 2


def test_robustness_is_the_one_with_a_chance_level(comparison):
    assert comparison.robustness.label == "IRS (irs_chance)"
    mean, low, high = comparison.robustness.chance
    assert low < mean < high


def test_hyperparameters_hold_the_models_of_a_method_by_value(comparison):
    found = hyperparameters(comparison)
    assert found["annealed_vae", "annealed_vae.c_max"].value.tolist() == [5.0, 25.0]
    assert found["annealed_vae", "annealed_vae.c_max"].MIG.tolist() == comparison.scores.MIG[["12", "13"]].tolist()
    assert len(found) == 7


def test_models_are_in_the_order_of_their_numbers():
    assert sorted(["m10", "m9", "10", "9", "x²", "m"], key=natural) == ["9", "10", "m", "m9", "m10", "x²"]


def test_missing_steps_are_those_that_were_planned(study, collection):
    found = {missing.step: missing.models for missing in missing_steps(study, collection.study)}
    assert found.pop("metrics/mean/dci") == ("5", "9")
    assert found.pop("train") == found.pop("postprocess/mean") == ("9",)
    assert set(found.values()) == {("9",)}
    assert len(found) == 12


@pytest.mark.parametrize("study", [None, {}, {"models": 3}, {"models": {"0": None}, "metrics": None}])
def test_a_study_that_says_little_is_no_error(study, tmp_path):
    assert all(missing.step == "train" for missing in missing_steps(tmp_path, study))
    planned = planned_models(study)
    assert planned is None or planned.method.tolist() == ["unknown"]
