"""Histories of a few entries, written by hand: for what is reckoned from a ledger without a study."""

from collections.abc import Mapping
from typing import Any

from modelsel.guard.history import History
from modelsel.ledger.entry import LedgerEntry, follow

TERMS = {
    "policy": "warn", "release": "full", "delta": 0.05, "steps": None, "budget": 10, "noise": 1, "target": None, "quota": None,
    "metric": "error", "measure": "m", "rank": 1, "max_looks": None,
}  # fmt: skip
Told = tuple[str, Mapping[str, Any]]


def entries(*told: Told, replica: str = "r", first: int = 0) -> list[LedgerEntry]:
    """Entries of one chain; each has an id and a time, unless it states its own."""
    made: list[LedgerEntry] = []
    for number, (kind, facts) in enumerate(told, first):
        whole = {"id": f"{replica}{number}", "at": f"2026-01-01T{number:06}", **facts}
        made.append(follow(made[-1] if made else None, replica, kind, whole))
    return made


def history(*told: Told) -> History:
    return History(tuple(entries(*told)))


def seal(testset: str = "mine", **facts: Any) -> Told:
    """A seal; what is not a fact of one is one of its terms."""
    terms = {name: facts.pop(name) for name in tuple(facts) if name in TERMS}
    whole = {
        "testset": testset,
        "n": 200,
        "space": None,
        "key_id": "k",
        "u": 1.0,
        "source": testset,
        "terms": {**TERMS, **terms},
    }
    return "seal", {**whole, **facts}


def choice(testset: str = "mine", **facts: Any) -> Told:
    whole = {"testset": testset, "train": "rows", "spec_id": "s", "cv_mean": 0.3, "cv_error": 0.1, "cv_rows": 90, "tried": 1}
    return "selection", {**whole, **facts}


def look(name: str, testset: str = "mine", answer: Mapping[str, Any] | None = None, **facts: Any) -> list[Told]:
    """An intent, and its answer where there is one."""
    whole = {"id": name, "testset": testset, "metric": "error", "n": 200, "look": 1, "spent": 0.0, "worst": 20.0,
             "spec_id": "s", "train": "rows", "predictions": name, "certified": True, "delta": 0.05, "config": {}}  # fmt: skip
    told: list[Told] = [("intent", {**whole, **facts})]
    said = {
        "intent": name,
        "price": 3.0,
        "symbol": "count",
        "score": 0.2,
        "errors": 40,
        "interval": [0.1, 0.3],
        "released": None,
    }
    return told if answer is None else [*told, ("reveal", {"id": f"end of {name}", **said, **answer})]
