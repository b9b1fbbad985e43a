"""All that a person has on record, as one history: the ledger at hand, the home's own, and others that hold looks of others.

Each contact is written under the home's own key too (`access.looks.copy_all`), so that one key finds it. A contact and its
copies are one, known by their *origin*: the hash of the entry that was written first. Which of them stands for all is settled
by belief. A copy goes only where its original is there, is believed, and was hashed under a key at hand; nobody's copy stands
for an entry that another person signed. Seals are not counted but compared with, so that a copy of a seal stays: the same rows
under a further name, which is what the ledger at hand may know them by.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace

from modelsel.core.fingerprint import canonical
from modelsel.core.types import Finding
from modelsel.guard.fingerprints import RowFingerprints
from modelsel.guard.history import History
from modelsel.ledger.entry import LedgerEntry, heads
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.rows.hash_index import HashIndex
from modelsel.ledger.rows.row_set import RowSet

Load = Callable[[str], RowSet]
Ahead = Callable[[Sequence[str]], None]
Signers = Mapping[str, str]  # the public key that signs a chain, by the name of the chain


@dataclass(frozen=True, eq=False)
class OtherLedgers:
    """A sealing under the other keys at hand, entries of other ledgers, and findings about those that could not be asked."""

    subjects: tuple[tuple[RowFingerprints, IdentityKey], ...] = ()
    entries: tuple[LedgerEntry, ...] = ()  # that are believed there
    signers: Signers = field(default_factory=dict)
    load: Load | None = None
    ahead: Ahead | None = None
    unreached: tuple[Finding, ...] = ()
    hashes: HashIndex | None = None

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(key.id for _, key in self.subjects)


NOTHING = OtherLedgers()


def join_histories(history: History, elsewhere: OtherLedgers, key_id: str) -> History:
    """Join all ledgers into one history: each contact once, by its origin, and each seal under every name that it has.

    A seal whose rows its ledger does not keep is compared by those that the home keeps with its copy.
    """
    if not elsewhere.entries and not any(entry.brief.mirror for entry in history.entries):
        return history
    every = [*{entry.hash: entry for entry in (*history.entries, *elsewhere.entries)}.values()]
    signers = {**elsewhere.signers, **history.signers}
    kept = count_once(every, signers, elsewhere.keys | {key_id})
    whole = {entry.hash: entry for entry in (*(entry for entry in every if entry.kind == "seal"), *kept)}
    read = {replica: last.seq for replica, last in heads(every).items()}
    return replace(History.of(_with_rows(whole, every, signers).values()), signers=signers, read=read)


def count_once(entries: Sequence[LedgerEntry], signers: Signers, keys: Container[str] | None = None) -> list[LedgerEntry]:
    """One entry of each origin: the original where it is there and was hashed under one of these keys (None: any), else a copy.

    An answer goes to whichever version of its look is kept.
    """
    stands = _stand_for_all(entries, signers, keys)
    ids = {e.brief.id: stands[e.hash].brief.id for e in entries if e.kind == "intent" and e.hash in stands}
    kept = (stands.get(entry.hash, entry) for entry in entries)
    return [_to_kept_look(entry, ids) for entry in {entry.hash: entry for entry in kept}.values()]


def _stand_for_all(entries: Sequence[LedgerEntry], signers: Signers, keys: Container[str] | None) -> dict[str, LedgerEntry]:
    """Map the hash of each entry that has another version to the version that is kept, beside which the others are."""
    there = {entry.hash: entry for entry in entries}
    looks = {entry.brief.id for entry in entries if entry.kind == "intent"}  # an answer is one whose look is there
    versions: dict[tuple[str, str | None], list[LedgerEntry]] = {}
    for copy in entries:
        if copy.brief.mirror:
            signer = signers.get(copy.replica)
            versions.setdefault((copy.brief.copied, signer), []).append(copy)
    found: dict[str, LedgerEntry] = {}
    for (origin, signer), copies in versions.items():
        original = there.get(origin)
        if original is not None and signers.get(original.replica) != signer:
            original = None
        known = original is not None and any(keys is None or _made_under(copy) in keys for copy in copies)
        own = [] if original is None else [original]
        every = [*own, *copies] if known else [*copies, *own]
        first = next((one for one in every if one.brief.intent in looks), every[0]).beside(every)
        found.update({one.hash: first for one in every})
    return found


def _made_under(copy: LedgerEntry) -> str:
    """The key under which the original of a copy was hashed."""
    return (copy.brief.mirror or {}).get("key_id", "")


def _to_kept_look(end: LedgerEntry, ids: Mapping[str, str]) -> LedgerEntry:
    """An answer (or an abort) of the version of its look that is kept; any other entry as it is."""
    look = ids.get(end.brief.intent, end.brief.intent)
    return end if look == end.brief.intent else replace(end, body=canonical({**end.facts, "intent": look}))


ROWS_OF_COPY = ("rows", "development", "table", "portrait", "train", "source", "names", "key_id", "u")


def _with_rows(entries: dict[str, LedgerEntry], every: Sequence[LedgerEntry], signers: Signers) -> dict[str, LedgerEntry]:
    """Seals and selections without rows, with those of their first copy that has some, under the key of that copy."""
    copies: dict[tuple[str, str | None], LedgerEntry] = {}
    for entry in every:
        if entry.brief.mirror and entry.brief.development:
            copies.setdefault((entry.brief.copied, signers.get(entry.replica)), entry)
    return {hash_: _borrowing(entry, copies.get((hash_, signers.get(entry.replica)))) for hash_, entry in entries.items()}


def _borrowing(entry: LedgerEntry, copy: LedgerEntry | None) -> LedgerEntry:
    """An entry as it stands in the ledger, but where it keeps no rows for what its copy is compared by."""
    if copy is None or entry.brief.development:
        return entry
    rows = {name: copy.facts[name] for name in ROWS_OF_COPY if name in copy.facts}
    return replace(entry, body=canonical({**entry.facts, **rows}))
