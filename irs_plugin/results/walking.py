"""Finding result files below a folder, without entering the parts of a model that hold none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

# What a model's weights lie in.
_WITHOUT_RESULTS = frozenset({"tfhub", "tf_checkpoint"})
_PARTIAL = ".partial"


def walk(folder: Path, problems: list[tuple[Path, str]]) -> Iterator[tuple[str, Path]]:
    """What there is to read below a folder.

    Hidden folders, and folders that end in ``.partial`` because their step has not finished, are passed over, unless
    the folder itself is one. Links to folders are followed; what is reached by two ways is visited once.

    Args:
        folder: where to start.
        problems: gets (path, reason) of every folder that cannot be listed.

    Yields:
        ("evaluation", path of ``results/aggregate/evaluation.json``), ("failure", path of ``failed/*.json``) and
        ("study", path of the folder's own ``study.json``); folders in the order of their names, links last.
    """
    pending, links, visited = [os.fspath(folder)], [], set()
    while pending or links:
        place = pending.pop() if pending else links.pop()
        try:
            status = os.stat(place)
            if (status.st_dev, status.st_ino) in visited:
                continue
            visited.add((status.st_dev, status.st_ino))
            with os.scandir(place) as listing:
                entries = sorted(listing, key=lambda entry: entry.name, reverse=True)
        except OSError as error:
            problems.append((Path(place), _reason(error)))
            continue
        name = os.path.basename(place)
        names = {entry.name for entry in entries}
        if name == "results" and "aggregate" in names:
            path = os.path.join(place, "aggregate", "evaluation.json")
            # A link to nothing is a damaged result; a folder with train.json only is no result at all.
            if os.path.lexists(path):
                yield "evaluation", Path(path)
            continue
        if place == os.fspath(folder) and "study.json" in names:
            yield "study", folder / "study.json"
        if name == "failed":
            yield from (("failure", Path(entry.path)) for entry in reversed(entries) if _is_record(entry.name))
        for entry in entries:
            if not _passed_over(entry.name) and _is_folder(entry):
                (links if entry.is_symlink() else pending).append(entry.path)


def _is_record(name: str) -> bool:
    return name.endswith(".json") and not name.startswith(".")


def _passed_over(name: str) -> bool:
    return name.startswith(".") or name.endswith(_PARTIAL) or name in _WITHOUT_RESULTS


def _is_folder(entry: os.DirEntry) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link in a circle
        return False


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
