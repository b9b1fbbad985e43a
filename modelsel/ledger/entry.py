"""An entry of the ledger and the chain it hangs on: each hash covers the whole entry and the hash before it.

    hash = SHA-256("modelsel.ledger.v1\\0" ‖ for each of (prev, replica, seq, kind, body): 8-byte length ‖ bytes)
    first prev of a replica = SHA-256("modelsel.genesis.v1\\0" ‖ replica)

A chain shows edits, gaps, insertions and forks. It cannot show that its tail was cut off, or that all of it was written
anew: that is what anchors are for.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import groupby
from typing import Any

from modelsel.core.fingerprint import canonical

KINDS = (
    "seal", "selection", "commit", "intent", "reveal", "abort", "replay", "recovered",
    "policy_change", "merge", "key_rotated", "note", "migration", "vouch", "ruling",
)  # fmt: skip


@dataclass(frozen=True)
class Brief:
    """The few facts that passes over a whole history ask for; what is not stated has the default."""

    id: str = ""
    at: str = ""
    testset: str = ""
    train: str = ""
    spec_id: str = ""
    intent: str = ""
    commit: str | None = None
    key_id: str = ""
    rows: str | None = None
    development: str | None = None
    table: str | None = None
    portrait: str | None = None
    rows_in_all: int = 0
    n: int = 0
    source: str = ""
    mirror: Mapping[str, str] | None = None  # `hash` and `key_id` of the entry of another ledger that this is a copy of
    contact: str | None = None
    width: int | None = None  # columns of the table
    off: bool = False  # sealed under `guard=off`
    said: str = ""  # the reason of a further look

    @classmethod
    def of(cls, facts: Mapping[str, object]) -> "Brief":
        """Take what is stated as it is: whether it makes sense is judged elsewhere."""
        brief = object.__new__(cls)
        brief.__dict__.update(facts)
        return brief

    @property
    def copied(self) -> str:
        """The hash of the entry that this is a copy of; empty for one that is none."""
        return self.mirror["hash"] if self.mirror else ""


BRIEF = tuple(field.name for field in fields(Brief))


@dataclass(frozen=True)
class LedgerEntry:
    """A line of the history: `seq` counts from 1 within its replica, `body` is canonical JSON."""

    replica: str
    seq: int
    kind: str
    body: str
    prev: str
    hash: str
    versions: "tuple[LedgerEntry, ...]" = field(default=(), compare=False)  # the same contact, as other ledgers have it

    def beside(self, versions: "Iterable[LedgerEntry]") -> "LedgerEntry":
        """Return the entry with the other versions of its contact; what was read of it is not read again."""
        whole = replace(self, versions=tuple(one for one in versions if one.hash != self.hash))
        whole.__dict__.update({name: self.__dict__[name] for name in ("facts", "brief") if name in self.__dict__})
        return whole

    @property
    def written(self) -> "tuple[LedgerEntry, ...]":
        """All versions: who has seen one of them knows of the contact."""
        return (self, *self.versions)

    def follows(self, other: "LedgerEntry") -> bool:
        """Say whether it stands after another one in some chain."""
        return any(
            mine.replica == theirs.replica and mine.seq > theirs.seq for mine in self.written for theirs in other.written
        )

    @cached_property
    def facts(self) -> dict[str, Any]:
        facts: dict[str, object] = json.loads(self.body)
        return facts

    @cached_property
    def brief(self) -> Brief:
        """The few facts that passes over a whole history ask for.

        Of entries that were judged in an earlier process they are at hand (`ledger.database.judged`), and the body is parsed
        for its other facts only.
        """
        facts = self.facts
        names, terms, justify = facts.get("names"), facts.get("terms"), facts.get("justify")
        apart = {
            "width": len(names) if isinstance(names, list) else None,
            "off": isinstance(terms, dict) and terms.get("policy") == "off",
            "said": str(justify.get("text", "")) if isinstance(justify, dict) else "",
        }
        return Brief.of({**{name: facts[name] for name in BRIEF if facts.get(name) is not None}, **apart})

    @cached_property
    def whole(self) -> bool:
        """Say whether the hash covers these contents; bytes in place of a text are not covered."""
        texts = (self.replica, self.kind, self.body, self.prev, self.hash)
        return all(isinstance(text, str) for text in texts) and self.hash == entry_hash(
            self.prev, self.replica, self.seq, self.kind, self.body
        )

    @property
    def place(self) -> str:
        """The entry's name in messages and anchors: replica:seq:hash."""
        return f"{self.replica}:{self.seq}:{self.hash}"


@dataclass(frozen=True)
class ChainBreak:
    """A place where a chain does not hold, and the reason."""

    replica: str
    seq: int
    why: str

    def __str__(self) -> str:
        return f"replica {self.replica}, entry {self.seq}: {self.why}"


def follow(last: LedgerEntry | None, replica: str, kind: str, facts: Mapping[str, object]) -> LedgerEntry:
    """The entry that comes after `last` (None: the first of its replica).

    >>> first = follow(None, "r1", "note", {"text": "hello"})
    >>> first.seq, first.prev == genesis("r1"), broken([first])
    (1, True, [])
    """
    if kind not in KINDS:
        raise ValueError(f"unknown kind of entry: {kind}")
    seq, prev = (1, genesis(replica)) if last is None else (last.seq + 1, last.hash)
    body = canonical(facts)
    return LedgerEntry(replica, seq, kind, body, prev, entry_hash(prev, replica, seq, kind, body))


def genesis(replica: str) -> str:
    """Compute the hash that stands before a replica's first entry."""
    return hashlib.sha256(b"modelsel.genesis.v1\0" + replica.encode()).hexdigest()


def entry_hash(prev: str, replica: str, seq: int, kind: str, body: str) -> str:
    """Hash an entry with the hash before it."""
    state = hashlib.sha256(b"modelsel.ledger.v1\0")
    for value in (prev, replica, str(seq), kind, body):
        raw = value.encode("utf-8", "surrogatepass")
        state.update(len(raw).to_bytes(8, "big") + raw)
    return state.hexdigest()


def broken(entries: Iterable[LedgerEntry]) -> list[ChainBreak]:
    """Every place where the chains do not hold; every link is recomputed, not the ends alone."""
    found = []
    ordered = sorted(entries, key=lambda entry: (entry.replica, entry.seq))
    for replica, chain in groupby(ordered, key=lambda entry: entry.replica):
        seq, prev = 1, genesis(replica)
        for entry in chain:
            found += [ChainBreak(replica, entry.seq, why) for why in _faults(entry, seq, prev)]
            seq, prev = entry.seq + 1, entry.hash
    return found


def heads(entries: Iterable[LedgerEntry]) -> dict[str, LedgerEntry]:
    """The last entry of each replica."""
    last: dict[str, LedgerEntry] = {}
    for entry in entries:
        if entry.replica not in last or last[entry.replica].seq < entry.seq:
            last[entry.replica] = entry
    return last


def _faults(entry: LedgerEntry, seq: int, prev: str) -> Iterable[str]:
    """Yield what is wrong with an entry at its place in the chain."""
    if entry.seq != seq:
        yield f"entry {seq} is missing"
    elif entry.prev != prev:
        yield "it does not follow the entry before it"
    if entry.hash != entry_hash(entry.prev, entry.replica, entry.seq, entry.kind, entry.body):
        yield "its contents were changed"
