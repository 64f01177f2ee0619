"""Throughput and memory of a sweep with one worker and with two, on full dSprites.

    python benchmarks/workers.py FOLDER [--models 4] [--updates 250]

trains and evaluates the same models twice, with one worker of one thread and with two, and prints the ratio of the
throughputs (target 1.7 on two cores) and the peak memory of all processes together with two (target 9 GB). The start of
Python, TensorFlow and the workers is part of both. DISENTANGLEMENT_LIB_DATA names the folder of the full dSprites.
Exit status 1 if a target is missed. Run it on an idle machine; it takes some minutes.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil

THROUGHPUT, MEMORY = 1.7, 9.0
METRICS = ("irs_chance", "mig", "modularity_explicitness", "sap_score")


def sweep(folder: Path, workers: int, models: int, updates: int) -> tuple[float, float]:
    """Seconds that a sweep takes, and the peak memory of its processes in GB."""
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "irs_plugin", "sweep", "--study", "irs_study_small", "--output", str(folder)]
    # The two plain VAEs and the beta-VAEs, which cost the same.
    command += ["--only", f"0-{models - 1}", "--workers", str(workers), "--no_visualizations", "--no_report"]
    command += ["--model_bindings", f"model.training_steps = {updates}", "--model_bindings", "model.eval_steps = 20"]
    command += ["--metrics", *(f"studies/irs_study_small/{name}.gin" for name in METRICS)]
    started = time.perf_counter()
    process = subprocess.Popen(command)
    peak = [0.0]
    watcher = threading.Thread(target=_watch, args=(process.pid, peak))
    watcher.start()
    if process.wait():
        raise SystemExit(f"{' '.join(command)} ended with status {process.returncode}")
    seconds = time.perf_counter() - started
    watcher.join()
    return seconds, peak[0]


def _watch(pid: int, peak: list[float]) -> None:
    """Note the peak of the memory that a process and its children hold, shared pages counted once."""
    while psutil.pid_exists(pid):
        total = 0
        try:
            root = psutil.Process(pid)
            for process in (root, *root.children(recursive=True)):
                total += getattr(process.memory_full_info(), "pss", process.memory_info().rss)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            # One has just ended: what was counted so far is a lower bound of this moment, not a peak to miss.
            pass
        peak[0] = max(peak[0], total / 1e9)
        # Looking takes a tenth of a second of a core, and stops the processes meanwhile.
        time.sleep(5)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="scratch space")
    parser.add_argument("--models", type=int, choices=(2, 4), default=4)
    parser.add_argument("--updates", type=int, default=250)
    args = parser.parse_args()
    one, _ = sweep(args.folder / "one", 1, args.models, args.updates)
    two, memory = sweep(args.folder / "two", 2, args.models, args.updates)
    ratio = one / two
    print(f"{args.models} models, {args.updates} updates each: {one:.0f} s with one worker, {two:.0f} s with two")
    for name, value, target, good in (
        ("throughput, two workers to one", f"{ratio:.2f}", f"at least {THROUGHPUT}", ratio >= THROUGHPUT),
        ("peak memory with two, GB", f"{memory:.2f}", f"under {MEMORY}", memory < MEMORY),
    ):
        print(f"{name:<32} {value:>6}   target {target}   {'ok' if good else 'MISSED'}")
    return 0 if ratio >= THROUGHPUT and memory < MEMORY else 1


if __name__ == "__main__":
    sys.exit(main())
