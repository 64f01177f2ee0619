"""Results as dlib can write them: nothing but plain JSON values, settings under keys of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from irs_plugin.robustness.plain import plain


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
