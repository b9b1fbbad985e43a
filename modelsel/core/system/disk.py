"""Differences between systems in files: locks between processes, renames made durable, names that not all can have.

Locks are the system's own (flock, LockFileEx), through filelock: they end with their process, however it ends.
"""

import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from modelsel.core.errors import ConfigurationError, Problem, StoreError

logging.getLogger("filelock").setLevel(logging.WARNING)  # each lock taken and given back is no news
ASK_AGAIN = 0.01  # seconds between two attempts at a lock that another holds
BYTES = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)  # flags of descriptors that are not text and not inherited


@contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Hold a file's lock during the block, waiting as long as it takes; the file stays behind empty."""
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


# Names of files and folders that Windows cannot have are refused on every system: what is made here is opened there.

DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
STRANGE = re.compile(r'[<>:"|?*\\\x00-\x1f]')


def unportable(name: str) -> str:
    """Say why Windows has no file of this name; empty where it has.

    >>> [unportable(name) for name in ("loans.csv", "nul.txt", "model.", "12:30.csv")]
    ['', 'it is the name of a device', 'it ends with a point or a space', "it holds ':'"]
    """
    if DEVICES.fullmatch(name):
        return "it is the name of a device"
    if name not in (".", "..") and name.endswith((".", " ")):
        return "it ends with a point or a space"
    found = STRANGE.search(name)
    return f"it holds {found[0]!r}" if found else ""


def demand_portable(path: Path | str) -> None:
    """Raise ConfigurationError for a name that Windows cannot have."""
    if why := unportable(Path(path).name):
        what, fix = f"{Path(path).name!r} is not a file name on Windows: {why}", "choose another name"
        raise ConfigurationError(Problem("MSEL-618", what, str(path), fix))


@contextmanager
def writing(path: Path | str) -> Iterator[None]:
    """Write what a command gives within the block. Raises ConfigurationError for its name, StoreError where that fails."""
    demand_portable(path)
    try:
        yield
    except BrokenPipeError:
        raise  # who reads has seen enough
    except OSError as error:
        raise StoreError(
            Problem("MSEL-605", f"cannot be written ({error.strerror})", str(path), "choose another place")
        ) from error
