"""Contacts that choose nothing and read no label: a file that was opened to choose on, rows that were predicted.

They are on record as information, each once, and make no row unclean: a note names the digest of the rows, and stores none of
them. What chose is a selection, what used labels a look; this is what is left.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from modelsel.core.types import Table
from modelsel.guard.history.entries import who
from modelsel.guard.history.quarantine import judged
from modelsel.ledger.database.store import Ledger, WriteTransaction
from modelsel.ledger.entry import LedgerEntry
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.rows.identity import bound, columns, set_digest

OPENED, PREDICTED = "opened", "predicted"
SAME = ("contact", "rows", "folder", "spec_id")  # what makes two contacts one


def rows_of(table: Table, key: IdentityKey) -> str:
    """The identity of a table's rows, as a seal of them would have it."""
    return set_digest(bound(columns(table), key), key)


def note(writing: WriteTransaction, facts: Mapping[str, Any]) -> None:
    """Put a contact on record, unless it is there."""
    same = tuple(facts.get(name) for name in SAME)
    if same not in {tuple(one.get(name) for name in SAME) for one in _facts(judged(writing.entries()))}:
        writing.append("note", {**who(), **facts})


def predicted(ledger: Ledger, table: Table, key: IdentityKey, folder: str) -> None:
    """Put on record that a run's model predicted the rows of a table."""
    facts = {"contact": PREDICTED, "rows": rows_of(table, key), "n": len(table), "key_id": key.id, "folder": folder}
    ledger.write(lambda writing: note(writing, facts))


def contacts(entries: Sequence[LedgerEntry]) -> list[dict[str, Any]]:
    """All of them, oldest first: what was done, when, by whom, with how many rows, and which sealed set these are."""
    sealed = {entry.facts["testset"] for entry in entries if entry.kind == "seal"}
    names = ("contact", "at", "user", "host", "n", "folder")
    return [
        {**{name: facts.get(name) for name in names}, "testset": facts["rows"] if facts["rows"] in sealed else None}
        for facts in _facts(entries)
    ]


def _facts(entries: Sequence[LedgerEntry]) -> Iterator[dict[str, Any]]:
    return (entry.facts for entry in entries if entry.kind == "note" and entry.brief.get("contact"))
