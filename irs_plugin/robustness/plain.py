"""Turning results into plain JSON values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Arrays become lists, NumPy scalars Python ones, NaN None; infinities, which no result holds, are refused."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, float) and math.isinf(value):
        raise ValueError(f"an infinite value ({value}) has no place in a result; this is a defect, please report it.")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)
