"""Findings from the released answer and the selection together; nothing beyond what is released or recorded is used."""

from collections.abc import Iterator, Mapping
from math import log, sqrt
from typing import Any

import numpy as np

from modelsel.core.spec import kind_of
from modelsel.core.types import Finding, Task
from modelsel.guard.checks.look_context import FEWEST
from modelsel.guard.findings.certification import (
    budget_exhausted,
    budget_low,
    not_certified,
    test_better_than_cv,
    too_many_candidates,
)
from modelsel.guard.history.history import History
from modelsel.guard.identity.fingerprints import RowFingerprints
from modelsel.guard.identity.requests import LookRequest
from modelsel.guard.policy.base import Policy
from modelsel.guard.release.mechanisms import Released
from modelsel.statistics.reuse.certificate import NO_INFORMATION
from modelsel.statistics.reuse.prices import foreseen

IMPLAUSIBLE = 0.01
LEVEL = 0.05


def tried(history: History, train: str) -> int:
    """Candidates of all studies that chose on these development rows, each study counted once."""
    by_study = {
        entry.facts["spec_id"]: int(entry.facts["tried"]) for entry in history.selections if entry.brief["train"] == train
    }
    return sum(by_study.values())


def selection(request: LookRequest, history: History, subject: RowFingerprints) -> Iterator[Finding]:
    """G040: so many candidates that the best of them may owe its lead to chance: √((ln K + ln 1/δ) / 2m) ≥ the lead.

    That bounds plain error rates. Where another measure decides, the winner need not lead by errors, and nothing is said.
    """
    count, chosen, sealing = tried(history, subject.train), request.selected, request.sealing
    error = chosen.cv_error if kind_of(sealing.measure) == "error" and sealing.development.weights is None else None
    if error is None or count < 2 or chosen.cv_rows < 1:
        return
    lead = majority_error(sealing.development) - error
    margin = sqrt((log(count) + log(1 / LEVEL)) / (2 * chosen.cv_rows))
    if margin >= lead:
        yield too_many_candidates.finding(count, chosen.cv_rows, margin, lead)


def answer(
    released: Released, intent: Mapping[str, Any], told: tuple[float, int] | None, limits: tuple[float, float] | None,
    policy: Policy, trained: float = 1.0,
) -> Iterator[Finding]:  # fmt: skip
    """G041, G050, G051, G052: what the answer to an intent and its interval say themselves.

    Models of folds had a share of the rows, `trained`. With all of them errors fall at most in proportion (the fast rate 1/n of
    learning curves), and a test that is better by no more than that accuses nobody.
    """
    n = int(intent["n"])
    if released.errors is not None and told is not None:
        rate = told[0] * trained
        p = float(np.sum(foreseen(n, rate, told[1])[: released.errors + 1]))
        if p < IMPLAUSIBLE:
            yield test_better_than_cv.finding(released.errors, n * rate, p)
    if limits is None:
        yield _uncertified(intent)
        return
    half = (limits[1] - limits[0]) / 2
    if half >= NO_INFORMATION:
        yield budget_exhausted.too_few_rows() if intent["look"] == 1 else budget_exhausted.finding()
    elif policy.max_halfwidth is not None and half > 0.8 * policy.max_halfwidth:
        yield budget_low.finding(half, policy.max_halfwidth)


def _uncertified(intent: Mapping[str, Any]) -> Finding:
    """G052: which of three things takes the interval away, and what to do about that one."""
    clean, n = int(intent["n_clean"]), int(intent["n"])
    if not intent["certified"]:
        return not_certified.too_few_clean(clean, n, FEWEST) if clean < FEWEST else not_certified.shared_unknown()
    if intent["release"] == "thresholdout":
        return not_certified.by_thresholdout()
    return not_certified.finding(intent["metric"], intent["release"])


def majority_error(task: Task) -> float:
    """The error of always predicting the commonest class."""
    return 1 - float(np.bincount(task.target).max()) / len(task)


def log_most_candidates(rows: int, tolerance: float) -> float:
    """ln of how many candidates a validation set of m rows carries: 2 m τ² − ln 1/δ (the number itself is soon no float).

    >>> round(log_most_candidates(1000, 0.05), 4), round(log_most_candidates(200_000, 0.05))
    (2.0043, 997)
    """
    return 2 * rows * tolerance**2 - log(1 / LEVEL)
