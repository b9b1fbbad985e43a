"""Ensembles: picked from the out-of-fold answers of the other candidates, and judged like them.

For its score on a fold the members are picked by the answers for rows that the fold analyses, so that no row has a part in
picking what it judges; its model has the members that all rows pick. Rows count once, however many repeats assess them.

    cost(w) = Σ w_i loss_i / Σ w_i;  of other measures the mean over folds of the score under the weights w

Picked from are candidates that finished all folds and say chances (or numbers): the best of each entry by cost, then the best
of all. Ties go to the one that stands first in that order. Source: Caruana, Niculescu-Mizil, Crew & Ksikes (2004).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from modelsel.core.types import (
    PROBABILITIES,
    ClassOutputs,
    Floats,
    Integers,
    NumberOutputs,
    Outputs,
    outputs_of,
    round_to_scale,
    scores_are,
)
from modelsel.learner.greedy_ensemble import GreedyEnsemble, PickedEnsemble
from modelsel.measure.base import BaseMeasure
from modelsel.runner.evaluation.cell_result import OK, CellResult, blank
from modelsel.runner.evaluation.context import RunContext
from modelsel.runner.run_index import RunIndex

LARGEST = 1 << 26  # numbers of answers that are held in memory at once
FEW = "fewer than two candidates that finished all folds say chances (or numbers)"
ONE_FOLD = "its members are picked by rows that a fold analyses and others assess, and fold {fold} has none"
TOO_MANY = "{many:,} answers of candidates are more than the {most:,} that it is picked from in memory"
ROWS_LEFT_OUT = "in a space this large the rows of the best candidates alone are kept"


def form_ensembles(books: Sequence[RunIndex]) -> None:
    """Pick the members of every ensemble of a run, and enter what it says; or skip it, with the reason."""
    book = books[0]
    if not book.of_others:
        return
    if len(books) > 1:
        book.scores.not_begun |= dict.fromkeys(book.of_others, ROWS_LEFT_OUT)
        return
    members = able(book)
    work = book.work
    many = len(members) * sum(len(fold.assessment) for fold in work.resampling.folds) * max(work.task.class_count, 1)
    if reason := FEW if len(members) < 2 else TOO_MANY.format(many=many, most=LARGEST) if many > LARGEST else "":
        book.scores.not_begun |= dict.fromkeys(book.of_others, reason)
        return
    answers = MemberAnswers.of(book, members)
    for position in book.of_others:
        _form(book, position, answers)


def able(book: RunIndex) -> Integers:
    """Positions of the candidates that can be members."""
    finished = book.scores.eligible & book.which
    numbers = not book.work.task.class_count
    candidates = book.work.plan.candidates
    said = [numbers or scores_are(candidate.learner) == PROBABILITIES for candidate in candidates]
    found = finished & np.array(said, bool)
    found[list(book.of_others)] = False
    return np.flatnonzero(found)


def _form(book: RunIndex, position: int, answers: "MemberAnswers") -> None:
    """Pick one ensemble, on every fold and on all rows."""
    candidate, said = book.work.plan.candidates[position], []
    for fold in book.work.resampling.folds:
        weight = answers.weights * answers.known_to(fold.analysis, fold.assessment)
        if not weight.any():
            book.scores.not_begun[position] = ONE_FOLD.format(fold=fold.index)
            return
        picks = answers.pick(candidate.learner, weight)
        own = answers.outputs(answers.mean(picks)[None, answers.fold == fold.index])
        said.append(_result(book.work, position, own, len(set(picks.tolist()))))
    member, times = np.unique(answers.pick(candidate.learner, answers.weights), return_counts=True)
    chosen = tuple(
        (book.work.plan.candidates[int(answers.positions[one])], int(count)) for one, count in zip(member, times, strict=True)
    )
    own = candidate.learner
    picked = PickedEnsemble(own.size, own.library, own.among, chosen)
    book.form(position, replace(candidate, learner=picked), said)


def _result(work: RunContext, position: int, said: Outputs, members: int) -> CellResult:
    """The answers on a fold as those of a cell."""
    candidates, classes = [work.plan.candidates[position]], work.task.class_count
    arrays = blank(candidates, said.predicted.shape[1], classes, bool(classes))
    arrays["predicted"][:] = said.predicted
    if said.scores is not None:
        arrays["scores"][:] = said.scores
    arrays["status"][:], arrays["complexity"][:] = OK, members
    return CellResult(**arrays)


@dataclass(frozen=True, eq=False)
class MemberAnswers:
    """Answers of members for assessed rows, fold after fold: members × answers (× classes).

    `row` and `fold` say whose and where; `weights` are those of the rows, over how often each was assessed.
    """

    positions: Integers  # of the members among the plan's candidates
    entry: Integers  # the number of each member's entry
    complexity: Floats
    said: Floats
    row: Integers
    fold: Integers
    weights: Floats
    work: RunContext

    @classmethod
    def of(cls, book: RunIndex, members: Integers) -> "MemberAnswers":
        """Read the answers of some candidates (positions, ascending)."""
        work, folds = book.work, book.work.resampling.folds
        row = np.concatenate([fold.assessment for fold in folds])
        start = np.concatenate([[0], np.cumsum([len(fold.assessment) for fold in folds])])
        classes = work.task.class_count
        said = np.empty((len(members), len(row), classes) if classes else (len(members), len(row)))
        for fold, who, result in book.records(members):
            part = slice(int(start[fold.index]), int(start[fold.index + 1]))
            said[np.searchsorted(members, who), part] = result.scores if classes else result.predicted
        times = np.bincount(row, minlength=len(work.task))
        entries = [work.plan.candidates[int(one)].entry for one in members]
        return cls(
            positions=members,
            entry=np.unique(entries, return_inverse=True)[1],
            complexity=book.scores.mean("complexity")[members],
            said=said,
            row=row,
            fold=np.repeat(np.arange(len(folds)), np.diff(start)),
            weights=(work.task.row_weights / np.maximum(times, 1))[row],
            work=work,
        )

    def known_to(self, analysis: Integers, assessment: Integers) -> Floats:
        """1 for answers about rows that a fold analyses and does not assess, else 0."""
        known = np.zeros(len(self.work.task))
        known[analysis] = 1.0
        known[assessment] = 0.0
        return np.asarray(known[self.row])

    def pick(self, ensemble: GreedyEnsemble, weight: Floats, cost: Floats | None = None) -> Integers:
        """Members (positions among them) in the order in which they are picked under weights of answers.

        `cost` is that of each member alone under these weights, where it is known.
        """
        there = np.flatnonzero(weight)
        own = self._library(self._alone(weight, there) if cost is None else cost, ensemble.library)
        said = self.said[own[:, None], there]
        total, picks, reached = np.zeros(said.shape[1:]), [], []
        for many in range(1, ensemble.size + 1):
            costs = self._costs((total + said) / many, there, weight[there])
            best = int(costs.argmin())
            picks.append(int(own[best]))
            reached.append(costs[best])
            total += said[best]
        return np.array(picks[: int(np.argmin(reached)) + 1], np.int64)

    def mean(self, picks: Integers) -> Floats:
        """The mean of the picks' answers."""
        member, times = np.unique(picks, return_counts=True)
        return np.asarray(np.tensordot(times / times.sum(), self.said[member], axes=1))

    def score(self, picks: Integers, weight: Floats, measure: BaseMeasure | None = None) -> float:
        """The score of the picks' mean under weights of answers, by the study's measure or by another."""
        there = np.flatnonzero(weight)
        measure = self.work.measure if measure is None else measure
        return float(self._scores(self.mean(picks)[None, there], there, weight[there], measure)[0])

    def outputs(self, said: Floats) -> Outputs:
        """Answers as measures read them; the class of the largest chance is the one that is said, ties the first."""
        if not self.work.task.class_count:
            return NumberOutputs(said)
        return ClassOutputs(said.argmax(axis=2).astype(np.int32), said)

    def _library(self, cost: Floats, many: int) -> Integers:
        """The members that are picked from: the best of each entry, then the best of all; both best first."""
        order = np.lexsort((np.arange(len(cost)), self.complexity, cost))
        first = np.zeros(len(order), bool)
        first[np.unique(self.entry[order], return_index=True)[1]] = True
        return np.asarray(np.concatenate([order[first], order[~first]])[:many])

    @cached_property
    def _losses(self) -> Floats:
        """The loss of each member for each answer, under a measure that is a mean over rows."""
        return self._loss(self.said, slice(None))

    def _loss(self, said: Floats, there: Integers | slice) -> Floats:
        truth, classes = self.work.task.target[self.row[there]], self.work.task.class_count
        return np.asarray(self.work.measure.losses(truth, self.outputs(said), classes), np.float64)

    def _alone(self, weight: Floats, there: Integers) -> Floats:
        if self.work.measure.over_rows:
            return self.as_cost(self._losses[:, there] @ (weight[there] / weight[there].sum()))
        return self._costs(self.said[:, there], there, weight[there])

    def _costs(self, said: Floats, there: Integers, weight: Floats) -> Floats:
        return self.as_cost(self._scores(said, there, weight, self.work.measure))

    def as_cost(self, scores: Floats) -> Floats:
        """Scores as something to minimise, rounded so that ties are ties; infinite where they are not defined."""
        sign = -1.0 if self.work.measure.higher_is_better else 1.0
        return np.asarray(np.where(np.isfinite(scores), round_to_scale(sign * scores, self.work.scale), np.inf))

    def _scores(self, said: Floats, there: Integers, weight: Floats, measure: BaseMeasure) -> Floats:
        """Scores of some answers, candidates × answers (× classes), under their weights."""
        truth, classes = self.work.task.target[self.row[there]], self.work.task.class_count
        outputs = self.outputs(said)
        if measure.over_rows:
            losses = np.asarray(measure.losses(truth, outputs, classes), np.float64)
            return np.asarray(losses @ (weight / weight.sum()))
        total, defined = np.zeros(len(said)), np.zeros(len(said))
        for fold in np.unique(self.fold[there]):
            own = np.flatnonzero(self.fold[there] == fold)
            scores = None if outputs.scores is None else outputs.scores[:, own]
            part = outputs.predicted[:, own]
            some = outputs_of(part, scores)
            each = np.asarray(measure.score(truth[own], some, weight[own], classes), np.float64)
            known = np.isfinite(each)
            total[known] += each[known]
            defined += known
        return np.asarray(np.divide(total, defined, out=np.full(len(said), np.nan), where=defined > 0))
