"""Render a dSprites-compatible archive where disentanglement_lib expects it.

An archive that is there already, original or rendered, is used and never overwritten.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data_dir",
        help="folder that gets dsprites/ (default: $DISENTANGLEMENT_LIB_DATA, and the working directory without it)",
    )
    parser.add_argument(
        "--small", action="store_true", help="fewer values per factor: seconds and megabytes, for trying things out"
    )


def run(args: argparse.Namespace) -> int:
    from irs_plugin.dsprites.archive import FULL, SMALL, describe_archive, ensure_archive

    # Whoever ends the command politely, as batch systems do, shall find no half-written file either.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        path, rendered = ensure_archive(SMALL if args.small else FULL, args.data_dir)
    finally:
        signal.signal(signal.SIGTERM, before)
    print(f"{'rendered' if rendered else 'already there'}: {path.resolve()}\n{describe_archive(path)}")
    root = path.resolve().parents[1]
    variable = os.environ.get("DISENTANGLEMENT_LIB_DATA")
    if variable is None or os.path.realpath(variable) != str(root):
        print(f"so that disentanglement_lib finds it: export DISENTANGLEMENT_LIB_DATA={shlex.quote(str(root))}")
    return 0
