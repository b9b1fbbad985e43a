"""Differences between systems in files: locks between processes, renames made durable, descriptors of bytes.

Locks are the system's own (flock, LockFileEx), through filelock: they end with their process, however it ends.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

logging.getLogger("filelock").setLevel(logging.WARNING)  # each lock taken and given back is no news
ASK_AGAIN = 0.01  # seconds between two attempts at a lock that another holds
BYTES = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)  # flags of descriptors that are not text and not inherited


@contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """One process and thread at a time, waiting for as long as it takes. The file stays, and holds nothing."""
    from filelock import FileLock  # worker processes take no locks

    with FileLock(path, poll_interval=ASK_AGAIN):
        yield


def is_locked(path: Path) -> bool:
    """Say whether another process or thread holds the lock."""
    from filelock import FileLock, Timeout

    try:
        with FileLock(path, timeout=0):
            return False
    except Timeout:
        return True


def is_writable(name: str) -> bool:
    """Say whether a name can be written down as UTF-8: bytes that a locale could not read cannot.

    >>> is_writable("Äpfel.csv"), is_writable(chr(0xDCE9) + ".csv")
    (True, False)
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def sync_directory(path: Path) -> None:
    """Make a rename durable; where a folder cannot be opened (Windows) the rename itself is all there is."""
    if os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
