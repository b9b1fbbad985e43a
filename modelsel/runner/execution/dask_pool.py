"""Dask: a cluster on this machine, or a scheduler elsewhere; the work is scattered to its workers."""

import importlib
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, InvalidStateError
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from threading import Event, Thread
from types import ModuleType
from typing import Any

from modelsel.core.errors import ConfigurationError, ModelselError, Problem
from modelsel.runner.execution.cluster import (
    LOOK,
    Cluster,
    await_workers,
    code_teller,
    is_one_of,
    nobody_answers,
    refuse_other_code,
)

DASK = "modelsel-dask"
PATIENCE = 1, 2, 4  # seconds before the work is sent again
GONE_AFTER = 5.0  # seconds without the scheduler after which it is given up
DASK_DEATHS = "KilledWorker", "FutureCancelledError", "CancelledError"  # the last: a worker took shared data along


class SchedulerGone(Exception):  # noqa: N818  it is an event, not a mistake
    """The scheduler has not answered for a while."""


@contextmanager
def dask_cluster(
    distributed: ModuleType, scheduler: str | None, jobs: int, work: object, wait: float = 60.0
) -> Iterator[Cluster]:
    """Open a Dask cluster for the block; joblib finds the scattered work among the arguments of a call, by identity.

    Raises ConfigurationError when a scheduler has no worker for so many seconds or one that runs other code, and when the
    scheduler goes away: whatever Dask and joblib make of it, that is what happened.
    """
    from joblib import register_parallel_backend  # here and below: the pool of threads does without

    register_parallel_backend(DASK, _dask_backend())
    with _client(distributed, scheduler, jobs) as client:
        try:
            if scheduler is not None:
                who, start = f"the Dask scheduler at {scheduler}", f"`dask worker {scheduler}`"
                await_workers(partial(_has_workers, client), who, start, wait)
                refuse_other_code(client.run(code_teller(), on_error="return"))
            yield Cluster(partial(_send, client, work), work, is_one_of(*DASK_DEATHS))
        except (ModelselError, KeyboardInterrupt):
            raise
        except (Exception, CancelledError) as problem:
            if isinstance(problem, SchedulerGone) or client.status != "running":
                raise ConfigurationError(_scheduler_gone(scheduler)) from problem
            raise


def _has_workers(client: Any) -> bool:
    """Say whether the scheduler knows workers; raise `SchedulerGone` where it does not answer."""
    _await_scheduler(client)
    return bool(client.nthreads())


def _scheduler_gone(scheduler: str | None) -> Problem:
    what = f"the Dask scheduler at {scheduler} went away" if scheduler else "the local Dask cluster went away"
    fix = "finished cells are kept: start it and the same command goes on, as it does here with pool=threads or pool=processes"
    return Problem("MSEL-536", what, "pool.scheduler", fix)


def _send(client: object, work: object) -> AbstractContextManager[object]:
    """Send the work to all workers by joblib's configuration; once more where a worker dies at this very moment.

    Raises SchedulerGone where nobody is there to be sent anything: Dask would wait for half a minute.
    """
    for seconds in PATIENCE:
        _await_scheduler(client)
        with suppress(OSError):  # CommClosedError is one
            return _configure(client, work)
        time.sleep(seconds)
    return _configure(client, work)


def _await_scheduler(client: object) -> None:
    """Wait for the scheduler to answer; raise `SchedulerGone` where it does not."""
    until = time.monotonic() + GONE_AFTER
    while not _answers(client):
        if time.monotonic() > until:
            raise SchedulerGone
        time.sleep(LOOK)


def _answers(client: Any) -> bool:
    """Say whether the scheduler answers now; the client's own state lags behind."""
    with suppress(OSError):  # CommClosedError and TimeoutError are
        client.sync(client.scheduler.identity, callback_timeout=GONE_AFTER)
        return bool(client.status == "running")
    return False


def _configure(client: object, work: object) -> AbstractContextManager[object]:
    from joblib import parallel_config

    return parallel_config(DASK, client=client, scatter=[work])  # type: ignore[no-any-return]


def _dask_backend() -> type:
    """joblib's Dask backend, but for three things that matter when workers or the scheduler are killed."""
    theirs: Any = importlib.import_module("joblib._dask").DaskDistributedBackend

    class Backend(theirs):  # type: ignore[misc]
        def start_call(self) -> None:
            """Begin, and watch whether the scheduler answers."""

            self.waiting: set[Future[object]] = set()
            self.over = Event()
            super().start_call()
            Thread(target=_watch, args=(self.client, self.waiting, self.over), daemon=True).start()

        def stop_call(self) -> None:
            self.over.set()
            super().stop_call()

        def effective_n_jobs(self, n_jobs: int) -> int:
            """At least two: for one, joblib would work in the parent, and what kills a worker must not kill the study."""
            return max(2, int(super().effective_n_jobs(n_jobs)))

        def submit(self, func: object, callback: Callable[[object], None]) -> object:
            """Submit a task, and report it where Dask gives it up (KilledWorker): joblib 1.6 would wait for it for ever."""
            job = super().submit(func, callback)
            self.waiting.add(job)
            job.add_done_callback(self.waiting.discard)
            job.add_done_callback(lambda done: callback(done.exception()) if done.exception() is not None else None)
            return job

        def retrieve_result_callback(self, out: object) -> object:
            if isinstance(out, BaseException):
                raise out
            return super().retrieve_result_callback(out)

    return Backend


def _watch(client: Any, waiting: "set[Future[Any]]", over: Event) -> None:
    """End waiting jobs soon after the scheduler is gone: Dask looks for it for half a minute, and names another cause."""
    missed = 0.0
    while not over.wait(LOOK):
        missed = 0.0 if client.status == "running" else missed + LOOK
        if missed >= GONE_AFTER:
            for job in tuple(waiting):
                with suppress(InvalidStateError):
                    job.set_exception(SchedulerGone())
            return


@contextmanager
def _client(distributed: ModuleType, scheduler: str | None, jobs: int) -> Iterator[Any]:
    """Connect to a scheduler, or start a cluster on this machine."""
    dask = importlib.import_module("dask")
    if scheduler is None:
        local = {"n_workers": jobs, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
        with (
            dask.config.set({"distributed.scheduler.allowed-failures": 0}),  # suspects are run again alone, by us
            distributed.LocalCluster(**local) as nearby,
            distributed.Client(nearby, set_as_default=False) as client,
        ):
            yield client
        return
    try:
        client = distributed.Client(scheduler, set_as_default=False)
    except OSError as problem:
        raise ConfigurationError(nobody_answers(f"Dask scheduler answers at {scheduler}")) from problem
    with client, dask.config.set({"distributed.comm.timeouts.connect": f"{GONE_AFTER}s"}):  # it has answered once
        yield client
