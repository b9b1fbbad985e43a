"""Being asked to end: Ctrl-C, SIGTERM, a terminal that closes. They raise `Interrupted` in the main thread.

An interrupt that a person or the system sent is told by its type from a KeyboardInterrupt that a learner's own code raises.
"""

import os
import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # as far as the system knows them
TEMPORARY: set[str] = set()  # folders that nobody may find afterwards
_listening = threading.Event()


class Interrupted(KeyboardInterrupt):
    """Somebody asked the study to end."""


@contextmanager
def interruptible(give_up: int | None = None) -> Iterator[list[int]]:
    """Raise `Interrupted` when asked to end; what is ignored (nohup, a job in the background) stays ignored.

    Yields the list of the requests that were heard. With `give_up` a second request, while the first is being answered, ends
    all processes of this one's and leaves with that exit code; afterwards requests are ignored: the caller leaves. Outside
    the main thread, where signals never arrive, and inside another of these, nothing is changed.
    """
    if _listening.is_set() or threading.current_thread() is not threading.main_thread():
        yield []
        return
    before = {number: signal.getsignal(number) for name in NAMES if (number := getattr(signal, name, None)) is not None}
    heard: list[int] = []

    def ring(number: int, frame: FrameType | None) -> None:
        if heard and give_up is not None:
            leave(give_up)
        heard.append(number)
        _theirs(before[number], number, frame)

    replaced = [number for number, theirs in before.items() if theirs not in (signal.SIG_IGN, None)]
    _listening.set()
    try:
        for number in replaced:
            signal.signal(number, ring)
        yield heard
    except Interrupted:
        raise KeyboardInterrupt from None  # what everybody knows, now that nobody has to tell it from others
    finally:
        for number in replaced:
            signal.signal(number, signal.SIG_IGN if heard and give_up is not None else before[number])
        _listening.clear()


def _theirs(handler: object, number: int, frame: FrameType | None) -> None:
    """Call the handler that the person's own program had set; where there is none, or it raises, the study is interrupted."""
    if callable(handler):
        try:
            handler(number, frame)
        except KeyboardInterrupt:
            raise Interrupted from None
        return
    raise Interrupted


def leave(code: int) -> None:
    """End this process and all that it started, at once; temporary folders are removed."""
    from modelsel.core.system.machine import kill_children

    kill_children()
    for folder in TEMPORARY:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(code)
