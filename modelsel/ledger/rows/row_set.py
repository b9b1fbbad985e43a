"""A set of rows as it is remembered: sorted hashes, packed into bytes that are stored under their own digest.

Two sets are compared row by row, with repetitions: of a content that stands a times in one and b times in the other,
min(a, b) rows are shared. Where rows are distinct, a row counts as seen when its content is in the other set.
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.errors import LedgerError, Problem
from modelsel.core.fingerprint import canonical
from modelsel.core.runs import is_fresh, lengths
from modelsel.core.types import Booleans, Integers
from modelsel.ledger.rows.identity import Hashes, is_among, occurrences, tally

FULL, BOTTOM = 1_000_000, 4096  # rows beyond which a set is kept as a sketch, and how many hashes that sketch holds


@dataclass(frozen=True, eq=False)
class RowSet:
    """Facts (names of the columns, number of rows) and named arrays of hashes, each sorted."""

    facts: Mapping[str, Any]
    arrays: Mapping[str, Hashes]

    def __len__(self) -> int:
        return int(self.facts["n"])

    @property
    def bound(self) -> Hashes:
        """The hashes of rows whose cells are bound to the names of their columns."""
        return self.arrays["bound"]

    @property
    def is_sketch(self) -> bool:
        """Say whether the smallest hashes alone are kept."""
        return bool(self.facts.get("sketch"))

    def sketch(self, most: int = FULL, keep: int = BOTTOM) -> "RowSet":
        """Itself, or where it is larger than `most` only its smallest hashes: a random sample of contents, by content."""
        if len(self) <= most:
            return self
        return RowSet({**self.facts, "sketch": True}, {name: np.sort(array)[:keep] for name, array in self.arrays.items()})

    def pack(self) -> bytes:
        header = {**self.facts, "arrays": [[name, len(array)] for name, array in self.arrays.items()]}
        return canonical(header).encode() + b"\n" + b"".join(array.astype("<u8").tobytes() for array in self.arrays.values())

    @classmethod
    def unpack(cls, blob: bytes) -> "RowSet":
        """Read back; LedgerError when the lengths do not add up."""
        head, _, body = blob.partition(b"\n")
        try:
            facts = json.loads(head)
            sizes = [(str(name), int(size)) for name, size in facts.pop("arrays")]
            flat = np.frombuffer(body, "<u8").astype(np.uint64)
            if sum(size for _, size in sizes) != len(flat):
                raise ValueError("lengths")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise LedgerError(
                Problem("MSEL-504", "a stored row set cannot be read", "rowsets", "restore the ledger")
            ) from error
        cuts = np.cumsum([size for _, size in sizes])[:-1]
        return cls(facts, dict(zip([name for name, _ in sizes], np.split(flat, cuts))))


def shared_rows(rows: Hashes, stored: Hashes, repetitions: bool) -> Booleans:
    """Mask the rows that are in the stored set: each content as often as it is there, or always where rows are distinct.

    >>> rows = np.array([7, 7, 7, 9], np.uint64)
    >>> shared_rows(rows, np.array([7, 8], np.uint64), repetitions=True)
    array([ True, False, False, False])
    """
    if not repetitions:
        return is_among(rows, np.sort(stored))
    result: Booleans = _occurrence(rows) < occurrences(rows, stored)
    return result


def containment(rows: Hashes, sketch: Hashes) -> float:
    """Estimated share of distinct rows that a sketched (bottom-k) set contains: of those below its largest kept hash."""
    distinct = tally(rows)[0]
    below = distinct[distinct <= sketch.max()] if len(sketch) else distinct[:0]
    return float(np.isin(below, sketch).mean()) if len(below) else 0.0


def identifiability(hashes: Hashes) -> float:
    """Distinct rows per row: near one, equal values mean the same row; far below, they mean little."""
    return len(tally(hashes)[0]) / len(hashes) if len(hashes) else 1.0


def _occurrence(rows: Hashes) -> NDArray[np.int64]:
    """Count the equal rows before each row."""
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    starts = np.flatnonzero(is_fresh(ordered))
    out = np.empty(len(rows), np.int64)
    out[order] = np.arange(len(rows)) - np.repeat(starts, lengths(starts, len(rows)))
    return out


# Row sets that were read and unpacked: a digest says what they hold, so that each is read once.

MOST = 200_000_000  # bytes that are kept


class RecentRowSets:
    """The row sets that were asked for last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[RowSet, int]] = OrderedDict()
        self._size = 0

    def __contains__(self, digest: str) -> bool:
        return digest in self._kept

    def __call__(self, digest: str, read: Callable[[str], bytes]) -> RowSet:
        """The row set of a digest; `read` gets its bytes, and raises LedgerError where they are not those of the digest."""
        if digest in self._kept:
            self._kept.move_to_end(digest)
            return self._kept[digest][0]
        blob = read(digest)
        self._kept[digest] = RowSet.unpack(blob), len(blob)
        self._size += len(blob)
        while self._size > MOST and len(self._kept) > 1:
            self._size -= self._kept.popitem(last=False)[1][1]
        return self._kept[digest][0]


# Units of rows as they are remembered: each row's hash beside a name of its unit that is made of the unit's row hashes alone.
#
# So the same assignment has the same digest whatever codes, order of rows or names it came with. Two assignments are brought
# together by joining: rows that either puts into one unit are in one unit, which is coarser than both.


ROWS, UNITS = "bound", "unit"


def assignment(rows: Hashes, units: Integers) -> RowSet:
    """The units of rows as they are stored, sorted by the hashes of rows.

    >>> one, other = np.array([5, 7, 9], np.uint64), np.array([9, 5, 7], np.uint64)
    >>> assignment(one, np.array([0, 0, 1])).pack() == assignment(other, np.array([4, 2, 2])).pack()
    True
    """
    names = _names(rows, units)
    order = np.lexsort((names, rows))
    return RowSet({"n": len(rows)}, {ROWS: rows[order], UNITS: names[order]})


def found_in(rows: Hashes, stored: RowSet) -> Booleans:
    """Mark the rows whose unit is on record."""
    return is_among(rows, stored.arrays[ROWS])


def join_units(units: Integers | None, rows: Hashes, stored: RowSet) -> Integers:
    """Units that hold together what `units` (None: each row is one) or the stored ones hold together.

    Of equal rows nobody knows which is which, so that they bring together all units that hold one of them.

    >>> stored = assignment(np.array([1, 2, 3, 4], np.uint64), np.array([0, 0, 1, 1]))
    >>> join_units(None, np.array([4, 1, 3, 8], np.uint64), stored).tolist()
    [0, 1, 0, 2]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    own = np.arange(len(rows)) if units is None else np.unique(units, return_inverse=True)[1]
    known = is_among(stored.arrays[ROWS], np.sort(rows))
    hashes, there = stored.arrays[ROWS][known], found_in(rows, stored)
    names, theirs = np.unique(stored.arrays[UNITS][known], return_inverse=True)
    contents = np.unique(hashes)
    first, second = int(own.max(initial=-1)) + 1, len(contents)
    pairs = np.concatenate([
        np.column_stack([own[there], first + np.searchsorted(contents, rows[there])]),
        np.column_stack([first + second + theirs, first + np.searchsorted(contents, hashes)]),
    ])  # fmt: skip
    size = first + second + len(names)
    graph = coo_array((np.ones(len(pairs), np.int8), (pairs[:, 0], pairs[:, 1])), shape=(size, size))
    parts: Integers = connected_components(graph, directed=False)[1][own].astype(np.int64)
    return np.unique(parts, return_inverse=True)[1].astype(np.int64)


def _names(rows: Hashes, units: Integers) -> Hashes:
    """The sum of the mixed hashes of each unit's rows, row by row; units of equal rows have one name."""
    code = np.unique(units, return_inverse=True)[1]
    order = np.argsort(code, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(code[order]) > 0])
    sums = np.add.reduceat(_mix(rows[order]), starts)
    return _mix(sums)[code]


def _mix(words: Hashes) -> Hashes:
    """Spread every bit over the word, one to one (the finaliser of SplitMix64, Steele et al. 2014)."""
    one = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    two = (one ^ (one >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(two ^ (two >> np.uint64(31)), np.uint64)
