"""A gate's storage in memory, for attacks made by the thousand: ledgers as lists of entries, a home's state as a text.

What is stored, signed, chained, examined and decided stays the product's; no database, lock or disk takes part. That it changes
no answer is tested: the same attacks with ledgers on disk give the same intervals and prices, bit for bit.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar
from unittest.mock import patch

from modelsel.core.errors import ConfigurationError, LedgerError, Problem
from modelsel.guard import fingerprints
from modelsel.guard.access import authorize
from modelsel.ledger.database.store import Ledger, WriteTransaction
from modelsel.ledger.entry import LedgerEntry, follow
from modelsel.ledger.home import Home, Signer
from modelsel.ledger.trust import LedgerTerms, TrustedEntries, examine, extend

T = TypeVar("T")
CACHED = ("own", "key", "secret", "signer", "replica", "replicas")  # of a home: what never changes in an attack


@dataclass
class Store:
    """What stands in one ledger, whoever has it open."""

    id: str
    owner: str
    entries: list[LedgerEntry] = field(default_factory=list)
    signatures: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    rowsets: dict[str, tuple[str, bytes]] = field(default_factory=dict)

    def copy(self) -> "Store":
        signed = {hash_: [*known] for hash_, known in self.signatures.items()}
        return Store(self.id, self.owner, [*self.entries], signed, {**self.rowsets})


class LedgerInMemory(Ledger):
    """A ledger of this process, under the address that it would have."""

    def __init__(self, store: Store, url: str, replica: str, signer: Signer | None) -> None:
        self.signer, self.url, self.place, self.replica, self.id, self.store = signer, url, url, replica, store.id, store
        self._known = TrustedEntries()
        self._read = 0  # of all entries, those that are known

    def entries(self, anew: bool = False) -> TrustedEntries:
        """Judge what stands there: new entries that plainly follow on by themselves, any others with all."""
        fresh = self.store.entries[self._read :]
        if fresh:
            signed = {entry.hash: self.store.signatures.get(entry.hash, []) for entry in fresh}
            further = extend(self._known, fresh, signed) if self._read else None
            self._known = further if further is not None else self._all()
            self._read = len(self.store.entries)
        return self._known

    def _all(self) -> TrustedEntries:
        ordered = sorted(self.store.entries, key=lambda entry: (entry.replica, entry.seq, entry.hash))
        me = self.signer.public if self.signer else ""
        return examine(ordered, self.store.signatures, LedgerTerms(self.store.owner, "none"), me)

    def write(self, step: Callable[[WriteTransaction], T]) -> T:
        """Run a step; where it fails, nothing of it is left."""
        before = self.store.copy()
        try:
            return step(WritingInMemory(self))
        except BaseException:
            self.store.__dict__.update(before.__dict__)
            self._read = 0
            raise

    def everything(self) -> list[LedgerEntry]:
        return [*self.store.entries]

    def signatures(self) -> dict[str, list[tuple[str, str]]]:
        return self.store.copy().signatures

    def rowset(self, digest: str) -> bytes:
        if digest not in self.store.rowsets:
            raise LedgerError(Problem("MSEL-503", f"the stored row set {digest[:16]} is gone", "rowsets", "none"))
        return self.store.rowsets[digest][1]

    def rowsets(self, digests: Sequence[str]) -> dict[str, bytes]:
        return {digest: self.rowset(digest) for digest in digests if digest in self.store.rowsets}

    def rowset_keys(self) -> dict[str, str]:
        return {digest: key for digest, (key, _) in self.store.rowsets.items()}

    def forged_rowsets(self) -> list[str]:
        return []

    def examine(self) -> TrustedEntries:
        return self._all()

    def has_mark(self, name: str) -> bool:
        return True

    def keep_judged(self, fit: Callable[[TrustedEntries], bool]) -> None:
        return

    def close(self) -> None:
        return


class WritingInMemory(WriteTransaction):
    """Entries follow, are signed and admitted as in a database."""

    def __init__(self, ledger: LedgerInMemory) -> None:
        self._held, self.replica, self._own = ledger, ledger.replica, None

    def entries(self) -> TrustedEntries:
        return self._held.entries()

    def everything(self) -> list[LedgerEntry]:
        return self._held.everything()

    def append(self, kind: str, facts: Mapping[str, object]) -> LedgerEntry:
        if self._own is None:
            self._own = self.entries().last(self.replica)
        name = f"{self.replica}.{len(self._held.store.entries)}"
        self._own = follow(self._own, self.replica, kind, {**facts, "id": name})
        signer = self._held.signer
        assert signer is not None
        self.admit(self._own)
        self.sign(self._own.hash, signer.public, signer.sign(self._own.hash))
        return self._own

    def admit(self, entry: LedgerEntry) -> None:
        self._held.store.entries.append(entry)

    def sign(self, hash_: str, signer: str, signature: str) -> None:
        known = self._held.store.signatures.setdefault(hash_, [])
        if (signer, signature) not in known:
            known.append((signer, signature))

    def keep(self, blob: bytes, key_id: str, n: int, kind: str, name: str = "") -> str:
        digest = name or hashlib.sha256(blob).hexdigest()
        self._held.store.rowsets.setdefault(digest, (key_id, blob))
        return digest

    def rowset(self, digest: str) -> bytes:
        return self._held.rowset(digest)


@contextmanager
def in_memory() -> Iterator[None]:
    """Let every ledger and home opened in the block be one of this block, and the digest of predictions take no time."""
    stores: dict[str, Store] = {}
    states: dict[Home, str] = {}

    def opened(url: str, replica: str, signer: Signer | None = None, _judged: Any = None) -> LedgerInMemory:
        known = stores.setdefault(url, Store(f"ledger {len(stores)}", signer.public if signer else ""))
        return LedgerInMemory(known, url, replica, signer)

    def existing(url: str, signer: Signer | None = None, _judged: Any = None) -> LedgerInMemory:
        if url not in stores:
            raise ConfigurationError(Problem("MSEL-273", "no ledger is there", url, "none"))
        return LedgerInMemory(stores[url], url, "reader", signer)

    def state(home: Home) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(states.get(home, "{}"))
        return told

    @contextmanager
    def changing(home: Home) -> Iterator[dict[str, Any]]:
        now = state(home)
        yield now
        states[home] = json.dumps(now)

    @contextmanager
    def at_work(_home: Home) -> Iterator[str]:
        yield "nobody else"

    with ExitStack() as all_:
        for owner, name, instead in (
            (Ledger, "open", staticmethod(opened)), (Ledger, "existing", staticmethod(existing)),
            (Home, "state", state), (Home, "changing", changing),
            *((Home, name, cache(getattr(Home, name))) for name in CACHED),
        ):  # fmt: skip
            all_.enter_context(patch.object(owner, name, instead))
        all_.enter_context(patch("modelsel.guard.gate.at_work", at_work))
        all_.enter_context(patch("modelsel.guard.access.session.strip", lambda _: 0))
        all_.enter_context(patch.object(authorize, "alive", lambda *_: False))
        all_.enter_context(patch.dict(fingerprints.MEMORY, {"n": 2}))
        yield
