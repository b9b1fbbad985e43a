"""Pools: who performs jobs. One level of parallelism, inner thread pools limited to one, in the parent and in workers alike.

`threads` (default; the kernels release the interpreter lock and share the arrays), `processes` (loky), `dask`, `ray`, `spark`
(where installed), `sequential`. Never fork. The answer does not depend on the pool.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from queue import SimpleQueue
from typing import Protocol

from threadpoolctl import threadpool_limits

from modelsel.config.settings import PoolSettings
from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.spec import classes_in
from modelsel.core.system.machine import cores
from modelsel.core.types import Candidate
from modelsel.kernels import stop
from modelsel.runner.evaluation.context import CellJob, RunContext
from modelsel.runner.evaluation.limits import CellLimits
from modelsel.runner.execution.cluster import Cluster
from modelsel.runner.execution.pools import open_pool
from modelsel.runner.execution.worker import (
    MANY,
    CellWorker,
    CompletedJob,
    deaths,
    one_by_one,
    perform_and_tell,
    perform_elsewhere,
    results,
    ship_work,
)
from modelsel.runner.journal import Journal

IN_THIS_PROCESS = ("threads", "sequential")
STOP_WITHIN = 1.0  # seconds
KINDS = (*IN_THIS_PROCESS, "processes", "dask", "ray", "spark")


class JobExecutor(Protocol):
    """Performs all jobs of a run."""

    def __call__(self, jobs: Iterable[CellJob], at_once: int = MANY) -> Iterator[CompletedJob]: ...


@dataclass(frozen=True)
class Pool:
    """`n_jobs` workers, None or −1: as many as there are cores.

    `scheduler` is the address of a cluster, and `wait` the seconds to wait for its workers.
    """

    kind: str = "threads"
    n_jobs: int | None = None
    scheduler: str | None = None
    wait: float = 60.0

    @property
    def jobs(self) -> int:
        return 1 if self.kind == "sequential" else cores() if self.n_jobs in (None, -1) else int(self.n_jobs or 1)


def choose_pool(pool: "PoolSettings | Pool", limits: CellLimits, candidates: Iterable[Candidate] = ()) -> Pool:
    """Return the pool as it will be used.

    For `auto`: processes where there are limits, learners that hold the interpreter lock, or code that is not our own, since
    what crashes there ends its process.

    Raises ConfigurationError when a limit is asked for where nothing can be stopped.
    """
    kind = getattr(pool, "kind", None) or "auto"
    if kind == "auto":
        kind = "processes" if limits.any or any(map(needs_process, candidates)) else "threads"
    if kind not in KINDS:
        raise ConfigurationError(Problem("MSEL-531", f"unknown pool {kind!r}", "pool", f"choose one of {', '.join(KINDS)}"))
    if limits.any and kind != "processes":
        why = "a thread cannot be stopped" if kind in IN_THIS_PROCESS else "its workers are not ours to stop"
        raise ConfigurationError(Problem("MSEL-532", f"pool={kind} cannot hold a limit: {why}", "limit", "use pool=processes"))
    return Pool(kind, pool.n_jobs, pool.scheduler, pool.wait)


def needs_process(candidate: Candidate) -> bool:
    """Say whether a part, at any depth, runs native code of others or comes from another package."""
    kinds = classes_in((candidate.learner, *candidate.preparers))
    return bool(candidate.learner.holds_gil) or not all(kind.__module__.startswith("modelsel.") for kind in kinds)


@contextmanager
def open_executor(pool: Pool, work: RunContext, journal: Journal) -> Iterator[JobExecutor]:
    """Yield the executor of this run's jobs, which come in any order; a lost worker raises WorkerDied out of the iteration.

    The second argument of an executor is how many jobs may be on their way at once: 1 to find out who is guilty.
    """
    with threadpool_limits(1), ExitStack() as stack:
        if pool.kind in IN_THIS_PROCESS:
            worker = CellWorker(work, journal.own)
            stack.enter_context(_stopping(worker))
            yield partial(_perform_here, worker) if pool.kind == "sequential" else partial(_in_threads, worker, pool.jobs)
        elif pool.kind == "processes":
            from modelsel.runner.execution.process_pool import processes  # imports joblib; the pool of threads does without

            yield stack.enter_context(processes(stack.enter_context(ship_work(work)), journal.folder, pool.jobs))
        else:
            cluster = stack.enter_context(open_pool(pool.kind, pool.scheduler, pool.jobs, work, pool.wait))
            yield partial(_on_cluster, cluster, journal)


def _perform_here(worker: CellWorker, jobs: Iterable[CellJob], at_once: int = 1) -> Iterator[CompletedJob]:
    """Perform jobs one after the other in this thread; an interrupt is noticed between kernels."""
    assert at_once >= 1
    return map(worker.perform, jobs)


def _in_threads(worker: CellWorker, workers: int, jobs: Iterable[CellJob], at_once: int = MANY) -> Iterator[CompletedJob]:
    """Perform jobs in threads, even a single one, so that an interrupt reaches a running kernel.

    No joblib here: it looks for results every 10 ms, which is as long as a small cell takes.
    """
    # what OpenMP was told in one thread does not hold in another
    executor = ThreadPoolExecutor(min(workers, at_once), initializer=threadpool_limits, initargs=(1,))
    finished = SimpleQueue[Future[CompletedJob]]()

    def send(some: Iterable[CellJob]) -> int:
        sent = [executor.submit(worker.perform, job) for job in some]
        for future in sent:
            future.add_done_callback(finished.put)
        return len(sent)

    waiting = iter(jobs)
    try:
        under_way = send(islice(waiting, min(2 * workers, at_once)))
        while under_way:
            done = finished.get().result()
            under_way += send(islice(waiting, 1)) - 1
            yield done
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


def _on_cluster(cluster: Cluster, journal: Journal, jobs: Iterable[CellJob], at_once: int = MANY) -> Iterator[CompletedJob]:
    """Perform jobs on a cluster; records travel back and are written here."""
    from joblib import Parallel

    with cluster.enter():
        if cluster.round is None:
            parallel = Parallel(**one_by_one("2*n_jobs" if at_once == MANY else at_once))
            found = results(parallel, perform_elsewhere, (cluster.work,), jobs)
        else:
            found = _in_rounds(min(cluster.round, at_once), cluster.work, jobs)
        with deaths(cluster.is_death):
            for done in found:
                yield CompletedJob(done.job, done.result, journal.own.append_bytes(done.record))


def _in_rounds(size: int, work: RunContext | Callable[[], RunContext], jobs: Iterable[CellJob]) -> Iterator[CompletedJob]:
    """Send some jobs at a time to backends that give results all at once, so that what is done is soon on record."""
    from joblib import Parallel, delayed

    waiting = iter(jobs)
    with Parallel(batch_size=1, pre_dispatch="all") as parallel:
        while some := list(islice(waiting, size)):
            for found in parallel(delayed(perform_and_tell)(work, job) for job in some):
                if isinstance(found, Exception):
                    raise found
                yield found


@contextmanager
def _stopping(worker: CellWorker) -> Iterator[None]:
    """Stop all threads of the run when the block fails: kernels are asked to stop, finished cells are still written."""
    stop.clear()
    try:
        yield
    except BaseException:
        worker.open = False
        stop.request()
        if worker.wait(STOP_WITHIN):
            stop.clear()
        raise
