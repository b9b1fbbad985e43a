"""No information is left in this test set."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind

KIND = FindingKind("G051", "BUDGET_EXHAUSTED", "high", "collect fresh test rows: no information is left in these")


def finding() -> Finding:
    return KIND.finding("no information is left in this test set")


def too_few_rows() -> Finding:
    return KIND.finding("these rows are too few to tell anything", severity="medium")


def quota_is_used() -> Finding:
    return KIND.finding("the quota is used up: no information is left in this test set")
