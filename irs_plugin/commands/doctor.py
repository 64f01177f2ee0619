"""Report versions, the stand-ins in force and why, the data found, and the accelerator."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
from pathlib import Path

from irs_plugin.versions import version_of, versions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The report has no options."""


def run(args: argparse.Namespace) -> int:
    problems: list[str] = []
    for title, lines in (
        ("versions", _versions()),
        ("combination", _combination(problems)),
        ("hook", _hook()),
        ("stand-ins", _stand_ins()),
        ("data", _data(problems)),
        ("gin files", _gin_files(problems)),
        ("accelerator", _accelerator(problems)),
    ):
        print(title, *(f"  {line}" for line in lines), sep="\n")
    print("problems", *(f"  {problem}" for problem in problems or ["none found"]), sep="\n")
    return 1 if problems else 0


def _versions() -> list[str]:
    found = versions()
    width = max(map(len, found))
    return [f"{name:<{width}}  {number}" for name, number in found.items()]


def _combination(problems: list[str]) -> list[str]:
    from irs_plugin.dlib.installation import TESTED, require_supported

    tensorflow = version_of("tensorflow")
    if version_of("disentanglement_lib") != "1.5":
        problems.append("disentanglement_lib 1.5 is not installed: pip install disentanglement_lib==1.5")
    if tensorflow is None:
        problems.append("TensorFlow is not installed: pip install irs_plugin brings it")
        return ["no TensorFlow"]
    try:
        require_supported(tensorflow)
    except ImportError as error:
        problems.append(str(error))
    here = (".".join(platform.python_version_tuple()[:2]), ".".join(tensorflow.split(".")[:2]))
    verdict = "tested" if here in TESTED else "not among those tested"
    tested = ", ".join(f"{python} + {number}" for python, number in TESTED)
    return [f"Python {here[0]} + TensorFlow {here[1]}: {verdict}", f"tested: {tested}"]


def _hook() -> list[str]:
    from irs_plugin.dlib import hook

    if hook.is_installed():
        return [
            "on: disentanglement_lib finds its stand-ins whenever it is imported (IRS_PLUGIN_HOOK=0 switches it off)"
        ]
    off = os.environ.get("IRS_PLUGIN_HOOK") == "0"
    why = (
        "switched off by IRS_PLUGIN_HOOK=0"
        if off
        else "irs_plugin.pth is not in site-packages: pip install puts it there"
    )
    return [f"off: {why}; 'irs_plugin run SCRIPT' does without"]


def _stand_ins() -> list[str]:
    from irs_plugin.dlib.registry import STAND_INS

    lines = []
    for stand_in in STAND_INS:
        state = "in force  " if stand_in.needed() else "not needed"
        lines += [f"{state}  {', '.join(stand_in.paths)}", f"            seen by {', '.join(stand_in.seen_by)}"]
        lines += [f"            because {stand_in.reason}"]
    return lines


def _data(problems: list[str]) -> list[str]:
    variable = os.environ.get("DISENTANGLEMENT_LIB_DATA")
    root = Path(variable or ".")
    where = variable or f"not set, so disentanglement_lib looks in the working directory ({Path.cwd()})"
    folders = sorted(entry.name for entry in root.iterdir() if entry.is_dir()) if variable and root.is_dir() else []
    return [
        f"DISENTANGLEMENT_LIB_DATA: {where}",
        f"dSprites: {_dsprites(problems)}",
        f"folders there: {', '.join(folders) or 'none'}",
    ]


def _dsprites(problems: list[str]) -> str:
    from irs_plugin.dsprites.archive import archive_path, describe_archive

    path = archive_path()
    try:
        return f"{path}, {path.stat().st_size / 2**20:.1f} MB, {describe_archive(path)}"
    except FileNotFoundError:
        return f"not at {path}: 'irs_plugin dsprites' renders one"
    except ValueError as error:
        problems.append(str(error))
        return f"unreadable at {path}"


def _gin_files(problems: list[str]) -> list[str]:
    from irs_plugin.config_files import config_names, config_root

    try:
        return [f"{len(config_names())} in {config_root()}"]
    except FileNotFoundError as error:
        problems.append(str(error))
        return ["none"]


def _accelerator(problems: list[str]) -> list[str]:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        import tensorflow as tf
    except ImportError as error:
        problems.append(f"TensorFlow does not import: {error}")
        return ["unknown"]
    devices = tf.config.list_physical_devices("GPU")
    if devices:
        names = (
            tf.config.experimental.get_device_details(device).get("device_name", device.name) for device in devices
        )
        return [f"GPU: {name}" for name in names]
    if shutil.which("nvidia-smi"):
        problems.append("there is an NVIDIA driver, but TensorFlow sees no GPU: pip install 'tensorflow[and-cuda]'")
    return [f"none, TensorFlow runs on {os.cpu_count()} CPU cores"]
