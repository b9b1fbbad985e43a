"""Rows known again in a part of a table whose columns have other units, signs and names: by three that are neighbours.

Of three rows that are neighbours in one column, r = (x₂ − x₁) / (x₃ − x₁) in another is the same whatever its unit, and |r − ½|
whichever way round the column is read. Two such numbers together are hardly met twice by chance. Of all pairs of them, for
every column that rows are ordered by, the 4,096 are kept of which the first has the smallest hash, under the home's key:
neither a value nor a row can be read off them. Where 60 % of the rows are left, .6³ of the triples are.
"""

import numpy as np

from modelsel.core.runs import is_fresh
from modelsel.core.types import Floats, Integers
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
    """The smallest hashes of a table's triples, not keyed yet; none where fewer than three columns have many values."""
    kept = [own if rows is None else own[rows] for own in _columns(table)]
    if len(kept) < 3:
        return np.zeros(0, np.uint64)
    values = np.column_stack(kept)
    found = [np.zeros(0, np.uint64)]
    for by in range(len(kept)):
        found.append(_pairs(values, by))
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
        if feature.kind == "numeric":
            values = table.column(index)
            if np.isfinite(values).all() and len(np.unique(values)) >= DISTINCT * len(values):
                found.append(np.asarray(values, np.float64))
    if len(found) <= COLUMNS:
        return found
    evenness = [float(np.abs(one - one.mean()).mean() / one.std()) for one in found]
    return [found[place] for place in np.argsort(evenness, kind="stable")[:COLUMNS]]


def _pairs(values: Floats, by: int) -> Hashes:
    """Pairs of numbers of rows that are neighbours in one column, those of which the first has the smallest hash."""
    ordered = np.delete(values[np.argsort(values[:, by], kind="stable")], by, axis=1)
    first, second, third = ordered[:-2], ordered[1:-1], ordered[2:]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.abs((second - first) / (third - first) - 0.5)
    known = np.isfinite(ratio) & (ratio != 0.5)  # of equal values nothing is told
    words = ratio.view(np.uint64) + np.uint64(1 << (51 - BITS)) >> np.uint64(52 - BITS)
    hashes = np.where(known, _mixed(words), np.iinfo(np.uint64).max)
    flat = hashes.ravel()
    most = min(len(flat) - 1, KEPT)
    rows, columns = np.nonzero(known & (hashes <= np.partition(flat, most)[most]))
    others = hashes[rows]
    there = known[rows] & (np.arange(ordered.shape[1]) != columns[:, None])
    high = (hashes[rows, columns] >> np.uint64(32)) << np.uint64(32)
    both = _mixed(hashes[rows, columns][:, None] + others) >> np.uint64(32)
    pairs: Hashes = (high[:, None] | both)[there]
    return pairs


def _mixed(words: Hashes) -> Hashes:
    """Spread every bit over the word (the finaliser of SplitMix64, Steele et al. 2014)."""
    one = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    two = (one ^ (one >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(two ^ (two >> np.uint64(31)), np.uint64)
