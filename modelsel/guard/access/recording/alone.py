"""Answers about the labels alone, those of an exam's close, and what `guard=off` shows."""

import secrets
from collections.abc import Mapping, Sequence
from math import log
from typing import Any

from modelsel.core.types import Finding
from modelsel.guard.access.anchors import AnchorSet
from modelsel.guard.access.authorize import memory_of, position_of
from modelsel.guard.access.closing import CLOSING, closing
from modelsel.guard.access.recording.looks import asked_now
from modelsel.guard.access.session import LedgerSession
from modelsel.guard.access.unguarded import opened
from modelsel.guard.access.unguarded import shown as shown_unguarded
from modelsel.guard.checks.look_requests import PreparedLook
from modelsel.guard.history.entries import burned, who
from modelsel.guard.history.history import History
from modelsel.guard.identity.fingerprints import RowFingerprints
from modelsel.guard.identity.requests import Handed, LookRequest, TestSetDeclaration
from modelsel.guard.release.mechanisms import LabelSummary
from modelsel.ledger.database.store import WriteTransaction
from modelsel.ledger.entry import LedgerEntry


def burn(session: LedgerSession, sealing: TestSetDeclaration, subject: RowFingerprints) -> list[Finding]:
    """Record a look that releases all labels."""
    price = len(subject.test.bound) * log(max(2, len(sealing.development.classes)))

    def step(writing: WriteTransaction) -> LedgerEntry:
        facts = burned(subject, sealing, price, History.of(writing.entries()))
        intent = writing.append("intent", facts)
        shown = {"symbol": "labels", "score": None, "errors": None, "price": price, "interval": None}
        writing.append("reveal", {**who(), "intent": intent.facts["id"], **shown, "released": None})
        return intent

    return session.witness(session.ledger.write(step), price)


def tell(
    session: LedgerSession, sealing: TestSetDeclaration, subject: RowFingerprints, metric: str, price: float
) -> LedgerEntry:
    """Write the intent of an answer that is about the labels alone, without predictions."""

    def step(writing: WriteTransaction) -> LedgerEntry:
        facts = burned(subject, sealing, price, History.of(writing.entries()))
        return writing.append("intent", {**facts, "metric": metric, "release": metric, "policy": metric, "flags": []})

    return session.ledger.write(step)


def told(session: LedgerSession, intent: LedgerEntry, facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """Record the answer to such an intent before it is shown."""
    nothing = {"score": None, "errors": None, "interval": None, "released": None}
    shown = session.ledger.append("reveal", {**who(), "intent": intent.facts["id"], **nothing, **facts}).facts
    session.witness(intent, float(facts["price"]))
    return shown


def close(
    session: LedgerSession, ask: PreparedLook, handed: Sequence[Handed], delta: float, share: float
) -> tuple[LedgerEntry, Mapping[str, Any] | None]:
    """The intent of closing an exam, once; with what was shown, where that has been done."""

    def step(writing: WriteTransaction) -> tuple[LedgerEntry, Mapping[str, Any] | None]:
        history = History.of(writing.entries())
        exam = ask.request.sealing.spec_id
        closings = (look for look in history.looks_at([ask.subject.digest]) if look.facts["metric"] == CLOSING)
        known = [look for look in closings if look.facts["spec_id"] == exam]
        if known:
            return known[0].entry, known[0].answer or None
        position = position_of(writing, asked_now(session, ask, session.at_home()), history)
        return writing.append("intent", closing(ask, position, handed, delta, share)), None

    return session.ledger.write(step)


def open_unguarded(
    session: LedgerSession, request: LookRequest, subject: RowFingerprints, predictions: str, score: float | None = None
) -> LedgerEntry | None:
    """Put an unguarded look on record before labels are opened; None where the same number was shown before."""

    def step(writing: WriteTransaction) -> LedgerEntry | None:
        history = History.of(writing.entries())
        facts = opened(request, subject, predictions, memory_of(writing, history, session.key), score)
        return writing.append("intent", facts) if facts else None

    return session.ledger.write(step)


def close_unguarded(
    session: LedgerSession, intent: LedgerEntry, found: LabelSummary, sealing: TestSetDeclaration
) -> list[Finding]:
    """Record the number that `guard=off` is about to show."""
    session.ledger.append("reveal", shown_unguarded(intent.facts, found, sealing))
    return session.witness(intent, intent.facts["worst"])


def tell_unremembered(session: LedgerSession, study: str) -> list[Finding]:
    """Say in `modelsel.lock` that nothing was kept of a study."""
    return AnchorSet(session.anchors, "").unremembered(study, who()["at"])  # no key is made for it


def witness_unguarded(session: LedgerSession, subject: RowFingerprints) -> list[Finding]:
    """Tell the anchors of rows that were opened without a guard."""
    facts = {"ledger": "none", "testset": subject.digest, "look": "0", "spent": "0", "n": str(len(subject.test.bound)),
             "head": f"unguarded:0:{secrets.token_hex(16)}", "policy": "off", "key": session.key.id}  # fmt: skip
    return session.witnesses.tell(facts)
