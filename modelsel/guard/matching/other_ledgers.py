"""Search all that a person has on record beside the ledger at hand: other ledgers, other keys. No setting switches it off.

Each contact is written under the home's own key too (`_twin`), so that one key finds it. Besides, the same rows are looked for
under every key at hand, and in every ledger of the home's registry that holds looks of others.
"""

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np

from modelsel.core.fingerprint import canonical
from modelsel.core.types import Finding
from modelsel.guard.fingerprints import RowFingerprints
from modelsel.guard.history.history import History
from modelsel.guard.matching.overlap import DESIGN, Relation, RowSetIndex, relations
from modelsel.ledger.entry import LedgerEntry
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.portraits.designs import share_a_design
from modelsel.ledger.portraits.likeness import Halves, likeness
from modelsel.ledger.portraits.portrait import Portrait
from modelsel.ledger.portraits.sifting import may_be_same
from modelsel.ledger.rows.hash_index import HashIndex
from modelsel.ledger.rows.identity import Hashes
from modelsel.ledger.rows.row_set import RowSet, shared_rows

Load = Callable[[str], RowSet]
Ahead = Callable[[Sequence[str]], None]


@dataclass(frozen=True, eq=False)
class OtherLedgers:
    """The same sealing under the other keys at hand, the entries of other ledgers, and what could not be asked."""

    subjects: tuple[tuple[RowFingerprints, IdentityKey], ...] = ()
    entries: tuple[LedgerEntry, ...] = ()
    load: Load | None = None
    ahead: Ahead | None = None
    unreached: tuple[Finding, ...] = ()
    hashes: HashIndex | None = None

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(key.id for _, key in self.subjects)


NOTHING = OtherLedgers()


def join_histories(history: History, elsewhere: OtherLedgers, key_id: str) -> History:
    """Join all ledgers into one history: a contact that is found under its own key is not counted again under the home's.

    Where the ledger at hand keeps no hashes of its rows, it is compared by those that the home keeps with its copy.
    """
    if not elsewhere.entries and not any(entry.brief.mirror for entry in history.entries):
        return history
    every = [*history.entries, *elsewhere.entries]
    kept = without_copies(every, elsewhere.keys | {key_id})
    own = {entry.hash for entry in history.entries}
    sealed = {entry.brief.testset for entry in history.entries if entry.kind == "seal"}
    whole = {entry.hash: entry for entry in kept if entry.hash in own or not _seals(entry, sealed)}
    return History.of([*_with_rows(whole, every).values()])


ROWS_OF_COPY = ("rows", "development", "table", "portrait", "train", "source", "names", "key_id", "u")


def _with_rows(entries: dict[str, LedgerEntry], every: Sequence[LedgerEntry]) -> dict[str, LedgerEntry]:
    """Seals and selections without rows, with those of their first copy that has some, under the key of that copy."""
    copies: dict[str, LedgerEntry] = {}
    for entry in every:
        if entry.brief.mirror and entry.brief.development:
            copies.setdefault(entry.brief.copied, entry)
    bare = {hash_ for hash_ in entries.keys() & copies.keys() if not entries[hash_].brief.development}
    return {hash_: _borrow_entry(entry, copies[hash_]) if hash_ in bare else entry for hash_, entry in entries.items()}


def _borrow_entry(entry: LedgerEntry, copy: LedgerEntry) -> LedgerEntry:
    """An entry as it stands in the ledger, but for what its rows are compared by."""
    rows = {name: copy.facts[name] for name in ROWS_OF_COPY if name in copy.facts}
    return replace(entry, body=canonical({**entry.facts, **rows}))


def without_copies(entries: Sequence[LedgerEntry], keys: Container[str] | None = None) -> list[LedgerEntry]:
    """Leave out copies of entries that are there themselves under one of these keys (None: under any)."""
    there = {entry.hash for entry in entries}
    copies = [(entry.hash, entry.brief.mirror) for entry in entries if entry.brief.copied in there]
    doubles = {hash_ for hash_, mirror in copies if mirror and (keys is None or mirror["key_id"] in keys)}
    return [entry for entry in entries if entry.hash not in doubles]


def _seals(entry: LedgerEntry, testsets: set[str]) -> bool:
    """Say whether an entry states terms of sets that the ledger at hand sealed itself."""
    return entry.kind in ("seal", "policy_change") and entry.brief.testset in testsets


def related_sets(subject: RowFingerprints, memory: RowSetIndex, elsewhere: OtherLedgers) -> tuple[Relation, ...]:
    """All sets that share rows, or the table, with a sealing, under whichever key they were remembered; each set once."""
    found = [*relations(subject, memory)]
    found += links(subject, memory, found)
    for other, key in elsewhere.subjects:
        theirs = RowSetIndex(memory.history, memory.load, key, memory.hashes, memory.ahead)
        found += [*_itself(other, memory.history), *relations(other, theirs)]
        found += links(other, theirs, found)
    first: dict[tuple[str, str, bool], Relation] = {}
    designs = {one.testset for one in found if one.role == DESIGN}  # where some ranks are the same, others may be by chance
    for relation in (one for one in found if one.channel != "C4" or one.testset not in designs):
        first.setdefault((relation.testset, relation.role, relation.linked), relation)
    return tuple(sorted(first.values(), key=lambda relation: (not relation.same, -relation.share, relation.testset)))


def _itself(subject: RowFingerprints, history: History) -> Iterator[Relation]:
    """Find the very same rows, sealed under another key."""
    n = len(subject.test.bound)
    if subject.digest in history.seals:
        yield Relation(subject.digest, "test", n, 1.0, np.ones(n, bool), same=True)


# Tables that are one although their rows cannot be matched: then the rows that are sealed now were there before.
#
# Only what the rows themselves leave unexplained counts: with c rows matched already, two tables may be as near as c rows make
# them. Such a link names no rows. None is dropped, and nothing is certified.

WHOLE, LINK = "C5", "C6"  # by the digest of the whole table, where its rows are not kept; by portraits
EXPLAINED = 0.98  # share from which a set is known by its rows
THOROUGH = 50  # tables nearest in size whose columns are matched in every way, and not by their names alone
ROWS = 3.0  # times as many rows, beyond which portraits tell nothing
MATCHING = ("bound", "id", "unbound", "ranked")


def links(subject: RowFingerprints, memory: RowSetIndex, found: Sequence[Relation]) -> Iterator[Relation]:
    """Sealed tables of this key that looked or chose, and are the one at hand."""
    nowhere = np.zeros(len(subject.test.bound), bool)
    for entry in seals_without_rows(memory.history, {memory.key.id}, subject.digest):
        if entry.brief.source == subject.source:
            yield Relation(entry.brief.testset, _role(entry, memory.history), 0, 0.0, nowhere, exact=False, channel=WHOLE)
    if subject.variables is None:
        return
    known = {relation.testset for relation in found if relation.same and relation.share >= EXPLAINED}
    halves = Halves(subject.variables, subject.source)
    seals = [entry for entry in memory.history.seals.values() if _comparable(subject, entry, memory)]
    seals = [entry for entry in seals if entry.brief.testset not in {subject.digest, *known}]
    seals.sort(key=lambda entry: abs(log(entry.brief.rows_in_all / len(subject))))
    used = [(place, entry, role) for place, entry in enumerate(seals) if (role := _role(entry, memory.history))]
    if memory.ahead is not None:
        memory.ahead([str(entry.brief.portrait) for _, entry, _ in used])
    portraits = [Portrait.of(memory.load(str(entry.brief.portrait))) for _, entry, _ in used]
    near = may_be_same(subject.portrait, portraits) if subject.portrait else np.zeros(len(used), bool)
    for (place, entry, role), theirs, by_name in zip(used, portraits, near):
        thorough = place < THOROUGH
        if (thorough or by_name) and _is_same_table(subject, halves, theirs, entry, memory, thorough, bool(by_name)):
            role = DESIGN if subject.portrait and share_a_design(subject.portrait, theirs, thorough) else role
            yield Relation(entry.brief.testset, role, 0, 0.0, nowhere, exact=False, channel=LINK)


def seals_without_rows(history: History, keys: Container[str], testset: str) -> Iterator[LedgerEntry]:
    """Seals under these keys, of other sets than this one, that looked or chose and of whose rows no hash is kept."""
    for entry in history.seals.values():
        stated = entry.brief
        if stated.testset != testset and stated.key_id in keys and not stated.rows and _role(entry, history):
            yield entry


def _role(entry: LedgerEntry, history: History) -> str:
    """Return the use of a sealed table's rows (test or selection); empty where they were only sealed."""
    if entry.brief.testset in history.tested:
        return "test"
    return "selection" if entry.brief.train in history.chosen_on else ""


def _comparable(subject: RowFingerprints, entry: LedgerEntry, memory: RowSetIndex) -> bool:
    """Say whether a sealed table was hashed under the same key and has nearly as many rows."""
    stated = entry.brief
    if stated.key_id != memory.key.id or not stated.portrait:
        return False
    ratio = stated.rows_in_all / len(subject)
    return bool(1 / ROWS <= ratio <= ROWS)


def _is_same_table(
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
    sides = [side for side in (entry.brief.rows, entry.brief.development) if side]  # a digest alone: none
    common = _common(subject, [memory.load(side) for side in sides]) if sides else 0
    return common == 0 or likeness(subject.portrait, halves, theirs, common, thorough).same


def _common(subject: RowFingerprints, stored: Sequence[RowSet]) -> int:
    """Rows of both tables that are matched, by the kind of hash that matches most."""
    names = [name for name in MATCHING if name in subject.test.arrays and all(name in one.arrays for one in stored)]
    stood = {name: np.concatenate([one.arrays[name] for one in stored]) for name in names}
    return max((int(shared_rows(_both(subject, name), stood[name], repetitions=True).sum()) for name in names), default=0)


def _both(subject: RowFingerprints, name: str) -> Hashes:
    return np.concatenate([subject.development.arrays[name], subject.test.arrays[name]])
