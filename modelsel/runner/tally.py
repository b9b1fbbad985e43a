"""What has become of every candidate on every fold: the numbers that a choice is made from, as candidates × folds.

A cell that has not answered is `UNFINISHED`. Partial folds are never averaged: only a candidate that is ok on all folds is
eligible.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Booleans, Floats, Status
from modelsel.runner.answers import CODE, OK, STATUSES
from modelsel.runner.work import Summary

UNFINISHED = -1
NOT_DONE = "not every fold was finished"


class Tally:
    """Filled in as cells finish, in any order: the numbers do not depend on it."""

    def __init__(self, candidates: int, folds: int) -> None:
        shape = candidates, folds
        self.status = np.full(shape, UNFINISHED, np.int8)
        self.score = np.full(shape, np.nan)
        self.complexity = np.full(shape, np.nan)
        self.training_error = np.full(shape, np.nan)
        self.held_back = np.full(shape, np.nan)
        self._reasons: dict[tuple[int, int], str] = {}
        self._tracebacks: dict[int, str] = {}  # first failure per fold

    def add(self, fold: int, members: NDArray[np.int64], summary: Summary, rows: NDArray[np.int64] | None = None) -> None:
        """Enter a job's numbers; `rows` are the positions of the members in the summary (all, in order, unless said)."""
        rows = np.arange(len(members)) if rows is None else rows
        for name in ("status", "score", "complexity", "training_error", "held_back"):
            getattr(self, name)[members, fold] = getattr(summary, name)[rows]
        if summary.reasons:
            where = {int(row): int(member) for row, member in zip(rows, members, strict=True)}
            self._reasons |= {(where[row], fold): text for row, text in summary.reasons.items() if row in where}
        if summary.traceback:
            self._tracebacks.setdefault(fold, summary.traceback)

    @property
    def eligible(self) -> Booleans:
        return np.asarray((self.status == OK).all(axis=1))

    def hopeless(self, fold: int) -> bool:
        """True when all candidates have answered on a fold, and every one of them failed."""
        column = self.status[:, fold]
        return bool((column > OK).all() and (column != CODE["skipped"]).any())

    def best(self, higher_is_better: bool) -> float | None:
        """Best mean so far among candidates that finished all folds."""
        done = self.score[self.eligible]
        if not len(done):
            return None
        means = done.mean(axis=1)
        return float(means.max() if higher_is_better else means.min())

    def verdicts(self) -> tuple[tuple[Status, ...], tuple[str, ...]]:
        """Status and reason per candidate: those of the first fold that failed, before those of a fold that was skipped."""
        found = [("ok", "") if ok else self._verdict(member) for member, ok in enumerate(self.eligible)]
        return tuple(status for status, _ in found), tuple(reason for _, reason in found)  # type: ignore[misc]

    def _verdict(self, member: int) -> tuple[Status, str]:
        statuses = self.status[member]
        failed = np.flatnonzero(failing(statuses))
        where = failed if len(failed) else np.flatnonzero(statuses == CODE["skipped"])
        if not len(where):
            return "skipped", NOT_DONE
        fold = int(where[0])
        reason = self._reasons.get((member, fold), "")
        return STATUSES[statuses[fold]], f"{reason} (fold {fold})"

    def tracebacks(self) -> tuple[str, ...]:
        """Distinct tracebacks of first failures, in the order of folds."""
        return tuple(dict.fromkeys(self._tracebacks[fold] for fold in sorted(self._tracebacks)))

    def mean(self, of: Floats) -> Floats:
        """Mean over folds of one of the arrays, NaN where a fold is missing."""
        return np.asarray(of.mean(axis=1))


def failing(status: NDArray[np.int8]) -> Booleans:
    """Which statuses are failures: a candidate that was skipped is none."""
    return np.asarray((status > OK) & (status != CODE["skipped"]))


def positions_of(ids: NDArray[np.uint64], among: NDArray[np.uint64]) -> tuple[Any, Any]:
    """Positions (in `ids`, in `among`) of what both hold, ordered by position in `among`."""
    order = np.argsort(ids, kind="stable")
    at = np.searchsorted(ids, among, sorter=order)
    found = (
        np.flatnonzero((at < len(ids)) & (ids[order[np.minimum(at, len(ids) - 1)]] == among)) if len(ids) else np.zeros(0, int)
    )
    return order[at[found]] if len(ids) else found, found
