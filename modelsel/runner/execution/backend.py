"""A joblib backend on more than one machine, as the pools for Dask, Ray and Spark give it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any


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
