"""The configs command and the files it lists."""

import pytest

from irs_plugin.cli import main
from irs_plugin.config_files import config_names, describe_config, find_config


def test_lists_every_file_with_a_line_about_it(capsys):
    assert main(["configs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name in config_names():
        (line,) = [line for line in lines if line.split()[:1] == [name]]
        assert len(line.split()) > 3


def test_prints_a_path(capsys):
    assert main(["configs", "metrics/irs_paper"]) == 0
    assert capsys.readouterr().out.strip() == str(find_config("metrics/irs_paper.gin"))


def test_unknown_name_answers_with_the_known_ones(capsys):
    assert main(["configs", "metrics/irs_papper"]) == 2
    message = capsys.readouterr().err
    assert "'metrics/irs_papper'" in message and "metrics/irs_paper.gin" in message
    assert len(message.strip().splitlines()) == 1


@pytest.mark.parametrize("name", config_names())
def test_says_what_it_is_for(name):
    assert len(describe_config(find_config(name))) > 15
    text = find_config(name).read_text()
    assert ("irs_plugin" not in text) or text.startswith("import irs_plugin.evaluation\n")
    assert all(len(line) <= 120 for line in text.splitlines())
