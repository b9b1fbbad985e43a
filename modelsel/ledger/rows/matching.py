"""Columns that were renamed are matched by their values.

Over the whole table each column is known by the digest of its values with their counts, and by a sketch of its value
distribution. Columns of equal values are paired, equal names first; then equal names; then the most alike. Columns that
hold the same values with the same counts cannot be told apart by themselves: they are tried in both ways on some rows.
"""

import hashlib
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations, product
from math import factorial, prod

import numpy as np

from modelsel.core.types import Floats, Integers
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.rows.identity import Hashes, TokenTable, ascending, hash_rows, runs
from modelsel.ledger.rows.row_set import RowSet

KEPT = 256  # values per column sketch
ALIKE = 0.2  # least shared mass of two value distributions
MOST, ROUNDS = 720, 3  # exchanges that are all tried; passes over pairs beyond


@dataclass(frozen=True, eq=False)
class Sketch:
    """A keyed summary of a column, from which values cannot be read off."""

    name: str
    digest: str
    values: Hashes
    shares: Floats
    distinct: int = 0  # values in all; not stored


def sketches(cells: TokenTable, key: IdentityKey) -> tuple[Sketch, ...]:
    """A sketch of each column of a whole table."""
    drawn = [_sketch(name, cells.tokens[:, index], key) for index, name in enumerate(cells.names)]
    values = hash_tokens_each([sketch.values for sketch in drawn], key)
    return tuple(replace(sketch, values=own) for sketch, own in zip(drawn, values, strict=True))


def hash_tokens(tokens: Hashes, key: IdentityKey) -> Hashes:
    """Tokens as keyed hashes, one by one."""
    return hash_rows(tokens[:, None], key, b"modelsel.cell.1")


def hash_tokens_each(columns: Sequence[Hashes], key: IdentityKey) -> list[Hashes]:
    """Hash the tokens of several columns in one call."""
    if not columns:
        return []
    ends = np.cumsum([len(column) for column in columns])[:-1]
    return np.split(hash_tokens(np.concatenate(columns), key), ends)


def table_set(drawn: tuple[Sketch, ...], rows: int) -> RowSet:
    """The sketches of a table's columns, as they are stored."""
    facts = {"n": rows, "columns": [[s.name, s.digest, [float(share) for share in s.shares]] for s in drawn]}
    return RowSet(facts, {str(index): sketch.values for index, sketch in enumerate(drawn)})


def table_sketches(stored: RowSet) -> tuple[Sketch, ...]:
    """Read the columns' sketches of a stored row set."""
    columns = stored.facts["columns"]
    return tuple(
        Sketch(name, digest, stored.arrays[str(index)], np.array(shares))
        for index, (name, digest, shares) in enumerate(columns)
    )


def match_names(ours: Sequence[Sketch], theirs: Sequence[Sketch]) -> tuple[tuple[str, ...], list[list[int]]] | None:
    """The stored name of each of our columns, and groups of our columns that might be exchanged; None where they differ."""
    if len(ours) != len(theirs):
        return None
    free = dict(enumerate(theirs))
    found: dict[int, int] = {}
    for said in (_name_and_values, _values, _name):
        _pair(ours, free, found, said)
    if not _pair_the_rest(ours, free, found):
        return None
    return tuple(theirs[found[index]].name for index in range(len(ours))), _exchangeable(ours, theirs, found)


def best_naming(
    names: tuple[str, ...], groups: list[list[int]], agreement: Callable[[tuple[str, ...]], float]
) -> tuple[str, ...]:
    """The naming under which most rows agree; of those that agree alike, the one nearest to the order of the columns.

    All exchanges are tried where they are few, else pairs are swapped while that helps.
    """
    if prod(factorial(len(group)) for group in groups) > MOST:
        return _climb(names, groups, agreement)
    best, score = names, agreement(names)
    for places in product(*(permutations(group) for group in groups)):
        if score == 1:
            break
        tried = list(names)
        for group, order in zip(groups, places):
            for index, source in zip(group, order):
                tried[index] = names[source]
        found = agreement(tuple(tried))
        if found > score:
            best, score = tuple(tried), found
    return best


def _climb(names: tuple[str, ...], groups: list[list[int]], agreement: Callable[[tuple[str, ...]], float]) -> tuple[str, ...]:
    """Swap columns of equal contents wherever that raises the agreement."""
    best, score = names, agreement(names)
    for i, j in [pair for _ in range(ROUNDS) for group in groups for pair in combinations(group, 2)]:
        swapped = list(best)
        swapped[i], swapped[j] = swapped[j], swapped[i]
        found = agreement(tuple(swapped)) if score < 1 else 0.0
        if found > score:
            best, score = tuple(swapped), found
    return best


def _sketch(name: str, tokens: Hashes, key: IdentityKey) -> Sketch:
    """Sketch a column: a digest of all its values, and shares of the values with the smallest hashes, not keyed yet."""
    ordered = ascending(tokens)
    values, counts = runs(ordered)
    raw = np.ascontiguousarray(ordered, "<u8").data
    digest = hashlib.blake2b(raw, digest_size=16, key=key.secret, person=b"modelsel.col.1").hexdigest()
    return Sketch(name, digest, values[:KEPT], counts[:KEPT] / max(1, len(tokens)), len(values))


def _pair(
    ours: Sequence[Sketch], free: dict[int, Sketch], found: dict[int, int], said: Callable[[Sketch], tuple[str, ...]]
) -> None:
    """Each of ours with the first free one that says the same."""
    waiting: dict[tuple[str, ...], deque[int]] = {}
    for j, other in free.items():
        waiting.setdefault(said(other), deque()).append(j)
    for index, sketch in enumerate(ours):
        partners = waiting.get(said(sketch)) if index not in found else None
        if partners:
            found[index] = partners.popleft()
            del free[found[index]]


def _name_and_values(sketch: Sketch) -> tuple[str, ...]:
    return sketch.name, sketch.digest


def _values(sketch: Sketch) -> tuple[str, ...]:
    return (sketch.digest,)


def _name(sketch: Sketch) -> tuple[str, ...]:
    return (sketch.name,)


def _likenesses(ours: Sequence[Sketch], theirs: Sequence[Sketch]) -> Floats:
    """Shared mass of the value distributions of each of ours and each of theirs, of what the smaller sketch kept."""
    values, owners, shares = (np.concatenate(parts) for parts in zip(*(_long(i, one) for i, one in enumerate(theirs))))
    order = np.argsort(values, kind="stable")
    values, owners, shares = values[order], owners[order], shares[order]
    kept = np.array([one.shares.sum() for one in theirs])
    out = np.zeros((len(ours), len(theirs)))
    for index, sketch in enumerate(ours):
        first, last = (np.searchsorted(values, sketch.values, side) for side in ("left", "right"))
        times = last - first
        places = np.repeat(first - np.cumsum(times) + times, times) + np.arange(times.sum())
        common = np.minimum(np.repeat(sketch.shares, times), shares[places])
        least = np.minimum(sketch.shares.sum(), kept)
        out[index] = np.bincount(owners[places], common, len(theirs)) / np.where(least > 0, least, np.inf)
    return out


def _long(index: int, sketch: Sketch) -> tuple[Hashes, Integers, Floats]:
    return sketch.values, np.full(len(sketch.values), index), np.asarray(sketch.shares, np.float64)


def _pair_the_rest(ours: Sequence[Sketch], free: dict[int, Sketch], found: dict[int, int]) -> bool:
    """Pair the other columns by likeness, the most alike first; say whether all found a partner."""
    rest, places = [index for index in range(len(ours)) if index not in found], list(free)
    if not places:
        return True
    likeness = _likenesses([ours[i] for i in rest], [free[j] for j in places])
    close = np.argwhere(likeness >= ALIKE)
    for a, b in close[np.lexsort((close[:, 1], close[:, 0], -likeness[tuple(close.T)]))].tolist():
        i, j = rest[a], places[b]
        if i not in found and j in free:
            found[i] = j
            del free[j]
    return not free


def _exchangeable(ours: Sequence[Sketch], theirs: Sequence[Sketch], found: dict[int, int]) -> list[list[int]]:
    """Group renamed columns whose contents are equal, so that their names cannot be told."""
    groups: dict[str, list[int]] = {}
    for index, sketch in enumerate(ours):
        if sketch.name != theirs[found[index]].name:
            groups.setdefault(sketch.digest, []).append(index)
    return [group for group in groups.values() if len(group) > 1]
