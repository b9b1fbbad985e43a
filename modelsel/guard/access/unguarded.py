"""Record the number that `guard=off` shows as a look at its full price, which later looks pay for.

Price: ln(n + 1) for an error count; 64 ln 2 for any other score, of which at most 2⁶⁴ can be told apart; together at most
n ln C, which is all that labels can say.
"""

from collections.abc import Mapping
from math import log
from typing import Any

from modelsel.core.spec import kind_of
from modelsel.guard.checks.look_requests import metric_of
from modelsel.guard.findings.looks import unguarded as unguarded_look
from modelsel.guard.history.entries import as_facts, who
from modelsel.guard.history.history import PastLook, is_off
from modelsel.guard.identity.fingerprints import RowFingerprints
from modelsel.guard.identity.requests import LookRequest, TestSetDeclaration
from modelsel.guard.matching.overlap import RowSetIndex, relations
from modelsel.guard.release.mechanisms import LabelSummary
from modelsel.guard.release.score_grid import WITH_COUNT
from modelsel.ledger.entry import heads
from modelsel.statistics.reuse import prices

FLOAT = 64 * log(2)


def full_price(sealing: TestSetDeclaration) -> float:
    """Price of the score and the count that `off` shows: the most nats that they can tell.

    Three classes and ten rows: no more than 10 ln 3.
    """
    n, kind = len(sealing.sealed), kind_of(sealing.measure)
    plain = kind == "error" and sealing.development.weights is None
    said = (prices.full(n) if kind in WITH_COUNT else 0.0) + (0.0 if plain else FLOAT)
    return min(said, n * log(max(2, len(sealing.development.classes))))


def opened(
    request: LookRequest, subject: RowFingerprints, predictions: str, memory: RowSetIndex, score: float | None = None
) -> dict[str, Any] | None:
    """The intent of an unguarded look; None where this very number (where it is known: this `score`) was shown before."""
    history, sealing, selected = memory.history, request.sealing, request.selected
    metric = metric_of(sealing.measure)
    asked = (metric, predictions, len(sealing.sealed))
    if any(_shown(look, asked, score) for look in history.looks_at([subject.digest])):
        return None
    kin = [one for one in relations(subject, memory) if one.role == "test"]
    past = history.looks_at((subject.digest, *(one.testset for one in kin)))
    n, price = len(sealing.sealed), full_price(sealing)
    return {
        **who(), "testset": subject.digest, "train": subject.train, "metric": metric, "spec_id": sealing.spec_id,
        "predictions": predictions, "justify": {}, "study": sealing.study, "folder": sealing.folder,
        "config": sealing.config, "winner": selected.winner, "cv_mean": selected.cv_mean, "cv_rows": selected.cv_rows,
        "cv_error": selected.cv_error, "n": n, "n_clean": n, "certified": False, "look": 1 + len(past),
        "spent": sum(look.price for look in past), "space": None, "member": False, "worst": price, "delta": 0.05,
        "release": "full", "policy": "off", "commit": None, "overlap": [], "charged": [subject.digest],
        "seen": {replica: entry.seq for replica, entry in heads(history.entries).items()},
        "flags": as_facts([unguarded_look.finding()]),
    }  # fmt: skip


def shown(intent: Mapping[str, Any], found: LabelSummary, sealing: TestSetDeclaration) -> dict[str, Any]:
    """The reveal: nothing is charged to this look itself."""
    errors = found.errors if kind_of(sealing.measure) in WITH_COUNT else None
    return {**who(), "intent": intent["id"], "symbol": "unguarded", "score": found.score, "errors": errors,
            "price": intent["worst"], "interval": None, "released": None}  # fmt: skip


def _shown(look: PastLook, asked: tuple[str, str, int], score: float | None) -> bool:
    """Say whether the number for these predictions was shown before; corrected labels make another number."""
    facts = look.facts
    whole = look.answer.get("symbol") == "count" or is_off(facts)
    same = (facts["metric"], facts["predictions"], facts.get("n")) == asked and score in (None, look.answer.get("score"))
    return look.status == "revealed" and whole and same
