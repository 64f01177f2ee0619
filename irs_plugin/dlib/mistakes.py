"""Mistakes in the use of the library's scripts, reported in one sentence instead of a traceback."""

from __future__ import annotations

import sys
import traceback
from types import TracebackType

_DIRECTORY_EXISTS = "Directory already exists and overwrite is False."
_NO_GIN_FILE = "Unable to open file"


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

    An exception that gin raises itself is about configuration, one of this package's own about its input: these, and
    the library's refusal to write into an existing folder, are the user's to mend.
    """
    if not isinstance(error, ValueError | RuntimeError | OSError) or error.__traceback__ is None:
        return None
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    # gin adds a line for every configurable that the error passed through.
    sentence = str(error).partition("\n  In call to configurable")[0].strip()
    if sentence == _DIRECTORY_EXISTS:
        folder = frame.f_locals.get("output_dir", frame.f_locals.get("model_dir"))
        return f"{folder} exists already: name another output folder, or let --overwrite delete this one first"
    if sentence.startswith(_NO_GIN_FILE):
        sentence += " The files of irs_plugin are listed by: irs_plugin configs"
    origin = frame.f_globals.get("__name__", "").partition(".")[0]
    return " ".join(sentence.split()) if origin in ("gin", "irs_plugin") else None
