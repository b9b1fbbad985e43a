"""What all cells of a run share, and what one of them takes and gives: the unit that pools hand to their workers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.fingerprint import digest
from modelsel.core.protocols import Measure
from modelsel.core.spec import kind_of, resolved
from modelsel.core.types import Candidate, Floats, Outputs, Resampling, Task
from modelsel.planning.make import Cell, Plan
from modelsel.runner.answers import CODE, OK, Answers
from modelsel.runner.cell import answer
from modelsel.runner.key import Key, code
from modelsel.runner.limits import UNLIMITED, Limits, unlimited


@dataclass(frozen=True)
class Job:
    """Some candidates (positions in the plan) of one cell."""

    cell: Cell
    members: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Summary:
    """What the parent needs to know of a finished job: numbers per candidate, no rows. `score` is NaN where not ok."""

    status: NDArray[np.int8]
    score: Floats
    complexity: Floats
    training_error: Floats
    held_back: Floats
    reasons: Mapping[int, str]
    traceback: str
    seconds: float


@dataclass(frozen=True, eq=False)
class Work:
    """The study as its cells see it. Everything in it travels to a worker once."""

    task: Task
    resampling: Resampling
    plan: Plan
    measure: Measure
    seed: int = 0
    limits: Limits = UNLIMITED
    rows: bool = True  # keep predictions per row, not only scores

    @cached_property
    def codes(self) -> tuple[str, ...]:
        """Digest of the code behind each batch."""
        return tuple(code(self.plan.candidates[batch.members[0]]) for batch in self.plan.batches)

    def __getstate__(self) -> dict[str, Any]:
        """Keys do not travel: a worker makes those that it needs."""
        return {name: value for name, value in vars(self).items() if name != "_keys"}

    @cached_property
    def _keys(self) -> dict[Cell, Key]:
        return {}

    def key(self, cell: Cell) -> Key:
        """Made once per cell: it is asked for when the cell is looked up, when it is written and when it is entered."""
        if (known := self._keys.get(cell)) is None:
            fold, batch = self.resampling.folds[cell.fold], self.plan.batches[cell.batch]
            known = Key(self.task.fingerprint, fold.fingerprint, batch.place, self.seed, self.codes[cell.batch])
            self._keys[cell] = known
        return known

    def candidates(self, job: Job) -> tuple[Candidate, ...]:
        return tuple(self.plan.candidates[member] for member in job.members)

    def answers(self, job: Job) -> Answers:
        """Do the job: see `cell.answer`."""
        answers = answer(
            self.task,
            self.resampling.folds[job.cell.fold],
            self.candidates(job),
            self.plan.batches[job.cell.batch].growing,
            self.seed,
            self.measure.needs_scores,
            self.limits.enforced if self.limits.any else unlimited,
        )
        return answers if self.rows else self._without_rows(job.cell.fold, answers)

    def summary(self, fold: int, answers: Answers) -> Summary:
        """Status and score per candidate. A score that is not finite makes the candidate ineligible, with a reason."""
        ok = answers.status == OK
        score = (
            self._scored(fold, answers) if answers.score is None or answers.measure != self.measure_id else answers.score.copy()
        )
        status, reasons = answers.status.copy(), dict(answers.reasons)
        for position in np.flatnonzero(ok & ~np.isfinite(score)):
            status[position], score[position] = CODE["invalid_score"], np.nan
            reasons[int(position)] = "the measure is not defined on this fold"
        return Summary(status, score, answers.complexity, answers.training_error, answers.held_back, reasons,
                       answers.traceback, answers.seconds)  # fmt: skip

    def lacking(self, answers: Answers) -> str:
        """Why recorded answers do not serve this run; empty when they do."""
        if not answers.has_rows and self.rows:
            return "only scores were kept, and rows are wanted"
        if not answers.has_rows and answers.measure != self.measure_id:
            return "only the scores of another measure were kept"
        if answers.has_rows and answers.scores is None and self.measure.needs_scores:
            return "the measure reads class scores, which were not kept"
        return ""

    @cached_property
    def measure_id(self) -> str:
        return digest([kind_of(self.measure), resolved(self.measure)])

    def _without_rows(self, fold: int, answers: Answers) -> Answers:
        """What stays of answers in a space too large to keep rows for."""
        score = self._scored(fold, answers)
        return replace(answers, predicted=answers.predicted[:, :0], scores=None, score=score, measure=self.measure_id)

    def _scored(self, fold: int, answers: Answers) -> Floats:
        """The measure on the fold's assessment rows, NaN for candidates that are not ok."""
        score, ok = np.full(len(answers), np.nan), np.flatnonzero(answers.status == OK)
        rows = self.resampling.folds[fold].assessment
        weights = None if self.task.weights is None else self.task.weights[rows]
        if len(ok):
            score[ok] = self.measure.score(self.task.target[rows], part_of(answers, ok), weights, len(self.task.classes))
        return score


def part_of(answers: Answers, which: NDArray[np.int64]) -> Outputs:
    """Predictions of some candidates of a cell, in the types that measures read."""
    everyone = len(which) == len(answers)
    predicted = answers.predicted if everyone else answers.predicted[which]
    scores = answers.scores if everyone or answers.scores is None else answers.scores[which]
    return Outputs(predicted.astype(np.int32), scores)
