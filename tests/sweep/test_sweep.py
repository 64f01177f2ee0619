"""Real sweeps with real worker processes: whole, killed, resumed, on a scheduler at an address, with failures."""

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from sweep_study import METRICS, MODELS, write_metrics

STUDY = """
from pathlib import Path

from irs_plugin.studies import STUDIES, Study

SMALL = STUDIES["irs_study_small"]()
MODELS = {models!r}


def study():
    metrics = tuple(sorted(Path(__file__).with_name("gin").glob("*.gin")))
    return Study("tiny", MODELS, SMALL.model_config, SMALL.postprocess_configs, metrics)
"""


def write_study(folder, models=MODELS[:2], metrics=METRICS):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tiny_study.py").write_text(STUDY.format(models=models))
    write_metrics(folder / "gin", metrics)
    return folder


def command(output, *flags):
    sweep = [sys.executable, "-m", "irs_plugin", "sweep", "--study", "tiny_study:study", "--output", str(output)]
    return [*sweep, "--no_report", "--no_visualizations", *flags]


def environment(folder, **more):
    path = os.pathsep.join([str(folder), str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, "TF_CPP_MIN_LOG_LEVEL": "3", **more}


def sweep(folder, output, *flags, **more):
    """Run a sweep to its end."""
    return subprocess.run(
        command(output, *flags),
        cwd=folder,
        env=environment(folder, **more),
        capture_output=True,
        text=True,
        timeout=400,
    )


def results(output):
    """Everything a sweep found out, and its files: what two sweeps have to agree on."""
    found = {}
    for path in sorted(output.rglob("*")):
        name = path.relative_to(output).as_posix()
        # The logs of TensorBoard carry time and host in their names.
        if not path.is_file() or "events.out.tfevents" in name:
            continue
        value = None
        if path.suffix == ".json" and "/results/" in name:
            value = json.loads(path.read_text())
            value = {key: item for key, item in value.items() if not key.endswith(("elapsed_time", "uuid"))}
        elif path.name.startswith("variables.data"):
            value = hashlib.sha256(path.read_bytes()).hexdigest()
        found[name] = value
    return found


def of_model(found, name):
    """The part of a sweep's results that one model has, and what belongs to all."""
    return {path: value for path, value in found.items() if path.startswith(f"{name}/") or "/" not in path}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return write_study(tmp_path_factory.mktemp("study"))


@pytest.fixture(scope="module")
def whole(study):
    """A sweep that was never interrupted."""
    output = study / "whole"
    done = sweep(study, output, "--workers", "2")
    assert done.returncode == 0, done.stderr[-3000:]
    assert "2 of 2 models are complete" in done.stdout
    # Told by the workers, step by step.
    assert "10/10 steps" in done.stderr
    # What TensorFlow has to say is in the models' logs.
    assert "oneDNN" not in done.stderr
    return output


@contextlib.contextmanager
def running(folder, output, *flags):
    """A sweep under way; whatever is left of it is ended afterwards."""
    with open(folder / "log.txt", "a") as log:
        process = subprocess.Popen(command(output, *flags), cwd=folder, env=environment(folder), stdout=log, stderr=log)
    try:
        yield process
    finally:
        with contextlib.suppress(psutil.NoSuchProcess):
            for child in psutil.Process(process.pid).children(recursive=True):
                child.kill()
        process.kill()
        process.wait()


def wait_for(condition, what, seconds=300):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what} did not happen in {seconds} s"
        time.sleep(0.02)


def test_layout_is_disentanglement_libs(whole):
    for number in "01":
        assert (whole / number / "model/tfhub/saved_model.pb").exists()
        assert (whole / number / "model/tf_checkpoint/checkpoint").exists()
        assert (whole / number / "postprocessed/mean/tfhub/saved_model.pb").exists()
        for metric in METRICS:
            assert (whole / number / "metrics/mean" / metric / "results/aggregate/evaluation.json").exists()
    leftovers = [path for path in whole.rglob("*") if "partial" in path.name or path.suffix == ".training"]
    assert leftovers == []
    record = json.loads((whole / "study.json").read_text())
    assert record["study"] == "tiny"
    assert sorted(record["models"]) == ["0", "1"]
    assert record["versions"]["disentanglement_lib"] == "1.5"


def test_scores_are_those_of_stock_scripts(whole, study, tmp_path):
    """The sweep's representation through stock ``dlib_evaluate`` at the sweep's seed."""
    from irs_plugin.sweep.plan import plan_study

    sys.path.insert(0, str(study))
    try:
        from tiny_study import study as definition
    finally:
        sys.path.remove(str(study))
    model = plan_study(definition(), whole).models[0]
    for step in model.steps:
        # The boosted trees of DCI are seeded by nobody in stock scripts.
        if step.kind == "metrics" and "dci" not in step.name:
            output = tmp_path / step.folder.name
            flags = [f"--gin_bindings={binding}" for binding in step.bindings]
            stock = [str(Path(sys.executable).with_name("dlib_evaluate")), f"--gin_config={step.config}", *flags]
            stock += [f"--input_dir={step.source}", f"--output_dir={output}"]
            subprocess.run(stock, check=True, env=environment(study), capture_output=True)
            theirs = json.loads((output / "results/json/evaluation_results.json").read_text())
            ours = json.loads((step.folder / "results/json/evaluation_results.json").read_text())
            for result in (ours, theirs):
                del result["elapsed_time"], result["uuid"]
            assert ours == theirs


def test_a_finished_sweep_does_nothing(whole, study):
    before = {path: path.stat().st_mtime_ns for path in whole.rglob("*.json") if path.name != "study.json"}
    # Nothing is asked of any worker: nobody is at this address.
    done = sweep(study, whole, "--scheduler", "tcp://127.0.0.1:1")
    assert done.returncode == 0, done.stderr[-3000:]
    assert "2 of 2 models are complete" in done.stdout
    assert before == {path: path.stat().st_mtime_ns for path in before}


def test_killed_at_several_points_it_ends_as_if_never_interrupted(study, whole):
    output = study / "killed"

    def newer(pattern, started):
        return [path for path in output.glob(pattern) if path.stat().st_mtime > started]

    def in_a_metric(started):
        steps = [path.read_text() for path in newer("*/.step", started) if path.exists()]
        return any(step.startswith("metrics/") for step in steps)

    points = {
        "training": lambda started: newer("*/model.training/lock", started),
        "end of training": lambda started: newer("*/model.partial", started),
        "metric": in_a_metric,
        "result": lambda started: newer("*/metrics/mean/*/results/aggregate/evaluation.json", started),
    }
    for what, is_reached in points.items():
        started = time.time()
        with running(study, output, "--workers", "2") as process:

            def reached(process=process, is_reached=is_reached, started=started):
                assert process.poll() is None, "the sweep ended first"
                with contextlib.suppress(FileNotFoundError):  # it got another name meanwhile
                    return is_reached(started)

            wait_for(reached, what)
            children = psutil.Process(process.pid).children(recursive=True)
            assert children
            os.kill(process.pid, signal.SIGKILL)
            # Nothing goes on working in its name.
            assert psutil.wait_procs(children, timeout=120)[1] == [], what
    done = sweep(study, output, "--workers", "2")
    assert done.returncode == 0, done.stderr[-3000:]
    assert "2 of 2 models are complete" in done.stdout
    assert results(output) == results(whole)


def test_a_worker_killed_in_the_middle_is_replaced(study, whole):
    output = study / "worker_killed"
    with running(study, output, "--workers", "1", "--only", "1") as process:
        wait_for(lambda: any(output.glob("*/model.partial")), "a training")
        # Workers are the processes that have a model open.
        children = psutil.Process(process.pid).children(recursive=True)
        workers = [
            c
            for c in children
            if any(file.path.endswith("log.txt") and output.as_posix() in file.path for file in c.open_files())
        ]
        assert workers
        workers[0].kill()
        assert process.wait(timeout=300) == 0
    assert results(output) == of_model(results(whole), "1")


@pytest.fixture
def dask(study, tmp_path):
    """Starts parts of a cluster that is not the sweep's own, and sweeps on it; all of them end with the test."""
    file = tmp_path / "scheduler.json"
    with contextlib.ExitStack() as ended_at_last:

        def start(*arguments, stderr=subprocess.DEVNULL):
            process = subprocess.Popen(
                arguments, env=environment(study), stdout=subprocess.DEVNULL, stderr=stderr, cwd=tmp_path
            )
            ended_at_last.enter_context(process)
            ended_at_last.callback(process.terminate)
            return process

        def dask(part, *flags):
            program = str(Path(sys.executable).with_name("dask"))
            return start(program, part, "--no-dashboard", "--scheduler-file", str(file), *flags)

        def scheduler():
            process = dask("scheduler", "--port", "0")
            wait_for(file.exists, "a scheduler")
            return process, json.loads(file.read_text())["address"]

        def sweep(output, *flags):
            log = tmp_path / "log.txt"
            with open(log, "w") as errors:
                return start(*command(output, *flags), stderr=errors), log

        yield SimpleNamespace(
            file=file,
            scheduler=scheduler,
            worker=lambda threads="1": dask("worker", "--nworkers", "1", "--nthreads", threads),
            sweep=sweep,
        )


def test_a_scheduler_whose_worker_comes_late(study, whole, dask):
    output = study / "scheduler"
    _, address = dask.scheduler()
    running, log = dask.sweep(output, "--scheduler", address, "--only", "0")
    wait_for(lambda: "no worker at the moment" in log.read_text(), "the sweep to miss workers")
    dask.worker()
    assert running.wait(timeout=300) == 0, log.read_text()[-3000:]
    assert "5/5 steps" in log.read_text()
    # By the file, and nothing to do for it.
    assert sweep(study, output, "--scheduler", str(dask.file), "--only", "0").returncode == 0
    assert results(output) == of_model(results(whole), "0")


def test_a_scheduler_that_is_gone_and_a_worker_of_two_threads(study, whole, dask):
    output = study / "gone"
    scheduler, address = dask.scheduler()
    worker = dask.worker()
    running, log = dask.sweep(output, "--scheduler", address)
    wait_for(lambda: any(output.glob("*/model.training")), "a training")
    scheduler.kill()
    assert running.wait(timeout=300) == 2
    text = log.read_text()
    assert f"the Dask scheduler at {address} is gone" in text
    assert "Traceback" not in text
    assert list(output.glob("*/failed")) == []
    worker.terminate()
    worker.wait()
    # The same command on another one, whose worker does a model at a time though Dask gives it two.
    dask.file.unlink()
    dask.scheduler()
    dask.worker("2")
    running, log = dask.sweep(output, "--scheduler", str(dask.file))
    assert running.wait(timeout=300) == 0, log.read_text()[-3000:]
    assert results(output) == results(whole)
    # What the second model had to say went into its own log, not into that of the first, which is closed.
    for model in "01":
        assert "Logging error" not in (output / model / "log.txt").read_text()


def test_no_scheduler_and_no_data(study, tmp_path):
    done = sweep(study, tmp_path / "out", "--scheduler", "tcp://127.0.0.1:1")
    assert done.returncode == 2
    assert "no Dask scheduler answers at tcp://127.0.0.1:1" in done.stderr
    assert not (tmp_path / "out/study.json").exists()
    whole_study = [sys.executable, "-m", "irs_plugin", "sweep", "--output", str(tmp_path / "out")]
    where = environment(study, DISENTANGLEMENT_LIB_DATA=str(tmp_path))
    done = subprocess.run(whole_study, env=where, capture_output=True, text=True)
    assert done.returncode == 2
    assert "no dSprites archive at" in done.stderr
    assert not (tmp_path / "out" / "0").exists()


def test_without_dask(study, tmp_path):
    for name in ("distributed", "psutil"):
        (tmp_path / f"{name}.py").write_text("raise ImportError")
    path = os.pathsep.join([str(tmp_path), environment(study)["PYTHONPATH"]])
    for flag in ("--workers=1", "--dry_run"):
        done = sweep(study, tmp_path / "out", flag, PYTHONPATH=path)
        assert done.returncode == 2
        assert "pip install 'irs_plugin[sweep]'" in done.stderr


def test_failures_do_not_keep_the_others(tmp_path):
    """A model that diverges, a metric that cannot be computed, and a metric that takes its process with it."""
    diverging = (*MODELS[0][:-1], "model.random_seed = 0", "vae/AdamOptimizer.learning_rate = 1e30")
    metrics = {
        "a_impossible": 'include "metrics/irs_paper.gin"\ninterventional_robustness.num_train = -1',
        "sap_score": METRICS["sap_score"],
        "b_leaving": 'import deadly\nevaluation.evaluation_fn = @leaving\ndataset.name = "auto"',
        "z_deadly": 'import deadly\nevaluation.evaluation_fn = @deadly\ndataset.name = "auto"',
    }
    folder = write_study(tmp_path / "study", (MODELS[0], diverging), metrics)
    arguments = "ground_truth_data, representation_function, random_state, artifact_dir=None"
    (folder / "deadly.py").write_text(
        "import os\nimport sys\n\nimport gin\n\n\n"
        f"@gin.configurable\ndef deadly({arguments}):\n    os._exit(1)\n\n\n"
        f"@gin.configurable\ndef leaving({arguments}):\n    sys.exit('the licence has run out')\n"
    )
    output = folder / "out"
    done = sweep(folder, output, "--workers", "1", DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")
    assert done.returncode == 1
    assert "0 of 2 models are complete" in done.stdout
    assert "4 steps failed" in done.stdout, done.stdout
    assert "1: train: NanLossDuringTrainingError" in done.stdout
    assert "0: metrics/mean/a_impossible: ValueError" in done.stdout
    assert "0: metrics/mean/b_leaving: SystemExit: the licence has run out" in done.stdout
    assert "0: metrics/mean/z_deadly: KilledWorker" in done.stdout
    assert (output / "0/metrics/mean/sap_score/results/aggregate/evaluation.json").exists()
    assert not (output / "1/model").exists()
    failed = json.loads((output / "1/failed/train.json").read_text())
    assert failed["step"] == "train"
    assert "Traceback" in failed["traceback"]
    # With the mistake mended, the same command does what is left; what failed otherwise can be left alone.
    write_metrics(folder / "gin", {"a_impossible": metrics["a_impossible"].replace("-1", "100")})
    for mended in ("b_leaving", "z_deadly"):
        (folder / f"gin/{mended}.gin").write_text(metrics["sap_score"])
    done = sweep(folder, output, "--workers", "1")
    assert done.returncode == 1
    assert "1 of 2 models are complete" in done.stdout
    assert "1: train: NanLossDuringTrainingError" in done.stdout
    assert sorted(path.name for path in output.glob("*/failed/*")) == ["train.json"]
    # What failed can be left alone; it is told all the same.
    log = (output / "1/log.txt").read_text()
    done = sweep(folder, output, "--workers", "1", "--keep_failed")
    assert done.returncode == 1
    assert "1: train: NanLossDuringTrainingError" in done.stdout
    assert (output / "1/log.txt").read_text() == log


def test_two_sweeps_into_one_folder_are_refused(study, tmp_path):
    from irs_plugin.sweep.lock import only_one_sweep

    output = tmp_path / "out"
    output.mkdir()
    with only_one_sweep(output):
        done = sweep(study, output)
    assert done.returncode == 2
    assert "another sweep is at work" in done.stderr


def test_models_trained_elsewhere_and_a_dry_run(whole, study):
    output = study / "elsewhere"
    flags = ["--models", str(whole / "[0]/model"), "--workers", "1"]
    done = sweep(study, output, *flags, "--dry_run")
    assert done.returncode == 0
    assert "1 models, 0 complete; 4 steps to do" in done.stdout
    assert not output.exists()
    done = sweep(study, output, *flags)
    assert done.returncode == 0, done.stderr[-3000:]
    ours, theirs = results(output), results(whole)
    scores = [name for name in of_model(theirs, "0") if name.endswith("evaluation_results.json")]
    assert len(scores) == 3
    assert {name: ours[name] for name in scores} == {name: theirs[name] for name in scores}
