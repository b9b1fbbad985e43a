"""Test rows were tested before, in another test set or by another study."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FRESH, LARGE, FindingKind, counted

KIND = FindingKind("G020", "OVERLAP_RESEED", "high", FRESH)


def finding(rows: int, n: int, testset: str) -> Finding:
    return KIND.finding(
        f"{counted(rows, n)} were tested before, in test set {testset[:8]}", severity="high" if rows / n >= LARGE else "medium"
    )


def sealed_before(looks: int, study: str) -> Finding:
    return KIND.finding(f"these rows were {_when(looks)}, by {study}: its terms stay in force, and what was spent is charged")


def _when(looks: int) -> str:
    return f"looked at before ({looks})" if looks else "sealed before"
