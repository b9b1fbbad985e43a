"""Tables that are one although their rows cannot be matched: then the rows that are sealed now were there before.

Only what the rows themselves leave unexplained counts: with c rows matched already, two tables may be as near as c rows make
them. Such a link names no rows. None is dropped, and nothing is certified.
"""

from collections.abc import Iterator, Sequence
from math import log

import numpy as np

from modelsel.guard.identity.fingerprints import RowFingerprints
from modelsel.guard.matching.overlap import Relation, RowSetIndex
from modelsel.ledger.entry import LedgerEntry
from modelsel.ledger.portraits.likeness import Halves, likeness
from modelsel.ledger.portraits.portrait import Portrait
from modelsel.ledger.portraits.sifting import may_be_one
from modelsel.ledger.rows.identity import Hashes
from modelsel.ledger.rows.row_set import RowSet, shared

LINK = "C6"
EXPLAINED = 0.98  # share from which a set is known by its rows
THOROUGH = 50  # tables nearest in size whose columns are matched in every way, and not by their names alone
ROWS = 3.0  # times as many rows, beyond which portraits tell nothing
MATCHING = ("bound", "id", "unbound", "ranked")


def links(subject: RowFingerprints, memory: RowSetIndex, found: Sequence[Relation]) -> Iterator[Relation]:
    """Sealed tables of this key that looked or chose, and are the one at hand."""
    if subject.variables is None:
        return
    known = {relation.testset for relation in found if relation.same and relation.share >= EXPLAINED}
    halves = Halves(subject.variables, subject.source)
    seals = [entry for entry in memory.history.seals.values() if _comparable(subject, entry, memory)]
    seals = [entry for entry in seals if entry.brief["testset"] not in {subject.digest, *known}]
    seals.sort(key=lambda entry: abs(log(entry.brief["rows_in_all"] / len(subject))))
    used = [(place, entry, role) for place, entry in enumerate(seals) if (role := _role(entry, memory))]
    if memory.ahead is not None:
        memory.ahead([entry.brief["portrait"] for _, entry, _ in used])
    portraits = [Portrait.of(memory.load(entry.brief["portrait"])) for _, entry, _ in used]
    near = may_be_one(subject.portrait, portraits) if subject.portrait else np.zeros(len(used), bool)
    for (place, entry, role), theirs, by_name in zip(used, portraits, near):
        thorough = place < THOROUGH
        if (thorough or by_name) and _one(subject, halves, theirs, entry, memory, thorough, bool(by_name)):
            nowhere = np.zeros(len(subject.test.bound), bool)
            yield Relation(entry.brief["testset"], role, 0, 0.0, nowhere, exact=False, channel=LINK)


def _role(entry: LedgerEntry, memory: RowSetIndex) -> str:
    """Return the use of a sealed table's rows (test or selection); empty where they were only sealed."""
    if entry.brief["testset"] in memory.history.tested:
        return "test"
    return "selection" if entry.brief["train"] in memory.history.chosen_on else ""


def _comparable(subject: RowFingerprints, entry: LedgerEntry, memory: RowSetIndex) -> bool:
    """Say whether a sealed table was hashed under the same key and has nearly as many rows."""
    facts = entry.brief
    if facts["key_id"] != memory.key.id or not facts.get("portrait"):
        return False
    ratio = facts["rows_in_all"] / len(subject)
    return bool(1 / ROWS <= ratio <= ROWS)


def _one(
    subject: RowFingerprints,
    halves: Halves,
    theirs: Portrait,
    entry: LedgerEntry,
    memory: RowSetIndex,
    thorough: bool,
    by_name: bool,
) -> bool:
    """Say whether two tables are nearer than chance, and nearer than their matched rows alone would make them."""
    if subject.portrait is None or not likeness(subject.portrait, halves, theirs, 0, thorough, by_name).same:
        return False
    common = _common(subject, [memory.load(entry.facts[side]) for side in ("rows", "development")])
    return common == 0 or likeness(subject.portrait, halves, theirs, common, thorough).same


def _common(subject: RowFingerprints, stored: Sequence[RowSet]) -> int:
    """Rows of both tables that are matched, by the kind of hash that matches most."""
    names = [name for name in MATCHING if name in subject.test.arrays and all(name in one.arrays for one in stored)]
    stood = {name: np.concatenate([one.arrays[name] for one in stored]) for name in names}
    return max((int(shared(_both(subject, name), stood[name], repetitions=True).sum()) for name in names), default=0)


def _both(subject: RowFingerprints, name: str) -> Hashes:
    return np.concatenate([subject.development.arrays[name], subject.test.arrays[name]])
