"""Waiting for somebody to import disentanglement_lib.

The line in ``irs_plugin.pth``, which is installed into site-packages and executed at every start of Python, adds a
finder that does nothing but compare a name: it imports no module, not even this one, and so costs microseconds. Once
the library is asked for, it calls ``find_first``, which puts the real finder in front of it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType


class Finder:
    """A meta path finder that lets the modules of the library, and those it leans on, see the stand-ins."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        from irs_plugin.dlib import loading

        return loading.find_spec(name, path, target) if name.partition(".")[0] in loading.PACKAGES else None


def find_first(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
    """Install the finder and let it find the module."""
    install()
    return Finder.find_spec(name, path, target)


def install() -> None:
    """Put the finder in front of the others, once."""
    if Finder not in sys.meta_path:
        sys.meta_path.insert(0, Finder)


def is_ours(finder: object) -> bool:
    """Tell whether a meta path finder is the one below or the one that waits in its place."""
    return finder is Finder or getattr(finder, "__name__", None) == "IrsPluginHook"


def is_installed() -> bool:
    """Tell whether an import of the library will be noticed."""
    return any(map(is_ours, sys.meta_path))
