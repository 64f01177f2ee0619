"""Run a stock disentanglement_lib script, such as dlib_train, with everything it needs supplied, hook or no hook."""

from __future__ import annotations

import argparse
import runpy
import sys


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("script", help="name of the script, such as dlib_evaluate")
    parser.add_argument("flags", nargs=argparse.REMAINDER, help="its own flags, passed on as they are")


def run(args: argparse.Namespace) -> int:
    from irs_plugin.dlib import hook, scripts

    path = scripts.find(args.script)
    hook.install()
    sys.argv = [str(path), *args.flags]
    try:
        runpy.run_path(str(path), run_name="__main__")
    except Exception:  # reported as the interpreter would have, and not as a mistake in the use of this command
        sys.excepthook(*sys.exc_info())
        return 1
    return 0
