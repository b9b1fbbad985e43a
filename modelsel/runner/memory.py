"""Memory that finished cells left with the C library's allocator, given back to the system before the loss matrix is made."""

import ctypes
import sys


def give_back() -> None:
    """Return memory that glibc's threads have freed and kept; elsewhere this does nothing."""
    if sys.platform == "win32":
        return  # there the process itself cannot be asked for its functions
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
