"""Files that are there whole or not at all, whenever the process is killed or the machine goes down."""

from __future__ import annotations

import contextlib
import json
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any


@contextlib.contextmanager
def whole_file(path: str | os.PathLike) -> Iterator[Path]:
    """A path to write to, beside ``path``, whose name the file takes at the end of the block.

    After an error it is gone, and what was at ``path`` is as it was.
    """
    path = Path(path)
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        yield draft
        to_disk(draft)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def write_json(path: str | os.PathLike, values: Any) -> None:
    """Write plain values as JSON; NaN is refused."""
    text = json.dumps(values, indent=2, allow_nan=False) + "\n"
    with whole_file(path) as draft:
        draft.write_text(text, encoding="utf-8")


def to_disk(path: str | os.PathLike) -> None:
    """Wait until a file, or the names in a folder, would survive a crash of the machine."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
