"""Rows were hashed under a key that is not at hand."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind

KIND = FindingKind(
    "G074", "KEY_GAP", "medium", "use the key that the earlier rows were hashed with; overlap with them is unknown"
)


def finding(keys: int) -> Finding:
    return KIND.finding(f"{keys} other key(s) hashed rows in this ledger: overlap with those rows is unknown")


def in_anchor(path: object) -> Finding:
    return KIND.finding(f"{path} counts looks made with another key: overlap is unknown")
