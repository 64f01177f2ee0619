"""How long the steps of a sweep take: as measured here, or else in the study that comes with the documentation."""

from __future__ import annotations

import functools
import heapq
import json
import re
from collections.abc import Iterable
from pathlib import Path

from irs_plugin.sweep.plan import METRICS, POSTPROCESS, TRAIN, Plan, Step

# Seconds per step of the documented study, one core of a busy machine; benchmarks/sweep_costs.py writes it.
REFERENCE = Path(__file__).with_name("reference_costs.json")
# Models whose finished steps are read before a sweep begins.
_SAMPLE = 200


# Kind of a step, and how much there is to do of it: steps of a training, 1 of anything else, None if not known.
Work = tuple[str, "float | None"]


class Costs:
    """Mean seconds per kind of step; of training, per update."""

    def __init__(self, reference: dict[str, float] | None = None) -> None:
        self._reference = json.loads(REFERENCE.read_text(encoding="utf-8")) if reference is None else reference
        self._sums: dict[str, tuple[float, int]] = {}

    def learn(self, step: Step, seconds: float) -> None:
        """Take into account how long a step took."""
        key, amount = work(step)
        if amount is not None:
            total, count = self._sums.get(key, (0.0, 0))
            self._sums[key] = (total + seconds / amount, count + 1)

    def guess(self, step: Step, seconds: float) -> None:
        """Take into account how long a step that is under way will take, until one is finished."""
        key, amount = work(step)
        if amount is not None:
            self._reference[key] = seconds / amount

    def learn_from_results(self, plan: Plan) -> None:
        """Learn from what is there already."""
        for model in plan.models[:_SAMPLE]:
            for step in model.steps:
                seconds = _elapsed(step)
                if seconds is not None:
                    self.learn(step, seconds)

    def measured(self) -> dict[str, float]:
        """What was learned, by kind of step."""
        return {key: total / count for key, (total, count) in sorted(self._sums.items())}

    def is_measured(self, step: Step) -> bool:
        """Tell whether an estimate rests on this sweep's own steps."""
        return work(step)[0] in self._sums

    def seconds(self, wanted: Step | Work) -> float | None:
        """Estimate how long a step takes; None if nothing of the kind was ever measured."""
        key, amount = work(wanted) if isinstance(wanted, Step) else wanted
        if amount is None:
            return None
        if key in self._sums:
            total, count = self._sums[key]
            return amount * total / count
        return amount * self._reference[key] if key in self._reference else None


def makespan(costs: Iterable[float], workers: int) -> float:
    """Seconds until all is done if each of the workers takes the next model when it has finished one."""
    free = [0.0] * workers
    for cost in costs:
        heapq.heappush(free, heapq.heappop(free) + cost)
    return max(free)


def work(step: Step) -> Work:
    """What a step's cost depends on."""
    if step.kind == TRAIN:
        steps = _last(step.bindings, "model.training_steps") or _last(_lines(step.config), "model.training_steps")
        return f"{TRAIN}/{_last(step.bindings, 'model.name')}", float(steps) if steps else None
    return f"{METRICS}/{step.folder.name}" if step.kind == METRICS else step.kind, 1.0


@functools.cache
def _lines(config: Path) -> tuple[str, ...]:
    return tuple(config.read_text(encoding="utf-8").splitlines())


def _last(bindings: Iterable[str], key: str) -> str:
    found = [m.group(1) for m in (re.match(rf"{re.escape(key)}\s*=\s*(.+?)\s*$", b) for b in bindings) if m]
    return found[-1].strip("'\"") if found else ""


def _elapsed(step: Step) -> float | None:
    """Seconds that a finished step says it took."""
    if step.mark is None:
        return None
    name = {TRAIN: "train", POSTPROCESS: "postprocess", METRICS: "evaluation"}[step.kind]
    try:
        result = json.loads((step.folder / step.mark).read_text(encoding="utf-8"))
        return float(result[f"{name}_results.elapsed_time"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
