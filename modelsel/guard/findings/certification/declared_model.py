"""The model is one of those declared before the first look."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind

KIND = FindingKind("G016", "DECLARED_MODEL", "info", "")


def finding(space: int, how: str) -> Finding:
    return KIND.finding(f"the model is one of the {space} that were declared, {how}")
