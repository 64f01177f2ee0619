"""Versions of what a result depends on."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

import irs_plugin

PACKAGES = (
    "disentanglement_lib",
    "tensorflow",
    "tf_keras",
    "keras",
    "tensorflow-hub",
    "tensorflow-probability",
    "gin-config",
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "matplotlib",
    "imageio",
    "setuptools",
)


def version_of(package: str) -> str | None:
    """Version of an installed package, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def versions() -> dict[str, str]:
    """Versions of this package, Python, and what they run on."""
    found = {"irs_plugin": irs_plugin.__version__, "Python": platform.python_version()}
    return found | {package: version_of(package) or "not installed" for package in PACKAGES}
