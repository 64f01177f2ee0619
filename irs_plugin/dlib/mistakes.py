"""Mistakes in the use of the library's scripts, reported in one sentence instead of a traceback."""

from __future__ import annotations

import sys
import traceback
from types import TracebackType

_DIRECTORY_EXISTS = "Directory already exists and overwrite is False."
_NO_DATA_SET = "Invalid data set name."
_NO_GIN_FILE = "Unable to open file"
# Where the scripts leave the settings that the next one reads.
_SETTINGS = "/results/gin/"


def report_in_one_sentence(script: str) -> None:
    """Shorten what this script prints about mistakes; everything else keeps its traceback."""
    usual = sys.excepthook

    def excepthook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        sentence = explain(error)
        if sentence is None:
            usual(kind, error, trace)
        else:
            print(f"{script}: {sentence}", file=sys.stderr)

    sys.excepthook = excepthook


def explain(error: BaseException) -> str | None:
    """What the user did wrong and what to do, or None where that is not known.

    An exception that gin raises itself is about configuration, one of this package's own about its input: these, the
    library's refusal to write into an existing folder, and data sets and folders that do not exist are the user's to
    mend.
    """
    if error.__traceback__ is None:
        return None
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    # gin adds a line for every configurable that the error passed through.
    sentence = str(error).partition("\n  In call to configurable")[0].strip()
    if sentence == _DIRECTORY_EXISTS:
        folder = frame.f_locals.get("output_dir", frame.f_locals.get("model_dir"))
        return f"{folder} exists already: name another output folder, or let --overwrite delete this one first"
    if sentence == _NO_DATA_SET:
        return (
            f"disentanglement_lib has no data set {frame.f_locals.get('name')!r}: bind dataset.name to one of its own"
        )
    if type(error).__name__ == "NotFoundError" and _SETTINGS in sentence:
        folder = sentence.partition(_SETTINGS)[0]
        return f"{folder} is not a folder that the step before this one wrote: train, then postprocess, then evaluate"
    if not isinstance(error, ValueError | RuntimeError | OSError):
        return None
    if sentence.startswith(_NO_GIN_FILE):
        sentence += " The files of irs_plugin are listed by: irs_plugin configs"
    origin = frame.f_globals.get("__name__", "").partition(".")[0]
    return " ".join(sentence.split()) if origin in ("gin", "irs_plugin") else None
