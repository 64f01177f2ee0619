"""Wheel and editable installation in a fresh virtual environment: the hook comes and goes with the package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REPORT = """
import sys
print([getattr(finder, "__name__", "") for finder in sys.meta_path].count("IrsPluginHook"))
import disentanglement_lib.utils.resources, irs_plugin.dlib
from irs_plugin.config_files import config_names
print(irs_plugin.dlib.__file__)
print("metrics/mig.gin" in config_names())
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A copy of what a distribution is built from: building leaves traces."""
    folder = tmp_path_factory.mktemp("source")
    for name in ("irs_plugin", "configs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.py", "pyproject.toml", "MANIFEST.in"):
        shutil.copy(ROOT / name, folder)
    return folder


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """A virtual environment that sees this one's packages, but neither its .pth files nor an irs_plugin among them."""
    folder = tmp_path_factory.mktemp("venv")
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    purelib = sysconfig.get_path("purelib", "venv", {"base": str(folder), "platbase": str(folder)})
    borrowed = folder / "borrowed"
    borrowed.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if "irs_plugin" not in entry.name:
            (borrowed / entry.name).symlink_to(entry)
    Path(purelib, "borrowed.pth").write_text(str(borrowed))
    return python, Path(purelib)


def pip(python, *arguments):
    # Without PYTHONPATH, along which pip would find traces of other installations.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [sys.executable, "-m", "pip", "--python", str(python), *arguments]
    subprocess.run(command, check=True, capture_output=True, text=True, env=environment)


@pytest.mark.slow
@pytest.mark.parametrize("editable", [False, True])
def test_the_hook_comes_and_goes_with_the_package(source, fresh, tmp_path, editable):
    python, purelib = fresh
    pip(python, "install", "--no-deps", "--no-build-isolation", *(["-e"] if editable else []), str(source))
    assert (purelib / "irs_plugin.pth").read_text() == (ROOT / "irs_plugin" / "dlib" / "irs_plugin.pth").read_text()
    # -E: this process may have been told by PYTHONPATH where the package is.
    report = subprocess.run([python, "-E", "-c", REPORT], cwd=tmp_path, capture_output=True, text=True, check=True)
    count, place, found = report.stdout.splitlines()
    assert (count, found) == ("1", "True")
    assert Path(place).is_relative_to(source if editable else purelib)
    assert (python.parent / "irs_plugin").exists()
    pip(python, "uninstall", "-y", "irs_plugin")
    assert [path.name for path in purelib.iterdir() if "irs_plugin" in path.name] == []
