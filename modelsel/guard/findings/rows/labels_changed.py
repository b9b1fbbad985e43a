"""Labels of rows that were looked at are said to be corrected."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import QUOTE, FindingKind

KIND = FindingKind("G015", "LABELS_CHANGED", "medium", f"say what was corrected; {QUOTE}")


def finding(look: int) -> Finding:
    return KIND.finding(f"labels of these rows were corrected after look {look}, it is said")
