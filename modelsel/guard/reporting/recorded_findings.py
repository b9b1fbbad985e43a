"""Findings that a ledger remembers: those of its looks, what was found out about it, and clocks that went back."""

from collections.abc import Iterator, Mapping
from typing import Any

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind
from modelsel.guard.findings.catalogue import catalogue
from modelsel.guard.findings.ledger_state import clock_backwards, entry_quarantined, policy_weakened
from modelsel.guard.findings.looks import unresolved_intent
from modelsel.guard.history.history import History
from modelsel.guard.history.quarantine import PLACE
from modelsel.ledger.entry import LedgerEntry


def of_looks(sets: list[dict[str, Any]]) -> list[Finding]:
    """Findings of all looks, each once; and looks that nobody resolved."""
    found: dict[tuple[str, str], Finding] = {}
    for one in sets:
        for look in one["looks"]:
            for facts in look.get("findings", ()):
                found[facts["code"], facts["message"]] = Finding(**facts)
            if look["status"] == "open":
                text = f"look {look['look']} of test set {one['id'][:8]} has no answer on record"
                found["G060", text] = unresolved_intent.told(text)
    return list(found.values())


def of_record(history: History, testsets: list[str]) -> Iterator[Finding]:
    """Yield the findings that are on record: about the ledger, settings that were loosened, looks that only an anchor saw."""
    for entry in history.entries:
        facts = entry.facts
        if entry.kind == "note" and "code" in facts:
            yield _kind(facts).finding(f"{facts['text']} (noticed {facts['at'][:10]})")
        elif entry.kind == "policy_change" and facts["weaker"] and facts["testset"] in testsets:
            yield policy_weakened.recorded(facts["weaker"], facts["testset"])
        elif entry.replica == PLACE:
            yield entry_quarantined.charged(facts["why"], facts["testset"], facts["worst"])
        elif history.is_missing(entry) and facts["testset"] in testsets:
            what = "opened without a guard" if facts["unguarded"] else "looked at beside this ledger"
            yield _kind(facts).finding(f"{facts['anchor']} saw test set {facts['testset'][:8]} {what}")


def _kind(facts: Mapping[str, Any]) -> FindingKind:
    known = catalogue()
    return known.get(facts.get("code", "G072"), known["G079"])  # a later version may have others


def of_time(history: History) -> Iterator[Finding]:
    """Entries that are dated before the one they follow."""
    last: dict[str, LedgerEntry] = {}
    for entry in sorted(history.entries, key=lambda entry: (entry.replica, entry.seq)):
        former = last.get(entry.replica)
        if "at" not in entry.facts:
            continue
        if former is not None and entry.facts.get("at", "") < former.facts.get("at", ""):
            yield clock_backwards.out_of_order(entry.seq, entry.replica)
        last[entry.replica] = entry
