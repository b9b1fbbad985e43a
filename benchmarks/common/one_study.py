"""A study as benchmarks run it: with workers, in this thread, and the share of a study that is not in kernels."""

import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

from modelsel.core.types import Candidate, Resampling, Task
from modelsel.kernels.compiler import load
from modelsel.measure.error import Error
from modelsel.planning.make import make
from modelsel.runner.execution.executors import Pool
from modelsel.runner.journal import Journal
from modelsel.runner.results import Results
from modelsel.runner.run import run


def study(task: Task, folds: Resampling, some: tuple[Candidate, ...], workers: int = 2) -> Results:
    """All of what the engine does for a study, the journal on disk."""
    with tempfile.TemporaryDirectory() as folder, Journal(Path(folder)) as journal:
        return run(make(some, task, folds), task, folds, Error(), Pool("threads", workers), journal)


def alone(task: Task, folds: Resampling, some: tuple[Candidate, ...]) -> Results:
    """The study in this very thread."""
    with tempfile.TemporaryDirectory() as folder, Journal(Path(folder)) as journal:
        return run(make(some, task, folds), task, folds, Error(), Pool("sequential"), journal)


def lock_share(work: Callable[[], object]) -> float:
    """Share of the thread's processor time that is spent outside the compiled growers and routers."""
    inside = 0.0

    def timed(kernel: Callable[..., object]) -> Callable[..., object]:
        def run(*arguments: object) -> object:
            nonlocal inside
            start = time.thread_time()
            try:
                return kernel(*arguments)
            finally:
                inside += time.thread_time() - start

        return run

    with ExitStack() as stack:
        for name, entry in (("grow_counted", "grow"), ("grow", "grow"), ("route", "walk")):
            if (kernels := load(name)) is not None:
                stack.enter_context(patch.object(kernels, entry, timed(getattr(kernels, entry))))
        start = time.thread_time()
        work()
        return 1.0 - inside / (time.thread_time() - start)
