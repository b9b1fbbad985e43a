"""Shared parts of the pools that stand on joblib: handing jobs out, taking results in, and the death of a worker."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

from modelsel.runner.evaluation.context import CellJob
from modelsel.runner.execution.worker import CompletedJob

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
