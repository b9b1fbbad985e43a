"""The quota of exact answers is used up; answers come by the ladder."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind

KIND = FindingKind("G053", "QUOTA_USED", "low", "what is left is worth most for models that cross-validation prefers")


def finding(steps: int, why: str) -> Finding:
    return KIND.finding(f"the answer comes by the ladder, in steps of 1/{steps}: {why}")
