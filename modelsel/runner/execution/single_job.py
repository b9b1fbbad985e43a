"""One call as a job of the pool: the winner's final fit and its answers, where cells are computed and under their limits.

What fails there is the winner's failure, told as that of a cell is; a worker that dies is tried again once.
"""

import logging
import pickle
import signal
import time
import traceback
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar, TypeVarTuple

from threadpoolctl import threadpool_limits

from modelsel.core.types import Status, Table
from modelsel.kernels import stop
from modelsel.runner.evaluation.cell import unless_final
from modelsel.runner.evaluation.cell_result import verdict
from modelsel.runner.evaluation.heard import collect_warnings
from modelsel.runner.evaluation.limits import UNLIMITED, CellLimits, no_limits
from modelsel.runner.execution.cluster import Cluster, is_one_of
from modelsel.runner.execution.executors import Pool
from modelsel.runner.execution.pools import open_pool
from modelsel.runner.execution.worker import dump_beside, log_crashes, plain, receive_work, ship_work

LOG = logging.getLogger("modelsel.study")  # goes to study.log
ATTEMPTS = 2
BEGAN = ".began"  # behind the name of the work
Died = Callable[[BaseException], bool]
Arguments = TypeVarTuple("Arguments")
Returned = TypeVar("Returned")


@dataclass(frozen=True)
class Failure:
    """A job without a result, and the reason."""

    status: Status
    reason: str
    traceback: str = ""


class CallsApart(Protocol):
    """Calls a function where cells are computed."""

    def __call__(self, function: Callable[[*Arguments], Returned], *arguments: *Arguments) -> Returned | Failure:
        """Return what the function returns, or the Failure."""
        ...


@dataclass(frozen=True, eq=False)
class CallResult:
    """The value that a function returned, and the warnings while it ran."""

    value: Any
    warned: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Call:
    """A function of importable name, and what it is called with."""

    function: Callable[..., object]
    arguments: tuple[object, ...]
    limits: CellLimits = UNLIMITED

    def result(self) -> "CallResult | Failure":
        """Return the function's result, or the Failure. Raises what ends a study."""
        try:
            with collect_warnings() as warned, self.limits.enforce() if self.limits.any else no_limits():
                return CallResult(self.function(*self.arguments), tuple(warned))
        except BaseException as problem:
            problem = unless_final(problem)
            return Failure(*verdict(problem), "".join(traceback.format_exception(problem)))

    def parcel(self) -> bytes | Failure:
        """The result as bytes; one that cannot travel is a failure too."""
        found = self.result()
        try:
            return found if isinstance(found, Failure) else pickle.dumps(found, pickle.HIGHEST_PROTOCOL)
        except Exception as problem:
            return Failure("error", f"what was fitted cannot be sent: {type(problem).__name__}: {problem}")


def run_in_pool(
    pool: Pool, limits: CellLimits, function: Callable[[*Arguments], Returned], *arguments: *Arguments
) -> Returned | Failure:
    """The function's result, or the Failure; computed as a cell of this pool would be."""
    found = _send(pool, limits, Call(function, arguments, limits))
    if isinstance(found, Failure):
        return found
    for text in found.warned:  # in the folds it was a finding already
        LOG.info("warned in %s: %s", function.__name__, text)
    value: Returned = found.value
    return value


def _send(pool: Pool, limits: CellLimits, call: Call) -> CallResult | Failure:
    """Run a call on the pool, and repeat it once where its worker dies."""
    with threadpool_limits(1):
        if pool.kind == "sequential":
            return call.result()
        if pool.kind == "threads":
            return _in_a_thread(call)
        if pool.kind == "processes":
            with ship_work(call) as path:
                died = is_one_of("BrokenProcessPool")
                try:
                    return _unpack(_twice(partial(_in_a_process, pool, path), died, limits, Path(f"{path}{BEGAN}")))
                finally:
                    log_crashes(path)
        with open_pool(pool.kind, pool.scheduler, pool.jobs, call) as cluster:
            return _unpack(_twice(partial(_on_the_cluster, cluster), cluster.is_death, limits))


def _twice(attempt: Callable[[], object], is_death: Died, limits: CellLimits, mark: Path | None = None) -> Any:
    """Try a job again whose worker died; a second death is a failure.

    In `mark` a worker of this machine says when it was ready.
    """
    for _ in range(ATTEMPTS):
        sent = time.monotonic()
        try:
            return attempt()
        except (Exception, CancelledError) as problem:
            if not is_death(problem):
                raise
        began = sent if mark is None else _read(mark)
        if began >= sent and limits.has_outlasted(began):
            return Failure("timeout", f"more than {limits.seconds:g} s")
    return Failure("crashed", "it killed its worker twice")


def _read(mark: Path) -> float:
    """When a worker was ready; −1 where none came so far."""
    try:
        return float(mark.read_text("ascii"))
    except (OSError, ValueError):
        return -1.0


def _unpack(parcel: bytes | Failure) -> CallResult | Failure:
    """Unpack a worker's answer."""
    if isinstance(parcel, Failure):
        return parcel
    answer: CallResult = pickle.loads(parcel)  # noqa: S301  our own worker packed it
    return answer


def _in_a_thread(call: Call) -> CallResult | Failure:
    """Run a call in a thread, so that an interrupt reaches a running kernel."""
    stop.clear()
    executor = ThreadPoolExecutor(1, initializer=threadpool_limits, initargs=(1,))
    try:
        return executor.submit(call.result).result()
    except BaseException:
        stop.request()
        raise
    finally:
        executor.shutdown(wait=False)


def _in_a_process(pool: Pool, path: str) -> object:
    """Run a call in a worker process."""

    from joblib import Parallel, delayed, parallel_config  # here and below: the pool of threads does without

    with parallel_config("loky", inner_max_num_threads=1):
        (parcel,) = Parallel(max(pool.jobs, 2), batch_size=1)(delayed(_perform)(path) for _ in range(1))
    return parcel


def _on_the_cluster(cluster: Cluster) -> object:
    """Run a call on the cluster."""

    from joblib import Parallel, delayed

    with cluster.enter():
        (parcel,) = Parallel(batch_size=1)(delayed(_perform_given)(cluster.work) for _ in range(1))
    return parcel


def _perform(path: str) -> bytes | Failure:
    """Run a call in a worker process, which reads it from a file, its arrays memory-mapped."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt ends
    with threadpool_limits(1):
        call: Call = receive_work(path)
        dump_beside(path)
        Path(f"{path}{BEGAN}").write_text(repr(time.monotonic()), "ascii")
        arguments = tuple(plain(one) if isinstance(one, Table) else one for one in call.arguments)
        return Call(call.function, arguments, call.limits).parcel()


def _perform_given(given: Any) -> bytes | Failure:
    with threadpool_limits(1):
        call: Call = given if isinstance(given, Call) else given()
        return call.parcel()
