"""Limits of a cell, enforced inside a worker process on its main thread.

Time, twice: a timer raises `CellTimeout` as soon as Python runs again; should the code stay inside one C call, a watchdog that
needs no interpreter lock ends the process `GRACE` seconds later, and the parent records the timeout. Memory: the address
space may grow by the budget and no further, so that an allocation fails cleanly with MemoryError (Linux alone can do that).
"""

import faulthandler
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from types import FrameType

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.system.machine import limit_memory

GRACE = 1.0
_NOWHERE = open(os.devnull, "w")  # noqa: SIM115  where the watchdog writes its farewell: it must stay open


class CellTimeout(BaseException):
    """The cell has used up its seconds. No `Exception`: a learner that catches all of those does not catch this one."""


class DeadlineExceeded(BaseException):
    """The study has used up its seconds."""


@dataclass(frozen=True)
class CellLimits:
    """Per cell: wall-clock `seconds`, and `memory` in bytes above what the process held before."""

    seconds: float | None = None
    memory: int | None = None

    @property
    def any(self) -> bool:
        return self.seconds is not None or self.memory is not None

    def has_outlasted(self, began: float) -> bool:
        """Say whether the watchdog may have ended a process whose work began at this time of the monotonic clock.

        Whatever dies earlier has crashed.
        """
        return self.seconds is not None and time.monotonic() - began >= self.seconds + GRACE

    @contextmanager
    def enforce(self) -> Iterator[None]:
        with _clock(self.seconds), _ceiling(self.memory):
            yield


UNLIMITED = CellLimits()
_NOTHING = nullcontext()


def no_limits() -> AbstractContextManager[None]:
    """Enforce no limit. Entered once per candidate and fold, so that it is one and the same."""
    return _NOTHING


@contextmanager
def _clock(seconds: float | None) -> Iterator[None]:
    """Limit the time of a block; a block that cannot be stopped ends the process a little later."""
    if seconds is None:
        yield
        return
    faulthandler.dump_traceback_later(seconds + GRACE, exit=True, file=_NOWHERE)
    try:
        with raised_after(seconds, CellTimeout(f"more than {seconds:g} s")):
            yield
    finally:
        faulthandler.cancel_dump_traceback_later()


@contextmanager
def alarm(seconds: float | None) -> Iterator[None]:
    """Raise `DeadlineExceeded` in the main thread after so many seconds; elsewhere ConfigurationError: no signal arrives."""
    if seconds is None:
        yield
        return
    if threading.current_thread() is not threading.main_thread():
        what = "a deadline needs the main thread, where signals arrive"
        raise ConfigurationError(Problem("MSEL-535", what, "deadline", "run the study there, or leave the deadline out"))
    with raised_after(seconds, DeadlineExceeded()):
        yield


@contextmanager
def raised_after(seconds: float, event: BaseException) -> Iterator[None]:
    """Raise `event` in this, the main thread, after so many seconds: by the system's timer, else by a thread's."""
    timed = _by_system if hasattr(signal, "setitimer") else _by_thread
    with timed(seconds, event):
        yield


@contextmanager
def _by_system(seconds: float, event: BaseException) -> Iterator[None]:
    """Raise an exception after some seconds, by the system's timer."""

    def ring(_signal: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGALRM, before)  # here, since it may ring where no block of ours sees it
        raise event

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        if signal.getsignal(signal.SIGALRM) is ring:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


@contextmanager
def _by_thread(seconds: float, event: BaseException) -> Iterator[None]:
    """Windows has no timer that signals: a thread sends the interrupt that Ctrl-C sends, and means the event by it."""
    rang, over = threading.Event(), threading.Event()

    def send() -> None:
        rang.set()
        signal.raise_signal(signal.SIGINT)

    def ring(number: int, frame: FrameType | None) -> None:
        if rang.is_set():
            rang.clear()
            if not over.is_set():
                signal.signal(signal.SIGINT, before)  # as above
                raise event
        elif callable(before):
            before(number, frame)

    before = signal.signal(signal.SIGINT, ring)
    timer = threading.Timer(seconds, send)
    timer.daemon = True
    try:
        try:
            timer.start()  # on a busy machine it may ring before this returns
            yield
        finally:
            over.set()
    finally:
        timer.cancel()
        if timer.is_alive():
            timer.join()  # what it sends after this would be taken for a Ctrl-C
        if signal.getsignal(signal.SIGINT) is ring:
            signal.signal(signal.SIGINT, before)


@contextmanager
def _ceiling(memory: int | None) -> Iterator[None]:
    """Limit the memory of a block."""
    if memory is None:
        yield
        return
    with limit_memory(memory):
        yield
