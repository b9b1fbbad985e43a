"""The study was changed after an answer on these rows was shown."""

from collections.abc import Sequence

from modelsel.core.types import Finding
from modelsel.guard.findings.base import QUOTE, FindingKind

KIND = FindingKind("G012", "SPEC_CHANGED_AFTER_SCORE", "high", f"{QUOTE}; decide by cross-validation before the next look")


def finding(look: int, keys: Sequence[str]) -> Finding:
    return KIND.finding(f"the study was changed after look {look}: {_listed(keys)}")


def _listed(keys: Sequence[str], most: int = 6) -> str:
    shown = ", ".join(keys[:most]) or "its data or its parts"
    return shown + (f" and {len(keys) - most} more" if len(keys) > most else "")
