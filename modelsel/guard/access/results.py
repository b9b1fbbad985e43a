"""Entries of the ledger as the result that a study reports."""

from collections.abc import Mapping
from typing import Any

from modelsel.core.outcome import TestResult
from modelsel.core.spec import kind_of
from modelsel.guard.checks.look_requests import Refused
from modelsel.guard.policy.base import Policy
from modelsel.guard.release.mechanisms import LabelSummary


def answered(
    intent: Mapping[str, Any], answer: Mapping[str, Any], policy: Policy, replay: bool, extra: tuple[str, ...] = ()
) -> TestResult:
    """The released answer; a replay costs nothing and keeps its look, interval and spending."""
    limits = answer["interval"]
    codes = () if replay else tuple(finding["code"] for finding in intent["flags"])
    return TestResult(
        score=answer["score"], errors=answer["errors"], n=intent["n"], look=intent["look"], replay=replay,
        price=0.0 if replay else float(answer["price"]), spent=float(intent["spent"]),
        interval=(float(limits[0]), float(limits[1])) if limits else None, level=1 - intent["delta"],
        policy=kind_of(policy), release=intent["release"], flags=(*codes, *(code for code in extra if code not in codes)),
    )  # fmt: skip


def refused(verdict: Refused, policy: Policy) -> TestResult:
    """Write a refusal as a test result."""
    return TestResult(
        score=None, errors=None, n=verdict.n, look=verdict.look, replay=False, price=0.0, spent=verdict.spent, interval=None,
        level=1 - verdict.delta, policy=kind_of(policy), release=verdict.release,
        flags=tuple(finding.code for finding in verdict.findings), refused=verdict.reason,
    )  # fmt: skip


def unguarded(found: LabelSummary, policy: Policy, metric: str, codes: tuple[str, ...]) -> TestResult:
    """Write an unguarded score as a test result: no look number, no price, no interval."""
    errors = found.errors if metric in ("error", "cost_matrix") else None
    return TestResult(
        score=found.score, errors=errors, n=found.n, look=0, replay=False, price=0.0, spent=0.0, interval=None,
        level=1 - policy.delta, policy=kind_of(policy), release="full", flags=codes,
    )  # fmt: skip
