"""So many candidates that the best of them may owe its lead to chance."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind

KIND = FindingKind("G040", "TOO_MANY_CANDIDATES", "medium", "declare fewer candidates, or report the corrected estimate")


def finding(count: int, rows: int, margin: float, lead: float) -> Finding:
    """Report a lead that chance alone may give to the best of so many candidates."""
    return KIND.finding(
        f"the best of {count} candidates on {rows} rows may lead by {margin:.3f} by chance, "
        f"and leads the majority class by {max(0.0, lead):.3f}"
    )
