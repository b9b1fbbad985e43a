"""Findings from the released answer and the selection together; nothing beyond what is released or recorded is used."""

from collections.abc import Iterator, Mapping, Sequence
from math import exp, log, sqrt

import numpy as np

from modelsel.core.outcome import Number
from modelsel.core.spec import kind_of
from modelsel.core.types import ClassTask, Finding
from modelsel.guard.checks.look_context import FEWEST
from modelsel.guard.facts import Look, RecordedSelection
from modelsel.guard.findings import certificate_findings, look_findings
from modelsel.guard.fingerprints import RowFingerprints
from modelsel.guard.history.history import History
from modelsel.guard.policy.base import Policy
from modelsel.guard.release import COUNTED, Released
from modelsel.guard.requests import LookRequest
from modelsel.statistics.bounds import agnostic_excess, best_of
from modelsel.statistics.certificate import NO_INFORMATION
from modelsel.statistics.prices import foreseen

IMPLAUSIBLE = 0.01
LEVEL = 0.05


def count_candidates(history: History, train: str) -> int:
    """Candidates of all studies that chose on these development rows, each study counted once."""
    by_study = {
        one.spec_id: int(one.tried)
        for one in (RecordedSelection.of(entry) for entry in history.selections if entry.brief.train == train)
    }
    return sum(by_study.values())


def selection(request: LookRequest, history: History, subject: RowFingerprints) -> Iterator[Finding]:
    """G040: so many candidates that the best of them may owe its lead to chance: √((ln K + ln 1/δ) / 2m) ≥ the lead.

    That bounds plain error rates. Where another measure decides, the winner need not lead by errors, and nothing is said;
    nor of numbers, where the floor at a tolerance is not known.
    """
    count, chosen, sealing = count_candidates(history, subject.train), request.selected, request.sealing
    task, error = sealing.development, chosen.cv_error if kind_of(sealing.measure) == "error" else None
    if error is None or not isinstance(task, ClassTask) or task.weights is not None or count < 2 or chosen.cv_rows < 1:
        return
    lead = majority_error(task) - error
    margin = sqrt((log(count) + log(1 / LEVEL)) / (2 * chosen.cv_rows))
    if margin >= lead:
        yield certificate_findings.too_many_candidates(count, chosen.cv_rows, margin, lead)


def answer(
    released: Released, intent: Look, told: tuple[float, int] | None, limits: Sequence[float] | None,
    policy: Policy, trained: float = 1.0,
) -> Iterator[Finding]:  # fmt: skip
    """G041, G050, G051, G052: what the answer to an intent and its interval say themselves.

    Models of folds had a share of the rows, `trained`. With all of them errors fall at most in proportion (the fast rate 1/n of
    learning curves), and a test that is better by no more than that accuses nobody.
    """
    n = intent.n
    if released.errors is not None and told is not None and not (intent.units or intent.withheld):
        rate = told[0] * trained
        p = float(np.sum(foreseen(n, rate, told[1])[: released.errors + 1]))
        if p < IMPLAUSIBLE:
            yield certificate_findings.test_better_than_cv(released.errors, n * rate, p)
    if limits is None:
        yield _why_uncertified(intent)
        return
    half = (limits[1] - limits[0]) / 2 / abs(intent.plan["width"] if intent.plan else 1.0)
    if half >= NO_INFORMATION:
        yield (
            certificate_findings.budget_exhausted_too_few_rows()
            if intent.look == 1
            else certificate_findings.budget_exhausted()
        )
    elif policy.max_halfwidth is not None and half > 0.8 * policy.max_halfwidth:
        yield certificate_findings.budget_low(half, policy.max_halfwidth)


def _why_uncertified(intent: Look) -> Finding:
    """G052: what takes the interval away, and what to do about that one."""
    clean, n = intent.n_clean or 0, intent.n
    if intent.withheld:
        return certificate_findings.not_certified_withheld(intent.withheld)
    if any(flag.code == look_findings.OUTSIDE_LOOK.code for flag in intent.flags):
        return certificate_findings.not_certified_outside()
    if not intent.certified:
        return (
            certificate_findings.not_certified_too_few_clean(clean, n, FEWEST)
            if clean < FEWEST
            else certificate_findings.not_certified_shared_unknown()
        )
    if intent.release == "thresholdout":
        return certificate_findings.not_certified_by_thresholdout()
    return certificate_findings.not_certified(intent.metric, str(intent.release))


def majority_error(task: ClassTask) -> float:
    """The error of always predicting the commonest class."""
    return 1 - float(np.bincount(task.target).max()) / len(task)


def log_most_candidates(rows: int, tolerance: float) -> float:
    """ln of how many candidates a validation set of m rows carries: 2 m τ² − ln 1/δ (the number itself is soon no float).

    >>> round(log_most_candidates(1000, 0.05), 4), round(log_most_candidates(200_000, 0.05))
    (2.0043, 997)
    """
    return 2 * rows * tolerance**2 - log(1 / LEVEL)


# The effort of selection on a test set's development rows: how many candidates were tried, and the luck that allows.

TOLERANCE = 0.05  # of the error rate, for the number of candidates that the rows carry
MOST = 10**15  # beyond, nobody counts


def choices(history: History, testset: str) -> Mapping[str, Number] | None:
    """Count candidates of all studies, each study once; None where nobody chose.

    All of error rates. `bound`: half width that holds for all of them at once, √((ln K + ln 1/δ) / 2m); `luck`: by how much the
    best of K equally good ones is expected to look better (None where another measure decided); `carried`: how many candidates
    m rows carry within ±.05 (10^15 stands for more). With folds instead of one validation set they are heuristics.
    """
    chosen = (one for one in map(RecordedSelection.of, history.selections_for(testset)) if not one.outside)
    studies = {one.spec_id: one for one in chosen}
    tried, last = sum(int(one.tried) for one in studies.values()), next(reversed(studies.values()), None)
    if last is None or tried < 1 or int(last.cv_rows) < 1:
        return None
    rows, rate = int(last.cv_rows), _rate(last)
    luck = None if rate is None else best_of(tried) * (rate * (1 - rate) / rows) ** 0.5
    return {"candidates": tried, "rows": rows, "bound": agnostic_excess(tried, rows, LEVEL), "luck": luck,
            "carried": _carried(rows)}  # fmt: skip


def _carried(rows: int) -> int:
    return int(min(float(MOST), exp(min(log_most_candidates(rows, TOLERANCE), 40.0))))


def _rate(chosen: RecordedSelection) -> float | None:
    """Return the error rate of the winner, where error rates decided."""
    error = chosen.cv_error if chosen.measure in COUNTED else None
    return float(error) if isinstance(error, int | float) and 0 <= error <= 1 else None
