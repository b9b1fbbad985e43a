"""Rows known again in a part of a table whose columns have other units, signs and names: by three that are neighbours.

Of three rows that are neighbours in one column, r = (x₂ − x₁) / (x₃ − x₁) in another is the same whatever its unit, and |r − ½|
whichever way round the column is read. Two such numbers together are hardly met twice by chance. Of all pairs of them, for
every column that rows are ordered by, the 4,096 are kept of which the first has the smallest hash, under the home's key:
neither a value nor a row can be read off them. Where 60 % of the rows are left, .6³ of the triples are.
"""

import numpy as np

from modelsel.core.runs import is_fresh
from modelsel.core.types import Booleans, Floats, Integers
from modelsel.core.whole_table import WholeTable
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.rows.identity import Hashes
from modelsel.ledger.rows.matching import hash_tokens

KEPT = 4096
BITS = 17  # of a number that have to agree: five digits
DISTINCT = 0.5  # values per row that a column needs
COLUMNS = 40  # that are looked at, of many
LEAST = 0.03  # share of the kept ones from which tables have rows in common
BY_CHANCE = 2.5  # times the share that halves of a table have in common


def smallest_triples(table: WholeTable, rows: Integers | None = None) -> Hashes:
    """The smallest hashes of a table's triples, not keyed yet; none of fewer than three rows, or columns of many values."""
    kept = [own if rows is None else own[rows] for own in _columns(table)]
    if len(kept) < 3 or len(kept[0]) < 3:
        return np.zeros(0, np.uint64)
    found = [np.zeros(0, np.uint64)]
    for by, own in enumerate(kept):
        found.append(_pairs(np.argsort(own, kind="stable"), kept[:by] + kept[by + 1 :]))
        ordered = np.sort(np.concatenate(found))
        found = [ordered[is_fresh(ordered)][:KEPT]]
    return found[0]


def kept_triples(table: WholeTable, key: IdentityKey) -> Hashes:
    """The triples of a table as they are stored."""
    found = smallest_triples(table)
    return np.sort(hash_tokens(found, key)) if len(found) else found


def shared_triples(ours: Hashes, theirs: Hashes) -> float:
    """The share of the kept triples that two tables have in common.

    >>> shared_triples(np.array([1, 2], np.uint64), np.array([2, 3, 4], np.uint64))
    0.5
    """
    least = min(len(ours), len(theirs))
    return len(np.intersect1d(ours, theirs)) / least if least else 0.0


def shared_by_chance(table: WholeTable, rng: np.random.Generator) -> float:
    """The share that two halves of a table have in common, which have no row in common."""
    order = rng.permutation(len(table))
    halves = (smallest_triples(table, np.sort(half)) for half in np.array_split(order, 2))
    return shared_triples(*halves)


def _columns(table: WholeTable) -> list[Floats]:
    """Columns of many different numbers, all of them there; of many columns those of the most even shape and others."""
    found = []
    for index, feature in enumerate(table.features):
        if feature.is_number:
            values = table.column(index)
            if np.isfinite(values).all() and len(np.unique(values)) >= DISTINCT * len(values):
                found.append(np.asarray(values, np.float64))
    if len(found) <= COLUMNS:
        return found
    evenness = [float(np.abs(one - one.mean()).mean() / one.std()) for one in found]
    return [found[place] for place in np.argsort(evenness, kind="stable")[:COLUMNS]]


def _pairs(order: Integers, columns: list[Floats]) -> Hashes:
    """Pairs of numbers of rows that are neighbours in this order, those of which the first has the smallest hash.

    One column after the other is read, since the numbers of all of them need several times the memory of the table.
    """
    firsts = [_smallest(*_hashes(one[:-2], one[1:-1], one[2:])) for one in (own[order] for own in columns)]
    own, rows = (np.concatenate(part) for part in zip(*firsts, strict=True))
    places = np.repeat(np.arange(len(columns)), [len(rows) for _, rows in firsts])
    chosen = own <= _largest_first_hash(own)
    own, rows, places = own[chosen], rows[chosen], places[chosen]
    others, known = _hashes(*(np.column_stack([one[order[rows + step]] for one in columns]) for step in range(3)))
    there = known & (np.arange(len(columns)) != places[:, None])
    high = (own >> np.uint64(32)) << np.uint64(32)
    both = _mix(own[:, None] + others) >> np.uint64(32)
    pairs: Hashes = (high[:, None] | both)[there]
    return pairs


def _hashes(first: Floats, second: Floats, third: Floats) -> tuple[Hashes, Booleans]:
    """Hash the number of each three values, and say of which there is one: of equal values nothing is told."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.abs((second - first) / (third - first) - 0.5)
    words = ratio.view(np.uint64) + np.uint64(1 << (51 - BITS)) >> np.uint64(52 - BITS)
    return _mix(words), np.isfinite(ratio) & (ratio != 0.5)


def _smallest(hashes: Hashes, known: Booleans) -> tuple[Hashes, Integers]:
    """The smallest of the known hashes, and their places."""
    places = np.flatnonzero(known)
    chosen = places[hashes[places] <= _largest_first_hash(hashes[places])]
    return hashes[chosen], chosen


def _largest_first_hash(hashes: Hashes) -> int:
    """The largest hash that may still be a first one."""
    most = min(len(hashes) - 1, KEPT)
    return int(np.partition(hashes, most)[most]) if len(hashes) else 0


def _mix(words: Hashes) -> Hashes:
    """Spread every bit over the word (the finaliser of SplitMix64, Steele et al. 2014)."""
    one = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    two = (one ^ (one >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(two ^ (two >> np.uint64(31)), np.uint64)
