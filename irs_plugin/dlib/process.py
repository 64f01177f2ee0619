"""What kind of process this is: one of disentanglement_lib's own, or a user's program that imports the library."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

from irs_plugin.dlib.installation import require_supported


def is_starting_with_m() -> bool:
    """Tell whether Python is just looking for the module named after ``-m``."""
    return sys.argv[:1] == ["-m"]


def belongs_to_dlib() -> bool:
    """Tell whether the main program is one of the library's scripts or one of its modules."""
    main = sys.modules["__main__"]
    spec = getattr(main, "__spec__", None)
    if spec is not None:
        return spec.name.partition(".")[0] == "disentanglement_lib"
    return Path(getattr(main, "__file__", None) or "").name.startswith("dlib_")


def prepare_tensorflow(tensorflow: ModuleType) -> None:
    """Refuse an unsupported TensorFlow; give the library's own programs the graph mode they were written for.

    A user's program keeps eager execution: the library's functions build their graphs explicitly and run either way.
    """
    require_supported(tensorflow.__version__)
    if belongs_to_dlib():
        tensorflow.compat.v1.disable_eager_execution()
