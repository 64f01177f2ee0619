"""The gin files that come with the package: where they lie and what they are for."""

from __future__ import annotations

from pathlib import Path


def config_root() -> Path:
    """Folder of the gin files: inside an installed package, beside it in a checkout.

    Raises:
        FileNotFoundError: neither place has it, so the installation is incomplete.
    """
    package = Path(__file__).resolve().parent
    for candidate in (package / "configs", package.parent / "configs"):
        if (candidate / "metrics").is_dir():
            return candidate
    raise FileNotFoundError(f"No gin files beside {package}: reinstall irs_plugin.")


def config_names() -> list[str]:
    """Names as gin takes them, such as ``metrics/irs_paper.gin``, sorted."""
    root = config_root()
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
    return config_root() / with_suffix


def describe_config(path: Path) -> str:
    """What the file says it is for: its first comment line."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            return line.lstrip("# ")
    return ""
