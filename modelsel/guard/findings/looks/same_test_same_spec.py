"""The same study predicts something else than at its earlier look."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind

KIND = FindingKind(
    "G010", "SAME_TEST_SAME_SPEC", "low", "fix the seed or the library versions: the same study predicted something else"
)


def finding() -> Finding:
    return KIND.finding("the same study predicts otherwise than at its earlier look")
