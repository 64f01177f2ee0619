"""The state of a running sweep on the terminal."""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from irs_plugin.sweep.costs import Costs, makespan, work
from irs_plugin.sweep.plan import Step
from irs_plugin.sweep.steps import DONE, FAILED, RUNNING, Outcome

# Running models that are named.
_SHOWN = 8


def duration(seconds: float) -> str:
    """A time span as one reads it: ``45 s``, ``12 min``, ``3 h 05 min``, ``2 d 4 h``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours < 48 else f"{hours // 24} d {hours % 24} h"


def _counted(workers: int) -> str:
    return f"{workers} worker{'' if workers == 1 else 's'}"


class Progress:
    """Follows the events of a sweep; one line on a terminal, otherwise a line a minute.

    The time left is what the remaining steps cost by the times measured so far in this sweep, spread over the workers.
    Steps of a kind that has not run yet count as the reference study's; steps without any figure make it "at least".

    Args:
        missing: What is to be done: steps by name of the model.
        workers: Tells how many workers there are at the moment.
        costs: Seconds of each step, as far as known.
    """

    def __init__(self, missing: Mapping[str, Sequence[Step]], workers: Callable[[], int], costs: Costs) -> None:
        from tqdm import tqdm

        self._left = {model: {step.name: step for step in steps} for model, steps in missing.items()}
        # In a large study many models have the same to do, and what that costs is summed up once.
        self._work = {model: tuple(map(work, steps)) for model, steps in missing.items()}
        self._running: dict[str, Outcome] = {}
        self._states: Counter[str] = Counter()
        self._workers, self._costs = workers, costs
        self._interval = 1.0 if sys.stderr.isatty() else 60.0
        self._shown = -math.inf
        self._bar = tqdm(
            total=sum(map(len, self._left.values())),
            unit="step",
            mininterval=self._interval,
            bar_format="{n_fmt}/{total_fmt} steps |{bar:20}| {elapsed}{postfix}",
            dynamic_ncols=True,
        )

    def __call__(self, event: Outcome | None) -> None:
        """Take note of what happened; None says that a second has passed."""
        if event is not None:
            self._note(event)
        if time.monotonic() - self._shown >= self._interval:
            self._show(self._workers())
            self._shown = time.monotonic()

    def close(self) -> None:
        """Finish the line."""
        self._show(None)
        self._bar.close()

    def time_left(self, workers: int) -> tuple[float, bool]:
        """Seconds left with so many workers, and whether some steps without any figure come on top."""
        seconds = {each: [self._costs.seconds(one) for one in each] for each in set(self._work.values())}
        totals = {each: sum(filter(None, costs)) for each, costs in seconds.items()}
        # Models that are under way come first: they have their workers.
        remaining = [totals[each] - self._spent(model) for model, each in self._work.items() if model in self._running]
        remaining += [totals[each] for model, each in self._work.items() if model not in self._running]
        return makespan(remaining, workers), any(None in costs for costs in seconds.values())

    def _spent(self, model: str) -> float:
        """What the running step of a model has had, here or before it was killed, of the time it is to take."""
        running = self._running[model]
        cost = self._costs.seconds(self._left[model][running.step]) or 0.0
        return min(max(running.seconds, running.fraction * cost), cost)

    def _note(self, event: Outcome) -> None:
        step = self._left[event.model].get(event.step)
        if step is None:
            return
        if event.state == RUNNING:
            self._running[event.model] = event
            # A training under way tells how fast it is.
            if event.whole and not self._costs.is_measured(step):
                self._costs.guess(step, event.whole)
            return
        self._running.pop(event.model, None)
        del self._left[event.model][event.step]
        self._work[event.model] = tuple(map(work, self._left[event.model].values()))
        self._states[event.state] += 1
        if event.state == DONE and event.whole:
            self._costs.learn(step, event.whole)
        if event.state == FAILED:
            self._bar.write(f"failed: model {event.model}, {event.step}: {event.reason}", file=sys.stderr)
        self._bar.update(1)

    def _show(self, workers: int | None) -> None:
        parts = []
        if workers is not None:
            seconds, unknown = self.time_left(max(workers, 1))
            left = f"{'at least ' if unknown else 'about '}{duration(seconds)} left with {_counted(max(workers, 1))}"
            parts = [left] if workers else ["no worker at the moment", left]
        if self._states[FAILED]:
            parts.append(f"{self._states[FAILED]} failed")
        for name, event in sorted(self._running.items())[:_SHOWN]:
            share = f" {event.fraction:.0%}" if event.fraction else ""
            parts.append(f"{name}: {event.step}{share}")
        if len(self._running) > _SHOWN:
            parts.append(f"and {len(self._running) - _SHOWN} more")
        self._bar.set_postfix_str("; ".join(parts), refresh=False)
        self._bar.refresh()
