"""No earlier look at these test rows is known to this home."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind

KIND = FindingKind("G001", "FIRST_LOOK", "info", "")


def finding(since: str) -> Finding:
    return KIND.finding(f"the first look at these rows known to this home, which remembers since {since}")
