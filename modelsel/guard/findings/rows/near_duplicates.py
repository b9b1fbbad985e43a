"""Test rows lie nearer to development rows than chance allows."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind

KIND = FindingKind("G031", "NEAR_DUPLICATES", "medium", "look whether rows were copied or augmented before the split")


def finding(excess: float) -> Finding:
    return KIND.finding(f"test rows lie nearer to development rows than those to each other, {excess:.0%} more often")
