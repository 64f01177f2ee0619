"""The bindings of a gin file that disentanglement_lib saved, read without executing anything."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

_BINDING = re.compile(r"(?P<name>[\w./%@-]+)\s*=\s*(?P<value>.*)")


def read_bindings(path: Path) -> dict[str, str]:
    """Bindings of an operative configuration, values as text.

    gin breaks a long value over lines: a backslash after the equals sign, then the value indented.

    Args:
        path: A file as gin's ``operative_config_str`` writes it.

    Returns:
        Name, such as ``vae.beta``, to the text of its value; empty if there is no such file or it cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    bindings: dict[str, str] = {}
    name = None
    for line in text.splitlines():
        if line[:1].isspace() and name is not None:
            bindings[name] = f"{bindings[name]} {line.strip()}".strip()
            continue
        found = _BINDING.fullmatch(line)
        name = found["name"] if found else None
        if found:
            bindings[name] = found["value"].strip().removesuffix("\\")
    return bindings


@lru_cache(maxsize=4096)
def literal(text: str) -> Any:
    """The value that a binding's text stands for; what is no Python literal, such as ``@vae()``, stays text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return text
