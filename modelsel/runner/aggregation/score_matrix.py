"""The numbers that a choice is made from: every column of the cells' results, as candidates × folds.

A cell that has not answered is `UNFINISHED`. Partial folds are never averaged: only a candidate that is ok on all folds is
eligible.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Booleans, Floats, Status
from modelsel.measure.base import BaseMeasure
from modelsel.measure.beside import confusion_measures, of_matrices
from modelsel.runner.evaluation.cell_result import (
    CODE,
    COLUMNS,
    MEASURED,
    NOTHING,
    OK,
    STATUSES,
    UNFINISHED,
    CellResult,
    failing,
)

NOT_DONE = "not every fold was finished"


@dataclass(frozen=True)
class FitWarning:
    """A warning of a learner: in how many folds, and the first candidate (position in the plan) whose batch it stood in."""

    text: str
    folds: int
    candidate: int


class ScoreMatrix:
    """Filled in as cells finish, in any order: the numbers do not depend on it. `columns` are those of `CellResult`."""

    def __init__(self, candidates: int, folds: int, beside: Mapping[str, BaseMeasure] = NOTHING, classes: int = 0) -> None:
        """Begin with no score."""
        shape = candidates, folds
        self._later = confusion_measures(beside, classes)
        self._order = tuple(beside)
        self._beside = {name: np.full(shape, np.nan) for name in beside if name not in self._later}  # other measures
        self._matrices = np.full((*shape, classes, classes), np.nan) if self._later else None
        self.status = np.full(shape, UNFINISHED, np.int8)
        self.columns = {name: np.full(shape, np.nan) for name in COLUMNS}
        self.score = self.columns["score"]
        self.dropped: dict[int, str] = {}  # candidates that left a race, and when
        self.not_begun: dict[int, str] = {}  # candidates that nobody asked for, and why
        self.of_others: tuple[int, ...] = ()  # candidates that no cell computes
        self._reasons: dict[tuple[int, int], str] = {}
        self._tracebacks: dict[int, str] = {}  # first failure per fold
        self._warned: dict[str, tuple[set[int], set[int]]] = {}  # folds and candidates of each warning

    def add(self, fold: int, members: NDArray[np.int64], result: CellResult) -> None:
        """Enter the scored result of some candidates (positions in the plan) on a fold."""
        self.status[members, fold] = result.status
        for name, column in self.columns.items():
            column[members, fold] = getattr(result, name)
        if result.beside is not None:
            for place, own in enumerate(self._beside.values()):
                own[members, fold] = result.beside[:, place]
        if result.matrices is not None and self._matrices is not None:
            self._matrices[members, fold] = result.matrices
        self._reasons |= {(int(members[position]), fold): text for position, text in result.reasons.items()}
        for text in result.warnings:
            folds, warned = self._warned.setdefault(text, (set(), set()))
            folds.add(fold)
            warned.update(members.tolist())
        if result.traceback:
            self._tracebacks.setdefault(fold, result.traceback)

    @cached_property
    def beside(self) -> dict[str, Floats]:
        """Other measures, candidates × folds by name; asked for when all cells have been entered."""
        found = {**self._beside, **({} if self._matrices is None else of_matrices(self._later, self._matrices))}
        return {name: found[name] for name in self._order}

    @property
    def eligible(self) -> Booleans:
        """A mask of the candidates that are ok on all folds."""
        return np.asarray((self.status == OK).all(axis=1))

    def hopeless(self, fold: int) -> bool:
        """True when all candidates have answered on a fold, and every one of them failed."""
        status = np.delete(self.status[:, fold], self.of_others)
        return bool((status > OK).all() and (status != CODE["skipped"]).any())

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
        """Say how a candidate without a valid score ended, and why."""
        if member in self.dropped:
            return "dropped", self.dropped[member]
        statuses = self.status[member]
        failed = np.flatnonzero(failing(statuses))
        where = failed if len(failed) else np.flatnonzero(statuses == CODE["skipped"])
        if not len(where):
            return "skipped", self.not_begun.get(member, NOT_DONE)
        fold = int(where[0])
        reason = self._reasons.get((member, fold), "")
        return STATUSES[statuses[fold]], f"{reason} (fold {fold})"

    def tracebacks(self) -> tuple[str, ...]:
        """Distinct tracebacks of first failures, in the order of folds."""
        return tuple(dict.fromkeys(self._tracebacks[fold] for fold in sorted(self._tracebacks)))

    def fit_warnings(self) -> tuple[FitWarning, ...]:
        """List the warnings of learners, by their text."""
        return tuple(FitWarning(text, len(folds), min(members)) for text, (folds, members) in sorted(self._warned.items()))

    def mean(self, name: str) -> Floats:
        """Mean over folds of a column, NaN where a fold is missing."""
        return np.asarray(self.columns[name].mean(axis=1))

    def means(self) -> dict[str, Floats]:
        """Mean over folds of what was measured beside the score."""
        return {name: self.mean(name) for name in MEASURED}
