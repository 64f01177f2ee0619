"""Write down what the steps of a finished irs_study_small took, as the estimates of other sweeps begin with it.

    python benchmarks/sweep_costs.py FOLDER

reads the elapsed times in the results below FOLDER and rewrites irs_plugin/sweep/reference_costs.json: seconds per
step, of training per training step.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from irs_plugin.studies import STUDIES
from irs_plugin.sweep.costs import REFERENCE, Costs
from irs_plugin.sweep.plan import plan_study


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="output folder of the sweep")
    costs = Costs({})
    costs.learn_from_results(plan_study(STUDIES["irs_study_small"](), parser.parse_args().folder))
    measured = {name: float(f"{seconds:.3g}") for name, seconds in costs.measured().items()}
    REFERENCE.write_text(json.dumps(measured, indent=2) + "\n", encoding="utf-8")
    print(REFERENCE.read_text(encoding="utf-8"), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
