"""Read all results below a folder into one table of scores, and write it.

Everything that dlib_evaluate or a study left in results/aggregate/evaluation.json is read. scores.csv and
scores.parquet have a row per model, representation and metric; results.json has what dlib_aggregate_results writes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from irs_plugin import results
from irs_plugin.results.writing import has_parquet


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="where the results lie, at any depth")
    parser.add_argument("--output", type=Path, metavar="DIR", help="where to write; default: FOLDER")


def run(args: argparse.Namespace) -> int:
    collection = results.collect(args.folder, progress=True)
    warn(collection)
    if collection.flat.empty:
        if collection.damaged or collection.failures:
            return 1
        raise ValueError(results.NOTHING.format(args.folder))
    for duplicate in collection.duplicates:
        print(f"claimed twice, all kept: {describe(duplicate)}", file=sys.stderr)
    for path in results.write(collection, args.output or args.folder):
        print(path)
    if not has_parquet():
        print(
            'No scores.parquet without pyarrow: pip install "irs_plugin[parquet]" and collect again.', file=sys.stderr
        )
    return 0


def warn(collection: results.Collection) -> None:
    """Say what was not read, and which steps failed."""
    for path, reason in collection.damaged:
        print(f"passed over {path}: {reason}", file=sys.stderr)
    for failure in collection.failures:
        print(f"failed: {failure.step} of model {failure.model}: {failure.error}", file=sys.stderr)


def describe(duplicate: results.Duplicate) -> str:
    place = f"{duplicate.metric} of {duplicate.model}, {duplicate.representation or 'representation not named'}"
    return f"{place}, by {' and '.join(duplicate.paths)}"
