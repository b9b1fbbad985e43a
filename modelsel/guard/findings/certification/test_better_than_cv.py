"""The test came out better than chance allows."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind

KIND = FindingKind("G041", "TEST_BETTER_THAN_CV", "medium", "look for leakage: the test came out better than chance allows")


def finding(errors: int, foreseen: float, p: float) -> Finding:
    return KIND.finding(f"{errors} errors where cross-validation foresaw {foreseen:.0f}: p = {p:.1g}")
