"""Processes of their own for what happens at the start of Python or to a whole program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINE = (ROOT / "irs_plugin" / "dlib" / "irs_plugin.pth").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def environment(tmp_path_factory):
    """Environment variables under which Python starts as it does where the package is installed."""
    folder = tmp_path_factory.mktemp("start")
    (folder / "sitecustomize.py").write_text(LINE, encoding="utf-8")
    kept = {key: value for key, value in os.environ.items() if key not in ("IRS_PLUGIN_HOOK", "PYTHONPATH")}
    return {**kept, "PYTHONPATH": os.pathsep.join((str(folder), str(ROOT))), "TF_CPP_MIN_LOG_LEVEL": "2"}


@pytest.fixture(scope="session")
def python(environment):
    """Run Python with the arguments and return the finished process, output as text."""

    def run(*arguments, cwd=None, **variables):
        command = [sys.executable, *map(str, arguments)]
        changed = {**environment, **variables}
        return subprocess.run(command, cwd=cwd, env=changed, capture_output=True, text=True, timeout=900)

    return run
