"""A journal segment: records of one writing process, appended and never changed.

    record = b"MSJ1" | length of description, uint32 | length of arrays, uint64 | CRC-32 of these 16 bytes
           | description, JSON | arrays, raw, each padded to 8 bytes | BLAKE2b-256 of everything before

The description names each array with type and shape; nothing in a segment is ever executed. A record is acknowledged once
its bytes are with the kernel, so a killed process loses nothing that it reported; against power loss the file is synced
after 0.5 s or 64 records. A torn tail, or a record that was altered, is told apart from what is whole by its checksum.
"""

import hashlib
import json
import mmap
import os
import socket
import struct
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from modelsel.core.errors import Problem, StoreError

MAGIC = b"MSJ1"
HEAD = struct.Struct("<4sIQ")
CRC = struct.Struct("<I")
START = HEAD.size + CRC.size + 4  # four bytes of padding: descriptions begin at a multiple of eight
SUM = 32
SYNC_SECONDS, SYNC_RECORDS = 0.5, 64
SUFFIX = ".segment"
Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Record:
    """What was written: plain facts and arrays."""

    facts: Mapping[str, Any]
    arrays: Arrays


@dataclass(frozen=True)
class Place:
    """Where a record lies."""

    path: str
    offset: int
    length: int


@dataclass(frozen=True)
class Entry:
    """A record's description, read without its arrays: what it says it is, before its checksum was looked at."""

    place: Place
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Damage:
    """Bytes of a segment that are no whole record; `torn` when nothing readable follows them (a killed writer's tail)."""

    path: str
    offset: int
    torn: bool


class Segment:
    """The segment that this process appends to, created with its first record. Safe to share between threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = Lock()
        self._file = -1
        self._end = 0
        self._unsynced = 0
        self._synced = time.monotonic()
        self.path = ""

    def append(self, facts: Mapping[str, Any], arrays: Arrays) -> Place:
        """Append a record. Raises StoreError when it cannot be written whole; the segment then ends where it ended before."""
        return self.append_bytes(encoded(facts, arrays))

    def append_bytes(self, record: bytes) -> Place:
        with self._lock, store_errors(self._folder):
            if self._file < 0:
                self._open()
            self._write(record)
            place = Place(self.path, self._end, len(record))
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
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:8]}{SUFFIX}"
        self._file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o644)
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
        if isinstance(problem, OSError):
            what = f"{self._what} cannot be written: {problem.strerror or problem}"
            fix = "make room or choose another folder, then run the same command again: finished cells are kept"
            raise StoreError(Problem("MSEL-604", what, str(self._folder), fix)) from problem


def encoded(facts: Mapping[str, Any], arrays: Arrays) -> bytes:
    """A record as bytes."""
    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    shapes = {name: [array.dtype.str, list(array.shape)] for name, array in whole.items()}
    text = _padded(json.dumps({"facts": facts, "arrays": shapes}, separators=(",", ":")).encode(), b" ")
    body = b"".join(_padded(array.tobytes(), b"\0") for array in whole.values())
    head = HEAD.pack(MAGIC, len(text), len(body))
    record = b"".join((head, CRC.pack(zlib.crc32(head)), b"\0" * 4, text, body))
    return record + hashlib.blake2b(record, digest_size=SUM).digest()


def scan(path: Path) -> Iterator[Entry | Damage]:
    """Descriptions of all records of a segment, in order, and the damage between them. Raises OSError."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if not size:
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            at = 0
            while at < size:
                entry = _entry(str(path), data, at)
                if entry is None:
                    onward = _next(str(path), data, at + 1)
                    yield Damage(str(path), at, torn=onward < 0)
                    at = onward if onward >= 0 else size
                else:
                    yield entry
                    at += entry.place.length


def read(place: Place) -> Record | None:
    """The record at a place; None when it is not there or its checksum disagrees."""
    data = raw(place)
    if data is None:
        return None
    _, text_length, _ = HEAD.unpack_from(data)
    description = json.loads(data[START : START + text_length])
    return Record(description["facts"], _arrays(data, START + text_length, description["arrays"]))


def raw(place: Place) -> bytes | None:
    """The bytes of a whole record, checked; None when they are not whole."""
    try:
        with open(place.path, "rb") as file:
            data = os.pread(file.fileno(), place.length, place.offset)
    except OSError:
        return None
    whole = len(data) == place.length and hashlib.blake2b(data[:-SUM], digest_size=SUM).digest() == data[-SUM:]
    return data if whole else None


def _arrays(data: bytes, at: int, shapes: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    arrays = {}
    for name, (kind, shape) in shapes.items():
        dtype, count = np.dtype(kind), int(np.prod(shape))
        arrays[name] = np.frombuffer(data, dtype, count, at).reshape(shape)
        at += _up(dtype.itemsize * count)
    return arrays


def _entry(path: str, data: mmap.mmap, at: int) -> Entry | None:
    """The description that begins at an offset, if its head is sound and its bytes are all there."""
    head = data[at : at + START]
    if len(head) < START or head[:4] != MAGIC or CRC.unpack_from(head, HEAD.size)[0] != zlib.crc32(head[: HEAD.size]):
        return None
    _, text_length, body_length = HEAD.unpack_from(head)
    length = START + text_length + body_length + SUM
    if at + length > len(data):
        return None
    try:
        facts = json.loads(data[at + START : at + START + text_length])["facts"]
    except (ValueError, KeyError, TypeError):
        return None
    return Entry(Place(path, at, length), facts)


def _next(path: str, data: mmap.mmap, at: int) -> int:
    """Offset of the next record with a sound head, or −1."""
    at = data.find(MAGIC, at)
    while at >= 0 and _entry(path, data, at) is None:
        at = data.find(MAGIC, at + 1)
    return at


def _padded(data: bytes, fill: bytes) -> bytes:
    return data + fill * (_up(len(data)) - len(data))


def _up(length: int) -> int:
    return -(-length // 8) * 8
