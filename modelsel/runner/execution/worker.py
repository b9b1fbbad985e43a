"""Run jobs in one process and append their results to the journal; hand jobs out and take results in, by joblib.

Threads share the parent's worker. A worker process has one of its own, set up once per run from a file whose arrays are mapped
into memory, so that the data travel once and not per cell.
"""

import faulthandler
import importlib
import json
import logging
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from threading import Condition
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from modelsel.core.system.interrupts import TEMPORARY
from modelsel.core.types import Table
from modelsel.kernels.stop import Stopped
from modelsel.runner.evaluation.cell_result import CellResult
from modelsel.runner.evaluation.context import CellJob, RunContext
from modelsel.runner.journal import REACHED, STARTED, RecordLocation, Segment, encode, record_of, store_errors

PLACES = ".path"  # beside the work: where the parent's modules are found
DUMP = ".dump"  # beside the work: what crashes of workers leave
LOG = logging.getLogger("modelsel.study")  # goes to study.log
Held = TypeVar("Held", bound=Table)


@dataclass(frozen=True, eq=False)
class CompletedJob:
    """A finished job: its scores, and where its record lies (the record itself, from a worker without our file system)."""

    job: CellJob
    result: CellResult
    place: RecordLocation | None
    record: bytes = b""


class CellWorker:
    """Run the jobs of this process. `wait` lets the end of the run wait until no thread is writing."""

    def __init__(self, work: RunContext, segment: Segment) -> None:
        """Keep the work and the segment of the journal."""
        self.work, self.segment = work, segment
        self.open = True
        self._busy = 0
        self._idle = Condition()

    def perform(self, job: CellJob) -> CompletedJob:
        """Compute a job, record its result, report it. Raises Stopped when the run has been stopped."""
        if not self.open:
            raise Stopped
        with self._at_work():
            result = self.work.evaluate(job, self._mark_of(job) if job.one_by_one else None)
            place = self.segment.append(*record_of(self.work.key(job.cell), result))
            return CompletedJob(job, self.work.with_scores(job.cell.fold, result), place)

    def _mark_of(self, job: CellJob) -> Callable[[int], None]:
        """Return the function that marks in the segment each candidate that is reached."""

        def mark(place: int) -> None:
            self.segment.append({"kind": REACHED, "job": job_name(job), "member": job.members[place]}, {})

        return mark

    def wait(self, seconds: float) -> bool:
        """Wait until no thread is at work; False after so many seconds."""
        with self._idle:
            return self._idle.wait_for(lambda: self._busy == 0, seconds)

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """Count the threads at work, so that the end of a run can wait for them."""
        with self._idle:
            self._busy += 1
        try:
            yield
        finally:
            with self._idle:
                self._busy -= 1
                self._idle.notify_all()


@contextmanager
def ship_work(work: object) -> Iterator[str]:
    """The work as a file that workers of this machine read, for as long as the pool is open."""
    with tempfile.TemporaryDirectory(prefix="modelsel-", ignore_cleanup_errors=True) as folder:
        TEMPORARY.add(folder)
        path = f"{folder}/work"
        try:
            import joblib  # pools of threads do without

            with store_errors(Path(folder), "what worker processes read"):
                Path(f"{path}{PLACES}").write_text(json.dumps(sys.path))
                joblib.dump(work, path)
            yield path
        finally:
            TEMPORARY.discard(folder)


def receive_work(path: str) -> Any:
    """Read in a worker process what was shipped; a plug-in's folder that came to the path later is found too."""
    import joblib

    places = json.loads(Path(f"{path}{PLACES}").read_text())
    sys.path += [place for place in places if place not in sys.path]
    importlib.invalidate_caches()
    return joblib.load(path, mmap_mode="r")


def dump_beside(path: str) -> None:
    """Let a crash of this process leave its traceback beside the work, and not in the middle of a terminal."""
    faulthandler.enable(open(f"{path}{DUMP}", "a"))  # noqa: SIM115  open as long as the process may crash


def log_crashes(path: str) -> None:
    """Move the traces of crashes into the study's log; the output gets one line."""
    dump = Path(f"{path}{DUMP}")
    text = dump.read_text("utf-8", "replace").strip() if dump.is_file() else ""
    if text:
        LOG.info("worker processes crashed:\n%s", text)


def perform_in_process(path: str, journal: Path, job: CellJob) -> CompletedJob:
    """Run a job in a worker process and report its start, so that the parent knows what a dead worker was doing."""
    worker = _worker(path, journal)
    worker.segment.append({"kind": STARTED, "job": job_name(job), "at": time.monotonic()}, {})
    return worker.perform(job)


def set_up(path: str, journal: Path) -> None:
    """Make a worker process ready for the jobs of a run."""
    _worker(path, journal)


def perform_elsewhere(given: RunContext | Callable[[], RunContext], job: CellJob) -> CompletedJob:
    """A job on another machine: the record travels back and is written by the parent, on arrival."""
    with threadpool_limits(1):
        work = given if isinstance(given, RunContext) else given()
        result = work.evaluate(job)
    record = encode(*record_of(work.key(job.cell), result))
    return CompletedJob(job, work.with_scores(job.cell.fold, result), None, record)


def perform_and_tell(given: RunContext | Callable[[], RunContext], job: CellJob) -> CompletedJob | Exception:
    """Run the job and return its result or the exception that ends the study: not every backend raises it unchanged."""
    try:
        return perform_elsewhere(given, job)
    except Exception as problem:
        return problem


def job_name(job: CellJob) -> str:
    """Return a job's name for the marks: unique among those of one run."""
    own = "/one by one" if job.one_by_one else ""
    return f"{job.cell.fold}/{job.cell.batch}/{job.members[0]}/{len(job.members)}{own}"


@lru_cache(maxsize=1)
def _worker(path: str, journal: Path) -> CellWorker:
    """Return the worker of this process, set up for its first job of a run; inner thread pools are limited to one for good."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt ends
    threadpool_limits(1)
    dump_beside(path)
    work = receive_work(path)
    return CellWorker(replace(work, task=plain(work.task)), Segment(journal))


def plain(task: Held) -> Held:
    """The task with its mapped arrays seen as ordinary ones (compiled code knows those)."""
    seen: dict[str, Any] = {name: array.view(np.ndarray) for name, array in vars(task).items() if isinstance(array, np.memmap)}
    return replace(task, **seen)


# Parts of the pools that stand on joblib: handing jobs out, taking results in, and the death of a worker.


MANY = 1 << 30  # jobs on their way at once: as many as the pool likes


class WorkerDied(Exception):  # noqa: N818  it is an event, not a mistake
    """A worker process was lost, and with it whatever was not yet written."""


def one_by_one(ahead: int | str) -> dict[str, object]:
    """Return joblib's settings for results that are told one after the other, `ahead` jobs on their way."""
    return {"return_as": "generator_unordered", "batch_size": 1, "pre_dispatch": ahead}


def results(
    parallel: Any, perform: Callable[..., CompletedJob], shared: tuple[object, ...], jobs: Iterable[CellJob]
) -> Iterator[CompletedJob]:
    """Yield the results of jobs as they come."""
    from joblib import delayed  # the pool of threads does without

    found = parallel(delayed(perform)(*shared, job) for job in jobs)
    try:
        yield from found
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib warns of a generator that is not read to its end: we meant it
            found.close()


@contextmanager
def deaths(is_death: Callable[[BaseException], bool]) -> Iterator[None]:
    """Turn what a pool raises for a lost worker into `WorkerDied`."""
    try:
        yield
    except (Exception, CancelledError) as problem:
        if is_death(problem):
            raise WorkerDied(str(problem)) from problem
        raise
