"""Make one page, and its figures, of everything that was evaluated below a folder."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="a study's folder, or any that dlib_evaluate wrote into")
    parser.add_argument("--output", type=Path, help="folder of report.html and figures/; FOLDER/report if not given")
    parser.add_argument("--tensorboard", type=Path, metavar="DIR", help="write event files for TensorBoard there, too")


def run(args: argparse.Namespace) -> int:
    if args.tensorboard is not None:
        from irs_plugin.report.tensorboard import require_tensorboard

        require_tensorboard()
    from irs_plugin.report.page import write_report
    from irs_plugin.results import collect

    collection = collect(args.folder, progress=True)
    report = write_report(collection, args.output or args.folder / "report")
    print(report.path)
    if args.tensorboard is not None:
        from irs_plugin.report.tensorboard import write_events

        write_events(collection, report, args.tensorboard)
        print(f"tensorboard --logdir {args.tensorboard}")
    return 0
