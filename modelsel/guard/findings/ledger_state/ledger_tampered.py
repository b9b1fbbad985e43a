"""An entry of the ledger was changed."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import RESTORE, FindingKind

KIND = FindingKind("G070", "LEDGER_TAMPERED", "critical", RESTORE, loss=True)


def finding(damage: str) -> Finding:
    return KIND.finding(damage)


def rewritten(anchor: str, seq: str, replica: str, rows: str) -> Finding:
    return KIND.finding(f"{anchor} saw another entry {seq} of replica {replica}, a look at {rows}: the chain was written anew")


def replaced(replica: str, seq: int) -> Finding:
    return KIND.finding(f"entry {seq} of replica {replica} is another one than when last seen")
