"""Clean rows, index, spent budget and declared space of a look among the earlier ones, and the terms that hold for it.

Answers about rows that are looked at again are charged in full; where they concern at most a tenth of the rows, those
rows are dropped instead and nothing is charged. Rows that ever helped to choose are always dropped. The index is assigned
when the model is fixed: at its commitment, else now.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from modelsel.core.types import Booleans, Integers
from modelsel.guard.checks.declared_space import NOBODY, Declared
from modelsel.guard.checks.independence import OF_ROWS, Independence, sizes
from modelsel.guard.facts import Commitment, Seal, SealTerms
from modelsel.guard.history import History, PastLook
from modelsel.guard.matching import Relation
from modelsel.guard.release import LookTerms, UnitBound, count_limits
from modelsel.ledger.entry import LedgerEntry
from modelsel.statistics.certificate import NO_INFORMATION, SpendingState
from modelsel.statistics.prices import steps_near

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
    copied: Booleans | None = None  # rows that stand among the development rows, where they are few: they are dropped
    complete: tuple[str, ...] = ()  # test sets that are this complete design, by another target
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
        used = [r for r in self.relations if r.role == "selection" and not r.declared]
        used += [r for r in self.looked if not r.same and self.droppable]
        clean: Booleans = ~_union(self.n, used)
        return clean if self.copied is None else clean & ~self.copied

    @property
    def certified(self) -> bool:
        return self._countable and not self.withheld and not self.outside

    @property
    def outside(self) -> int:
        """The number of scores that other code is known to have computed on these rows: what they told cannot be counted."""
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
        if any(relation.linked and not relation.declared for relation in self.relations):
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


# The terms that hold for a look: the strictest of those of its seal and of every charged set that shares rows.
#
# And what the quota leaves of them: a number of exact answers (1 or more) or a half width (below 1). Until it is reached
# answers are as they were sealed, then they come by the ladder, and where the interval of the next one would say nothing, not
# at all. It is decided before labels are opened, from sealed terms, history and forecast. The first look is always as sealed.


EXACT = ("full", "predicted", "grid")
LADDER, CLOSED = "ladder", "closed"
STRICTNESS = (*EXACT, "thresholdout", LADDER, "passfail", "better", CLOSED)  # the last two are terms of exams alone


def terms_for(position: LookContext) -> LookTerms:
    """The sealed terms of these rows, with what is stricter in another set whose answers are charged, or that is the same."""
    kin = {r.testset for r in position.relations if r.role == "test" and r.same} | {*position.charged}
    return strictest_of(position.history, position.digest, kin)


def strictest_of(history: History, testset: str, charged: Collection[str]) -> LookTerms:
    """The strictest terms of the guarded seals among some sets; those of a set's own seal where none of them was guarded."""
    seals = [Seal.of(entry).terms for name, by_chain in history.sealed_by.items() if name in charged for entry in by_chain]
    return strictest(history.terms(testset), [terms for terms in seals if not terms.off])


def strictest(own: SealTerms, seals: Sequence[SealTerms]) -> LookTerms:
    """Take the strictest of every term; noise and target are those of the earliest seal that has them.

    >>> one = SealTerms(release="ladder", delta=0.05, steps=20, budget=10, noise=1, rank=1, metric="error", measure="m")
    >>> other = one.but(release="predicted", delta=0.1, steps=None, noise=2, quota=3)
    >>> strictest(other, [one, other])
    LookTerms(release='ladder', delta=0.05, steps=20, target=None, noise=1, budget=10, quota=(3,), closed='')
    """
    every = seals or [own]
    release = max((terms.release for terms in every), key=STRICTNESS.index)
    of_that = [terms for terms in every if terms.release == release]
    return LookTerms(
        release=release, delta=min(terms.delta for terms in every),
        steps=min((terms.steps for terms in every if terms.steps is not None), default=None),
        target=next((terms.target for terms in of_that if terms.target is not None), None), noise=every[0].noise,
        budget=min(terms.budget for terms in every),
        quota=tuple(sorted({terms.quota for terms in every if terms.quota is not None})),
    )  # fmt: skip


def in_force(position: LookContext, rate: float) -> LookTerms:
    """The terms of this look: as sealed, by the ladder (then with its steps), or `closed`; `rate` is what is foreseen."""
    terms = terms_for(position)
    if terms.release == CLOSED:
        why = "these rows are those of an exam that shows nothing until it is closed, and nothing afterwards"
        return replace(terms, closed=why)
    stage = _stage(terms, position, rate)
    if stage == LADDER:
        return replace(terms, release=LADDER, steps=ladder_steps(terms, position.n))
    return replace(terms, closed=_why_closed(terms, width(position, terms.delta, rate))) if stage == CLOSED else terms


def width(position: LookContext, delta: float, rate: float) -> float:
    """Half the interval that the next answer would have at the foreseen rate."""
    low, high = position.foreseen(rate, position.standing.nats(delta))
    return (high - low) / 2


def _stage(terms: LookTerms, position: LookContext, rate: float) -> str:
    if not terms.quota or not position.past or terms.release not in (*EXACT, LADDER) or _fixed_before(position):
        return terms.release
    return left_by_quota(terms, len(position.past), width(position, terms.delta, rate))


def left_by_quota(terms: LookTerms, answers: int, half: float) -> str:
    """Return the release mode of the next answer after so many, when its interval would have this half width.

    >>> left_by_quota(LookTerms("predicted", quota=(3,)), 3, 0.1), left_by_quota(LookTerms("full", quota=(3,)), 2, 0.1)
    ('ladder', 'full')
    """
    mode = terms.release
    if mode not in (*EXACT, LADDER) or not answers or not any(is_used_up(quota, answers, half) for quota in terms.quota):
        return mode
    return CLOSED if half >= NO_INFORMATION else LADDER


def ladder_steps(terms: LookTerms, n: int) -> int:
    """The steps of the ladder: those of the terms, else near half a standard error of n rows."""
    return int(terms.steps or steps_near(0.5 / max(1, n) ** 0.5))


def is_used_up(quota: float, answers: int, half: float) -> bool:
    """Say whether a quota is used up after so many answers, when the next would have this half width.

    >>> is_used_up(3, 2, 0.1), is_used_up(3, 3, 0.1), is_used_up(0.05, 1, 0.06)
    (False, True, True)
    """
    return answers >= quota if quota >= 1 else half > quota


def _fixed_before(position: LookContext) -> bool:
    """Say whether a model was declared or committed to before any answer was known, and so not chosen by looking."""
    if position.standing.member:
        return True
    return position.commit is not None and not float(Commitment.of(position.commit).spent)


def _why_closed(terms: LookTerms, half: float) -> str:
    said = ", ".join(f"{quota:g}" for quota in terms.quota)
    return f"guard.quota={said} is used up, and the next interval would be ±{half:.2f} wide: nothing would be learnt from it"
