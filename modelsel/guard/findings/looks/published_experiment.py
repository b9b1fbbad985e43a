"""The choice of a published experiment is not written into the ledger."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind

KIND = FindingKind("G005", "PUBLISHED_EXPERIMENT", "info", "")


def finding() -> Finding:
    return KIND.finding("a published experiment: its choice is not written into the ledger")
