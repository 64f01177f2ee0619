"""Speed and memory of the picture of interventional effects, beside disentanglement_lib's function for it.

Both draw the same 10,000 samples of 10 latents and 5 factors in one run. Ours are timed warm, best of several calls;
disentanglement_lib's takes so long that it is called once or twice.

    python benchmarks/figures.py            a minute or two
    python benchmarks/figures.py --quick    few samples and calls, to see that it runs
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from robustness import DSPRITES, Board, best_of, codes, sample

from irs_plugin.figures import interventional_effects, interventional_effects_data, save_figures


def dlib_picture():
    """disentanglement_lib's function; on a current TensorFlow its import needs the stand-ins."""
    from irs_plugin.dlib import hook

    hook.install()
    from disentanglement_lib.visualize.visualize_irs import vis_all_interventional_effects

    return vis_all_interventional_effects


def resident_mib() -> float:
    """Memory that this process holds now (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def growth_mib(call, warm_up: int, times: int) -> float:
    """Memory gained from after the first calls to after the last, in MiB."""
    for _ in range(warm_up):
        call()
    before = resident_mib()
    for _ in range(times):
        call()
    return resident_mib() - before


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes; the figures then mean little")
    args = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    board = Board(judging=not args.quick)
    factors = sample(DSPRITES, 1_000 if args.quick else 10_000)
    latents = codes(factors, DSPRITES)
    calls, theirs = (3, dlib_picture()) if args.quick else (50, dlib_picture())
    with tempfile.TemporaryDirectory() as folder:

        def picture() -> None:
            save_figures(interventional_effects(factors, latents), Path(folder) / "effects")

        interventional_effects_data(factors, latents)
        numbers = best_of(lambda: interventional_effects_data(factors, latents), 20)
        png = best_of(picture, 5)
        growth = growth_mib(picture, 10, calls)
        slow = best_of(lambda: theirs(factors, latents, folder), 1)
        leak = growth_mib(lambda: theirs(factors, latents, folder), 0, 1)
    board.show(
        "numbers behind the effects",
        f"{slow / numbers:.0f}× ({slow:.2f} s → {numbers:.4f} s)",
        "≥ 100×",
        slow >= 100 * numbers,
    )
    board.show("finished PNG", f"{slow / png:.1f}× ({slow:.2f} s → {png:.2f} s)", "≥ 3×", slow >= 3 * png)
    board.show("finished PNG, seconds", f"{png:.2f} s", "< 4 s", png < 4)
    board.show(
        f"memory gained over {calls} pictures",
        f"{growth:+.1f} MiB (dlib: {leak:+.1f} MiB a call)",
        "< 20 MiB",
        growth < 20,
    )
    if board.judging:
        print(f"missed: {', '.join(board.missed) or 'none'}")
    return 1 if board.missed else 0


if __name__ == "__main__":
    sys.exit(main())
