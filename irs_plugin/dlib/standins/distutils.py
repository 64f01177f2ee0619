"""``distutils.dir_util`` and ``distutils.version``."""

import shutil
from pathlib import Path
from types import SimpleNamespace

REASON = (
    "Python 3.12 removed distutils; the copy that setuptools brings remembers the folders it made, so that a second "
    "overwrite in one process fails after it has deleted the old results"
)


def copy_tree(src: str, dst: str) -> list[str]:
    """Copy the contents of a folder into another, created if need be; return the files written."""
    written = []

    def copy(source: str, target: str) -> None:
        shutil.copy2(source, target)
        written.append(str(Path(target)))

    shutil.copytree(src, dst, copy_function=copy, dirs_exist_ok=True)
    return written


class LooseVersion:
    """A version whose leading numbers can be compared."""

    def __init__(self, version: str) -> None:
        self._release = tuple(int(part) for part in version.split(".")[:2])

    def __lt__(self, other: "LooseVersion") -> bool:
        return self._release < other._release


def supply(path: str) -> SimpleNamespace:
    return SimpleNamespace(
        dir_util=SimpleNamespace(copy_tree=copy_tree),
        version=SimpleNamespace(LooseVersion=LooseVersion),
    )
