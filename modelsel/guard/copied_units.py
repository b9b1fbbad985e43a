"""Copies among the sealed rows and across the split: what of a sealing is one thing, where nobody has declared it."""

from dataclasses import dataclass
from weakref import WeakKeyDictionary, ref

import numpy as np

from modelsel.core.types import Booleans, Integers, Sealed, Table, Task
from modelsel.guard.requests import TestSetDeclaration
from modelsel.statistics.copied_rows import copied_rows

MANY = 0.05  # share of sealed rows that are copies of development rows, above which nothing is certified
COPIES_OF_ROWS = "different rows"  # what units are called that are known by their copies


@dataclass(frozen=True, eq=False)
class SealedCopies:
    """Copies by all that rows show: the sealed rows that stand `across` the split, too, and the `unit` of each.

    `unit` is None where no two sealed rows are copies of each other. `columns` are those in which rows are equal; where there
    are some, but rows are no copies by their labels, it is for people to say what is a unit.
    """

    across: Booleans
    unit: Integers | None = None
    columns: tuple[str, ...] = ()
    agreed: bool = False

    @property
    def hinder(self) -> bool:
        """Say whether so many sealed rows are copies of development rows that nothing can be certified."""
        return bool(len(self.across)) and float(self.across.mean()) > MANY

    @property
    def dropped(self) -> Booleans:
        """The rows that are left out: copies of development rows, where they are few."""
        return np.zeros(len(self.across), np.bool_) if self.hinder else self.across


_KNOWN: WeakKeyDictionary[Sealed, tuple["ref[Task]", SealedCopies]] = WeakKeyDictionary()


def sealed_copies(sealing: TestSetDeclaration) -> SealedCopies:
    """Look for copies, once for the rows of a sealing. What was declared stands: then there are none."""
    sealed, development = sealing.sealed, sealing.development
    known = _KNOWN.get(sealed)
    if known is None or known[0]() is not development:
        known = _KNOWN[sealed] = (ref(development), _look(sealed, development))
    return known[1]


def declared_units(sealed: Table) -> Integers | None:
    """The unit of each row: units, else groups; None where each row is one."""
    units = sealed.groups if sealed.units is None else sealed.units
    return None if units is None or len(np.unique(units)) == len(units) else units


def _look(sealed: Sealed, development: Task) -> SealedCopies:
    """Look for copies of both kinds."""
    nowhere = np.zeros(len(sealed), np.bool_)
    if not len(sealed) or declared_units(sealed) is not None:
        return SealedCopies(nowhere)
    found = copied_rows((development.values, sealed.values), np.asarray(development.target))
    if found is None:
        return SealedCopies(nowhere)
    columns = tuple(development.features[c].name for c in found.columns)
    if not found.agreed:
        return SealedCopies(nowhere, None, columns)
    ours, theirs = found.unit[len(development) :], found.unit[: len(development)]
    alone = len(np.unique(ours)) == len(ours)
    return SealedCopies(np.isin(ours, theirs), None if alone else ours, columns, True)
