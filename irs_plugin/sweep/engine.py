"""Spreading the models of a sweep over the workers of a Dask cluster."""

from __future__ import annotations

import concurrent.futures
import contextlib
import logging
import os
import queue
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from irs_plugin.sweep.plan import Model
from irs_plugin.sweep.steps import (
    DONE,
    FAILED,
    NOT_RUN,
    Outcome,
    forget_killed_step,
    killed_step,
    progress_of,
    read_failure,
    record_failure,
    run_model,
)
from irs_plugin.sweep.worker import limit_threads, thread_settings

if TYPE_CHECKING:
    from distributed import Client, Future

_NO_DASK = "a sweep runs on Dask, which is not installed: pip install 'irs_plugin[sweep]'"

# A full dSprites, TensorFlow and a boosted-trees fit in one worker.
_BYTES_PER_WORKER = 3 * 2**30

# How often a model that gets no further is given out if its workers die, each time to as many as Dask allows; and how
# often if it does not begin there, as then another model is to blame.
_ATTEMPTS, _ATTEMPTS_TO_BEGIN = 2, 5

# gin, the library's modules and the standard streams are there once in a process.
_one_at_a_time = threading.Lock()


def default_workers(threads: int) -> int:
    """How many workers this machine has cores and memory for."""
    try:
        import psutil
    except ImportError:
        raise ValueError(_NO_DASK) from None
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores // threads, psutil.virtual_memory().available // _BYTES_PER_WORKER))


@contextlib.contextmanager
def cluster(workers: int | None, threads: int, scheduler: str | None) -> Iterator[Client]:
    """A client of a cluster on this machine, which ends with it, or of one that runs already.

    Args:
        workers: Processes of the local cluster; as many as the machine has room for by default.
        threads: Threads for TensorFlow in each worker; they may change the last bits of a result.
        scheduler: Address of a running scheduler, such as ``tcp://host:8786``, or path of its scheduler file.

    Raises:
        ValueError: Dask is not installed, or no scheduler answers.
    """
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        raise ValueError(_NO_DASK) from None
    environment = thread_settings(threads)
    settings = {
        # A step can keep a worker's interpreter busy for minutes, which is no sign that it is lost.
        "distributed.scheduler.worker-ttl": None,
        "distributed.admin.tick.limit": "1h",
        # Dask would have workers give every freed block of memory back to the system, and would look at what they do
        # every few milliseconds: both slow training down.
        "distributed.nanny.pre-spawn-environ": environment,
        "distributed.worker.profile.enabled": False,
        "distributed.admin.tick.interval": "1s",
        "distributed.admin.system-monitor.interval": "10s",
        "distributed.worker.memory.monitor-interval": "1s",
    }
    with dask.config.set(settings):
        local = None
        if scheduler is None:
            local = LocalCluster(
                n_workers=workers or default_workers(threads),
                threads_per_worker=1,
                processes=True,
                dashboard_address=":0",
                env=environment,
                silence_logs=logging.ERROR,
            )
            client = Client(local)
        else:
            where = {"scheduler_file": scheduler} if os.path.exists(scheduler) else {"address": scheduler}
            # That the scheduler is gone is told in one sentence.
            logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
            try:
                client = Client(**where, timeout=10)
            except (OSError, ValueError) as error:
                raise ValueError(f"no Dask scheduler answers at {scheduler}: {error}") from None
        try:
            yield client
        finally:
            # All results are on disk, and workers that linger end with this process.
            logging.getLogger("tornado.application").setLevel(logging.CRITICAL)
            for each in (client, local):
                with contextlib.suppress(TimeoutError, OSError):
                    if each is not None:
                        each.close()


def count_workers(client: Client) -> int:
    """How many workers the cluster has at the moment; none if it is gone."""
    return len(client.scheduler_info(n_workers=-1).get("workers", ()))


def run(
    client: Client,
    models: Sequence[Model],
    threads: int,
    *,
    retry_failed: bool = True,
    on_event: Callable[[Outcome | None], None],
) -> list[Outcome]:
    """Run the models, each on whichever worker is free.

    Args:
        client: A client of a cluster.
        models: The models.
        threads: For TensorFlow in each worker, also in those that come later.
        retry_failed: Whether steps that failed in an earlier sweep are tried again.
        on_event: Is told of every step that begins, goes on or ends, and of None once a second.

    Returns:
        What became of every step.

    Raises:
        ValueError: the scheduler is gone.
    """
    topic = f"irs_plugin-{uuid.uuid4().hex}"
    events: queue.SimpleQueue = queue.SimpleQueue()
    client.subscribe_topic(topic, lambda event: events.put(Outcome(*event[1])))
    outcomes: list[Outcome] = []
    futures: dict[Future, Model] = {}
    attempts: Counter[str] = Counter()
    reached: dict[str, tuple[int, int]] = {}
    address = client.scheduler.address
    priorities = {model.name: -number for number, model in enumerate(models)}

    def submit(model: Model) -> None:
        forget_killed_step(model)
        # Not pure: the same model may have more to do the next time. Models begin in their order.
        how = {"pure": False, "priority": priorities[model.name]}
        future = client.submit(_run_on_worker, model, topic, threads, retry_failed, **how)
        futures[future] = model
        future.add_done_callback(events.put)

    try:
        for model in models:
            submit(model)
        while futures:
            try:
                event = events.get(timeout=1)
            except queue.Empty:
                on_event(None)
                continue
            if isinstance(event, Outcome):
                on_event(event)
                continue
            model = futures.pop(event)
            try:
                of_model = event.result()
            except concurrent.futures.CancelledError:
                raise ValueError(
                    f"the Dask scheduler at {address} is gone; results that are complete stay. "
                    "Start a scheduler and workers, and run the same command again"
                ) from None
            except Exception as error:  # the worker died, and what it would have returned with it
                attempts[model.name] += 1
                if reached.get(model.name) != (progress := progress_of(model)):
                    reached[model.name], attempts[model.name] = progress, 1
                if attempts[model.name] < (_ATTEMPTS if killed_step(model) else _ATTEMPTS_TO_BEGIN):
                    submit(model)
                    continue
                of_model = _without_worker(model, error)
            for outcome in of_model:
                outcomes.append(outcome)
                on_event(outcome)
    finally:
        # If the scheduler is gone, this cannot be done and need not be told.
        with contextlib.suppress(Exception):
            client.unsubscribe_topic(topic)
            client.cancel(list(futures), force=True)
    return outcomes


def _without_worker(model: Model, error: Exception) -> list[Outcome]:
    """What became of a model whose worker died again and again: what the folder tells, and the step that it died in."""
    outcomes = []
    missing = [each.name for each in model.missing()]
    killed = killed_step(model) or "".join(missing[:1])
    for each in model.steps:
        if each.name not in missing:
            outcomes.append(Outcome(model.name, each.name, DONE))
        elif each.name == killed:
            outcomes.append(Outcome(model.name, each.name, FAILED, reason=record_failure(model, each.name, error)))
        elif reason := read_failure(model, each.name):
            outcomes.append(Outcome(model.name, each.name, FAILED, reason=reason))
        else:
            outcomes.append(Outcome(model.name, each.name, NOT_RUN, reason="its worker died"))
    return outcomes


def _run_on_worker(model: Model, topic: str, threads: int, retry_failed: bool) -> list[Outcome]:
    """The task: run a model and tell the client of every step."""
    from dataclasses import astuple

    from distributed import get_worker

    worker = get_worker()
    with _one_at_a_time:
        # Workers of somebody else's cluster know nothing of it.
        limit_threads(threads)
        return run_model(model, lambda outcome: worker.log_event(topic, astuple(outcome)), retry_failed)
