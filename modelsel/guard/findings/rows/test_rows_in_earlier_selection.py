"""Test rows helped to choose a model in an earlier study."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FRESH, LARGE, FindingKind, counted

KIND = FindingKind("G021", "TEST_ROWS_IN_EARLIER_SELECTION", "critical", FRESH)


def finding(rows: int, n: int) -> Finding:
    return KIND.finding(
        f"{counted(rows, n)} helped to choose in an earlier study", severity="critical" if rows / n >= LARGE else "high"
    )
