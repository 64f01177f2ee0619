import argparse
import sys

import pytest
from report.study_tree import METHODS, write_study

from irs_plugin.commands import report


def run(*arguments):
    parser = argparse.ArgumentParser()
    report.add_arguments(parser)
    return report.run(parser.parse_args([str(argument) for argument in arguments]))


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    root = tmp_path_factory.mktemp("study")
    write_study(root, methods=METHODS[:2], evaluations=("mig", "dci"))
    return root


def test_the_page_is_below_the_folder_unless_told_otherwise(study, tmp_path, capsys):
    assert run(study) == 0
    assert capsys.readouterr().out == f"{study / 'report/report.html'}\n"
    assert run(study, "--output", tmp_path / "elsewhere") == 0
    for folder in (study / "report", tmp_path / "elsewhere"):
        assert "irs_study_small" in (folder / "report.html").read_text(encoding="utf-8")
        assert len(list((folder / "figures").iterdir())) == 8


def test_a_report_is_not_among_the_results_of_the_next(study):
    run(study)
    before = (study / "report/report.html").read_text(encoding="utf-8")
    run(study)
    assert (study / "report/report.html").read_text(encoding="utf-8").count("<tr") == before.count("<tr")


def test_event_files(study, tmp_path, capsys):
    pytest.importorskip("tensorboard", reason="tensorboard is not installed")
    assert run(study, "--output", tmp_path, "--tensorboard", tmp_path / "events") == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"tensorboard --logdir {tmp_path / 'events'}"
    assert len(list((tmp_path / "events").glob("[0-9]/events.out.tfevents.*"))) == 4


def test_without_tensorboard_nothing_is_begun(study, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(ValueError, match="pip install tensorboard"):
        run(study, "--output", tmp_path, "--tensorboard", tmp_path / "events")
    assert list(tmp_path.iterdir()) == []


def test_folders_that_do_not_exist_or_hold_nothing_are_refused(tmp_path):
    with pytest.raises(ValueError, match="there is no folder"):
        run(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="there is nothing to report"):
        run(tmp_path)
