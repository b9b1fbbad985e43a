"""Units of rows as they are remembered: each row's hash beside a name of its unit that is made of the unit's row hashes alone.

So the same assignment has the same digest whatever codes, order of rows or names it came with. Two assignments are brought
together by joining: rows that either puts into one unit are in one unit, which is coarser than both.
"""

import numpy as np

from modelsel.core.types import Booleans, Integers
from modelsel.ledger.rows.identity import Hashes, is_among
from modelsel.ledger.rows.row_set import RowSet

ROWS, UNITS = "bound", "unit"


def assignment(rows: Hashes, units: Integers) -> RowSet:
    """What is stored of the units of rows, sorted by the hashes of rows.

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
