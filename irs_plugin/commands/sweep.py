"""Train, extract, evaluate and compare the models of a study, or evaluate models that are trained already.

Results are laid out as dlib_reproduce lays them out. What is complete is skipped; an interrupted sweep is taken up by
the same command; a model that fails is reported at the end and does not keep the others from being done.
"""

from __future__ import annotations

import argparse
import importlib
import os
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irs_plugin.studies import Study
    from irs_plugin.sweep.costs import Costs
    from irs_plugin.sweep.plan import Plan
    from irs_plugin.sweep.steps import Outcome


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_argument_group("what")
    what.add_argument(
        "--study",
        default="irs_study_small",
        help="irs_study_v1, irs_study_small, or module:function that returns a Study (default: %(default)s)",
    )
    what.add_argument(
        "--models", nargs="+", metavar="GLOB", help="folders of trained models: evaluate these by the study's metrics"
    )
    what.add_argument("--only", metavar="NUMBERS", help="of the study's models only these, such as 0-3,7")
    what.add_argument(
        "--where", action="append", default=[], metavar="KEY=VALUE", help="only models with this binding; repeatable"
    )
    what.add_argument(
        "--postprocess", nargs="+", metavar="GIN", help="gin files of representations, in place of the study's"
    )
    what.add_argument("--metrics", nargs="+", metavar="GIN", help="gin files of metrics, in place of the study's")
    what.add_argument(
        "--model_bindings", action="append", default=[], metavar="BINDING", help="added to every model's; repeatable"
    )
    what.add_argument(
        "--metric_bindings", action="append", default=[], metavar="BINDING", help="added to every metric's; repeatable"
    )
    what.add_argument("--no_visualizations", action="store_true", help="leave out dlib's pictures of each model")
    what.add_argument("--output", type=Path, help="folder of everything (default: output/<study>)")
    how = parser.add_argument_group("how")
    how.add_argument("--workers", type=int, help="worker processes (default: as this machine has cores and memory for)")
    how.add_argument(
        "--threads",
        type=int,
        default=1,
        help="TensorFlow's threads in each; they may change last bits (default: %(default)s)",
    )
    how.add_argument("--scheduler", help="address or file of a running Dask scheduler, in place of local workers")
    how.add_argument("--keep_failed", action="store_true", help="do not try again what failed before")
    how.add_argument("--no_report", action="store_true", help="leave out the tables and the page at the end")
    how.add_argument("--dry_run", action="store_true", help="print plan and cost, and do nothing")


def run(args: argparse.Namespace) -> int:
    for name in ("workers", "threads"):
        value = getattr(args, name)
        if value is not None and value < 1:
            raise ValueError(f"--{name} {value}: at least 1")
    plan = _plan(args)
    record = plan.check_against_record(plan.output / "study.json")
    from irs_plugin.sweep.costs import Costs

    costs = Costs()
    costs.learn_from_results(plan)
    if args.dry_run:
        from irs_plugin.sweep.engine import default_workers

        print(_describe(plan, costs, args.workers or default_workers(args.threads)))
        return 0
    if args.scheduler is None:
        _require_data(plan)
    plan.output.mkdir(parents=True, exist_ok=True)
    from irs_plugin.sweep.lock import only_one_sweep

    with only_one_sweep(plan.output):
        outcomes = _sweep(args, plan, record, costs)
        print(_summary(plan, outcomes))
        if not args.no_report:
            _report(plan.output)
    return 1 if any(outcome.state == "failed" for outcome in outcomes) else 0


def _sweep(args: argparse.Namespace, plan: Plan, record: dict, costs: Costs) -> list[Outcome]:
    from irs_plugin.sweep.engine import cluster, count_workers, run
    from irs_plugin.sweep.progress import Progress
    from irs_plugin.versions import versions
    from irs_plugin.whole_files import write_json

    missing = {model.name: steps for model in plan.models if (steps := model.missing())}
    unfinished = [model for model in plan.models if model.name in missing]
    command = shlex.join(["irs_plugin", *sys.argv[1:]])
    record = {**record, "versions": versions(), "threads": args.threads, "command": command}
    if not unfinished:
        return []
    with cluster(args.workers, args.threads, args.scheduler) as client:
        write_json(plan.output / "study.json", record)
        print(f"{plan.name}: {len(unfinished)} of {len(plan.models)} models to do, into {plan.output}", flush=True)
        progress = Progress(missing, lambda: count_workers(client), costs)
        try:
            return run(client, unfinished, args.threads, retry_failed=not args.keep_failed, on_event=progress)
        finally:
            progress.close()


def _plan(args: argparse.Namespace) -> Plan:
    from irs_plugin.sweep.plan import plan_study, plan_trained

    study = _study(args.study)
    if args.postprocess:
        study = replace(study, postprocess_configs=tuple(map(_gin_file, args.postprocess)))
    if args.metrics:
        study = replace(study, metric_configs=tuple(map(_gin_file, args.metrics)))
    output = args.output or Path("output") / study.name
    common = {"metric_bindings": args.metric_bindings, "visualize": not args.no_visualizations}
    if args.models:
        for name in ("only", "where", "model_bindings"):
            if getattr(args, name):
                raise ValueError(f"--{name} chooses among a study's models and does not go with --models")
        return plan_trained(args.models, study, output, **common)
    only = None if args.only is None else _numbers(args.only)
    return plan_study(study, output, only=only, where=args.where, model_bindings=args.model_bindings, **common)


def _study(name: str) -> Study:
    from irs_plugin.studies import STUDIES, Study

    if name in STUDIES:
        return STUDIES[name]()
    module, colon, function = name.partition(":")
    if not colon:
        raise ValueError(f"there is no study {name!r}: {', '.join(STUDIES)}, or module:function")
    sys.path.insert(0, "")
    try:
        study = getattr(importlib.import_module(module), function)()
    except (ImportError, AttributeError) as error:
        raise ValueError(f"--study {name}: {error}") from None
    finally:
        sys.path.remove("")
    if not isinstance(study, Study):
        raise ValueError(f"--study {name} returned {type(study).__name__}, expected an irs_plugin.studies.Study")
    return study


def _gin_file(name: str) -> Path:
    from irs_plugin.config_files import find_config

    path = Path(name)
    return path.resolve() if path.exists() else find_config(name)


def _numbers(text: str) -> list[int]:
    numbers: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        try:
            numbers += range(int(first), int(last if dash else first) + 1)
        except ValueError:
            raise ValueError(f"--only {text!r}: write numbers and ranges, such as 0-3,7") from None
    return numbers


def _require_data(plan: Plan) -> None:
    """Refuse a sweep over dSprites without dSprites, before workers start."""
    from irs_plugin.dsprites.archive import ARCHIVE

    folder = Path(os.environ.get("DISENTANGLEMENT_LIB_DATA", "."))
    archive = folder / "dsprites" / ARCHIVE
    if archive.exists():
        return
    if any("dsprites" in binding for model in plan.models if model.missing() for binding in model.bindings):
        raise ValueError(
            f"no dSprites archive at {archive.absolute()}: point DISENTANGLEMENT_LIB_DATA to the folder that holds "
            "dsprites/, or let 'irs_plugin dsprites' render one there"
        )


def _describe(plan: Plan, costs: Costs, workers: int) -> str:
    """What a sweep would do, and what that costs."""
    from irs_plugin.sweep.costs import makespan
    from irs_plugin.sweep.progress import duration

    lines, totals, unknown, estimated = [], [], 0, 0
    for model in plan.models:
        missing = model.missing()
        seconds = [costs.seconds(step) for step in missing]
        unknown += seconds.count(None)
        estimated += sum(s is not None and not costs.is_measured(t) for s, t in zip(seconds, missing, strict=True))
        if missing:
            totals.append(sum(second or 0.0 for second in seconds))
            left = missing[0].name if len(missing) == 1 else f"{missing[0].name} … {missing[-1].name}"
            lines.append(f"  {model.name}  {model.label}: {len(missing)} steps ({left}), {duration(totals[-1])}")
    steps = sum(len(model.missing()) for model in plan.models)
    lines.insert(0, f"{plan.name}, into {plan.output}")
    lines.append(f"{len(plan.models)} models, {len(plan.models) - len(totals)} complete; {steps} steps to do")
    work, wall = duration(sum(totals)), duration(makespan(totals, workers))
    lines.append(f"{'at least ' if unknown else ''}{work} of one worker's time, {wall} with {workers} workers")
    if estimated:
        lines.append(
            f"{estimated} of the steps are estimated from the documented study, one busy core of another machine"
        )
    if unknown:
        lines.append(f"{unknown} of the steps are of a kind that was never measured and count as nothing")
    return "\n".join(lines)


def _summary(plan: Plan, outcomes: Sequence[Outcome]) -> str:
    """What became of the sweep: how many models are complete, which steps failed and why."""
    unfinished = {model.name for model in plan.models if model.missing()}
    lines = [f"{len(plan.models) - len(unfinished)} of {len(plan.models)} models are complete in {plan.output}"]
    failed = [outcome for outcome in outcomes if outcome.state == "failed"]
    if failed:
        lines.append(f"{len(failed)} steps failed; <model>/failed/ has the tracebacks, the same command tries again:")
        lines += [f"  {outcome.model}: {outcome.step}: {outcome.reason}" for outcome in failed]
    return "\n".join(lines)


def _report(output: Path) -> None:
    """The tables and the page."""
    from irs_plugin.commands import collect, report

    for command in (collect, report):
        parser = argparse.ArgumentParser()
        command.add_arguments(parser)
        command.run(parser.parse_args([str(output)]))
