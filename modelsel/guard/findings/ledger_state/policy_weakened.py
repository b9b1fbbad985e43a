"""Settings were loosened after the rows were sealed."""

from collections.abc import Sequence

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind

KIND = FindingKind(
    "G073", "POLICY_WEAKENED", "high", "go back to the settings under which the set was sealed; they stay in force"
)


def finding(keys: Sequence[str]) -> Finding:
    return KIND.finding(f"{', '.join(keys)} changed since these rows were sealed; the sealed settings stay in force")


def recorded(keys: Sequence[str], testset: str) -> Finding:
    return KIND.finding(f"{', '.join(keys)} changed after test set {testset[:8]} was sealed")


def other_measure(sealed: str, now: str) -> Finding:
    return KIND.finding(f"these rows were sealed for {sealed}, looked at, and are now judged by {now}")
