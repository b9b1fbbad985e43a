"""The labels of these rows were given away."""

from modelsel.core.types import Finding
from modelsel.guard.findings.base import FindingKind

KIND = FindingKind("G061", "LABELS_RELEASED", "critical", "collect fresh test rows: these are burned")


def now() -> Finding:
    return KIND.finding("the labels of these rows were given away")


def before() -> Finding:
    return KIND.finding("the labels of these rows were given away before")
