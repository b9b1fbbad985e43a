"""Limits of a cell, enforced inside a worker process on its main thread.

Time, twice: a timer raises `Overtime` as soon as Python runs again; should the code stay inside one C call, a watchdog that
needs no interpreter lock ends the process `GRACE` seconds later, and the parent records the timeout. Memory: the address
space may grow by the budget and no further, so that an allocation fails cleanly with MemoryError.
"""

import faulthandler
import os
import resource
import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from types import FrameType

from modelsel.core.errors import ConfigurationError, Problem

GRACE = 1.0
_NOWHERE = open(os.devnull, "w")  # noqa: SIM115  where the watchdog writes its farewell: it must stay open


class Overtime(BaseException):
    """The cell has used up its seconds. No `Exception`: a learner that catches all of those does not catch this one."""


class Late(BaseException):
    """The study has used up its seconds."""


@dataclass(frozen=True)
class Limits:
    """Per cell: wall-clock `seconds`, and `memory` in bytes above what the process held before."""

    seconds: float | None = None
    memory: int | None = None

    @property
    def any(self) -> bool:
        return self.seconds is not None or self.memory is not None

    @contextmanager
    def enforced(self) -> Iterator[None]:
        with _clock(self.seconds), _ceiling(self.memory):
            yield


UNLIMITED = Limits()


def unlimited() -> AbstractContextManager[None]:
    return nullcontext()


@contextmanager
def _clock(seconds: float | None) -> Iterator[None]:
    if seconds is None:
        yield
        return

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise Overtime(f"more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    faulthandler.dump_traceback_later(seconds + GRACE, exit=True, file=_NOWHERE)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, before)


@contextmanager
def alarm(seconds: float | None) -> Iterator[None]:
    """Raise `Late` in the main thread after so many seconds. ConfigurationError elsewhere: only there signals arrive."""
    if seconds is None:
        yield
        return
    if threading.current_thread() is not threading.main_thread():
        what = "a deadline needs the main thread, where signals arrive"
        raise ConfigurationError(Problem("MSEL-535", what, "deadline", "run the study there, or leave the deadline out"))

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise Late

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _ceiling(memory: int | None) -> Iterator[None]:
    if memory is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_held() + memory, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _held() -> int:
    """Bytes of address space that the process holds."""
    with open("/proc/self/statm") as numbers:
        return int(numbers.read().split()[0]) * resource.getpagesize()
