"""The same study was tested on these rows before, trained on other rows."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import QUOTE, FindingKind

KIND = FindingKind("G011", "SAME_TEST_NEW_TRAIN", "medium", QUOTE)


def finding() -> Finding:
    return KIND.finding("the same study was tested on these rows before, trained on other rows")
