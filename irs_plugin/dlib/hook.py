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

from irs_plugin.dlib import loading


def find_first(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
    """Install the finder and let it find the module."""
    install()
    return loading.Finder.find_spec(name, path, target)


def install() -> None:
    """Put the finder in front of the others, once."""
    if loading.Finder not in sys.meta_path:
        sys.meta_path.insert(0, loading.Finder)


def is_installed() -> bool:
    """Tell whether an import of the library will be noticed."""
    return any(map(loading.is_ours, sys.meta_path))
