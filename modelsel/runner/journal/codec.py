"""Records as bytes, and how they are found again in a segment.

    record = b"MSJ1" | length of description, uint32 | length of arrays, uint64 | CRC-32 of these 16 bytes
           | description, JSON | arrays, raw, each padded to 8 bytes | BLAKE2b-256 of everything before

The description names each array with type and shape; nothing in a segment is ever executed. A torn tail, or a record that
was altered, is told apart from what is whole by its checksum.
"""

import hashlib
import json
import math
import mmap
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


def encoded(facts: Mapping[str, Any], arrays: Arrays) -> bytes:
    """A record as bytes."""
    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    shapes = {name: [array.dtype.str, array.shape] for name, array in whole.items()}
    text = _padded(_JSON.encode({"facts": facts, "arrays": shapes}).encode(), b" ")
    body = b"".join(_padded(array.tobytes(), b"\0") for array in whole.values())
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


def _arrays(data: bytes, at: int, shapes: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
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


def _padded(data: bytes, fill: bytes) -> bytes:
    return data + fill * (_up(len(data)) - len(data))


def _up(length: int) -> int:
    return -(-length // 8) * 8
