"""What counts as a score, and how runs are shared out."""

import types

import numpy as np
import pytest

from irs_plugin import disentanglement_score
from irs_plugin.robustness import wrapping


def grid():
    factors = np.array([[a, b] for a in range(4) for b in range(3)])
    return factors, factors.astype(float)


def test_numbers_and_arrays_are_called_score():
    assert wrapping.named_scores(0.25)["score"] == 0.25
    np.testing.assert_array_equal(wrapping.named_scores([1, 2])["score"], [1.0, 2.0])


def test_mappings_keep_their_numbers_only():
    found = wrapping.named_scores({"IRS": 0.5, "parents": [0, 1], "names": ["a", "b"], "reason": None, "ok": True})
    assert sorted(found) == ["IRS", "parents"]


def test_results_give_their_scores():
    found = wrapping.named_scores(disentanglement_score(*grid()))
    assert sorted(found) == ["avg_score", "disentanglement_scores", "irs_matrix", "mean_score"]
    assert found["avg_score"] == pytest.approx(1.0)
    assert wrapping.named_scores(types.SimpleNamespace(irs=0.5, empida=2.0))["irs"] == 0.5


@pytest.mark.parametrize("result", [None, "high", {"name": "x"}, object()])
def test_anything_else_is_refused(result):
    with pytest.raises(ValueError, match="a score must return a number"):
        wrapping.named_scores(result)


def test_infinity_is_refused():
    with pytest.raises(ValueError, match="infinite 'IRS'"):
        wrapping.named_scores({"IRS": -np.inf})


def test_streams_differ_and_repeat():
    for seed in (3, np.random.default_rng(3), np.random.RandomState(3)):
        first, second = wrapping.spawn(seed, 2)
        assert first.random() != second.random()
    assert wrapping.spawn(3, 2)[1].random() == wrapping.spawn(3, 2)[1].random()
    with pytest.raises(ValueError, match="seed must be an integer"):
        wrapping.spawn("three", 1)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_outcomes_come_in_the_order_of_their_arguments(n_jobs):
    outcomes = wrapping.run_tasks(lambda x: x * x, ((x,) for x in range(20)), total=20, n_jobs=n_jobs, progress=False)
    assert outcomes == [x * x for x in range(20)]


def test_progress_bar_goes_to_standard_error_and_can_be_silenced(capsys):
    wrapping.run_tasks(abs, [(1,)], total=1, n_jobs=1, description="a title")
    shown = capsys.readouterr()
    assert "a title" in shown.err
    assert shown.out == ""
    wrapping.run_tasks(abs, [(1,)], total=1, n_jobs=1, description="a title", progress=False)
    assert capsys.readouterr().err == ""


def test_moments_leave_out_what_is_undefined():
    samples = np.array([[1.0, np.nan, np.nan], [3.0, 5.0, np.nan], [5.0, 7.0, np.nan]])
    moments = wrapping.finite_moments(samples)
    np.testing.assert_allclose(moments["mean"], [3.0, 6.0, np.nan])
    np.testing.assert_allclose(moments["sd"], [2.0, np.sqrt(2.0), np.nan])
    np.testing.assert_allclose(moments["min"], [1.0, 5.0, np.nan])
    np.testing.assert_allclose(moments["max"], [5.0, 7.0, np.nan])


def test_changing_shapes_are_refused():
    with pytest.raises(ValueError, match="must agree"):
        wrapping.stack_scores([{"score": np.zeros(2)}, {"score": np.zeros(3)}])
