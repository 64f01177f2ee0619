"""The scripts that disentanglement_lib installs."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

# They import modules that the wheel on PyPI does not have.
DEAD = frozenset(
    (
        "dlib_reproduce_semi_supervised",
        "dlib_reproduce_weakly_supervised",
        "dlib_train_semi_supervised",
        "dlib_train_weakly_supervised",
        "dlib_udr",
    )
)
# Not Python.
_SHELL = frozenset(("dlib_download_data", "dlib_tests"))


def installed() -> dict[str, Path]:
    """Name and path of each Python script that can run.

    Raises:
        ValueError: the library is not installed.
    """
    try:
        files = distribution("disentanglement_lib").files or []
    except PackageNotFoundError:
        raise ValueError("disentanglement_lib is not installed: pip install disentanglement_lib==1.5") from None
    found = {file.name: Path(file.locate()) for file in files if file.parent.name in ("bin", "Scripts")}
    return {name: path for name, path in sorted(found.items()) if name not in DEAD | _SHELL}


def find(name: str) -> Path:
    """Path of a script.

    Raises:
        ValueError: not a script that can run; the message says which can.
    """
    known = installed()
    if name in known:
        return known[name]
    if name in DEAD:
        why = f"{name} cannot run: it imports modules that are not in the disentanglement_lib 1.5 that PyPI serves"
    else:
        why = f"there is no script {name!r}"
    raise ValueError(f"{why}; those that run are {', '.join(known)}")
