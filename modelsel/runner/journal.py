"""The journal: finished cells of a run, as append-only segments in one folder, and what older runs' journals hold already.

Before the first cell the wanted keys are looked up in older journals, newest first; what is found is verified and copied, so
that every run folder is complete by itself. Nothing in it is trusted before its checksum agrees.
"""

import hashlib
import json
import math
import mmap
import os
import socket
import struct
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from modelsel.core.errors import Problem, StoreError
from modelsel.core.system.disk import BYTES
from modelsel.runner.evaluation.cell_result import CellKey, CellResult

# Records as bytes, and how they are found again in a segment.
#
#     record = b"MSJ1" | length of description, uint32 | length of arrays, uint64 | CRC-32 of these 16 bytes
#            | description, JSON | arrays, raw, each padded to 8 bytes | BLAKE2b-256 of everything before
#
# The description names each array with type and shape; nothing in a segment is ever executed. A torn tail, or a record that
# was altered, is told apart from what is whole by its checksum.

MAGIC = b"MSJ1"
HEAD = struct.Struct("<4sIQ")
CRC = struct.Struct("<I")
START = HEAD.size + CRC.size + 4  # four bytes of padding: descriptions begin at a multiple of eight
SUM = 32
Arrays = Mapping[str, NDArray[Any]]
_JSON = json.JSONEncoder(separators=(",", ":"))  # made once: it is dear


@dataclass(frozen=True)
class JournalRecord:
    """A record of the journal: plain facts and arrays."""

    facts: Mapping[str, Any]
    arrays: Arrays


@dataclass(frozen=True)
class RecordLocation:
    """The location of a record: file, offset and length in bytes."""

    path: str
    offset: int
    length: int


@dataclass(frozen=True)
class RecordHeader:
    """A record's description, read without its arrays: what it says it is, before its checksum was looked at."""

    place: RecordLocation
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class CorruptRecord:
    """Bytes of a segment that are no whole record; `torn` when nothing readable follows them (a killed writer's tail)."""

    path: str
    offset: int
    torn: bool


def encode(facts: Mapping[str, object], arrays: Arrays) -> bytes:
    """A record as bytes."""
    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    shapes = {name: [array.dtype.str, array.shape] for name, array in whole.items()}
    text = _pad(_JSON.encode({"facts": facts, "arrays": shapes}).encode(), b" ")
    body = b"".join(_pad(array.tobytes(), b"\0") for array in whole.values())
    head = HEAD.pack(MAGIC, len(text), len(body))
    record = b"".join((head, CRC.pack(zlib.crc32(head)), b"\0" * 4, text, body))
    return record + hashlib.blake2b(record, digest_size=SUM).digest()


def scan(path: Path) -> Iterator[RecordHeader | CorruptRecord]:
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
                    yield CorruptRecord(str(path), at, torn=onward < 0)
                    at = onward if onward >= 0 else size
                else:
                    yield entry
                    at += entry.place.length


def read(place: RecordLocation) -> JournalRecord | None:
    """The record at a place; None when it is not there or its checksum disagrees."""
    data = raw(place)
    if data is None:
        return None
    _, text_length, _ = HEAD.unpack_from(data)
    description = json.loads(data[START : START + text_length])
    return JournalRecord(description["facts"], _arrays(data, START + text_length, description["arrays"]))


def raw(place: RecordLocation) -> bytes | None:
    """The bytes of a whole record, checked; None when they are not whole."""
    try:
        with open(place.path, "rb") as file:
            file.seek(place.offset)
            data = file.read(place.length)
    except OSError:
        return None
    whole = len(data) == place.length and hashlib.blake2b(data[:-SUM], digest_size=SUM).digest() == data[-SUM:]
    return data if whole else None


def _arrays(data: bytes, at: int, shapes: Mapping[str, Any]) -> dict[str, NDArray[np.generic]]:
    """Read arrays of known types and shapes, one after the other."""
    arrays = {}
    for name, (kind, shape) in shapes.items():
        dtype, count = np.dtype(kind), math.prod(shape)
        arrays[name] = np.frombuffer(data, dtype, count, at).reshape(shape)
        at += _up(dtype.itemsize * count)
    return arrays


def _entry(path: str, data: mmap.mmap, at: int) -> RecordHeader | None:
    """The description that begins at an offset, if its head is sound and its bytes are all there."""
    head = data[at : at + START]
    if len(head) < START or head[:4] != MAGIC or CRC.unpack_from(head, HEAD.size)[0] != zlib.crc32(head[: HEAD.size]):
        return None
    _, text_length, body_length = HEAD.unpack_from(head)
    length = START + text_length + body_length + SUM
    if at + length > len(data):
        return None
    try:
        facts = dict(json.loads(data[at + START : at + START + text_length])["facts"])
    except (ValueError, KeyError, TypeError):
        return None
    return RecordHeader(RecordLocation(path, at, length), facts)


def _next(path: str, data: mmap.mmap, at: int) -> int:
    """Offset of the next record with a sound head, or −1."""
    at = data.find(MAGIC, at)
    while at >= 0 and _entry(path, data, at) is None:
        at = data.find(MAGIC, at + 1)
    return at


def _pad(data: bytes, fill: bytes) -> bytes:
    return data + fill * (_up(len(data)) - len(data))


def _up(length: int) -> int:
    return -(-length // 8) * 8


ANSWERS, FAMILY, STARTED, REACHED = "answers", "family", "started", "reached"
KEPT = (ANSWERS, FAMILY)  # records that have a key; the others are marks
NEW = "not computed before"


class Journal:
    """Journal of one run. `older` are folders of other journals, in the order in which they are asked."""

    def __init__(self, folder: Path, older: Sequence[Path] = ()) -> None:
        """Index the run's own segments; older journals are read when they are first asked."""
        folder = folder.absolute()  # worker processes outlive a run and may stand in another folder
        self.folder = folder
        self.damage: list[CorruptRecord] = []
        self.own = Segment(folder)
        self._older = [journal for journal in older if journal.resolve() != folder.resolve()]
        self._places: dict[str, list[RecordLocation]] = {}
        self._elsewhere: dict[tuple[str, str, str], list[RecordHeader]] = {}
        self._read: set[Path] = set()
        for path in _segments(folder):
            self.damage += self._index(path)
        self._loaded = False

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self) -> None:
        self.own.close()

    def own_places(self, key: CellKey) -> list[RecordLocation]:
        """List the locations of a cell's records in this journal, oldest first."""
        return self._places.get(key.text, [])

    def older_places(self, key: CellKey) -> list[RecordLocation]:
        """List the locations of a cell's records in older journals, in the order in which the journals are asked."""
        return [entry.place for entry in self._old(key) if entry.facts.get("key") == key.text]

    def records_of(self, key: CellKey) -> Iterator[tuple[RecordLocation, bool]]:
        """Yield locations of a cell's records: in this journal (True), newest first, then in older ones."""
        yield from ((place, True) for place in reversed(self.own_places(key).copy()))
        yield from ((place, False) for place in self.older_places(key))

    def load(self, place: RecordLocation) -> CellResult | None:
        """The result at a place, or None (and a note) when it is damaged."""
        record = self.record(place)
        if record is not None:
            with suppress(KeyError, ValueError, TypeError, IndexError):
                return CellResult.decode(record.facts, record.arrays)
            self.damage.append(CorruptRecord(place.path, place.offset, torn=False))
        return None

    def record(self, place: RecordLocation) -> JournalRecord | None:
        """Read the record at a location; None (and a note) when it is damaged."""
        record = read(place)
        if record is None:
            self.damage.append(CorruptRecord(place.path, place.offset, torn=False))
        return record

    def refresh(self) -> None:
        """Index the records that workers have written and not reported."""
        known = {place for places in self._places.values() for place in places}
        for path in _segments(self.folder):
            for found in scan(path):
                if isinstance(found, RecordHeader) and _has_key(found.facts) and found.place not in known:
                    self._places.setdefault(found.facts["key"], []).append(found.place)

    def note(self, key: CellKey, place: RecordLocation) -> None:
        """Remember where a record of this run lies that a worker has appended."""
        self._places.setdefault(key.text, []).append(place)

    def adopt(self, key: CellKey, place: RecordLocation) -> RecordLocation | None:
        """Copy a record of an older journal, byte for byte; None when it is damaged."""
        record = raw(place)
        if record is None:
            return None
        mine = self.own.append_bytes(record)
        self.note(key, mine)
        return mine

    def why(self, key: CellKey) -> str:
        """Say why a cell that was looked for has to be computed."""
        if any(_inside(damage, self._places.get(key.text, ())) for damage in self.damage):
            return "its record is damaged"
        differences = [key.difference(entry.facts.get("cell", {})) for entry in self._old(key)]
        if differences:
            return next((why for why in differences if why), "its record is damaged")
        return NEW

    def _old(self, key: CellKey) -> list[RecordHeader]:
        """Records of the same rows, fold and growing in older journals (read when first asked for)."""
        if not self._loaded:
            self._loaded = True
            for path in (path for journal in self._older for path in _segments(journal)):
                with suppress(OSError):
                    self._remember(path)
        return self._elsewhere.get(key.place, [])

    def _remember(self, path: Path) -> None:
        """Index the records of an older journal by rows, fold and growing settings."""
        for found in scan(path):
            if isinstance(found, RecordHeader) and _has_key(found.facts):
                cell = found.facts["cell"]
                self._elsewhere.setdefault((cell["rows"], cell["fold"], cell["growing"]), []).append(found)

    def _index(self, path: Path) -> list[CorruptRecord]:
        """Index the records of an own segment; return the corrupt ones."""
        damage = []
        for found in scan(path):
            if isinstance(found, CorruptRecord):
                damage.append(found)
            elif _has_key(found.facts):
                self._places.setdefault(found.facts["key"], []).append(found.place)
        return damage


def _has_key(facts: Mapping[str, object]) -> bool:
    """Say whether a record can be looked up; its description is read before its checksum, and may hold anything."""
    cell = facts.get("cell")
    return (
        facts.get("kind") in KEPT and isinstance(facts.get("key"), str)
        and isinstance(cell, Mapping) and all(isinstance(cell.get(name), str) for name in ("rows", "fold", "growing"))
    )  # fmt: skip


def record_of(key: CellKey, result: CellResult) -> tuple[dict[str, object], Arrays]:
    """The description and the arrays of a cell's record."""
    facts, arrays = result.encode()
    return {"kind": ANSWERS, "key": key.text, "cell": key.facts, **facts}, arrays


def start_times(folder: Path) -> dict[str, float]:
    """The newest mark that a worker process left when it began a job: its name, and when (monotonic)."""
    marks: dict[str, float] = {}
    for path in _segments(folder):
        for found in scan(path):
            if isinstance(found, RecordHeader) and found.facts.get("kind") == STARTED:
                with suppress(KeyError, TypeError, ValueError):
                    name, at = str(found.facts["job"]), float(found.facts["at"])
                    marks[name] = max(at, marks.get(name, at))
    return marks


def last_reached(folder: Path, job: str) -> int | None:
    """The candidate that was reached last when a job's candidates answered one by one; None where no mark says so."""
    last = None
    for path in _segments(folder):
        for found in scan(path):
            if isinstance(found, RecordHeader) and found.facts.get("kind") == REACHED and found.facts.get("job") == job:
                with suppress(KeyError, TypeError, ValueError):
                    last = int(found.facts["member"])
    return last


def older_journals(runs: Path, first: Sequence[Path] = ()) -> list[Path]:
    """Journals of `runs/*/*/`, newest first, after those named `first`."""
    found = sorted(runs.glob("*/*/journal"), key=lambda path: (path.stat().st_mtime_ns, path.name), reverse=True)
    return [*first, *(path for path in found if path not in first)]


def _segments(folder: Path) -> list[Path]:
    """Segments in the order in which they were begun."""
    return sorted(folder.glob(f"*{SUFFIX}"), key=lambda path: (path.stat().st_mtime_ns, path.name))


def _inside(damage: CorruptRecord, places: Iterable[RecordLocation]) -> bool:
    return any(place.path == damage.path and place.offset <= damage.offset < place.offset + place.length for place in places)


# A journal segment: records of one writing process, appended and never changed.
#
# A record is acknowledged once its bytes are with the kernel, so a killed process loses nothing that it reported; against power
# loss the file is synced after 0.5 s or 64 records. What could not be written whole is cut off again.

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

    def append(self, facts: Mapping[str, object], arrays: Arrays) -> RecordLocation:
        """Append a record. Raises StoreError when it cannot be written whole; the segment then ends where it ended before."""
        return self.append_bytes(encode(facts, arrays))

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
