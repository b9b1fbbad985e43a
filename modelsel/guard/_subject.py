"""The fingerprints of what is sealed and of what chooses, and the names that a ledger knows its columns by."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Booleans, Integers, Table
from modelsel.guard.request import Sealing
from modelsel.ledger.home import Key
from modelsel.ledger.identity import Columns, Hashes, bound, columns, label_tokens, set_digest, unbound
from modelsel.ledger.matching import Sketch, matched, settled, sketches
from modelsel.ledger.rowset import RowSet, identifiability

IDENTIFIABLE = 0.95  # distinct rows per row from which equal values mean the same row
SAMPLE = 200


@dataclass(frozen=True, eq=False)
class Rows:
    """Hashes of one side of the split, in its order: with the columns' names, the same with labels, and without names."""

    bound: Hashes
    labelled: Hashes
    unbound: Hashes

    def stored(self, names: Sequence[str]) -> RowSet:
        arrays = {"bound": self.bound, "labelled": self.labelled, "unbound": self.unbound}
        return RowSet({"n": len(self.bound), "names": list(names)}, {name: np.sort(a) for name, a in arrays.items()}).sketched()


@dataclass(frozen=True, eq=False)
class Subject:
    """One sealing as the ledger sees it. `digest` is the identity of the test rows, `train` of the development rows."""

    names: tuple[str, ...]
    sketches: tuple[Sketch, ...]
    test: Rows
    development: Rows
    digest: str
    train: str
    source: str
    u: float  # distinct rows per row, over both sides
    u_unbound: float

    @property
    def identifiable(self) -> bool:
        return self.u >= IDENTIFIABLE

    @property
    def duplicated(self) -> Booleans:
        """Which test rows stand in the development rows too."""
        return np.isin(self.test.bound, self.development.bound)


def subject_of(
    sealing: Sealing, labels: tuple[Hashes, Hashes], key: Key, known: Iterable[tuple[tuple[Sketch, ...], Hashes]] = ()
) -> Subject:
    """Fingerprint both sides; `known` are the sketches of stored tables with the rows stored under their names."""
    both = _together(columns(sealing.development), columns(sealing.sealed))
    drawn = sketches(both, key)
    cells = both.renamed(_names(both, drawn, key, known))
    cut = len(sealing.development)
    rows = Rows(bound(cells, key), bound(cells, key, np.concatenate(labels)), unbound(cells, key))
    development, test = _part(rows, np.arange(cut)), _part(rows, np.arange(cut, len(rows.bound)))
    return Subject(
        cells.names, tuple(Sketch(name, s.digest, s.values, s.shares) for name, s in zip(cells.names, drawn)),
        test, development, set_digest(test.bound, key), set_digest(development.bound, key), set_digest(rows.bound, key),
        identifiability(rows.bound), identifiability(rows.unbound),
    )  # fmt: skip


def labels_of(sealing: Sealing, sealed: Hashes) -> tuple[Hashes, Hashes]:
    """Label tokens of the development rows beside those of the sealed ones."""
    return label_tokens(sealing.development.classes, sealing.development.target), sealed


def _names(
    cells: Columns, ours: tuple[Sketch, ...], key: Key, known: Iterable[tuple[tuple[Sketch, ...], Hashes]]
) -> tuple[str, ...]:
    """The names of the stored table whose rows these are, else their own."""
    sample = _sample(len(cells.tokens))
    best, agreed = cells.names, 0.0
    for theirs, rows in known:
        pairing = matched(ours, theirs)
        if pairing is None or pairing[0] == cells.names:
            continue

        def agreement(names: tuple[str, ...], rows: Hashes = rows) -> float:
            return float(np.isin(bound(cells.take(sample).renamed(names), key), rows).mean())

        names = settled(*pairing, agreement)
        if agreement(names) > max(agreed, agreement(cells.names)):
            best, agreed = names, agreement(names)
    return best


def _sample(n: int) -> Integers:
    return np.unique(np.linspace(0, n - 1, min(n, SAMPLE)).astype(np.int64))


def _together(first: Columns, second: Columns) -> Columns:
    return Columns(first.names, np.vstack([first.tokens, second.tokens]))


def _part(rows: Rows, positions: Integers) -> Rows:
    return Rows(rows.bound[positions], rows.labelled[positions], rows.unbound[positions])


def same_columns(development: Table, sealed: Table) -> bool:
    return [f.name for f in development.features] == [f.name for f in sealed.features]
