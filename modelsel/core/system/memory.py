"""Memory that is no longer used, given back to the system: the C library's allocator keeps what was freed."""

import ctypes
import sys


def give_back() -> None:
    """Return memory that glibc's threads have freed and kept, between the steps of a study; elsewhere this does nothing."""
    if sys.platform == "win32":
        return  # there the process itself cannot be asked for its functions
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
