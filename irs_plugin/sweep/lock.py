"""One sweep at a time in a folder."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def only_one_sweep(output: Path) -> Iterator[None]:
    """Hold the folder; the operating system lets go of it however the process ends.

    Raises:
        ValueError: another sweep is at work there.
    """
    with open(output / ".sweep.lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(f"another sweep is at work in {output}: wait for it, or choose another --output") from None
        yield
