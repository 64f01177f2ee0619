"""Estimates of cost and time, and the line on the terminal."""

import json

import pytest

from irs_plugin.sweep import steps
from irs_plugin.sweep.costs import Costs, makespan
from irs_plugin.sweep.plan import plan_study
from irs_plugin.sweep.progress import Progress, duration
from irs_plugin.sweep.steps import DONE, FAILED, NOT_RUN, RUNNING, Outcome


@pytest.fixture
def models(tiny_study, tmp_path):
    return plan_study(tiny_study, tmp_path / "out", visualize=False).models


def missing(models):
    return {model.name: model.missing() for model in models}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (89, "89 s"), (90, "2 min"), (3600, "60 min"), (11100, "3 h 05 min"), (187200, "2 d 4 h")],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_makespan_is_that_of_workers_who_take_the_next_model_when_free():
    assert makespan([4, 3, 2, 1], 1) == 10
    # One worker does 4 and 1, the other 3 and 2.
    assert makespan([4, 3, 2, 1], 2) == 5
    assert makespan([4, 3], 8) == 4
    assert makespan([], 3) == 0


def test_reference_then_measured(models):
    costs = Costs({"train/beta_vae": 0.5, "metrics/dci": 40.0})
    train, dci = models[0].steps[0], models[0].steps[2]
    assert (train.name, dci.name) == ("train", "metrics/mean/dci")
    assert costs.seconds(train) == 3.0
    assert costs.seconds(dci) == 40.0
    assert costs.seconds(models[1].steps[0]) is None
    costs.learn(train, 12.0)
    # The other beta-VAE has as many steps; FactorVAE's cost something else.
    assert costs.seconds(models[2].steps[0]) == 12.0
    assert costs.seconds(models[1].steps[0]) is None
    costs.learn(models[2].steps[0], 24.0)
    assert costs.seconds(train) == 18.0
    assert costs.measured() == {"train/beta_vae": 3.0}


def test_costs_are_read_off_results(tiny_study, tmp_path):
    plan = plan_study(tiny_study, tmp_path / "out")
    step = plan.models[0].steps[-1]
    path = step.folder / step.mark
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"evaluation_results.elapsed_time": 7.5}))
    costs = Costs({})
    costs.learn_from_results(plan)
    assert costs.measured() == {f"metrics/{step.folder.name}": 7.5}


def test_training_steps_may_stand_in_the_file(tiny_study, tmp_path):
    from irs_plugin.studies import STUDIES

    model = plan_study(STUDIES["irs_study_v1"](), tmp_path, only=[0]).models[0]
    assert Costs({"train/vae": 0.1}).seconds(model.steps[0]) == pytest.approx(30000.0)


def test_time_left_falls_as_steps_end(models):
    costs = Costs({"train/beta_vae": 10.0, "train/factor_vae": 10.0, "postprocess": 2.0, "metrics/dci": 8.0})
    progress = Progress(missing(models), lambda: 2, costs)
    # Each model: 60 + 2 + 8 seconds and two metrics that nobody measured; two models on one of the workers.
    assert progress.time_left(2) == (140.0, True)
    progress(Outcome("0", "train", RUNNING, seconds=30.0))
    progress(Outcome("1", "train", RUNNING, seconds=30.0))
    assert progress.time_left(2) == (110.0, True)
    for event in 2 * [Outcome("0", "train", DONE, 60.0, whole=60.0)]:
        progress(event)
    assert progress._bar.n == 1
    for name in ("train", "postprocess/mean", "metrics/mean/dci", "metrics/mean/irs_chance", "metrics/mean/sap_score"):
        for model in models:
            progress(Outcome(model.name, name, DONE, 1.0, whole=1.0))
    assert progress.time_left(2) == (0.0, False)
    progress.close()


def test_a_training_under_way_tells_how_fast_it_is(models):
    progress = Progress(missing(models[:1]), lambda: 1, Costs({"postprocess": 0.0}))
    progress(Outcome("0", "train", RUNNING, seconds=100.0, fraction=0.25, whole=400.0))
    assert progress.time_left(1) == (300.0, True)
    progress.close()


def test_a_training_that_goes_on_counts_from_where_it_was(models):
    costs = Costs({"postprocess": 0.0})
    progress = Progress(missing(models[:1]), lambda: 1, costs)
    progress(Outcome("0", "train", RUNNING, seconds=30.0, fraction=0.75, whole=200.0))
    assert progress.time_left(1) == (50.0, True)
    progress(Outcome("0", "train", DONE, seconds=80.0, fraction=1.0, whole=230.0))
    progress.close()
    assert costs.seconds(models[0].steps[0]) == 230.0
    # Another one ended before it told how fast it is: nothing is learned of that.
    progress = Progress(missing(models[2:3]), lambda: 1, costs)
    progress(Outcome("2", "train", DONE, seconds=20.0, fraction=1.0))
    assert costs.seconds(models[0].steps[0]) == 230.0
    progress.close()


@pytest.mark.parametrize(
    ("told", "ended", "whole"),
    [
        # (seconds, fraction), the first of them before the first update; then the seconds at the end.
        ([], 7.0, 7.0),
        ([(10.0, 0.0), (20.0, 0.1)], None, 110.0),
        ([(10.0, 0.0), (11.0, 0.01)], None, 0.0),
        ([(10.0, 0.0), (110.0, 1.0)], 130.0, 130.0),
        # Three quarters were done by another process, at the same speed.
        ([(10.0, 0.75), (20.0, 0.85)], None, 110.0),
        ([(10.0, 0.75), (35.0, 1.0)], 55.0, 130.0),
        ([(10.0, 0.99), (11.0, 1.0)], 31.0, 0.0),
        ([(10.0, 1.0)], 31.0, 0.0),
    ],
)
def test_what_a_training_takes_is_seen_from_a_part_of_it(monkeypatch, told, ended, whole):
    now = 0.0
    monkeypatch.setattr(steps.time, "monotonic", lambda: now)
    clock = steps._Clock()
    for seconds, fraction in told:
        now = seconds
        clock.tell(fraction)
    now = now if ended is None else ended
    assert clock.whole(ended is not None) == pytest.approx(whole)


def test_failures_are_told_at_once(models, capsys):
    progress = Progress(missing(models[:1]), lambda: 1, Costs({}))
    progress(Outcome("0", "train", FAILED, 1.0, "ValueError: no such thing"))
    progress(Outcome("0", "postprocess/mean", NOT_RUN, reason="train failed"))
    progress.close()
    shown = capsys.readouterr().err
    assert "failed: model 0, train: ValueError: no such thing" in shown
    assert "2/5 steps" in shown
    assert "1 failed" in shown


def test_workers_come_and_go(models, capsys):
    there = []
    progress = Progress(
        missing(models), lambda: len(there), Costs(dict.fromkeys(("train/beta_vae", "train/factor_vae"), 10.0))
    )
    progress._interval = 0.0
    for workers, told in (
        (0, "no worker at the moment; at least 3 min left with 1 worker"),
        (1, ", at least 3 min left with 1 worker"),
        (3, ", at least 60 s left with 3 workers"),
    ):
        there[:] = range(workers)
        progress(None)
        assert told in capsys.readouterr().err
    progress.close()
