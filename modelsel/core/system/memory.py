"""Memory of this process: cyclic garbage, and what glibc keeps. The standard library alone: kernels are compiled with it."""

import ctypes
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Pause the collection of cyclic garbage while many lasting objects are made: it would search them again and again.

    >>> with pause_garbage_collection():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def give_back() -> None:
    """Return memory that glibc's threads have freed and kept, between the steps of a study; elsewhere this does nothing."""
    if sys.platform == "win32":
        return  # there the process itself cannot be asked for its functions
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
