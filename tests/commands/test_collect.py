"""Gathering results on the command line."""

import subprocess
import sys

from results.trees import write_flat, write_result

from irs_plugin.cli import main
from irs_plugin.results import read_scores


def test_writes_beside_the_results(tmp_path, capsys):
    write_result(tmp_path / "0" / "metrics" / "mean" / "mig", "mig", {"discrete_mig": 0.25})
    assert main(["collect", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert sorted(printed.out.split()) == [
        str(tmp_path / name) for name in ("results.json", "scores.csv", "scores.parquet")
    ]
    assert printed.err == "", "nothing amiss, and no bar where there is no terminal"
    assert read_scores(tmp_path / "scores.parquet").score.to_list() == [0.25]


def test_writes_elsewhere(tmp_path, capsys):
    write_result(tmp_path / "tree" / "0" / "mig", "mig", {"discrete_mig": 0.25})
    assert main(["collect", str(tmp_path / "tree"), "--output", str(tmp_path / "out")]) == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"results.json", "scores.csv", "scores.parquet"}
    assert [path.name for path in (tmp_path / "tree").iterdir()] == ["0"]


def test_says_what_it_passed_over_and_goes_on(tmp_path, capsys):
    write_result(tmp_path / "0" / "mig", "mig", {"discrete_mig": 0.25})
    write_result(tmp_path / "0" / "mig_again", "mig", {"discrete_mig": 0.25})
    write_flat(tmp_path / "1" / "mig", {})
    (tmp_path / "0" / "failed").mkdir()
    (tmp_path / "0" / "failed" / "model.json").write_text('{"step": "model", "error": "diverged"}')
    assert main(["collect", str(tmp_path)]) == 0
    damaged, failed, twice = capsys.readouterr().err.splitlines()
    assert damaged == ("passed over 1/mig/results/aggregate/evaluation.json: there are no evaluation_results in it")
    assert failed == "failed: model of model 0: diverged"
    assert "MIG of 0, mean" in twice and "0/mig_again/results" in twice
    assert len(read_scores(tmp_path / "scores.csv")) == 2


def test_nothing_readable(tmp_path, capsys):
    write_flat(tmp_path / "1" / "mig", {})
    assert main(["collect", str(tmp_path)]) == 1
    assert "passed over 1/mig" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["1"]


def test_nothing_there(tmp_path, capsys):
    assert main(["collect", str(tmp_path)]) == 2
    assert "nothing below" in capsys.readouterr().err
    assert main(["collect", str(tmp_path / "missing")]) == 2
    assert "there is no folder" in capsys.readouterr().err


def test_without_pyarrow(tmp_path):
    """The table and disentanglement_lib's file are written, and one sentence says how to get the third."""
    write_result(tmp_path / "0" / "mig", "mig", {"discrete_mig": 0.25})
    script = """
import sys
sys.modules["pyarrow"] = None
from irs_plugin.cli import main
sys.exit(main(["collect", sys.argv[1]]))
"""
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    assert [line.rpartition("/")[2] for line in done.stdout.splitlines()] == ["scores.csv", "results.json"]
    (sentence,) = done.stderr.splitlines()
    assert 'pip install "irs_plugin[parquet]"' in sentence
    assert read_scores(tmp_path / "scores.csv").score.to_list() == [0.25]

    (tmp_path / "scores.parquet").write_text("of last year")
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    assert "older one" in done.stderr
