"""What the hook adds to a start of Python that does not use disentanglement_lib, in milliseconds.

Starts the interpreter with the hook on and off by turns and compares the medians of wall-clock and processor time. The
package has to be installed, so that its line in site-packages is there.

    python benchmarks/startup.py [--starts 200]
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time

LIMIT_MS = 2.0


def start(hook: str) -> tuple[float, float]:
    """Wall-clock and processor time of one start, in milliseconds."""
    environment = {**os.environ, "IRS_PLUGIN_HOOK": hook}
    before, used_before = time.perf_counter(), children_seconds()
    subprocess.run([sys.executable, "-c", "pass"], env=environment, check=True)
    return 1e3 * (time.perf_counter() - before), 1e3 * (children_seconds() - used_before)


def children_seconds() -> float:
    """Processor time of the processes started so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def median_ms(times: list[tuple[float, float]], column: int) -> float:
    return statistics.median(row[column] for row in times)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=200, help="starts with and without the hook, each")
    starts = parser.parse_args().starts
    probe = "from irs_plugin.dlib import hook; print(hook.is_installed())"
    found = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout.strip()
    if found != "True":
        sys.exit("the hook is not installed: pip install irs_plugin, and unset IRS_PLUGIN_HOOK")
    times: dict[str, list[tuple[float, float]]] = {"1": [], "0": []}
    for _ in range(starts):
        for hook in times:
            times[hook].append(start(hook))
    for column, label in enumerate(("wall-clock", "processor ")):
        on, off = (median_ms(times[hook], column) for hook in ("1", "0"))
        print(f"{label}: {off:.2f} ms without the hook, {on:.2f} ms with it: {on - off:+.2f} ms")
    return 0 if median_ms(times["1"], 0) - median_ms(times["0"], 0) < LIMIT_MS else 1


if __name__ == "__main__":
    sys.exit(main())
