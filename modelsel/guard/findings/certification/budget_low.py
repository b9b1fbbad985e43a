"""The interval is nearly as wide as guard.max_halfwidth allows."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind

KIND = FindingKind("G050", "BUDGET_LOW", "medium", "keep the last looks for what matters")


def finding(half: float, most: float) -> Finding:
    return KIND.finding(f"the interval is ±{half:.3f} wide, and guard.max_halfwidth={most:g}")
