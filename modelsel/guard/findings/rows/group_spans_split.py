"""A group has rows on both sides of the split."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind

KIND = FindingKind("G032", "GROUP_SPANS_SPLIT", "high", "seal whole groups: split=group and dataset.groups")


def finding(both: int, groups: int) -> Finding:
    return KIND.finding(f"{both} of {groups} groups of the test rows have rows on both sides")


def suspected(column: str, met: float) -> Finding:
    return KIND.finding(
        f"column {column!r} looks like a group: {met:.0%} of the test rows share one with development rows", severity="medium"
    )
