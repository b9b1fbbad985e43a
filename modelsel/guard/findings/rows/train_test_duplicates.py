"""Test rows stand among the development rows too."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import LARGE, FindingKind, Severity, counted

KIND = FindingKind(
    "G030", "TRAIN_TEST_DUPLICATES", "low", "remove them, or keep them on one side (scheme.keep_duplicates_together)"
)


def finding(rows: int, n: int, identifiable: bool) -> Finding:
    return KIND.finding(
        f"{counted(rows, n)} stand among the development rows too", severity=_severity(rows / n) if identifiable else "info"
    )


def _severity(share: float) -> Severity:
    return "low" if share < 0.01 else "medium" if share < LARGE else "high"
