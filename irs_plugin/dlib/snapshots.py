"""Snapshots on disk: each is whole, or it is not there.

A snapshot is a folder that gets its name when all of it is written. It lists the checksums of its files, so that what a
disk or a crash of the machine damaged is recognised, and the one before it is kept for that case.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from irs_plugin.whole_files import to_disk

_PREFIX, _PARTIAL = "snapshot-", "partial"
_STATE, _CHECKSUMS = "state.json", "SHA256SUMS"
_KEPT = 2


class Snapshots:
    """The snapshots of one training in ``folder``, which must exist."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, number: int, state: dict[str, Any], write_files: Callable[[Path], None]) -> None:
        """Add a snapshot and remove those that are no longer needed.

        Args:
            number: Higher than that of every snapshot there is.
            state: What JSON can hold.
            write_files: Called with a folder, into which it writes everything else.
        """
        draft = self._folder / _PARTIAL
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        write_files(draft)
        (draft / _STATE).write_text(json.dumps(state), encoding="utf-8")
        sums = [f"{_checksum(path)}  {path.name}\n" for path in sorted(draft.iterdir())]
        (draft / _CHECKSUMS).write_text("".join(sums), encoding="utf-8")
        for path in (*draft.iterdir(), draft):
            to_disk(path)
        draft.rename(self._folder / f"{_PREFIX}{number:012d}")
        to_disk(self._folder)
        for path in self._newest_first()[_KEPT:]:
            self._remove(path)

    def latest(self) -> tuple[Path, dict[str, Any]] | None:
        """The latest undamaged snapshot and its state, or None; damaged ones are removed with a warning."""
        for path in self._newest_first():
            try:
                _verify(path)
                return path, json.loads((path / _STATE).read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                warnings.warn(f"the snapshot {path} is damaged and is removed: {error}", stacklevel=2)
                self._remove(path)
        return None

    def clear(self) -> None:
        """Remove all snapshots, the latest one last."""
        for path in reversed(self._newest_first()):
            self._remove(path)

    def _newest_first(self) -> list[Path]:
        return sorted(self._folder.glob(f"{_PREFIX}*"), reverse=True)

    def _remove(self, path: Path) -> None:
        """Take away its name first, so that half a snapshot never has one."""
        draft = self._folder / _PARTIAL
        shutil.rmtree(draft, ignore_errors=True)
        shutil.rmtree(path.rename(draft))


def _verify(path: Path) -> None:
    """Raise an error unless the folder holds the files that it lists, as they were."""
    listed = (line.split("  ", 1) for line in (path / _CHECKSUMS).read_text(encoding="utf-8").splitlines())
    expected = {name: checksum for checksum, name in listed}
    if _STATE not in expected:
        raise ValueError(f"{_CHECKSUMS} does not list {_STATE}")
    for name, checksum in expected.items():
        if _checksum(path / name) != checksum:
            raise ValueError(f"{name} is not what was written")


def _checksum(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
