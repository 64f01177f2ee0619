"""Read all results below a folder into one table of scores, and write it.

Everything that dlib_evaluate or a study left in results/aggregate/evaluation.json is read. scores.csv and
scores.parquet have a row per model, representation and metric; results.json has what dlib_aggregate_results writes.
What cannot be read is listed and passed over; the exit status is 1 if nothing can.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from irs_plugin import results
from irs_plugin.results.writing import PARQUET


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the results lie, at any depth")
    parser.add_argument("--output", type=Path, metavar="DIR", help="where to write; default: FOLDER")


def run(args: argparse.Namespace) -> int:
    collection = results.collect(args.folder, progress=True)
    for line in collection.warnings():
        print(line, file=sys.stderr)
    if not collection.num_results:
        if collection.damaged:
            return 1
        raise ValueError(results.NOTHING.format(args.folder))
    output = args.output or args.folder
    written = results.write(collection, output)
    for path in written:
        print(path)
    if output / PARQUET not in written:
        old = f" The {PARQUET} there is an older one." if (output / PARQUET).exists() else ""
        print(f'{PARQUET} needs pyarrow: pip install "irs_plugin[parquet]", then collect again.{old}', file=sys.stderr)
    return 0
