"""Worker processes of this machine, by loky: a pool, and a process apart for a job that is tried alone.

A worker that dies takes the whole pool along. A job that is tried alone after that goes to a process apart while the pool
starts anew beside it, so that nobody waits for a start when the process apart dies too. Never in the parent itself: what kills
a worker must not kill the study.
"""

from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.process_executor import BrokenProcessPool, ProcessPoolExecutor

from modelsel.runner.evaluation.context import CellJob
from modelsel.runner.execution.worker import (
    MANY,
    CompletedJob,
    deaths,
    log_crashes,
    one_by_one,
    perform_in_process,
    results,
    set_up,
)

INNER_THREADS = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB", "NUMEXPR", "NUMBA")


@contextmanager
def processes(path: str, folder: Path, workers: int) -> Iterator["ProcessPool"]:
    """Yield the performer of jobs in worker processes, which read the work from `path` and write to the run's `folder`."""
    pool = ProcessPool((path, folder), workers)
    try:
        yield pool
    finally:
        pool.close()
        log_crashes(path)


@dataclass
class ProcessPool:
    """A pool of worker processes: each works on one job at a time."""

    worker: tuple[str, Path]
    workers: int
    _apart: ProcessPoolExecutor | None = None
    _starting: Generator[object, None, None] | None = None
    _started: bool = False  # anew, after a death

    def __call__(self, jobs: Iterable[CellJob], at_once: int = MANY) -> Iterator[CompletedJob]:
        """Do all jobs; `at_once` is 1 for a suspect, which goes to the process apart where there is one."""
        if at_once == 1 and not self._started:
            self._start_both()
        alone = at_once == 1 and self._apart is not None
        with deaths(lambda problem: isinstance(problem, BrokenProcessPool)):
            try:
                yield from self._do_apart(jobs) if alone else self._together(jobs, at_once)
            except BrokenProcessPool:
                self._forget(alone)
                raise

    def close(self) -> None:
        """End the process apart; the pool stays for the next run."""
        if self._apart is not None:
            self._apart.shutdown(wait=False, kill_workers=True)
            self._apart = None
        self._settle()

    def _start_both(self) -> None:
        """Start a process apart, and the pool anew, without waiting for either."""
        if self._apart is None:
            self._apart = ProcessPoolExecutor(1, env={f"{name}_NUM_THREADS": "1" for name in INNER_THREADS})
            self._apart.submit(set_up, *self.worker)
        with parallel_config("loky", inner_max_num_threads=1):
            start = Parallel(max(self.workers, 2), **one_by_one("all"))
            self._starting = start(delayed(set_up)(*self.worker) for _ in range(self.workers))
        self._started = True

    def _do_apart(self, jobs: Iterable[CellJob]) -> Iterator[CompletedJob]:
        """Do jobs in the process apart."""
        assert self._apart is not None
        for job in jobs:
            yield self._apart.submit(perform_in_process, *self.worker, job).result()

    def _together(self, jobs: Iterable[CellJob], at_once: int) -> Iterator[CompletedJob]:
        """Do jobs in the pool."""
        self._settle()
        ahead = min(2 * self.workers if self.workers > 1 else 1, at_once)
        with parallel_config("loky", inner_max_num_threads=1):
            yield from results(Parallel(max(self.workers, 2), **one_by_one(ahead)), perform_in_process, self.worker, jobs)

    def _settle(self) -> None:
        """Wait until the workers that are being started have started."""
        if self._starting is not None:
            starting, self._starting = self._starting, None
            with suppress(BrokenProcessPool, CancelledError):  # the jobs that follow will meet it
                for _ in starting:
                    pass

    def _forget(self, alone: bool) -> None:
        """Forget the workers that died, so that new ones are started."""
        if alone:
            self._apart = None
        else:
            self._started = False
