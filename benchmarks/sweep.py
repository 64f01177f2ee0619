"""Time of all metrics of one model in a sweep, beside stock ``dlib_evaluate``, which is a process for each metric.

Both have the same gin files, the same seeds and the same number of threads, and have to write the same scores and
pictures. The time inside fitting of boosted trees, which is the same and dwarfs all else, is left out of both.

    python benchmarks/sweep.py STUDY/0/postprocessed/mean    all metrics of irs_study_small, some ten minutes
    python benchmarks/sweep.py … --only mig sap_score        some of them, to see that it runs

What has been measured lies in --output and is not measured again, unless the folder is removed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from robustness import Board

from irs_plugin.studies import STUDIES

TARGET = 3.0

# Both programs seed NumPy's global generator, from which some of scikit-learn's models draw, before each metric.
TIMED_FIT = """
import functools, time
from sklearn.ensemble import GradientBoostingClassifier
fit, seconds = GradientBoostingClassifier.fit, [0.0]
@functools.wraps(fit)
def timed(*args, **options):
    start = time.perf_counter()
    try:
        return fit(*args, **options)
    finally:
        seconds[0] += time.perf_counter() - start
GradientBoostingClassifier.fit = timed
"""
STOCK = """
import atexit, json, runpy, sys
import numpy
from irs_plugin.dlib import hook, scripts
report, *sys.argv[1:] = sys.argv[1:]
atexit.register(lambda: json.dump(seconds[0], open(report, "w")))
hook.install()
numpy.random.seed(0)
sys.argv[0] = str(scripts.find("dlib_evaluate"))
runpy.run_path(sys.argv[0], run_name="__main__")
"""
OURS = """
import json, sys
import numpy
from irs_plugin.sweep.worker import dlib
report, representation, jobs = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
library, timings = dlib(), {}
with library.shared_representation(representation + "/tfhub") as shared:
    for metric, config, output in jobs:
        start, seconds[0] = time.perf_counter(), 0.0
        numpy.random.seed(0)
        with library.fresh(), library.shared_data():
            library.evaluate(representation, output, False, [config], [])
        timings[metric] = {"seconds": time.perf_counter() - start, "fit": seconds[0]}
encoded = None if shared is None else shared.num_encoded
json.dump({"metrics": timings, "encoded": encoded}, open(report, "w"))
"""


def timed_process(program: str, *arguments: object) -> float:
    """Seconds that a Python process takes from start to end."""
    paths = [os.path.abspath(path) for path in sys.path if path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "TF_CPP_MIN_LOG_LEVEL": "3"}
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", TIMED_FIT + program, *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
    )
    seconds = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"{done.stderr[-3000:]}\nfailed: {' '.join(map(str, arguments))}")
    return seconds


def stock(metrics: Sequence[Path], representation: Path, output: Path) -> dict[str, dict]:
    """Seconds, seconds of fitting and digest of the pictures by metric, each metric in a process of its own."""
    found = {}
    for config in metrics:
        folder, report = output / "stock" / config.stem, output / "stock" / f"{config.stem}.json"
        if not report.exists():
            shutil.rmtree(folder, ignore_errors=True)
            fit = output / "fit.json"
            flags = (f"--gin_config={config}", f"--input_dir={representation}", f"--output_dir={folder}")
            seconds = timed_process(STOCK, fit, *flags)
            entry = {"seconds": seconds, "fit": json.loads(fit.read_text()), "pictures": pictures(representation)}
            report.write_text(json.dumps(entry))
        found[config.stem] = json.loads(report.read_text())
        print(f"  stock {config.stem:<40} {shown(found[config.stem])}", flush=True)
    return found


def ours(metrics: Sequence[Path], representation: Path, output: Path) -> dict:
    """The same with all metrics in one process, whose seconds are those from its start to its end."""
    folder = output / "ours"
    report = folder / "report.json"
    found = json.loads(report.read_text()) if report.exists() else {"metrics": {}}
    if list(found["metrics"]) != [config.stem for config in metrics]:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        jobs = [(config.stem, str(config), str(folder / config.stem)) for config in metrics]
        draft = folder / "draft.json"
        seconds = timed_process(OURS, draft, representation, json.dumps(jobs))
        found = {**json.loads(draft.read_text()), "seconds": seconds, "pictures": pictures(representation)}
        report.write_text(json.dumps(found))
    for metric, entry in found["metrics"].items():
        print(f"  ours  {metric:<40} {shown(entry)}", flush=True)
    print(f"  ours  {found['encoded']} images encoded")
    return found


def shown(entry: dict) -> str:
    return f"{entry['seconds']:8.1f} s, of which {entry['fit']:.1f} s fitting boosted trees"


def pictures(representation: Path) -> dict[str, str]:
    """Digest of each picture that metrics made of a representation."""
    files = sorted(path for path in (representation / "artifacts").rglob("*") if path.is_file())
    return {str(path.relative_to(representation)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def scores(folder: Path) -> dict:
    results = json.loads((folder / "results" / "json" / "evaluation_results.json").read_text())
    return {key: value for key, value in results.items() if key not in ("elapsed_time", "uuid")}


def compare_one_model(board: Board, metrics: Sequence[Path], representation: Path, output: Path) -> None:
    # A copy, since metrics draw their pictures into the representation's folder.
    copy = output / "representation"
    if not copy.exists():
        for part in ("tfhub", "results"):
            shutil.copytree(representation / part, copy / part)
    theirs, one = stock(metrics, copy, output), ours(metrics, copy, output)
    for metric in theirs:
        folders = (output / who / metric for who in ("stock", "ours"))
        before, after = map(scores, folders)
        different = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
        board.show(f"{metric}: scores that differ", f"{len(different)} of {len(before)}", "0", not different)
        if different:
            print(f"    {', '.join(different[:10])}")
    drawn = {name: digest for entry in theirs.values() for name, digest in entry["pictures"].items()}
    changed = [name for name, digest in drawn.items() if one["pictures"].get(name) != digest]
    board.show("pictures that differ", f"{len(changed)} of {len(drawn)}", "0", not changed)
    slow = sum(entry["seconds"] - entry["fit"] for entry in theirs.values())
    fast = one["seconds"] - sum(entry["fit"] for entry in one["metrics"].values())
    name = f"{len(theirs)} metrics of one model, without fitting boosted trees"
    board.show(name, f"{slow / fast:.1f}× ({slow:.0f} s → {fast:.0f} s)", f"≥ {TARGET:g}×", slow / fast >= TARGET)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("representation", type=Path, help="folder that dlib_postprocess wrote, with tfhub and results")
    parser.add_argument("--study", default="irs_study_small", choices=STUDIES, help="whose metrics are computed")
    parser.add_argument("--only", nargs="+", metavar="METRIC", help="some of them; figures are then not judged")
    parser.add_argument("--output", type=Path, default=Path("build/sweep_benchmark"), help="folder of what is measured")
    args = parser.parse_args()
    if not (args.representation / "tfhub").is_dir():
        parser.error(f"{args.representation} has no tfhub: name a folder that dlib_postprocess wrote")
    metrics = STUDIES[args.study]().metric_configs
    if args.only:
        unknown = set(args.only) - {config.stem for config in metrics}
        if unknown:
            parser.error(f"{args.study} has no metric {', '.join(sorted(unknown))}")
        metrics = [config for config in metrics if config.stem in args.only]
    (args.output / "stock").mkdir(parents=True, exist_ok=True)
    board = Board(judging=not args.only)
    compare_one_model(board, metrics, args.representation, args.output.absolute())
    return bool(board.missed)


if __name__ == "__main__":
    sys.exit(main())
