"""Pools of more than one machine, through joblib's own registrations: Dask, and Ray or Spark where the person has them.

The work goes to the workers once; records travel back to the parent, so that no shared file system is needed.
"""

import importlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, InvalidStateError
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from threading import Event, Thread
from types import ModuleType
from typing import Any

from modelsel.core.errors import ConfigurationError, ModelselError, Problem
from modelsel.core.lru_cache import LRUCache
from modelsel.planning.sources import own_digest
from modelsel.runner.evaluation.context import RunContext


@dataclass(frozen=True)
class Cluster:
    """A joblib backend to enter around a call, and the work as workers are given it."""

    enter: Callable[[], AbstractContextManager[object]]
    work: Any  # or a function that brings it
    is_death: Callable[[BaseException], bool]  # does this exception say that a worker is lost?
    round: int | None = None  # jobs given out at a time where joblib waits for all of them; None: results come one by one


def is_one_of(*types: str) -> Callable[[BaseException], bool]:
    """Return a test of whether an exception is of one of these types, of packages that need not be installed."""
    return lambda problem: any(kind.__name__ in types for kind in type(problem).__mro__)


def open_pool(kind: str, scheduler: str | None, jobs: int, work: object, wait: float = 60.0) -> AbstractContextManager[Cluster]:
    """Open a pool for the block. ConfigurationError when a package is missing or there are no workers."""
    if kind == "dask":
        distributed = _import_package("dask.distributed", kind, "pip install 'modelsel[dask]'")
        return dask_cluster(distributed, scheduler, jobs, work, wait)
    if kind == "ray":
        return ray_cluster(_import_package("ray", kind, "install ray"), jobs, work)
    return spark_cluster(_import_package("joblibspark.backend", kind, "install joblibspark and pyspark"), jobs, work)


def _import_package(name: str, pool: str, fix: str) -> ModuleType:
    """Import a package that a pool needs. ConfigurationError where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        what = f"pool={pool} needs a package that is not installed"
        raise ConfigurationError(Problem("MSEL-533", what, "pool", fix)) from problem


# Dask: a cluster on this machine, or a scheduler elsewhere; the work is scattered to its workers.

DASK = "modelsel-dask"
PATIENCE = 1, 2, 4  # seconds before the work is sent again
GONE_AFTER = 5.0  # seconds without the scheduler after which it is given up
LOOK = 0.5  # seconds between two looks at it
NAMED = 3  # workers that are named
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
                _await_workers(client, scheduler, wait)
                _refuse_other_code(client)
            yield Cluster(partial(_send, client, work), work, is_one_of(*DASK_DEATHS))
        except (ModelselError, KeyboardInterrupt):
            raise
        except (Exception, CancelledError) as problem:
            if isinstance(problem, SchedulerGone) or client.status != "running":
                raise ConfigurationError(_scheduler_gone(scheduler)) from problem
            raise


def _await_workers(client: Any, scheduler: str, wait: float) -> None:
    """Wait for the first worker, and say so after a while; ConfigurationError where none comes."""
    began, told = time.monotonic(), False
    while not _has_workers(client):
        waited = time.monotonic() - began
        if waited > wait:
            what = f"the Dask scheduler at {scheduler} has had no workers for {wait:g} s"
            fix = f"start some (`dask worker {scheduler}`), or wait longer: pool.wait=SECONDS"
            raise ConfigurationError(Problem("MSEL-537", what, "pool.scheduler", fix))
        if waited > GONE_AFTER and not told:
            told = True
            sys.stderr.write(f"modelsel: {scheduler} has no workers yet: waiting for them up to {wait:g} s (pool.wait)\n")
        time.sleep(LOOK)


def _has_workers(client: Any) -> bool:
    """Say whether the scheduler knows workers; raise `SchedulerGone` where it does not answer."""
    _await_scheduler(client)
    return bool(client.nthreads())


VERSION = "__import__('modelsel').__version__"  # a worker may lack the package that a function of ours would come from


def _refuse_other_code(client: Any) -> None:
    """Refuse workers that lack the package or run other files of it: their cells would count as computed by this one."""
    here = importlib.import_module("modelsel").__version__
    found = client.run(eval, VERSION, on_error="return")
    equal = [name for name, version in found.items() if version == here]
    digests = client.run(own_digest, workers=equal, on_error="return") if equal else {}
    others = {name: "none" if isinstance(version, BaseException) else version for name, version in found.items()}
    others = {name: version for name, version in others.items() if version != here}
    others |= {name: f"{here} with other files" for name in equal if digests[name] != own_digest()}
    if others:
        named = ", ".join(f"{name} has {version}" for name, version in sorted(others.items())[:NAMED])
        more = f", and {len(others) - NAMED} more" if len(others) > NAMED else ""
        what = f"{len(others)} of {len(found)} workers do not run modelsel {here}: {named}{more}"
        raise ConfigurationError(
            Problem("MSEL-538", what, "pool.scheduler", f"install modelsel {here} where they run, as here")
        )


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
        what = f"no Dask scheduler answers at {scheduler}"
        raise ConfigurationError(Problem("MSEL-534", what, "pool.scheduler", "start it, or leave it out")) from problem
    with client, dask.config.set({"distributed.comm.timeouts.connect": f"{GONE_AFTER}s"}):  # it has answered once
        yield client


# Ray: its cluster on this machine, or the one that RAY_ADDRESS names; the work lies in its object store.

BROUGHT: LRUCache[RunContext] = LRUCache(1)
RAY_DEATHS = "RayActorError", "WorkerCrashedError", "NodeDiedError", "OutOfMemoryError"


@dataclass(frozen=True)
class Stored:
    """The work by reference; each worker reads it once, its arrays where they lie."""

    reference: Any

    def __call__(self) -> RunContext:
        import ray

        return BROUGHT.get((self.reference.hex(),), lambda: ray.get(self.reference))


@contextmanager
def ray_cluster(ray: ModuleType, jobs: int, work: object) -> Iterator[Cluster]:
    """A Ray cluster for the block: one that was started for it is ended with it, and sends no usage reports.

    At least two jobs: one would be done in the parent, and what kills a worker must not kill the study.
    """
    from joblib import parallel_config
    from ray.util.joblib import register_ray

    jobs = max(2, jobs)
    with ExitStack() as stack:
        if not ray.is_initialized():
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            here = {} if "RAY_ADDRESS" in os.environ else {"num_cpus": jobs, "include_dashboard": False}
            ray.init(log_to_driver=False, logging_level="ERROR", **here)
            stack.callback(ray.shutdown)
        register_ray()
        yield Cluster(partial(parallel_config, "ray", n_jobs=jobs), Stored(ray.put(work)), is_one_of(*RAY_DEATHS), 4 * jobs)


# Spark, through joblibspark: the session that is there, or one of this machine; the work is a broadcast.

SPARK = "modelsel-spark"


@dataclass(frozen=True)
class Broadcast:
    """The work as Spark brings it to each worker once."""

    variable: Any

    def __call__(self) -> RunContext:
        work: RunContext = self.variable.value
        return work


@contextmanager
def spark_cluster(backend: ModuleType, jobs: int, work: object) -> Iterator[Cluster]:
    """A session that was not there before is ended with the run. At least two jobs: one would be done in the parent."""
    from joblib import parallel_config, register_parallel_backend
    from pyspark.sql import SparkSession

    jobs = max(2, jobs)
    with ExitStack() as stack:
        if (session := SparkSession.getActiveSession()) is None:
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            builder = SparkSession.builder.appName("modelsel")
            session = stack.enter_context(builder.config("spark.ui.enabled", "false").getOrCreate())
        register_parallel_backend(SPARK, _spark_backend(backend))
        variable = session.sparkContext.broadcast(work)
        yield Cluster(partial(parallel_config, SPARK, n_jobs=jobs), Broadcast(variable), _is_death, 4 * jobs)


def _is_death(problem: BaseException) -> bool:
    """Return whether an error means a lost worker.

    Python errors travel back as results: what Spark itself reports is a lost worker, or a wrong set-up.
    """
    return type(problem).__name__ == "Py4JJavaError" and "PYTHON_EXCEPTION" not in str(problem)


@dataclass(frozen=True)
class _Told:
    """A task whose failure joblibspark hands over as if it were a result."""

    job: Any

    def get(self, timeout: float | None = None) -> Any:
        """Wait for the result; a failure is raised."""
        found = self.job.get(timeout)
        if isinstance(problem := getattr(found, "exc", None), BaseException):
            raise problem
        return found


def _spark_backend(module: ModuleType) -> type:
    """joblibspark's backend, which after a failure asks joblib for what joblib 1.6 no longer has."""
    theirs: Any = module.SparkDistributedBackend

    class Backend(theirs):  # type: ignore[misc]
        def submit(self, func: object, callback: object = None) -> object:
            return _Told(super().submit(func, callback))

        def abort_everything(self, ensure_ready: bool = True) -> None:
            self._cancel_all_jobs()
            if ensure_ready:
                self.configure(n_jobs=self.parallel.n_jobs, parallel=self.parallel)

    return Backend
