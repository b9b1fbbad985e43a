"""The effort of selection on a test set's development rows: how many candidates were tried, and the luck that allows."""

from collections.abc import Mapping
from math import exp
from typing import Any

from modelsel.guard.checks.post_release import LEVEL, log_most_candidates
from modelsel.guard.history.history import History
from modelsel.statistics.bounds import agnostic_excess
from modelsel.statistics.optimism import best_of

TOLERANCE = 0.05  # of the error rate, for the number of candidates that the rows carry
MOST = 10**15  # beyond, nobody counts


def choices(history: History, testset: str) -> dict[str, Any] | None:
    """Count candidates of all studies, each study once; None where nobody chose.

    All of error rates. `bound`: half width that holds for all of them at once, √((ln K + ln 1/δ) / 2m); `luck`: by how much the
    best of K equally good ones is expected to look better (None where another measure decided); `carried`: how many candidates
    m rows carry within ±.05 (10^15 stands for more). With folds instead of one validation set they are heuristics.
    """
    studies = {entry.facts["spec_id"]: entry.facts for entry in history.selections if entry.facts["testset"] == testset}
    tried, last = sum(int(facts["tried"]) for facts in studies.values()), next(reversed(studies.values()), None)
    if last is None or tried < 1 or int(last["cv_rows"]) < 1:
        return None
    rows, rate = int(last["cv_rows"]), _rate(last)
    luck = None if rate is None else best_of(tried) * (rate * (1 - rate) / rows) ** 0.5
    return {"candidates": tried, "rows": rows, "bound": agnostic_excess(tried, rows, LEVEL), "luck": luck,
            "carried": _carried(rows)}  # fmt: skip


def _carried(rows: int) -> int:
    return int(min(float(MOST), exp(min(log_most_candidates(rows, TOLERANCE), 40.0))))


def _rate(chosen: Mapping[str, Any]) -> float | None:
    """Return the error rate of the winner, where error rates decided."""
    error = chosen["cv_error"] if chosen.get("measure", "error") == "error" else None
    return float(error) if isinstance(error, int | float) and 0 <= error <= 1 else None
