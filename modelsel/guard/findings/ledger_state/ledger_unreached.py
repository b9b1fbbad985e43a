"""A ledger that holds looks of others cannot be asked."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind

KIND = FindingKind("G078", "LEDGER_UNREACHED", "medium", "make the ledger reachable again; until then nothing is certified")


def finding(url: str, problem: str) -> Finding:
    return KIND.finding(f"{url} holds looks of others, and cannot be asked: {problem}")
