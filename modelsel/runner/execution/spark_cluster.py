"""Spark, through joblibspark: the session that is there, or one of this machine; the work is a broadcast."""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

from joblib import parallel_config, register_parallel_backend

from modelsel.runner.evaluation.context import RunContext
from modelsel.runner.execution.backend import Cluster

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
    from pyspark.sql import SparkSession

    jobs = max(2, jobs)
    with ExitStack() as stack:
        if (session := SparkSession.getActiveSession()) is None:
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            builder = SparkSession.builder.appName("modelsel")
            session = stack.enter_context(builder.config("spark.ui.enabled", "false").getOrCreate())
        register_parallel_backend(SPARK, _backend(backend))
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


def _backend(module: ModuleType) -> type:
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
