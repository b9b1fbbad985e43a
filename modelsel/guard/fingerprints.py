"""The fingerprints of what is sealed and of what chooses, and the names that a ledger knows its columns by."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from modelsel.core.types import Booleans, Floats, Integers
from modelsel.core.whole_table import WholeTable
from modelsel.guard.requests import TestSetDeclaration
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.portraits.portrait import Portrait, draw_portrait
from modelsel.ledger.portraits.variables import Variables, variables
from modelsel.ledger.rows.channels import FINE, KEPT, Order, quasi_keys, rank_hashes
from modelsel.ledger.rows.identity import (
    Hashes,
    TokenTable,
    ascending,
    bound_hashes,
    column_tokens,
    columns,
    is_among,
    set_digest,
    tally,
    unbound_hashes,
)
from modelsel.ledger.rows.matching import Sketch, best_naming, hash_tokens, hash_tokens_each, match_names, sketches
from modelsel.ledger.rows.row_set import RowSet, identifiability

Known = tuple[tuple[Sketch, ...], Callable[[], Hashes]]  # a stored table: its sketches, and its rows when they are asked for

IDENTIFIABLE = 0.95  # distinct rows per row from which equal values mean the same row
COMMON = 0.10  # share of a column's test values met in the development rows from which it identifies nothing
SAMPLE = 200
VAST = 1000  # possible rows per row from which rows do not agree by chance
MANY = 1000  # rows that are all distinct only where rows do not agree by chance
FEW, ROOMY = 100, 10  # rows below which, and different rows per row from which, being distinct says something


@dataclass(frozen=True, eq=False)
class SideFingerprints:
    """Hashes of one side of the split, in its order.

    `bound` with the columns' names, `unbound` without names, `ranked` with ranks for numbers, `id` of the declared identities
    where there are any. Nothing here knows a label.
    """

    arrays: Mapping[str, Hashes]
    keys: Mapping[str, Hashes]  # tokens of quasi-key columns, row by row

    @property
    def bound(self) -> Hashes:
        return self.arrays["bound"]

    def stored(self, names: Sequence[str], key: IdentityKey) -> RowSet:
        """Reduce the hashes to what is stored: sorted, large sets as sketches, quasi-keys by their smallest values."""
        whole = RowSet({"n": len(self.bound), "names": list(names)}, {n: np.sort(a) for n, a in self.arrays.items()}).sketch()
        keys = {f"key:{n}": np.sort(own) for n, own in smallest_hashes(self.keys, key).items()}
        return RowSet(whole.facts, {**whole.arrays, **keys})


@dataclass(frozen=True, eq=False)
class RowFingerprints:
    """A sealing as the ledger sees it. `digest` is the identity of the test rows, `train` of the development rows."""

    names: tuple[str, ...]
    sketches: tuple[Sketch, ...]
    test: SideFingerprints
    development: SideFingerprints
    digest: str
    train: str
    source: str
    u: Mapping[str, float]  # distinct hashes per row over both sides, by kind of hash
    room: float  # different rows that the columns' values could make up

    variables: Variables | None  # of the whole table, where it has enough of them: read from its rows, not copied
    portrait: Portrait | None
    cramped: bool  # so few rows in so small a space that distinct ones mean nothing
    vast: bool  # so many rows, or so large a space, that a single row met again means something
    _keyed: dict[str, Hashes] = field(default_factory=dict)
    met: dict[tuple[str, ...], Any] = field(default_factory=dict)  # stored sets that it was compared with, and what came of it

    def __len__(self) -> int:
        return len(self.test.bound) + len(self.development.bound)

    def tells(self, name: str) -> bool:
        """Say whether equal hashes of this kind mean the same row."""
        return not self.cramped and self.u[name] >= IDENTIFIABLE

    def remembered(self, key: IdentityKey) -> Mapping[str, Hashes]:
        """The nearly unique columns of the test rows, as they are remembered."""
        if not self._keyed:
            self._keyed.update(smallest_hashes(self.test.keys, key))
        return self._keyed

    @property
    def identifiable(self) -> bool:
        return self.tells("bound")

    @property
    def duplicated(self) -> Booleans:
        """A mask of the test rows that are in the development rows too."""
        return is_among(self.test.bound, np.sort(self.development.bound))


def subject_of(sealing: TestSetDeclaration, key: IdentityKey, known: Iterable[Known] = ()) -> RowFingerprints:
    """Fingerprint both sides; `known` are the sketches of stored tables with the rows stored under their names.

    Beside the table its tokens stand in memory, then the ranks of its numbers and what the portrait is drawn from: of these
    nothing is kept, and of the table no copy is made.
    """
    table = WholeTable((sealing.development, sealing.sealed))
    rows, order = len(table), Order(table)
    names, sketched, arrays = _hashes(table, order, key, known)
    found = variables(table, order) if len(sealing.sealed) else None
    portrait = draw_portrait(found, key) if found else None
    del order
    cut, room = len(sealing.development), _room(sketched)
    test = SideFingerprints({name: array[cut:] for name, array in arrays.items()}, _quasi_keys(sealing))
    development = SideFingerprints({name: array[:cut] for name, array in arrays.items()}, {})
    return RowFingerprints(
        names, tuple(replace(sketch, name=name) for name, sketch in zip(names, sketched)), test, development,
        set_digest(test.bound, key), set_digest(development.bound, key), set_digest(arrays["bound"], key),
        {name: identifiability(array) for name, array in arrays.items()},
        room,
        found and replace(found, dense=()),  # ranks of all rows, for the portrait alone: half the table and more
        portrait,
        rows < FEW and room < ROOMY * rows,
        rows >= MANY or room > VAST**2 * rows,
    )  # fmt: skip


def _hashes(
    table: WholeTable, order: Order, key: IdentityKey, known: Iterable[Known]
) -> tuple[tuple[str, ...], tuple[Sketch, ...], dict[str, Hashes]]:
    """The names that the columns go by, their sketches, and a hash per row of each kind."""
    cells = columns(table)
    sketched = sketches(cells, key)
    cells = cells.rename(_names(cells, _room(sketched), sketched, key, known))
    arrays = {
        "bound": bound_hashes(cells, key), "unbound": unbound_hashes(cells, key),
        "ranked": rank_hashes(table, cells.names, key, order, cells),
    }  # fmt: skip
    if table.ids is not None:
        arrays["id"] = hash_tokens(table.ids.view(np.uint64), key)
    return cells.names, sketched, arrays


def _room(drawn_of: Iterable[Sketch]) -> float:
    """Compute how many different rows the columns' values could make up."""
    return prod(float(sketch.distinct) for sketch in drawn_of)


def smallest_hashes(columns: Mapping[str, Hashes], key: IdentityKey) -> dict[str, Hashes]:
    """The smallest values of each column, keyed: what is remembered of it, and what a later one is compared by."""
    return dict(zip(columns, hash_tokens_each([tally(tokens)[0][:KEPT] for tokens in columns.values()], key), strict=True))


def _quasi_keys(sealing: TestSetDeclaration) -> dict[str, Hashes]:
    """Columns of the test rows that nearly identify a row: distinct among them, and not met in the development rows."""
    telling = dict(quasi_keys(sealing.sealed))
    names = [feature.name for feature in sealing.development.features]
    return {
        names[index]: telling[index]
        for index, own in column_tokens(sealing.development, list(telling), FINE)
        if is_among(ascending(telling[index]), ascending(own)).mean() < COMMON
    }


def _names(
    cells: TokenTable,
    room: float,
    ours: tuple[Sketch, ...],
    key: IdentityKey,
    known: Iterable[Known],
) -> tuple[str, ...]:
    """The names of the stored table whose rows these are, else their own."""
    sample = _sample(len(cells.tokens))
    best, agreed = cells.names, 0.0
    enough = 0.05 if room > VAST * len(cells.tokens) else 0.9  # in a small space wrong names make other rows that exist
    for theirs, rows in known:
        pairing = match_names(ours, theirs)
        if pairing is None or pairing[0] == cells.names:
            continue

        ordered = np.sort(rows())

        def agreement(names: tuple[str, ...], ordered: Hashes = ordered) -> float:
            return float(is_among(bound_hashes(cells.take(sample).rename(names), key), ordered).mean())

        names = best_naming(*pairing, agreement)
        if agreement(names) > max(agreed, agreement(cells.names), enough):
            best, agreed = names, agreement(names)
    return best


def _sample(n: int) -> Integers:
    return np.unique(np.linspace(0, n - 1, min(n, SAMPLE)).astype(np.int64))


# Digests that take memory and time for every guess: for what people could otherwise guess by the million.

MEMORY = {"n": 2**14, "r": 8, "p": 1}  # of scrypt (RFC 7914): 16 MB and some 40 ms a guess


def slow(values: Floats | None, key: IdentityKey) -> str:
    """Keyed scrypt of the bytes of an array; empty where there is none."""
    if values is None:
        return ""
    raw = np.ascontiguousarray(values, "<f8").tobytes()
    return hashlib.scrypt(raw, salt=hashlib.blake2b(key.secret, person=b"modelsel.salt.1").digest(), dklen=16, **MEMORY).hex()
