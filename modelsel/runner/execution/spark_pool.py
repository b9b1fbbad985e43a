"""Spark, through joblibspark: the active session, one of a master at an address, or one of this machine; work is broadcast."""

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.runner.evaluation.context import RunContext
from modelsel.runner.execution.cluster import (
    Cluster,
    await_workers,
    code_teller,
    demand_answer,
    nobody_answers,
    refuse_other_code,
)

SPARK = "modelsel-spark"


@dataclass(frozen=True)
class Broadcast:
    """The work as Spark brings it to each worker once."""

    variable: Any

    def __call__(self) -> RunContext:
        work: RunContext = self.variable.value
        return work


@contextmanager
def spark_cluster(backend: ModuleType, address: str | None, jobs: int, work: object, wait: float) -> Iterator[Cluster]:
    """Use the active session, or one of the master at an address, or of this machine, which ends with the run.

    At least two jobs: one would be done in the parent. Raises ConfigurationError where no master answers, it has no executors,
    or one of them runs other code.
    """
    from joblib import parallel_config, register_parallel_backend
    from pyspark.sql import SparkSession

    jobs = max(2, jobs)
    with ExitStack() as stack:
        if (session := SparkSession.getActiveSession()) is None:
            session = stack.enter_context(_session(SparkSession.builder, address))
        context = session.sparkContext
        if address not in (None, context.master):
            what = f"this process has a Spark session of {context.master} already, and pool.scheduler is {address}"
            raise ConfigurationError(Problem("MSEL-534", what, "pool.scheduler", "leave it out, or end that session first"))
        if not context.master.startswith("local"):
            who = f"the Spark master at {context.master}"
            await_workers(
                lambda: _executors(context) > 0,
                who,
                f"`spark-class org.apache.spark.deploy.worker.Worker {context.master}`",
                wait,
            )
            refuse_other_code(_told_by_executors(context))
        register_parallel_backend(SPARK, _spark_backend(backend))
        yield Cluster(partial(parallel_config, SPARK, n_jobs=jobs), Broadcast(context.broadcast(work)), _is_death, 4 * jobs)


def _session(builder: Any, address: str | None) -> Any:
    """Open a session; ConfigurationError where an address is given and no master answers there."""
    builder = builder.appName("modelsel").config("spark.ui.enabled", "false")
    if address is None:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        return builder.getOrCreate()
    demand_answer(address, "Spark master")
    try:
        return builder.master(address).getOrCreate()
    except Exception as problem:  # Java's
        raise ConfigurationError(nobody_answers(f"Spark master answers at {address}")) from problem


def _executors(context: Any) -> int:
    """How many executors have come; the driver is one of those that hold memory."""
    return int(context._jsc.sc().getExecutorMemoryStatus().size()) - 1


def _told_by_executors(context: Any) -> dict[str, object]:
    """Ask the Python processes of the executors which code of ours they run."""
    tell, many = code_teller(), 4 * _executors(context)

    def told(_: int) -> tuple[str, tuple[str, str]]:
        return f"{socket.gethostname()}:{os.getpid()}", tell()

    return dict(context.parallelize(range(many), many).map(told).collect())


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
