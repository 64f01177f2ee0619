"""Sharing independent pieces of compiled work among the cores."""

from __future__ import annotations

import functools
import itertools
import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

# Below this many elementary steps handing work over costs more than it saves.
_WORTHWHILE = 200_000


def num_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def over_threads(function: Callable[[Any], Any], pieces: Iterable[Any], *, work: int) -> list[Any]:
    """`[function(piece) for piece in pieces]`, on all cores if the total `work` is worth it.

    Only for functions that spend their time without the GIL and do not themselves hand work over.
    """
    pieces = list(pieces)
    others = min(num_cores(), len(pieces)) - 1
    if others < 1 or work < _WORTHWHILE:
        return [function(piece) for piece in pieces]
    results, waiting = [None] * len(pieces), deque(enumerate(pieces))

    def work_through() -> None:
        while True:
            try:
                place, piece = waiting.popleft()
            except IndexError:
                return
            results[place] = function(piece)

    # The calling thread takes part: it has a core already, where those woken up may first share one.
    submitted = [_pool(os.getpid()).submit(work_through) for _ in range(others)]
    work_through()
    for future in submitted:
        future.result()
    return results


@functools.cache
def _pool(process: int) -> ThreadPoolExecutor:
    """The threads of this process, kept, as starting them takes longer than a small score; a fork has none of them."""
    del process
    return ThreadPoolExecutor(num_cores(), thread_name_prefix="irs_plugin")


def chunks(num_samples: int) -> list[tuple[int, int]]:
    """Bounds that split the samples evenly, one piece a core (eight at most: pieces have tables of their own)."""
    bounds = [num_samples * piece // min(num_cores(), 8) for piece in range(min(num_cores(), 8) + 1)]
    return list(itertools.pairwise(bounds))
