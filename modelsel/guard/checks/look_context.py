"""Clean rows, index, spent budget and declared space of a look, among the earlier ones.

Answers about rows that are looked at again are charged in full; where they concern at most a tenth of the rows, those
rows are dropped instead and nothing is charged. Rows that ever helped to choose are always dropped. The index is assigned
when the model is fixed: at its commitment, else now.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from modelsel.core.types import Booleans, Integers
from modelsel.guard.checks.declared_space import NOBODY, Declared
from modelsel.guard.checks.independence import OF_ROWS, Independence, sizes
from modelsel.guard.facts import Commitment, Seal
from modelsel.guard.history.history import History, PastLook
from modelsel.guard.matching.overlap import Relation
from modelsel.guard.release import UnitBound, count_limits
from modelsel.ledger.entry import LedgerEntry
from modelsel.statistics.certificate import SpendingState

DROPPABLE = 0.10
FEWEST = 30  # clean rows below which nothing is certified once rows had to be dropped


@dataclass(frozen=True, eq=False)
class LookContext:
    """Everything about the past that the certificate needs, settled before labels are opened."""

    digest: str
    n: int
    history: History
    relations: tuple[Relation, ...]
    commit: LedgerEntry | None
    unknown: bool = False  # there are looks on record that cannot be compared with: nothing is certified
    declared: Declared = NOBODY
    at_work: frozenset[str] = frozenset()  # looks that are being answered at this moment: nobody has seen what they will say
    independence: Independence = OF_ROWS
    designs: tuple[str, ...] = ()  # test sets of other tables on the same days, at the same places, of the same persons

    @cached_property
    def looked(self) -> tuple[Relation, ...]:
        """Related test sets that were looked at."""
        return tuple(r for r in self.relations if r.role == "test" and self.history.looks_at([r.testset]))

    @cached_property
    def droppable(self) -> bool:
        """Say whether other test sets share so few rows that these can be left out."""
        foreign = [r for r in self.looked if not r.same]
        return all(r.exact for r in foreign) and _union(self.n, foreign).mean() <= DROPPABLE

    @cached_property
    def charged(self) -> tuple[str, ...]:
        """Identities of the sets whose answers are charged."""
        counted = (r for r in self.relations if r.role == "test" and (r in self.looked or self.history.commits_on([r.testset])))
        return (self.digest, *(r.testset for r in counted if r.testset != self.digest and (r.same or not self.droppable)))

    @cached_property
    def clean(self) -> Booleans:
        """Test rows on which the answer is computed."""
        used = [r for r in self.relations if r.role == "selection"]
        used += [r for r in self.looked if not r.same and self.droppable]
        clean: Booleans = ~_union(self.n, used)
        return clean

    @property
    def certified(self) -> bool:
        return self._countable and not self.withheld and not self.outside

    @property
    def outside(self) -> int:
        """How many scores other code is known to have computed on these rows: what they told nobody can count."""
        return sum(look.facts.outside for look in self.past)

    @property
    def _countable(self) -> bool:
        return not self.unknown and self._enough

    @property
    def withheld(self) -> str:
        """Why rows or units cannot be counted as independent; empty where they can."""
        return self.independence.why_not(self.rows)

    @cached_property
    def units(self) -> Integers | None:
        """The unit of each row that the answer is computed on; None where rows are units."""
        return None if self.independence.units is None else self.independence.units[self.rows]

    def sizes(self, rate: float, nats: float) -> UnitBound | None:
        """The facts about units that an intent states; None where rows are units."""
        return None if self.units is None else sizes(self.units, rate, nats, self.independence.unit)

    def foreseen(self, rate: float, nats: float) -> tuple[float, float]:
        """The interval that a count at this rate would have."""
        n = int(self.rows.sum())
        return count_limits((round(n * rate),) * 2, n, nats, self.sizes(rate, nats))

    @property
    def _enough(self) -> bool:
        if any(relation.linked for relation in self.relations):
            return False
        return bool(self.clean.all()) or (int(self.clean.sum()) >= FEWEST and all(r.exact for r in self.relations))

    @property
    def rows(self) -> Booleans:
        """The clean rows, or all where too few are clean (then nothing is certified)."""
        return self.clean if self._countable else np.ones(self.n, bool)

    @cached_property
    def past(self) -> tuple[PastLook, ...]:
        return self.history.looks_at(self.charged)

    @cached_property
    def standing(self) -> SpendingState:
        """Count the looks and the prices before this one; a committed look keeps those of its commitment."""
        if self.commit is not None:
            index, spent = int(Commitment.of(self.commit).look), float(Commitment.of(self.commit).spent)
        else:
            adaptive = sum(1 for look in self.past if not look.facts.commit)
            index = 1 + adaptive + len(self.history.commits_on(self.charged))
            spent = sum(look.price for look in self.past if look.id not in self.at_work)
        return SpendingState(index, spent, self.space, bool(self.declared))

    @property
    def space(self) -> int | None:
        """The number |H| of models declared for these rows, else for the first set that shares rows; they get half of δ."""
        related = (self.digest, *(r.testset for r in self.relations if r.role == "test"))
        seals = (Seal.of(self.history.seals[testset]).space for testset in related if testset in self.history.seals)
        return next((space for space in seals if space is not None), None)


def _union(n: int, found: list[Relation]) -> Booleans:
    """Mark the rows that any of the relations has seen."""
    union = np.zeros(n, bool)
    for relation in found:
        union |= relation.seen
    return union
