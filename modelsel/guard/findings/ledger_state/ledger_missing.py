"""A ledger that held looks is gone."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import RESTORE, FindingKind

KIND = FindingKind("G072", "LEDGER_MISSING", "critical", RESTORE, loss=True)


def elsewhere(anchor: str, look: int | str, rows: str) -> Finding:
    return KIND.finding(f"{anchor} saw look {look} at {rows} in another ledger, which is not here")


def another_one(place: str) -> Finding:
    return KIND.finding(f"the ledger that stood at {place} is gone; this is another one")
