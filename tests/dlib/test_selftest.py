"""The command that runs disentanglement_lib's own tests, tried on the smallest of them."""

from __future__ import annotations

import json

import pytest

from irs_plugin.dlib import selftest

MODULE = "disentanglement_lib.utils.results_test"


def test_fast_selection_is_part_of_all():
    everything, fast = selftest.test_modules(), selftest.test_modules("fast")
    assert len(everything) == 28
    assert set(everything) - set(fast) == selftest.SLOW
    with pytest.raises(ValueError, match="'all' or 'fast', got 'some'"):
        selftest.test_modules("some")


def test_list_of_known_failures_is_checked(monkeypatch):
    def outcome(*failed):
        return selftest.Outcome(MODULE, passed=("T.a",), failed=failed, skipped=(), seconds=1.0)

    monkeypatch.setattr(selftest, "KNOWN_FAILURES", {f"{MODULE}::T.b": "a reason"})
    assert outcome("T.b").unexpected() == []
    assert outcome("T.b", "T.c").unexpected() == [f"{MODULE}::T.c failed"]
    assert outcome().unexpected() == [f"{MODULE}::T.b is a known failure, but did not fail: strike it from the list"]
    assert "a reason" in selftest.page([outcome("T.b")])
    monkeypatch.setattr(selftest, "KNOWN_FAILURES", {"disentanglement_lib.gone_test::T.b": "a reason"})
    with pytest.raises(ValueError, match=r"disentanglement_lib has no disentanglement_lib\.gone_test"):
        selftest.test_modules()


def test_runs_and_resumes(tmp_path, monkeypatch, environment):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    announced = []
    record = tmp_path / "record.json"
    (outcome,) = selftest.run([MODULE], record, resume=False, announce=announced.append)
    assert len(outcome.passed) == 5
    assert outcome.failed == ()
    assert outcome.skipped == ("ResultsTest.test_session",)
    assert selftest.run([MODULE], record, resume=True, announce=announced.append) == [outcome]
    assert announced == [f"[1/1] {MODULE}"]
    assert "| utils.results_test | 5 | 0 | 1 |" in selftest.table([outcome])

    kept = json.loads(record.read_text())
    kept["versions"]["numpy"] = "0.1"
    record.write_text(json.dumps(kept))
    with pytest.raises(ValueError, match="made with other versions"):
        selftest.run([MODULE], record, resume=True, announce=announced.append)


def test_a_module_that_dies_has_failed(tmp_path, monkeypatch, environment):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    outcome = selftest.run_module("disentanglement_lib.nothing_test")
    assert outcome.failed == ("(the module died before its tests)",)
    assert outcome.unexpected()
