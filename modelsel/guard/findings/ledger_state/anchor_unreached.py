"""An anchor could not be told or asked."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind

KIND = FindingKind("G077", "ANCHOR_UNREACHED", "low", "look after the anchor: without it a lost ledger may go unnoticed")


def not_told(name: str, error: object) -> Finding:
    return KIND.finding(f"the anchor {name} was not told: {error}")


def not_asked(name: str, error: object) -> Finding:
    return KIND.finding(f"the anchor {name} cannot be asked: {error}")


def none_told(problem: str) -> Finding:
    return KIND.finding(f"no anchor could be told: {problem}")


def after_answer(error: Exception) -> Finding:
    return KIND.finding(f"the answer is on record, but what follows it failed: {type(error).__name__}: {error}")
