"""The gin files that come with the package: where they lie and what they are for."""

from __future__ import annotations

from pathlib import Path

from irs_plugin.dlib.installation import configs_folder


def config_names() -> list[str]:
    """Names as gin takes them, such as ``metrics/irs_paper.gin``, sorted."""
    root = configs_folder()
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*.gin"))


def find_config(name: str) -> Path:
    """Path of one gin file.

    Args:
        name: A name from :func:`config_names`; the suffix may be left out.

    Raises:
        ValueError: no such file; the message lists those there are.
    """
    known = config_names()
    with_suffix = name if name.endswith(".gin") else f"{name}.gin"
    if with_suffix not in known:
        raise ValueError(f"There is no gin file {name!r} in the package; there are {', '.join(known)}.")
    return configs_folder() / with_suffix


def describe_config(path: Path) -> str:
    """What the file says it is for: its first comment line."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            return line.lstrip("# ")
    return ""
