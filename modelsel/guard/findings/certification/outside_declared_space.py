"""The chosen model pays as one that was not declared."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind

KIND = FindingKind("G014", "OUTSIDE_DECLARED_SPACE", "medium", "declare all that may be tested before the first look")


def finding(space: int) -> Finding:
    return KIND.finding(f"the chosen model is not one of the {space} that were declared when the rows were sealed")


def not_as_declared(why: str) -> Finding:
    """Report that a model is charged as an undeclared one, and why."""
    return KIND.finding(
        f"priced as an undeclared model: {why}",
        severity="info",
        do="declare before the first look, and test with the data and the version declared",
    )
