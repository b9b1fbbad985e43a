"""The same question was asked again: the stored answer is shown, and no label is read."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind

KIND = FindingKind("G002", "REPLAY", "info", "nothing: the stored answer is shown again and costs nothing")


def finding(look: int) -> Finding:
    return KIND.finding(f"the stored answer of look {look} is shown again")
