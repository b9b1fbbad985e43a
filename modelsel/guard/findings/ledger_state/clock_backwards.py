"""Entries are dated out of order."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind

KIND = FindingKind("G075", "CLOCK_BACKWARDS", "low", "set the clock; entries are ordered by number, not by time")


def finding() -> Finding:
    return KIND.finding("an entry of the ledger is dated after now")


def out_of_order(seq: int, replica: str) -> Finding:
    return KIND.finding(f"entry {seq} of replica {replica} is dated before the one it follows")
