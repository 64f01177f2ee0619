"""What kind of process this is: one of disentanglement_lib's own, or a user's program that imports the library."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

from irs_plugin.dlib import mistakes
from irs_plugin.dlib.installation import require_supported


def is_starting_with_m() -> bool:
    """Tell whether Python is just looking for the module named after ``-m``."""
    return sys.argv[:1] == ["-m"]


def belongs_to_dlib() -> bool:
    """Tell whether the main program is one of the library's scripts, or one of its modules run with ``-m``."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    return _script() is not None or (spec is not None and spec.name.partition(".")[0] == "disentanglement_lib")


def _script() -> str | None:
    """Name of the library's script that is the main program."""
    main = sys.modules["__main__"]
    name = Path(getattr(main, "__file__", None) or "").name
    return name if getattr(main, "__spec__", None) is None and name.startswith("dlib_") else None


def prepare_tensorflow(tensorflow: ModuleType) -> None:
    """Refuse an unsupported TensorFlow; give the library's own programs the graph mode they were written for.

    The scripts also report a mistake in their use in one sentence.
    A user's program keeps eager execution: the library's functions build their graphs explicitly and run either way.
    """
    require_supported(tensorflow.__version__)
    if belongs_to_dlib():
        tensorflow.compat.v1.disable_eager_execution()
    if script := _script():
        mistakes.report_in_one_sentence(script)
