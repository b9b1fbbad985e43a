"""Dask: a cluster on this machine, or a scheduler elsewhere; the work is scattered to its workers."""

import importlib
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from types import ModuleType
from typing import Any

from joblib import parallel_config, register_parallel_backend

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.runner.cluster import Cluster, named

DASK = "modelsel-dask"
PATIENCE = 1, 2, 4  # seconds before the work is sent again
DEATHS = "KilledWorker", "FutureCancelledError", "CancelledError"  # the last: a worker took shared data along


@contextmanager
def dask_cluster(distributed: ModuleType, scheduler: str | None, jobs: int, work: Any) -> Iterator[Cluster]:
    """joblib finds the scattered work among the arguments of a call, by identity."""
    register_parallel_backend(DASK, _backend())
    with _client(distributed, scheduler, jobs) as client:
        yield Cluster(partial(_sent, client, work), work, named(*DEATHS))


def _sent(client: Any, work: Any) -> AbstractContextManager[Any]:
    """joblib's configuration, which sends the work to all workers; again where one of them dies at this very moment."""
    for seconds in PATIENCE:
        try:
            return _configured(client, work)
        except OSError:  # CommClosedError is one
            time.sleep(seconds)
    return _configured(client, work)


def _configured(client: Any, work: Any) -> AbstractContextManager[Any]:
    return parallel_config(DASK, client=client, scatter=[work])  # type: ignore[no-any-return]


def _backend() -> type:
    """joblib's Dask backend, but for two things that matter when workers are killed."""
    theirs: Any = importlib.import_module("joblib._dask").DaskDistributedBackend

    class Backend(theirs):  # type: ignore[misc]
        def effective_n_jobs(self, n_jobs: int) -> int:
            """At least two: for one, joblib would work in the parent, and what kills a worker must not kill the study."""
            return max(2, int(super().effective_n_jobs(n_jobs)))

        def submit(self, func: Any, callback: Callable[[Any], None]) -> Any:
            """joblib 1.6 is not told of tasks that Dask gives up (KilledWorker), and would wait for ever."""
            job = super().submit(func, callback)
            job.add_done_callback(lambda done: callback(done.exception()) if done.exception() is not None else None)
            return job

        def retrieve_result_callback(self, out: Any) -> Any:
            if isinstance(out, BaseException):
                raise out
            return super().retrieve_result_callback(out)

    return Backend


@contextmanager
def _client(distributed: ModuleType, scheduler: str | None, jobs: int) -> Iterator[Any]:
    if scheduler is None:
        local = {"n_workers": jobs, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
        dask = importlib.import_module("dask")
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
        what = f"no Dask scheduler answers at {scheduler}"
        raise ConfigurationError(Problem("MSEL-534", what, "pool.scheduler", "start it, or leave it out")) from problem
    with client:
        yield client
