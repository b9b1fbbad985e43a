"""A ledger's facts about one test set: looks with their outcome, and notes about it."""

from typing import Any

from modelsel.guard.access.session import LedgerSession
from modelsel.guard.history.history import History
from modelsel.guard.matching.concurrent_looks import beside as concurrent
from modelsel.guard.matching.concurrent_looks import superseded


def looks(session: LedgerSession, testset: str) -> list[dict[str, Any]]:
    """Looks at a test set in their order: the facts of the intent, `status`, `charge` (nats) and `answer` (empty: none).

    `superseded` says what stands in place of index, spending and interval where looks that did not know of it were merged in.
    """
    history = History.of(session.ledger.entries())
    found = history.looks_at([testset])
    later = superseded(found, concurrent(history, testset, session.stored))
    return [
        {**look.facts, "status": look.status, "charge": look.price, "answer": dict(look.answer), "superseded": instead}
        for look, instead in zip(found, later, strict=True)
    ]


def notes(session: LedgerSession, exam: str) -> list[dict[str, Any]]:
    """List the notes about an exam, in the order in which they were recorded."""
    history = History.of(session.ledger.entries())
    return [entry.facts for entry in history.entries if entry.kind == "note" and entry.facts.get("exam") == exam]
