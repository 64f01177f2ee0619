"""Imports as seen by disentanglement_lib's modules: the real thing, with stand-ins where something is missing.

Every module of a watched package is executed with its own ``__builtins__``. Their ``__import__`` hands out views:
modules that answer with a stand-in where there is one and pass everything else on. ``sys.modules`` and the real modules
stay as they are, so all other code in the process sees TensorFlow, Keras, NumPy and gin untouched.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import importlib
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

from irs_plugin.dlib import process
from irs_plugin.dlib.registry import STAND_INS, StandIn

_PACKAGES = frozenset(package for stand_in in STAND_INS for package in stand_in.seen_by)
_WATCHED = frozenset(package.partition(".")[0] for package in _PACKAGES)

# In the sources of disentanglement_lib 1.5, but not in the wheel that PyPI serves.
_NOT_IN_WHEEL = tuple(
    f"disentanglement_lib.{name}"
    for name in ("evaluation.udr", "methods.weak", "methods.semi_supervised", "validation")
)


class View(ModuleType):
    """A module with some names supplied, each when first asked for; all others are those of the real module."""

    def __init__(self, real: ModuleType, supplied: dict[str, Callable[[], object]]) -> None:
        super().__init__(real.__name__, real.__doc__)
        self._real = real
        self._supplied = supplied

    def __getattr__(self, name: str) -> object:
        if name not in self._supplied:
            return getattr(self._real, name)
        value = self._supplied[name]()
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*dir(self._real), *self._supplied})


class Finder:
    """A meta path finder that lets the modules of the library, and those it leans on, see the stand-ins."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        return _find(name, path, target) if name.partition(".")[0] in _WATCHED else None


def is_ours(finder: object) -> bool:
    """Tell whether a meta path finder is the one above or the one that waits in its place."""
    return finder is Finder or getattr(finder, "__name__", None) == "IrsPluginHook"


def _find(name: str, path: Sequence[str] | None, target: ModuleType | None) -> ModuleSpec | None:
    """Find a module with the other finders and make it see the stand-ins."""
    others = (finder for finder in sys.meta_path if not is_ours(finder))
    found = (finder.find_spec(name, path, target) for finder in others if hasattr(finder, "find_spec"))
    spec = next((spec for spec in found if spec is not None), None)
    if spec is None and name.startswith(_NOT_IN_WHEEL):
        raise ModuleNotFoundError(
            f"{name} is not part of the disentanglement_lib 1.5 that PyPI serves; only its sources on GitHub have it",
            name=name,
        )
    package = next((p for p in _PACKAGES if name == p or name.startswith(f"{p}.")), None)
    if spec is not None and package is not None and hasattr(spec.loader, "exec_module"):
        _execute_with(spec, package)
    if spec is not None and name == "disentanglement_lib":
        _find_installed_configs()
    return spec


def _execute_with(spec: ModuleSpec, package: str) -> None:
    """Make the module's loader execute it with the builtins of the package."""
    loader = spec.loader
    execute, get_code = loader.exec_module, getattr(loader, "get_code", None)

    def exec_module(module: ModuleType) -> None:
        vars(module)["__builtins__"] = _builtins(package)
        execute(module)
        _replace_members(module, package)

    def get_code_of_main(name: str) -> object:
        # "python -m" does not execute the module: it asks for the code and runs that in __main__.
        vars(sys.modules["__main__"])["__builtins__"] = _builtins(package)
        return get_code(name)

    loader.exec_module = exec_module
    if process.is_starting_with_m() and get_code is not None:
        loader.get_code = lambda name: get_code(name) if name in sys.modules else get_code_of_main(name)


@functools.cache
def _builtins(package: str) -> dict[str, object]:
    """The builtins that the modules of a package are executed with."""
    supplied = _supplied(package)

    def import_(name, globals=None, locals=None, fromlist=(), level=0):
        top = name.partition(".")[0]
        if level or top not in supplied:
            return builtins.__import__(name, globals, locals, fromlist, level)
        module = first = _top(package, top)
        for part in name.split(".")[1:]:
            module = _member(module, part)
        if not fromlist:
            return first
        for part in fromlist:
            if part != "*":
                _member(module, part)
        return module

    return {**vars(builtins), "__import__": import_}


def _member(module: ModuleType, name: str) -> object:
    """An attribute of the module, or its submodule, imported if need be."""
    try:
        return getattr(module, name)
    except AttributeError:
        return importlib.import_module(f"{module.__name__}.{name}")


def _supplied(package: str) -> dict:
    """What is supplied to a package, as a tree of names whose leaves make the stand-ins."""
    tree: dict = {}
    for stand_in in STAND_INS:
        if package in stand_in.seen_by and stand_in.needed():
            for path in stand_in.imported_paths:
                *above, last = path.split(".")
                branch = tree
                for name in above:
                    branch = branch.setdefault(name, {})
                branch[last] = functools.partial(_make, stand_in, path)
    return tree


def _replace_members(module: ModuleType, package: str) -> None:
    """Replace those members of the library's own module that have a stand-in."""
    for stand_in in STAND_INS:
        for path in set(stand_in.paths).difference(stand_in.imported_paths):
            name, _, member = path.partition(":")
            if name == module.__name__ and package in stand_in.seen_by and stand_in.needed():
                *above, last = member.split(".")
                setattr(functools.reduce(getattr, above, module), last, _make(stand_in, path))


def _make(stand_in: StandIn, path: str) -> object:
    return stand_in.load().supply(path)


@functools.cache
def _top(package: str, name: str) -> object:
    """The view of a top-level module, or its stand-in."""
    branch = _supplied(package)[name]
    if callable(branch):
        return branch()
    real = importlib.import_module(name)
    if name == "tensorflow":
        process.prepare_tensorflow(real)
    return _view(real, branch)


def _view(real: ModuleType, branch: dict) -> View:
    def below(name: str, value: object) -> Callable[[], object]:
        return value if callable(value) else lambda: _view(getattr(real, name), value)

    return View(real, {name: below(name, value) for name, value in branch.items()})


def _find_installed_configs() -> None:
    """Let gin find the package's own configurations by name, after those in the working directory."""
    import gin

    from irs_plugin.config_files import config_root

    with contextlib.suppress(FileNotFoundError):  # an incomplete installation of ours is no reason to stop the library
        gin.add_config_file_search_path(str(config_root()))
