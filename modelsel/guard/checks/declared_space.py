"""Decide which models were declared: functions that were fixed before any answer on these or overlapping rows.

An id alone declares nothing: the same candidate trained on corrected labels, on other weights or by another version is
another function, and as many of them can be made as one likes. A model is one of the |H| declared ones only

    by record   its predictions for these rows were on record before the first answer, or
    by recipe   its code is modelsel's own and every input is in the commitment of the seal: development rows with labels,
                weights, groups and order, seed, preparation, versions

and only on exactly the rows that were sealed with H, by the measure that was sealed. Of several spaces over the same rows the
first one counts; half of δ is there once.

A search that goes by the scores cannot list H when rows are sealed. Its seal states |H|, the most that it may ask for, and what
it will do; the ids are put on record with its choice. They count where that was before the first answer, in the order in which
they came, and as long as there are no more than |H| in all: whoever searches again with other outcomes gets no more members.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from modelsel.core.fingerprint import array_digest, canonical
from modelsel.core.system.wheel import is_own, versions
from modelsel.core.types import Floats
from modelsel.guard.checks.look_requests import PreparedLook
from modelsel.guard.entries import Statement, space_hashes
from modelsel.guard.facts import RecordedSelection, Seal
from modelsel.guard.fingerprints import slow
from modelsel.guard.history import History, PastLook
from modelsel.guard.matching import Relation
from modelsel.guard.policy.base import CORRECTED
from modelsel.guard.requests import TestSetDeclaration
from modelsel.ledger.entry import LedgerEntry
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.rows.identity import Hashes
from modelsel.ledger.rows.row_set import RowSet

RECORD, RECIPE = "by record", "by recipe"
OF_A_SPACE = ("testset", "candidates", "commitment", "seed", "space", "searched")
STRANGER = "it is not one of them"


@dataclass(frozen=True)
class Declared:
    """The way in which a model was declared: by record, by recipe, or (empty) not at all, with the reason."""

    how: str = ""
    why: str = ""

    def __bool__(self) -> bool:
        return bool(self.how)


NOBODY = Declared()


def commitment(sealing: TestSetDeclaration, weights: Floats | None, key: IdentityKey) -> str:
    """Keyed digest of every input of a fit and of the rows it answers for. Of sealed labels nothing; of weights a slow one."""
    mine, theirs = sealing.development, sealing.sealed
    apart = () if theirs.units is None else (theirs.units,)
    tested = array_digest(theirs.values, theirs.ids, theirs.groups, theirs.times, *apart)
    facts = [mine.fingerprint, array_digest(mine.ids), theirs.schema_fingerprint, tested, slow(weights, key), versions()]
    return hashlib.blake2b(canonical(facts).encode(), digest_size=16, key=key.secret, person=b"modelsel.decl.1").hexdigest()


def declared_ids(history: History, seal: LedgerEntry, related: set[str], load: Callable[[str], bytes]) -> Hashes | None:
    """Return the ids of a seal's space, with those that its search had asked for before any answer; None without any."""
    stated = Seal.of(seal)
    sets = [stated.candidates] if stated.candidates else []
    looks = history.looks_at(related) if stated.searched else []
    for entry in history.selections if stated.searched else ():
        own = RecordedSelection.of(entry)
        mine = (own.testset, own.train, own.spec_id, own.searched) == (
            stated.testset, stated.train, stated.spec_id, stated.searched,
        )  # fmt: skip
        if mine and own.candidates and entry.replica == seal.replica and all(knows(look, entry) for look in looks):
            sets.append(own.candidates)
    found: Hashes | None = None
    for each in dict.fromkeys(sets):
        ids = RowSet.unpack(load(each)).arrays["ids"]
        both = ids if found is None else np.union1d(found, ids)
        if len(both) > (stated.space or 0):
            break
        found = both
    return found


def judge_declaration(
    ask: PreparedLook, history: History, relations: Iterable[Relation], ids: Hashes | None, whole: bool
) -> Declared:
    """Decide whether the model that asks was declared, and how.

    `ids` are those of the space, `whole` says that no row is dropped.
    """
    seal, winner = history.seals[ask.subject.digest], ask.request.selected.winner
    if ids is None or not np.isin(space_hashes((winner,)), ids).all():
        return Declared(why=STRANGER)
    related = {ask.subject.digest, *(relation.testset for relation in relations if relation.role == "test")}
    reasons = _objections(ask, history, seal, related, whole)
    found = next(reasons, "")
    return Declared(why=found) if found else _how(ask, history, seal, related)


def _objections(ask: PreparedLook, history: History, seal: LedgerEntry, related: set[str], whole: bool) -> Iterator[str]:
    """Yield reasons why no model can count as declared now."""
    looks = history.looks_at(related)
    if not whole:
        yield "rows were dropped"
    if Statement.read(seal).says and Statement.read(seal) != Statement.of(ask.request.sealing, ask.subject):
        yield "other units were declared with the models"
    if Seal.of(seal).terms.measure != ask.measure or not is_own(ask.request.sealing.measure):
        yield "it is judged by another measure"
    if not all(knows(look, seal) for look in looks):
        yield "these rows had already been tested when the space was declared"
    if CORRECTED in (ask.policy.justify.category, *(look.facts.justify.category for look in looks if look.facts.justify)):
        yield "labels were corrected"
    if not all(_same_space(other, seal) or _follows(other, seal) for other in history.sealings(related)):
        yield "other models were declared on these rows before"


def _how(ask: PreparedLook, history: History, seal: LedgerEntry, related: set[str]) -> Declared:
    """Decide how a model was declared: by predictions on record, by its recipe, or not, with the reason."""
    winner, looks = ask.request.selected.winner, history.looks_at(related)
    mine = [(entry, RecordedSelection.of(entry)) for entry in history.selections if entry.brief.testset == ask.subject.digest]
    noted = [entry for entry, stated in mine if stated.winner == winner and stated.predictions]
    before = [entry for entry in noted if all(knows(look, entry) for look in looks)]
    shown = [look for look in looks if look.facts.member and look.facts.winner == winner]
    if any(look.facts.predictions != ask.predictions for look in shown):
        return Declared(why="it predicted otherwise at an earlier look")
    if before:
        same = RecordedSelection.of(before[0]).predictions == ask.predictions and Seal.of(seal).weights == ask.weights
        return Declared(RECORD) if same else Declared(why="its predictions on record are others")
    candidate = ask.request.candidate
    if candidate is None or candidate.id != winner or not is_own(candidate):
        return Declared(why="it is not fitted by modelsel's own code alone, and its predictions were not on record")
    stated = Seal.of(seal)
    same = stated.commitment == ask.commitment and stated.seed == ask.request.sealing.seed
    return Declared(RECIPE) if same else Declared(why="what it is fitted from, or its version, was not declared")


def knows(look: PastLook, entry: LedgerEntry) -> bool:
    """Say whether an entry was on record when a look began; nobody knows that of a recovered look."""
    if look.status == "recovered":
        return False
    return look.entry.follows(entry) or look.facts.knows(entry)


def _same_space(other: LedgerEntry, seal: LedgerEntry) -> bool:
    """Say whether another seal declares the same models, measure and rows, or declares nothing."""
    theirs, ours = Seal.of(other), Seal.of(seal)
    alike = theirs.part(OF_A_SPACE) == ours.part(OF_A_SPACE)
    return theirs.space is None or (alike and theirs.terms.measure == ours.terms.measure)


def _follows(other: LedgerEntry, seal: LedgerEntry) -> bool:
    return other.replica == seal.replica and other.seq > seal.seq
