"""An index of row hashes beside the ledger: it names stored row sets that share a hash with some rows, so that few are read.

It is a cache and no record. Of sets that it holds whole it can say that none of some hashes (or too few of them) stands in
them; every other set is read and compared as if there were no index. A set is known by the SHA-256 of its bytes, which the
ledger's chain names. A file of the index is believed only as a whole, by a keyed digest of all its bytes: what was changed, cut
off or swapped is removed, and what it held is read again. So whoever tampers with it makes looks slower and hides none.

A file holds the upper halves of 64-bit hashes in order, and beside each the number of its set. An equal half is no match yet:
the set is then read and compared.
"""

import hashlib
import hmac
import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from modelsel.core.stored import ARCHIVE, content
from modelsel.core.types import Integers
from modelsel.ledger.home import write_whole
from modelsel.ledger.rows.identity import Hashes
from modelsel.ledger.rows.row_set import RowSet

Halves = NDArray[np.uint32]

LARGE = 200_000  # hashes beyond which a set is not put into the index
SEAL = 32  # bytes of the keyed digest
NAMES = ("bound", "id", "unbound", "ranked")
KEYS = "key:"  # what the arrays of nearly unique columns begin with


@dataclass(frozen=True, eq=False)
class WantedHashes:
    """Hashes that are looked for, in groups: of each, so many that fewer tell nothing."""

    halves: Halves
    groups: Integers
    least: Integers

    @classmethod
    def of(cls, groups: Sequence[tuple[Hashes, int]]) -> "WantedHashes":
        sizes = [len(hashes) for hashes, _ in groups]
        halves = np.concatenate([_halves(hashes) for hashes, _ in groups])
        return cls(halves, np.repeat(np.arange(len(groups)), sizes), np.array([least for _, least in groups]))


@dataclass(frozen=True, eq=False)
class _Part:
    """One file: the digests of its sets, the halves of their hashes in order, and the set of each."""

    digests: tuple[str, ...]
    halves: Halves
    owners: Halves

    def holding(self, asked: "WantedHashes") -> set[str]:
        """The sets in which enough of the values of any group stand."""
        first, last = (np.searchsorted(self.halves, asked.halves, side) for side in ("left", "right"))
        times = last - first
        places = np.repeat(first - np.cumsum(times) + times, times) + np.arange(times.sum())
        met = np.repeat(asked.groups, times) * len(self.digests) + self.owners[places]
        pairs, count = np.unique(met, return_counts=True)
        groups, owners = np.divmod(pairs, len(self.digests))
        return {self.digests[owner] for owner in owners[count >= asked.least[groups]].tolist()}

    def pack(self, secret: bytes) -> bytes:
        head = json.dumps({"digests": self.digests, "count": len(self.halves)}).encode() + b"\n"
        body = b"".join((head, self.halves.astype("<u4").tobytes(), self.owners.astype("<u4").tobytes()))
        return _seal(body, secret) + body

    @classmethod
    def unpack(cls, raw: bytes, secret: bytes) -> "_Part":
        """Read back; ValueError where it is not what was written."""
        body = memoryview(raw)[SEAL:]
        if not hmac.compare_digest(raw[:SEAL], _seal(body, secret)):
            raise ValueError("the seal does not fit")
        start = raw.index(b"\n", SEAL) + 1
        head = json.loads(raw[SEAL:start])
        flat = np.frombuffer(raw, "<u4", offset=start)
        return cls(tuple(head["digests"]), flat[: head["count"]], flat[head["count"] :])

    @classmethod
    def of(cls, sets: Iterable[tuple[str, Halves]]) -> "_Part":
        digests, halves = zip(*sets)
        owners = np.repeat(np.arange(len(digests), dtype=np.uint32), [len(one) for one in halves])
        return cls(digests, *_order(np.concatenate(halves), owners))

    def with_(self, other: "_Part") -> "_Part":
        owners = np.concatenate([self.owners, other.owners + np.uint32(len(self.digests))])
        halves = np.concatenate([self.halves, other.halves])
        return _Part((*self.digests, *other.digests), *_order(halves, owners))


class HashIndex:
    """The index of a home, in files of a folder; `secret` is the home's."""

    def __init__(self, folder: Path, secret: bytes) -> None:
        """Start with no file read."""
        self._folder = folder
        self._secret = secret
        self._parts: dict[Path, _Part] | None = None
        self._fresh: dict[str, Halves] = {}

    def without(self, *asked: tuple[Hashes, int]) -> frozenset[str]:
        """The sets of which it is certain that of none of these hashes so many stand in them."""
        parts, wanted = self._read().values(), WantedHashes.of(asked)
        held = {digest for part in parts for digest in part.holding(wanted)}
        return frozenset(digest for part in parts for digest in part.digests) - held

    def take(self, digest: str, stored: RowSet) -> None:
        """Put a set that was read into the index, with the next `keep`."""
        named = [array for name, array in stored.arrays.items() if name in NAMES or name.startswith(KEYS)]
        if sum(map(len, named)) <= LARGE and digest not in self._fresh:
            self._fresh[digest] = np.unique(_halves(np.concatenate([*named, np.empty(0, np.uint64)])))

    def keep(self) -> None:
        """Write what was taken into a file; files are joined so that there are few, each at least twice the next."""
        if not self._fresh:
            return
        known = {digest for part in self._read().values() for digest in part.digests}
        sets = [(digest, halves) for digest, halves in self._fresh.items() if digest not in known]
        self._fresh.clear()
        if not sets:
            return
        part, joined = _Part.of(sets), []
        for path, other in sorted(self._read().items(), key=lambda one: len(one[1].halves)):
            if len(other.halves) < 2 * len(part.halves):
                part = part.with_(other)
                joined.append(path)
        with suppress(OSError):  # a cache that cannot be written is done without
            self._write(part, joined)

    def _write(self, part: _Part, joined: list[Path]) -> None:
        """Write joined parts as one file, and remove the old ones."""
        raw = part.pack(self._secret)
        self._folder.mkdir(mode=0o700, exist_ok=True)
        path = self._folder / f"{raw[:SEAL].hex()}.hashes"
        write_whole(path, raw)
        self._read()[path] = part
        for old in joined:
            self._read().pop(old)
            old.unlink(missing_ok=True)

    def _read(self) -> dict[Path, _Part]:
        """Read all files of the folder once; unreadable ones are removed."""
        if self._parts is None:
            self._parts = {}
            for path in sorted(self._folder.glob("*.hashes")):
                try:
                    self._parts[path] = _Part.unpack(content(path, ARCHIVE), self._secret)
                except (OSError, ValueError, KeyError, TypeError):
                    with suppress(OSError):
                        path.unlink(missing_ok=True)
        return self._parts


def _halves(hashes: Hashes) -> Halves:
    return (hashes >> np.uint64(32)).astype(np.uint32)


def _order(halves: Halves, owners: Halves) -> tuple[Halves, Halves]:
    order = np.argsort(halves, kind="stable")
    return halves[order], owners[order]


def _seal(body: bytes | memoryview, secret: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=SEAL, key=secret, person=b"modelsel.hashidx").digest()
