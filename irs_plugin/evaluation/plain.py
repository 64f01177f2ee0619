"""Results as dlib can write them: flat, and nothing but plain JSON values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """The value in Python's own types, NaN and infinity as None: dlib's JSON encoder raises on arrays and NumPy
    booleans, and writes NaN as something JSON does not have."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def flatten(results: Mapping[str, Any]) -> dict[str, Any]:
    """Plain values under flat keys: inner dictionaries join their outer key by a dot, as dlib's own namespaces do,
    so that every entry becomes a column of `dlib_aggregate_results`. Lists stay lists."""
    flat: dict[str, Any] = {}
    for key, value in results.items():
        if isinstance(value, Mapping):
            flat.update({f"{key}.{inner}": content for inner, content in flatten(value).items()})
        else:
            flat[str(key)] = plain(value)
    return flat
