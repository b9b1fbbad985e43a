"""These rows were opened without a guard before."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind

KIND = FindingKind("G076", "UNGUARDED_RUN_SEEN", "high", "count the unguarded score as a look at full precision")


def finding(times: int) -> Finding:
    return KIND.finding(f"these rows were opened without a guard {_times(times)}, and what was shown is charged in full")


def by_anchor(anchor: str, rows: str) -> Finding:
    return KIND.finding(f"{anchor} saw {rows} opened without a guard")


def _times(count: int) -> str:
    return "before" if count == 1 else f"{count} times before"
