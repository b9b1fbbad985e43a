"""An earlier look was interrupted between record and answer."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind

KIND = FindingKind("G060", "UNRESOLVED_INTENT", "medium", "run the interrupted study again: it resolves its own look")


def finding() -> Finding:
    return KIND.finding("an earlier look was interrupted between record and answer; it is counted at its highest price")


def told(text: str) -> Finding:
    return KIND.finding(text)
