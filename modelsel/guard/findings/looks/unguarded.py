"""The test rows were opened under guard=off."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind

KIND = FindingKind("G003", "UNGUARDED", "medium", "run with guard=warn for an interval that stays valid")


def finding() -> Finding:
    return KIND.finding("the test rows were opened without a guard")
