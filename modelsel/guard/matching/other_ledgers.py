"""Search all that a person has on record beside the ledger at hand: other ledgers, other keys. No setting switches it off.

Each contact is written under the home's own key too (`_twin`), so that one key finds it. Besides, the same rows are looked for
under every key at hand, and in every ledger of the home's registry that holds looks of others.
"""

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Finding
from modelsel.guard.history.history import History
from modelsel.guard.identity.fingerprints import RowFingerprints
from modelsel.guard.matching.links import links
from modelsel.guard.matching.overlap import Relation, RowSetIndex, relations
from modelsel.ledger.entry import LedgerEntry
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.rows.hash_index import HashIndex
from modelsel.ledger.rows.row_set import RowSet

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


def joined(history: History, elsewhere: OtherLedgers, key_id: str) -> History:
    """Join all ledgers into one history: a contact that is found under its own key is not counted again under the home's."""
    if not elsewhere.entries and not any(entry.brief.get("mirror") for entry in history.entries):
        return history
    every = [*history.entries, *elsewhere.entries]
    kept = once(every, elsewhere.keys | {key_id})
    own = {entry.hash for entry in history.entries}
    sealed = {entry.brief["testset"] for entry in history.entries if entry.kind == "seal"}
    whole = {entry.hash: entry for entry in kept if entry.hash in own or not _seals(entry, sealed)}
    return History.of(whole.values())


def once(entries: Sequence[LedgerEntry], keys: Container[str] | None = None) -> list[LedgerEntry]:
    """Leave out copies of entries that are there themselves under one of these keys (None: under any)."""
    there = {entry.hash for entry in entries}
    copied = ((entry, entry.brief.get("mirror") or {}) for entry in entries)
    doubles = {e.hash for e, of in copied if of.get("hash") in there and (keys is None or of["key_id"] in keys)}
    return [entry for entry in entries if entry.hash not in doubles]


def _seals(entry: LedgerEntry, testsets: set[str]) -> bool:
    """Say whether an entry states terms of sets that the ledger at hand sealed itself."""
    return entry.kind in ("seal", "policy_change") and entry.brief["testset"] in testsets


def related(subject: RowFingerprints, memory: RowSetIndex, elsewhere: OtherLedgers) -> tuple[Relation, ...]:
    """All sets that share rows, or the table, with a sealing, under whichever key they were remembered; each set once."""
    found = [*relations(subject, memory)]
    found += links(subject, memory, found)
    for other, key in elsewhere.subjects:
        theirs = RowSetIndex(memory.history, memory.load, key, memory.hashes, memory.ahead)
        found += [*_itself(other, memory.history), *relations(other, theirs)]
        found += links(other, theirs, found)
    first: dict[tuple[str, str, bool], Relation] = {}
    for relation in found:
        first.setdefault((relation.testset, relation.role, relation.linked), relation)
    return tuple(sorted(first.values(), key=lambda relation: (not relation.same, -relation.share, relation.testset)))


def _itself(subject: RowFingerprints, history: History) -> Iterator[Relation]:
    """Find the very same rows, sealed under another key."""
    n = len(subject.test.bound)
    if subject.digest in history.seals:
        yield Relation(subject.digest, "test", n, 1.0, np.ones(n, bool), same=True)
