"""Run disentanglement_lib's own tests, those of the installed wheel, on this stack; print a table at the end."""

from __future__ import annotations

import argparse
import sys
from importlib.metadata import version
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--select", choices=("all", "fast"), default="all", help="fast: a few minutes instead of hours")
    parser.add_argument("--resume", action="store_true", help="skip what the record says has been run")
    parser.add_argument("--record", type=Path, help="where to keep what has been run (default: dlib_tests_<tf>.json)")
    parser.add_argument("--page", type=Path, help="also write versions, table and known failures to this Markdown file")


def run(args: argparse.Namespace) -> int:
    from irs_plugin.dlib import hook, selftest

    if not hook.is_installed():
        raise ValueError("the hook is off, so the tests cannot run as 'python -m': unset IRS_PLUGIN_HOOK and reinstall")
    record = args.record or Path(f"dlib_tests_{version('tensorflow')}.json")
    modules = selftest.test_modules(args.select)
    outcomes = selftest.run(modules, record, args.resume, lambda line: print(line, file=sys.stderr, flush=True))
    print(selftest.table(outcomes))
    if args.page:
        args.page.write_text(selftest.page(outcomes))
    problems = [problem for outcome in outcomes for problem in outcome.unexpected()]
    print("\n".join(problems), file=sys.stderr)
    return 1 if problems else 0
