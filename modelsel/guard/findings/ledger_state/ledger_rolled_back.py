"""Entries that were seen before are gone."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import RESTORE, FindingKind

KIND = FindingKind("G071", "LEDGER_ROLLED_BACK", "critical", RESTORE, loss=True)


def finding(damage: str) -> Finding:
    return KIND.finding(damage)


def look_is_gone(anchor: str, seq: str, replica: str, rows: str) -> Finding:
    return KIND.finding(f"{anchor} saw entry {seq} of replica {replica}, a look at {rows}, which is gone")


def end_is_gone(replica: str, seq: int) -> Finding:
    return KIND.finding(f"replica {replica} had {seq} entries when last seen; its end is gone")
