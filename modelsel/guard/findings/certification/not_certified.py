"""The answer has no certified interval."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FRESH, FindingKind

KIND = FindingKind("G052", "NOT_CERTIFIED", "low", "choose measure=error for a certified interval")


def finding(metric: str, release: str) -> Finding:
    """Report a measure without a certified interval; of `metric` the kind is named, and not the digest of its settings."""
    return KIND.finding(f"{metric.partition(':')[0]}, released as {release}, has no certified interval")


def too_few_clean(clean: int, n: int, needed: int) -> Finding:
    return KIND.finding(
        f"no interval can be certified: earlier studies leave {clean} of {n} test rows, and {needed} are needed", do=FRESH
    )


def shared_unknown() -> Finding:
    return KIND.finding(
        "no interval can be certified: which rows are shared with earlier test sets is not known one by one", do=FRESH
    )


def by_thresholdout() -> Finding:
    return KIND.finding("thresholdout's answers have no certified interval", do="use guard=warn or guard=ladder for one")
