"""disentanglement_lib's own test suite: the files of the installed wheel, unchanged, each as ``python -m``."""

from __future__ import annotations

import importlib.util
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree

from irs_plugin.dlib.known_failures import KNOWN_FAILURES

# Modules that take longer than half a minute on two cores.
SLOW = frozenset(
    f"disentanglement_lib.{name}"
    for name in (
        "evaluation.abstract_reasoning.reason_test",
        "evaluation.evaluate_test",
        "evaluation.metrics.dci_test",
        "evaluation.metrics.fairness_test",
        "evaluation.metrics.modularity_explicitness_test",
        "evaluation.metrics.strong_downstream_task_test",
        "evaluation.metrics.unified_scores_test",
        "methods.unsupervised.train_test",
        "visualize.visualize_model_test",
    )
)


@dataclass(frozen=True)
class Outcome:
    """What became of one test module."""

    module: str
    passed: tuple[str, ...]
    failed: tuple[str, ...]
    skipped: tuple[str, ...]
    seconds: float

    def unexpected(self) -> list[str]:
        """What is wrong: failures that are not known, and known failures that are none any more."""
        known = {key.partition("::")[2] for key in KNOWN_FAILURES if key.partition("::")[0] == self.module}
        return [f"{self.module}::{test} failed" for test in self.failed if test not in known] + [
            f"{self.module}::{test} is a known failure, but did not fail: strike it from the list"
            for test in sorted(known - set(self.failed))
        ]


def test_modules(selection: str = "all") -> list[str]:
    """Names of the test modules of the installed library: ``all``, or those that are ``fast``.

    Raises:
        ValueError: unknown selection, or a name in this package's lists that the library does not have.
    """
    if selection not in ("all", "fast"):
        raise ValueError(f"selection must be 'all' or 'fast', got {selection!r}")
    spec = importlib.util.find_spec("disentanglement_lib")
    root = Path(spec.submodule_search_locations[0])
    modules = sorted(
        ".".join(("disentanglement_lib", *path.relative_to(root).with_suffix("").parts))
        for path in root.rglob("*_test.py")
    )
    listed = SLOW | {key.partition("::")[0] for key in KNOWN_FAILURES}
    if unknown := sorted(listed - set(modules)):
        raise ValueError(
            f"the installed disentanglement_lib has no {', '.join(unknown)}: correct SLOW or KNOWN_FAILURES"
        )
    return [module for module in modules if selection == "all" or module not in SLOW]


def run_module(module: str) -> Outcome:
    """Run one test module in a process and a folder of its own; its output goes where ours goes."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        subprocess.run([sys.executable, "-m", module, f"--xml_output_file={report}"], cwd=folder, check=False)
        cases = _cases(report) if report.exists() else {"(the module died before its tests)": "failed"}

    def names(status: str) -> tuple[str, ...]:
        return tuple(sorted(name for name, found in cases.items() if found == status))

    seconds = round(time.monotonic() - start, 1)
    return Outcome(module, names("passed"), names("failed"), names("skipped"), seconds)


def _cases(report: Path) -> dict[str, str]:
    """Test names and what became of them, from absltest's report."""
    statuses = {}
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name = f"{case.get('classname').rpartition('.')[2]}.{case.get('name')}"
        if case.find("failure") is not None or case.find("error") is not None:
            statuses[name] = "failed"
        else:
            statuses[name] = "passed" if case.get("status") == "run" else "skipped"
    return statuses


def run(modules: Sequence[str], record: Path, resume: bool, announce: Callable[[str], None]) -> list[Outcome]:
    """Run the modules one after the other; ``record`` keeps what has been run, so that a later call can resume.

    A record is taken up only if it was made with the same versions.
    """
    done: dict[str, Outcome] = {}
    if resume and record.exists():
        kept = json.loads(record.read_text())
        if kept["versions"] != versions():
            raise ValueError(f"{record} was made with other versions ({kept['versions']}): run without --resume")
        done = {entry["module"]: _outcome(entry) for entry in kept["outcomes"]}
    for number, module in enumerate(modules, start=1):
        if module not in done:
            announce(f"[{number}/{len(modules)}] {module}")
            done[module] = run_module(module)
            kept = {"versions": versions(), "outcomes": [asdict(outcome) for outcome in done.values()]}
            record.write_text(json.dumps(kept, indent=1))
    return [done[module] for module in modules]


def _outcome(entry: dict) -> Outcome:
    tuples = {key: tuple(entry[key]) for key in ("passed", "failed", "skipped")}
    return Outcome(module=entry["module"], seconds=entry["seconds"], **tuples)


def versions() -> dict[str, str]:
    """Versions of what the outcome may depend on."""
    packages = ("disentanglement_lib", "tensorflow", "tf_keras", "tensorflow-hub", "gin-config", "numpy", "scipy")
    found = {package: version(package) for package in (*packages, "scikit-learn", "pandas", "matplotlib", "imageio")}
    return {"Python": platform.python_version(), **found}


def table(outcomes: Sequence[Outcome]) -> str:
    """The outcomes as a Markdown table with the sums below."""
    lines = ["| file | passed | failed | skipped | seconds |", "|---|---:|---:|---:|---:|"]
    for outcome in outcomes:
        name = outcome.module.removeprefix("disentanglement_lib.")
        counts = (len(outcome.passed), len(outcome.failed), len(outcome.skipped))
        lines.append(f"| {name} | {counts[0]} | {counts[1]} | {counts[2]} | {outcome.seconds:.0f} |")
    passed, failed, skipped = (sum(len(getattr(o, key)) for o in outcomes) for key in ("passed", "failed", "skipped"))
    seconds = sum(outcome.seconds for outcome in outcomes)
    lines.append(f"| **{len(outcomes)} files** | {passed} | {failed} | {skipped} | {seconds:.0f} |")
    return "\n".join(lines)


def page(outcomes: Sequence[Outcome]) -> str:
    """A page for the documentation: versions, table, and the known failures with their reasons."""
    stack = ", ".join(f"{name} {number}" for name, number in versions().items())
    known = "\n".join(f"* `{test}`: {reason}" for test, reason in KNOWN_FAILURES.items()) or "None."
    skips = {test.rpartition(".")[2] for outcome in outcomes for test in outcome.skipped}
    return (
        f"# disentanglement_lib's own tests on TensorFlow {version('tensorflow')}\n\n"
        f"The `*_test.py` files of the installed wheel, unchanged, each as `python -m`. Made by "
        f"`irs_plugin dlib-tests`.\n\n{stack}, on {platform.system()} {platform.machine()}.\n\n{table(outcomes)}\n\n"
        f"Skipped: {', '.join(sorted(skips)) or 'none'}.\n\n## Known failures\n\n{known}\n"
    )
