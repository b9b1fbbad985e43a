"""Racing without a risk: a candidate is dropped when even the best scores on all folds to come would not let it win.

    mean of (its scores so far, the measure's best value on each fold to come)  >  limit of the rule

The candidate that leads on the first fold finishes all folds first, with those that its fit answers. Then the others go on fold
by fold, and drops are decided between two folds, by scores of earlier folds alone: they depend neither on workers nor on what a
journal knows. The limit is that of the best among the finished where a better best can only lower it (`limit_grows`); one
standard error of the best has to wait until nobody can be better, and when few can, those finish first.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from modelsel.core.types import Booleans, Floats, Outputs, Targets, round_to_scale
from modelsel.measure.base import BaseMeasure, right_answers
from modelsel.planning.make import Cell
from modelsel.runner.evaluation.cell_result import OK
from modelsel.runner.evaluation.context import CellJob, RunContext
from modelsel.runner.results import SeOf, error_of
from modelsel.runner.run_index import RunIndex

SLACK = 1e-9  # for limits that are computed by other sums than the rule's own


@dataclass(frozen=True)
class Race:
    """The rule that will choose, and candidates (positions in the plan) that are not dropped whatever they score."""

    rule: Any
    spared: frozenset[int] = frozenset()


@dataclass
class Racing:
    """The race of a run; `rounds` gives the jobs of each round, and reads the book again once they are entered."""

    book: RunIndex
    race: Race
    se_of: SeOf | None = None
    finished: Booleans = field(init=False)
    done: set[int] = field(default_factory=set)  # batches that have all folds

    def __post_init__(self) -> None:
        """Start without finished candidates, and find the batch of each."""
        self.finished = np.zeros(len(self.book.work.plan.candidates), bool)
        self._best = best_scores(self.book.work)
        self._batch = np.zeros(len(self.finished), np.int64)
        for number, batch in enumerate(self.book.work.plan.batches):
            self._batch[list(batch.members)] = number

    def rounds(self) -> Iterator[list[CellJob]]:
        """Schedule: the first fold of all, the leader's folds, then each fold for the candidates still in the race."""
        plan = self.book.work.plan
        yield self._due([cell for cell in plan.cells if cell.fold == 0])
        while (leader := self._leader()) is not None:
            yield self._ahead({leader})
            self._finish({leader})
        for fold in range(1, plan.folds):
            if contenders := self._contenders(fold):
                yield self._ahead(contenders)
                self._finish(contenders)
            self._drop(fold)
            yield self._due([cell for cell in plan.cells if cell.fold == fold and cell.batch not in self.done])

    def _ahead(self, batches: set[int]) -> list[CellJob]:
        return self._due([cell for cell in self.book.work.plan.cells if cell.batch in batches and cell.fold > 0])

    def _finish(self, batches: set[int]) -> None:
        self.done |= batches
        self.finished |= np.isin(self._batch, list(batches)) & self.book.scores.eligible

    def _due(self, cells: list[Cell]) -> list[CellJob]:
        """List the jobs that the journals do not answer for some cells."""
        return self.book.look_up(cells)

    def _leader(self) -> int | None:
        """The batch of the best candidate on the first fold that is not done; None once a candidate has finished."""
        first = self.book.scores.score[:, 0] * self._sign
        open_ = (self.book.scores.status[:, 0] == OK) & ~np.isin(self._batch, list(self.done))
        if self.finished.any() or not open_.any():
            return None
        return int(self._batch[np.flatnonzero(open_)[np.argmin(round_to_scale(first[open_], self.book.work.scale))]])

    def _contenders(self, fold: int) -> set[int]:
        """List the batches of all candidates that may still be best.

        Only once they are few, and where the rule needs to know the best one.
        """
        if self.race.rule.limit_grows or not self.finished.any():
            return set()
        hoped, racing = self._least_mean_possible(fold), self._racing(fold)
        able = {int(number) for number in self._batch[racing & (hoped <= hoped[self.finished].min())]}
        return able if 4 * len(able) <= len(np.unique(self._batch[racing])) else set()

    def _racing(self, fold: int) -> Booleans:
        failed = (self.book.scores.status[:, :fold] > OK).any(axis=1)
        return np.asarray(~self.finished & ~failed & ~self.book.out & ~np.isin(self._batch, list(self.done)))

    def _drop(self, fold: int) -> None:
        """Drop the candidates that cannot win any more, by the folds before this one."""
        if not self.finished.any():
            return
        scores, hoped, racing = self.book.scores, self._least_mean_possible(fold), self._racing(fold)
        limit = self._limit(hoped, racing)
        leaving = racing & (hoped > limit)
        leaving[list(self.race.spared)] = False
        for member in np.flatnonzero(leaving).tolist():
            scores.dropped[member] = f"could not win any more after {fold} of {self.book.work.plan.folds} folds"
        self.book.out |= leaving

    def _least_mean_possible(self, fold: int) -> Floats:
        """The least mean (as something to minimise) that each candidate may still reach, rounded as a rule rounds it."""
        known = self.finished[:, None] | (np.arange(len(self._best)) < fold)
        filled = np.where(known, self.book.scores.score, self._best)
        return np.asarray(round_to_scale(self._sign * filled.mean(axis=1), self.book.work.scale))

    def _limit(self, hoped: Floats, racing: Booleans) -> float:
        """The greatest mean that can still win; infinite while it is not certain who is best and the rule has to know."""
        rule, best = self.race.rule, float(hoped[self.finished].min())
        if rule.limit_grows:
            limit = float(rule.limit(best, np.nan))
            return limit if limit == best else limit + SLACK
        if (hoped[racing] <= best).any():
            return np.inf
        tied = np.flatnonzero(self.finished & (hoped == best)).tolist()
        return max(float(rule.limit(best, error_of(self.book, one, self.se_of))) for one in tied) + SLACK

    @property
    def _sign(self) -> float:
        return -1.0 if self.book.work.measure.higher_is_better else 1.0


def best_scores(work: RunContext) -> Floats:
    """The best value that the measure can have on each fold: each row's least loss, or the answers that are all right."""
    task, measure = work.task, work.measure
    classes, each = task.class_count, []
    for fold in work.resampling.folds:
        truth = task.target[fold.assessment]
        weights = None if task.weights is None else task.weights[fold.assessment]
        if measure.over_rows:
            least = least_losses(measure, truth, classes)
            each.append(float(np.average(least, weights=weights)))
        else:
            said = right_answers(truth, classes)
            each.append(float(measure.score(truth, said, weights, classes)[0]))
    return np.array(each)


def least_losses(measure: BaseMeasure, truth: Targets, classes: int) -> Floats:
    """Per row, the least loss of all answers that are sure of one class; of numbers, that of the right one."""
    if not classes:
        return np.asarray(measure.losses(truth, right_answers(truth, classes), classes)[0])
    predicted = np.repeat(np.arange(classes, dtype=np.int32)[:, None], len(truth), axis=1)
    return np.asarray(measure.losses(truth, Outputs(predicted, np.eye(classes)[predicted]), classes).min(axis=0))
