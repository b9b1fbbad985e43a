"""What of the sealed rows is independent of each other, settled before labels are opened: rows, units (groups), or nothing.

An interval for n independent rows does not hold for 60 groups of 30 rows, for rows in time, or for copies of development rows.
Groups are units. For units of these sizes the released score s alone excludes rates μ by Chernoff's D·KL(s‖μ) ≥ nats, with
D = rows / largest unit, or by Hoeffding's bound with (Σ size)² / Σ size² units; whichever a forecast makes narrower is fixed in
the intent. Every unit with one row is a table of rows, with the exact binomial.

What a seal of these rows said stays said: a later look that leaves units out, or draws them otherwise, counts what is together
by either statement. Where rows cannot be matched with the units on record, and where they were sealed as rows in time, nothing
is certified.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from modelsel.core.types import Booleans, Integers
from modelsel.guard.copied_units import declared_units
from modelsel.guard.entries import TIME, UNITS, Statement, in_time, is_ordered_in_time, sizes_of, unit_of, units_of
from modelsel.guard.fingerprints import RowFingerprints
from modelsel.guard.history import PastLook
from modelsel.guard.matching import Relation
from modelsel.guard.release import UnitBound
from modelsel.guard.requests import TestSetDeclaration
from modelsel.ledger.entry import LedgerEntry
from modelsel.ledger.rows.row_set import RowSet, found_in, join_units

COPIES, FEW, MEASURE, LOST = "copies", "few units", "measure", "units on record"  # why nothing is certified, besides TIME
FEWEST_UNITS = 5
GROUPS = "groups"  # what units are called that are only known as groups


@dataclass(frozen=True, eq=False)
class Independence:
    """`units` is the unit of each sealed row, None where rows are units; `withheld` says why nothing can be certified.

    `counted` says that the answer is a plain error count, the only one that has an interval for units.
    """

    withheld: str = ""
    units: Integers | None = None
    unit: str = GROUPS
    counted: bool = True

    @classmethod
    def of(cls, sealing: TestSetDeclaration, counted: bool, copies: bool) -> "Independence":
        """Read off a declaration what is independent."""
        units = units_of(sealing)
        withheld = TIME if in_time(sealing) else COPIES if copies and declared_units(sealing.sealed) is None else ""
        return cls(withheld, units, unit_of(sealing) or GROUPS, counted)

    def why_not(self, rows: Booleans) -> str:
        """Why rows or units cannot be counted as independent; empty where they can."""
        if self.withheld or self.units is None:
            return self.withheld
        few = len(np.unique(self.units[rows])) < FEWEST_UNITS
        return FEW if few else "" if self.counted else MEASURE


OF_ROWS = Independence()


@dataclass(frozen=True, eq=False)
class EarlierStatements:
    """Earlier statements about sealed rows: seals, looks, the fingerprints by key, and how stored units are read."""

    sealing: TestSetDeclaration
    seals: Iterable[LedgerEntry]
    looks: Iterable[PastLook]
    subjects: Mapping[str, RowFingerprints]
    load: Callable[[str], RowSet]

    def joined_with(self, said: Independence, relations: Iterable[Relation], rows: Booleans) -> Independence:
        """The coarser of what is declared now and what was said of those rows that the answer is computed on."""
        met = {one.testset: one for one in relations if one.role == "test" and (one.seen & rows).any()}
        stated = set()
        for seal in self.seals:
            relation, subject = met.get(seal.brief.testset), self.subjects.get(str(seal.brief.key_id))
            if relation is not None and subject is not None and seal.facts.get("independent"):
                stated.add(relation.testset)
                said = self._with(said, seal, subject, relation)
        return _as_looked_at(said, (look for look in self.looks if look.testset in met.keys() - stated))

    def _with(self, said: Independence, seal: LedgerEntry, subject: RowFingerprints, relation: Relation) -> Independence:
        """Join what one seal said."""
        before = Statement.read(seal)
        if before.says == TIME:
            return replace(said, withheld=TIME)
        if before.says != UNITS or before == Statement.of(self.sealing, subject):
            return said
        stored = self.load(seal.facts["units"]) if seal.facts.get("units") and relation.exact else None
        if stored is None or not found_in(subject.test.bound[relation.seen], stored).all():
            return replace(said, withheld=said.withheld or LOST)
        unit = said.unit if said.units is not None else str(seal.facts.get("unit") or GROUPS)
        return replace(said, units=join_units(said.units, subject.test.bound, stored), unit=unit)


def _as_looked_at(said: Independence, looks: Iterable[PastLook]) -> Independence:
    """Follow looks at rows whose seal says nothing of units, as earlier versions wrote them."""
    for look in looks:
        if look.facts.withheld == TIME or is_ordered_in_time(look.facts.config or {}):
            return replace(said, withheld=TIME)
        if look.facts.units:
            said = replace(said, withheld=said.withheld or LOST)
    return said


def sizes(units: Integers, rate: float, nats: float, unit: str = GROUPS) -> UnitBound:
    """The facts of an intent about units: their number, the largest, and the bound that is narrower at the foreseen rate."""
    return bound_for(sizes_of(units), rate, nats, unit)


def bound_for(said: Mapping[str, int], rate: float, nats: float, unit: str = GROUPS) -> UnitBound:
    """Choose the narrower bound for units whose sizes a seal states."""
    from modelsel.statistics.unit_intervals import chernoff_limits, hoeffding_limits

    chernoff, hoeffding = said["rows"] / said["largest"], said["rows"] ** 2 / said["squares"]
    low, high = chernoff_limits(rate, chernoff, nats)
    first, last = hoeffding_limits(rate, hoeffding, nats)
    method, effective = ("chernoff", chernoff) if high - low <= last - first else ("hoeffding", hoeffding)
    return {"count": said["count"], "largest": said["largest"], "method": method, "effective": effective, "of": unit}
