"""Nothing of this study is kept, so that no later test can know of it."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind

KIND = FindingKind(
    "G004", "NOT_REMEMBERED", "high", "leave guard.remember as it is, and mend the ledger: a later test cannot know of this"
)


def by_setting() -> Finding:
    return KIND.finding("guard.remember=false: nothing of this study is kept, no later test can know of it")


def in_audit() -> Finding:
    return KIND.finding("guard.remember=false: nothing was kept")


def unwritable(problem: str) -> Finding:
    return KIND.finding(f"the ledger could not take what was seen here: {problem}")


def prediction(problem: str) -> Finding:
    """Predictions read no label: that they are not on record is no grave matter."""
    return KIND.finding(f"the ledger could not take that rows were predicted: {problem}", severity="low")
