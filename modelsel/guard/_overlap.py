"""Which remembered sets share rows with the ones now sealed, and whether that is more than chance.

Where nearly all rows are distinct (u ≥ .95), equal values mean the same row. Elsewhere values coincide by chance: with q
the share of test rows that stand by chance in as many of the study's own development rows, an overlap counts only above
q + max(.02, 3 √(q (1 − q) / n)).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from modelsel.core.fingerprint import generator
from modelsel.core.types import Booleans
from modelsel.guard._history import History
from modelsel.guard._subject import IDENTIFIABLE, Subject
from modelsel.ledger.identity import Hashes
from modelsel.ledger.rowset import RowSet, containment, shared

SAME = 0.9  # shared rows per rows of either set from which two sets are one with a few rows more or less


@dataclass(frozen=True, eq=False)
class Relation:
    """A remembered set that shares rows: in which role it was used, how many rows, and which ones."""

    testset: str
    role: str  # test or selection
    rows: int
    share: float
    seen: Booleans  # per test row
    same: bool = False
    exact: bool = True  # False where only a sketch was kept: `seen` is then incomplete

    def facts(self) -> dict[str, object]:
        return {"with": self.testset, "as": self.role, "rows": self.rows, "share": round(self.share, 6)}


def relations(subject: Subject, history: History, load: Callable[[str], RowSet], key_id: str) -> tuple[Relation, ...]:
    """All of them: the same set first, then by share."""
    found = [*_tests(subject, history, load, key_id), *_selections(subject, history, load, key_id)]
    return tuple(sorted(found, key=lambda relation: (not relation.same, -relation.share)))


def _tests(subject: Subject, history: History, load: Callable[[str], RowSet], key_id: str) -> Iterable[Relation]:
    n = len(subject.test.bound)
    for testset, entry in history.seals.items():
        if testset == subject.digest:
            yield Relation(testset, "test", n, 1.0, np.ones(n, bool), same=True)
        elif entry.facts["key_id"] == key_id and entry.facts.get("rows"):
            stored = load(entry.facts["rows"])
            seen = _seen(subject, stored)
            if seen is not None:
                yield _relation(testset, "test", seen, stored)
    for testset in {look.testset for look in history.looks} - history.seals.keys():
        if testset == subject.digest:  # known from an anchor alone
            yield Relation(testset, "test", n, 1.0, np.ones(n, bool), same=True)


def _selections(subject: Subject, history: History, load: Callable[[str], RowSet], key_id: str) -> Iterable[Relation]:
    """Sets that chose something. What the study's own development rows repeat is a duplicate, not a memory."""
    done = {subject.train}
    for entry in history.selections:
        facts = entry.facts
        if facts["train"] in done or facts["key_id"] != key_id or not facts.get("development"):
            continue
        done.add(facts["train"])
        stored = load(facts["development"])
        seen = _seen(subject, stored)
        if seen is not None and subject.identifiable:
            seen = seen & ~subject.duplicated
        if seen is not None and seen.any():
            yield _relation(facts["testset"], "selection", seen, stored)


def _relation(testset: str, role: str, seen: Booleans, stored: RowSet) -> Relation:
    rows = int(seen.sum())
    exact = not stored.facts.get("sketch")
    return Relation(testset, role, rows, rows / len(seen), seen, rows >= SAME * max(len(seen), len(stored)), exact)


def _seen(subject: Subject, stored: RowSet) -> Booleans | None:
    """Which test rows stand in a stored set; None where it is no more than chance."""
    if stored.facts.get("sketch"):
        return _seen_in_sketch(subject, stored)
    seen = shared(subject.test.bound, stored.arrays["bound"], repetitions=not subject.identifiable)
    if subject.identifiable and not seen.any() and subject.u_unbound >= IDENTIFIABLE:
        seen = shared(subject.test.unbound, stored.arrays["unbound"], repetitions=False)
    if not seen.any() or (not subject.identifiable and seen.mean() <= _by_chance(subject, len(stored))):
        return None
    return seen


def _seen_in_sketch(subject: Subject, stored: RowSet) -> Booleans | None:
    share = containment(subject.test.bound, stored.arrays["bound"])
    chance = 0.0 if subject.identifiable else _by_chance(subject, len(stored))
    if share <= max(chance, 0.001):
        return None
    seen = np.zeros(len(subject.test.bound), bool)
    seen[: round(share * len(seen))] = True
    return seen


def _by_chance(subject: Subject, size: int) -> float:
    """The overlap that a fresh sample of the same kind may show with `size` rows."""
    own: Hashes = subject.development.bound
    if size < len(own):
        own = own[generator(0, subject.train).permutation(len(own))[:size]]
    n = len(subject.test.bound)
    q = float(shared(subject.test.bound, own, repetitions=True).mean()) if n else 0.0
    return q + max(0.02, 3 * sqrt(q * (1 - q) / max(1, n)))
