"""The study was written down before its score was known."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind

KIND = FindingKind("G013", "COMMITTED_LOOK", "info", "")


def finding(look: int) -> Finding:
    return KIND.finding(f"this study was committed as look {look} before its score was known")
