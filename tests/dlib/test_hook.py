"""The line in site-packages does one thing, and only if it is wanted."""

from __future__ import annotations

import importlib

import pytest

from irs_plugin.dlib import hook

REPORT = "import sys; print([f.__name__ for f in sys.meta_path if getattr(f, '__name__', '') == 'IrsPluginHook'])"


def test_adds_one_finder_and_loads_nothing(python):
    loaded = "import sys; print('\\n'.join(sorted(sys.modules)))"
    with_hook = python("-c", loaded).stdout.split()
    without = python("-c", loaded, IRS_PLUGIN_HOOK="0").stdout.split()
    assert with_hook == without
    assert python("-c", REPORT).stdout.strip() == "['IrsPluginHook']"


def test_twice_adds_it_once(python, environment):
    line = environment["PYTHONPATH"].split(":")[0] + "/sitecustomize.py"
    assert python("-c", f"exec(open({line!r}).read()); {REPORT}").stdout.strip() == "['IrsPluginHook']"


def test_is_switched_off_by_the_environment(python):
    assert python("-c", REPORT, IRS_PLUGIN_HOOK="0").stdout.strip() == "[]"
    process = python("-c", "import disentanglement_lib.utils.results", IRS_PLUGIN_HOOK="0")
    assert process.returncode == 1
    assert "irs_plugin" not in process.stderr


def test_importing_the_library_itself_does_not_import_tensorflow(python):
    code = "import disentanglement_lib, sys; print({'tensorflow', 'keras', 'tf_keras'} & set(sys.modules))"
    process = python("-c", code)
    assert process.stdout.strip() == "set()", process.stderr


def test_install_is_idempotent():
    import sys

    hook.install()
    before = list(sys.meta_path)
    hook.install()
    assert sys.meta_path == before
    assert hook.is_installed()


def test_parts_that_the_wheel_lacks_are_named():
    hook.install()
    with pytest.raises(ModuleNotFoundError, match=r"udr is not part of the disentanglement_lib 1\.5 that PyPI serves"):
        importlib.import_module("disentanglement_lib.evaluation.udr")
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'disentanglement_lib\.nothing'"):
        importlib.import_module("disentanglement_lib.nothing")
