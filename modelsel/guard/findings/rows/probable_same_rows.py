"""Test rows are probably those of an earlier study in disguise."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind, counted

KIND = FindingKind("G022", "PROBABLE_SAME_ROWS", "high", "say which rows these are (dataset.id), or collect fresh test rows")
CHANNELS = {"C2": "a nearly unique column holds the same values", "C4": "the values rank the same"}


def finding(rows: int, n: int, testset: str, channel: str) -> Finding:
    return KIND.finding(f"{counted(rows, n)} are probably those of test set {testset[:8]}: {CHANNELS[channel]}")


def same_table(testset: str, role: str) -> Finding:
    """Report that the table is probably one that was seen before, although no row could be matched."""
    return KIND.finding(
        f"this is probably the table of test set {testset[:8]}, which was {_used(role)}: "
        "its columns hang together as they did there, nearer than another sample would; no single row could be matched"
    )


def _used(role: str) -> str:
    return "looked at" if role == "test" else "used to choose"
