"""The same table was sealed with another split."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind

KIND = FindingKind("G023", "SAME_SOURCE_NEW_SPLIT", "medium", "keep the split that was sealed first")


def finding() -> Finding:
    return KIND.finding("the same table was sealed with another split before")
