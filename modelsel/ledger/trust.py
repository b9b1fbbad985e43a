"""Decide which entries can be trusted: those on their chain, up to one that its owner signed.

An entry is sound where it, or one that follows it, is signed by the key that its chain is named after: a hash covers all that
came before. Entries of before there were signatures are sound up to the heads that were written down when the ledger was
migrated. The others are *bad*: kept aside and named, so that they stop nobody and hide nothing.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from modelsel.ledger.entry import LedgerEntry, genesis
from modelsel.ledger.home import belongs, is_signed

Signatures = Mapping[str, Sequence[tuple[str, str]]]  # hash: (public key, signature)
WEIGHTY = ("merge", "migration", "vouch", "ruling")  # entries that say something of others
MIGRATION = "migration"  # the chain of the one entry that states the heads of before


@dataclass(frozen=True)
class RejectedEntry:
    """An entry that is not believed, and why."""

    entry: LedgerEntry
    why: str

    def __str__(self) -> str:
        return f"replica {self.entry.replica}, entry {self.entry.seq}: {self.why}"

    @property
    def facts(self) -> dict[str, Any]:
        """The facts of the entry; empty where they cannot be read."""
        return self.entry.facts if readable(self.entry) else {}


@dataclass(frozen=True)
class LedgerTerms:
    """A ledger's own statements: its owner's key, and the entry that lists the heads of before the migration (or none)."""

    owner: str = ""
    migrated: str = ""


class TrustedEntries(list[LedgerEntry]):
    """Sound entries by replica and number. `bad` are the others, `signers` the keys of chains.

    `lost` are hashes that were signed and are not there (with the key), `before` the unsigned heads that are vouched for, `me`
    the key of who reads.
    """

    def __init__(self, entries: Iterable[LedgerEntry] = (), bad: Iterable[RejectedEntry] = (), **about: Any) -> None:
        """Keep the sound entries with what is known about them."""
        super().__init__(entries)
        self.bad = tuple(bad)
        self.signers: dict[str, str] = about.get("signers", {})
        self.lost: tuple[tuple[str, str], ...] = about.get("lost", ())
        self.owner: str = about.get("owner", "")
        self.me: str = about.get("me", "")
        self.before: tuple[str, ...] = about.get("before", ())
        self.recalled: bool = about.get("recalled", False)  # were they found fit in an earlier process
        self.former: TrustedEntries | None = None  # these but for `fresh`, which follow on
        self.fresh: tuple[LedgerEntry, ...] = ()
        self.memo: dict[str, Any] = {}  # what was reckoned of these entries

    def last(self, replica: str) -> LedgerEntry | None:
        """The last entry of a chain."""
        place = bisect_right(self, replica, key=lambda entry: entry.replica)
        return self[place - 1] if place and self[place - 1].replica == replica else None

    def heads(self) -> dict[str, LedgerEntry]:
        """The last entry of each chain."""
        found: dict[str, LedgerEntry] = {}
        place = 0
        while place < len(self):
            place = bisect_right(self, self[place].replica, lo=place, key=lambda entry: entry.replica)
            found[self[place - 1].replica] = self[place - 1]
        return found


@dataclass
class _Examination:
    entries: Sequence[LedgerEntry]
    signatures: Signatures
    terms: LedgerTerms
    vouched: Set[str] = frozenset()  # heads of before that the owner took over from another ledger
    bad: dict[str, RejectedEntry] = field(default_factory=dict)
    signers: dict[str, str] = field(default_factory=dict)

    def run(self) -> TrustedEntries:
        """Examine all entries: contents, chain, signatures."""
        whole = [entry for entry in self.entries if self._whole(entry)]
        heads = self._heads(whole)
        reached = self._follow_chains(whole)
        sound: set[str] = set()
        followed: set[str] = set()
        for entry in sorted(reached.values(), key=lambda entry: -entry.seq):
            if entry.hash in followed or entry.hash in heads or self._is_signed(entry):
                sound.add(entry.hash)
                followed.add(entry.prev)
            else:
                self._refuse(entry, "nobody who may write this chain signed it")
        for entry in whole:
            if entry.hash not in reached:
                self._refuse(entry, "it does not follow an entry that is there")
        good = [entry for entry in self.entries if entry.hash in sound and entry.place not in self.bad]
        lost = tuple((hash_, who) for hash_, signed in self.signatures.items() if hash_ not in sound
                     for who, signature in signed if is_signed(who, hash_, signature))  # fmt: skip
        gone = tuple((hash_, "") for hash_ in heads - set(self.vouched) if hash_ not in sound)
        return TrustedEntries(good, self.bad.values(), signers=self.signers, lost=(*lost, *gone), owner=self.terms.owner,
                    before=tuple(sorted(heads)))  # fmt: skip

    def _whole(self, entry: LedgerEntry) -> bool:
        """Say whether an entry's contents are unchanged and readable; refuse it otherwise."""
        if not entry.whole:
            self._refuse(entry, "its contents were changed")
        elif not readable(entry):
            self._refuse(entry, "it cannot be read")
        return entry.place not in self.bad

    def _refuse(self, entry: LedgerEntry, why: str) -> None:
        self.bad.setdefault(entry.place, RejectedEntry(entry, why))

    def _heads(self, whole: Sequence[LedgerEntry]) -> set[str]:
        """Hashes that the migration vouches for: its own entry, and the heads that this states."""
        found = [entry for entry in whole if entry.hash == self.terms.migrated and entry.replica == MIGRATION]
        return (
            {hash_ for entry in found for _, hash_ in entry.facts["heads"].values()}
            | {entry.hash for entry in found}
            | set(self.vouched)
        )

    def _follow_chains(self, whole: Sequence[LedgerEntry]) -> dict[str, LedgerEntry]:
        """Follow each chain from its beginning, link by link, and return the entries reached."""
        following: dict[tuple[str, int, str], list[LedgerEntry]] = defaultdict(list)
        for entry in whole:
            following[entry.replica, entry.seq, entry.prev].append(entry)
        reached: dict[str, LedgerEntry] = {}
        waiting = [one for replica in {e.replica for e in whole} for one in following[replica, 1, genesis(replica)]]
        while waiting:
            entry = waiting.pop()
            reached[entry.hash] = entry
            waiting += following[entry.replica, entry.seq + 1, entry.hash]
        return reached

    def _is_signed(self, entry: LedgerEntry) -> bool:
        """Say whether a key that may write this chain has signed the entry."""
        for who, signature in self.signatures.get(entry.hash, ()):
            if belongs(entry.replica, who) and is_signed(who, entry.hash, signature):
                self.signers[entry.replica] = who
                return True
        return False


def examine(entries: Sequence[LedgerEntry], signatures: Signatures, terms: LedgerTerms, me: str = "") -> TrustedEntries:
    """The entries that may be believed, and the others with the reason; `me` is the public key of who asks."""
    first = _Examination(entries, signatures, terms).run()
    taken = {str(hash_) for entry in first if entry.kind == "merge" and terms.owner == first.signers.get(entry.replica, "-")
             for hash_ in entry.facts.get("vouched", ())}  # fmt: skip
    read = _Examination(entries, signatures, terms, taken).run() if taken else first
    read.me = me
    return read


def extend(former: TrustedEntries, fresh: Sequence[LedgerEntry], signatures: Signatures) -> TrustedEntries | None:
    """Entries that were read before and new ones that plainly follow on, each signed; None where all must be examined."""
    if former.bad or former.lost or any(entry.kind in WEIGHTY for entry in fresh):
        return None
    every = list(former)
    for entry in fresh:
        place = bisect_right(every, (entry.replica, entry.seq), key=lambda one: (one.replica, one.seq))
        who = former.signers.get(entry.replica, "")
        follows = place and every[place - 1].replica == entry.replica and _follows(every[place - 1], entry)
        signed = (signature for key, signature in signatures.get(entry.hash, ()) if key == who)
        if not (who and follows and entry.whole and readable(entry) and any(is_signed(who, entry.hash, one) for one in signed)):
            return None
        every.insert(place, entry)
    read = TrustedEntries(every, signers=former.signers, owner=former.owner, before=former.before, me=former.me)
    read.former, read.fresh = former, tuple(fresh)
    former.former = None  # no chain of all that was ever read
    return read


def _follows(last: LedgerEntry, entry: LedgerEntry) -> bool:
    return (entry.seq, entry.prev) == (last.seq + 1, last.hash)


def readable(entry: LedgerEntry) -> bool:
    """Say whether an entry states facts that can be read."""
    try:
        return isinstance(entry.facts, dict)
    except (ValueError, RecursionError):
        return False
