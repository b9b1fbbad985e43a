"""Chains of entries without a ledger: what a reading of them would be, at once or one after the other."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from modelsel.ledger.entry import LedgerEntry
from modelsel.ledger.trust import TrustedEntries

FLAG = {"code": "G001", "severity": "note", "message": "m", "do": "d"}
TERMS = {"delta": 0.05, "release": "full", "rank": 1, "steps": None}
WHOLE: dict[str, dict[str, Any]] = {  # every kind with facts of which none is wanting
    "seal": {"testset": "t", "train": "d", "spec_id": "s", "n": 50, "key_id": "k", "terms": TERMS, "names": [], "source": "w"},
    "selection": {"testset": "t", "train": "d", "spec_id": "s", "key_id": "k", "tried": 1},
    "commit": {"testset": "t", "train": "d", "spec_id": "s", "look": 1, "spent": 0.0},
    "intent": {"testset": "t", "train": "d", "spec_id": "s", "id": "i", "metric": "error", "predictions": "p", "n": 50,
               "look": 1, "spent": 0.0, "worst": 4.0, "flags": [], "certified": True, "release": "full"},
    "reveal": {"intent": "i", "price": 4.0, "symbol": "x"},
    "abort": {"intent": "i"},
    "replay": {"of": "i", "testset": "t"},
    "policy_change": {"testset": "t", "terms": TERMS, "weaker": []},
    "recovered": {"testset": "t", "worst": 3.0, "head": "r:1:gone"},
    "note": {"text": "hello"},
    "vouch": {"key": "k"},
    "ruling": {"void": []},
}  # fmt: skip


def entry(kind: str, replica: str = "r", seq: int = 1, **facts: Any) -> LedgerEntry:
    """An entry of this kind, whole but for the facts that are given; the value `...` leaves a fact out."""
    stated = {name: value for name, value in {**WHOLE[kind], **facts}.items() if value is not ...}
    body = json.dumps(stated)
    return LedgerEntry(replica, seq, kind, body, "", hashlib.sha256(f"{replica}{seq}{body}".encode()).hexdigest())


def reading(entries: Iterable[LedgerEntry], **about: Any) -> TrustedEntries:
    return TrustedEntries(sorted(entries, key=lambda one: (one.replica, one.seq)), **about)


def grown(entries: Sequence[LedgerEntry], start: int, **about: Any) -> Iterable[TrustedEntries]:
    """The readings of a ledger to which one entry after the other is written."""
    read = reading(entries[:start], **about)
    yield read
    for count in range(start + 1, len(entries) + 1):
        further = reading(entries[:count], **about)
        further.former, further.fresh = read, (entries[count - 1],)
        yield further
        read = further
