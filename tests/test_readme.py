"""What the README names exists."""

import re
from pathlib import Path

import pytest

import irs_plugin
from irs_plugin.cli import COMMANDS
from irs_plugin.config_files import config_names

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_gin_files():
    named = set(re.findall(r"\b(?:models|postprocess|metrics)/\w+\.gin", README))
    assert named and named <= set(config_names())


def test_metrics_table_is_complete():
    rows = [line for line in README.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    presets = set(re.findall(r"metrics/(\w+)\.gin", README))
    files = {
        name.removeprefix("metrics/").removesuffix(".gin") for name in config_names() if name.startswith("metrics/")
    }
    assert files == (named | presets) & files and named <= files


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)]+)\)", README))
def test_links(link):
    assert link.startswith("https://") or (ROOT / link).exists()


def test_commands_and_functions():
    commands = set(re.findall(r"^irs_plugin ([a-z-]+)", README, re.MULTILINE))
    assert commands and commands <= set(COMMANDS)
    assert all(hasattr(irs_plugin, name) for name in re.findall(r"irs_plugin\.(\w+)\(", README))
