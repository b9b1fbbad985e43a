"""A journal segment: records of one writing process, appended and never changed.

A record is acknowledged once its bytes are with the kernel, so a killed process loses nothing that it reported; against power
loss the file is synced after 0.5 s or 64 records. What could not be written whole is cut off again.
"""

import os
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any
from uuid import uuid4

from modelsel.core.errors import Problem, StoreError
from modelsel.core.system.disk import BYTES
from modelsel.runner.journal.codec import Arrays, RecordLocation, encoded

SYNC_SECONDS, SYNC_RECORDS = 0.5, 64
SUFFIX = ".segment"


class Segment:
    """The segment that this process appends to, created with its first record. Safe to share between threads."""

    def __init__(self, folder: Path) -> None:
        """Begin without a file."""
        self._folder = folder
        self._lock = Lock()
        self._file = -1
        self._end = 0
        self._unsynced = 0
        self._synced = time.monotonic()
        self.path = ""

    def append(self, facts: Mapping[str, Any], arrays: Arrays) -> RecordLocation:
        """Append a record. Raises StoreError when it cannot be written whole; the segment then ends where it ended before."""
        return self.append_bytes(encoded(facts, arrays))

    def append_bytes(self, record: bytes) -> RecordLocation:
        """Append a record; it is forced to disk after so many records or seconds."""
        with self._lock, store_errors(self._folder):
            if self._file < 0:
                self._open()
            self._write(record)
            place = RecordLocation(self.path, self._end, len(record))
            self._end += len(record)
            self._unsynced += 1
            if self._unsynced >= SYNC_RECORDS or time.monotonic() - self._synced >= SYNC_SECONDS:
                self._sync()
            return place

    def close(self) -> None:
        """Sync and close; another append would begin another segment."""
        with self._lock, store_errors(self._folder):
            if self._file >= 0:
                try:
                    self._sync()
                finally:
                    os.close(self._file)
                    self._file = -1

    def _open(self) -> None:
        """Create the file of this process."""
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:8]}{SUFFIX}"
        self._file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | BYTES, 0o644)
        self.path, self._end = str(path), 0

    def _write(self, record: bytes) -> None:
        """All bytes or none: what was written of a record that did not fit is cut off again."""
        rest = memoryview(record)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except BaseException:
            with suppress(OSError):
                os.ftruncate(self._file, self._end)
            raise

    def _sync(self) -> None:
        if self._unsynced:
            os.fsync(self._file)
        self._unsynced, self._synced = 0, time.monotonic()


class store_errors:  # noqa: N801  reads as a statement
    """Turns what the operating system says about a place into an error that names it, and the fix."""

    def __init__(self, folder: Path, what: str = "the journal") -> None:
        self._folder, self._what = folder, what

    def __enter__(self) -> None: ...

    def __exit__(self, _kind: object, problem: BaseException | None, _trace: object) -> None:
        """Turn an error of the operating system into one that names the folder."""
        if isinstance(problem, OSError):
            what = f"{self._what} cannot be written: {problem.strerror or problem}"
            fix = "make room or choose another folder, then run the same command again: finished cells are kept"
            raise StoreError(Problem("MSEL-604", what, str(self._folder), fix)) from problem
