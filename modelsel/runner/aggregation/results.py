"""From finished cells to what rules, comparison and record read: scoreboard, loss matrix, out-of-fold predictions.

mean = unweighted mean of the fold scores
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

import numpy as np

from modelsel.core.selection import Assessed, Losses
from modelsel.core.types import Booleans, Candidate, Floats, Fold, Integers, Scoreboard, Status
from modelsel.runner.aggregation.losses import LossMatrix, fold_errors, folds_of
from modelsel.runner.aggregation.run_index import RunIndex
from modelsel.runner.aggregation.score_matrix import FitWarning
from modelsel.runner.evaluation.cell_result import CellResult
from modelsel.runner.evaluation.context import RunContext

SeOf = Literal["rows", "folds"]


@dataclass(frozen=True, eq=False)
class Results:
    """Everything about the candidates, in declared order. `kept` are those whose rows are kept: the loss matrix's columns."""

    candidates: tuple[Candidate, ...]
    status: tuple[Status, ...]
    reasons: tuple[str, ...]
    tracebacks: tuple[str, ...]  # distinct ones, of the first failure of each fold
    board: Scoreboard
    means: Mapping[str, Floats]  # over folds, of what cells measure beside the score: complexity, training error, ...
    losses: Losses
    kept: Integers
    se_of: SeOf
    reused: int  # cells found in journals
    computed: int
    why: dict[str, int]  # reason -> cells computed for it
    book: RunIndex
    beside: Mapping[str, Floats]  # candidates × folds, of the measures beside the one that chooses
    warned: tuple[FitWarning, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Count the statuses: ok, failed, skipped, and where there was a race, dropped."""
        ok, skipped, dropped = (self.status.count(status) for status in ("ok", "skipped", "dropped"))
        counts = {"ok": ok, "failed": len(self.status) - ok - skipped - dropped, "skipped": skipped}
        return {**counts, "dropped": dropped} if dropped else counts

    def including(self, member: int) -> "Results":
        """Add the rows of a candidate; where they were not kept, they are computed again in this process."""
        if member in self.kept:
            return self
        at = int(np.searchsorted(self.kept, member))
        kept = np.insert(self.kept, at, member)
        if self.losses.matrix is None:
            return replace(self, kept=kept)
        work, one = self.book.work, np.array([member])
        column, error = _losses(work, one, self.board.eligible, self.book.afresh(one.tolist()))
        matrix = np.insert(self.losses.matrix, at, column.matrix[:, 0], axis=1)
        se = np.where(np.isnan(error), self.board.se, error) if self.se_of == "rows" else self.board.se
        losses = replace(self.losses, matrix=matrix, ids=_ids(work, kept))
        return replace(self, kept=kept, losses=losses, board=replace(self.board, se=se))

    def out_of_fold(self, which: Sequence[int]) -> Assessed:
        """Out-of-fold predictions of some candidates (first repeat), −1 and NaN (numbers: NaN) where a row was not assessed.

        What was not kept (in spaces above 10,000 candidates) is computed again, in this process.
        """
        work = self.book.work
        rows, classes = len(work.task), work.task.class_count
        predicted = np.full((len(which), rows), -1, np.int32) if classes else np.full((len(which), rows), np.nan)
        scores = np.full((len(which), rows, classes), np.nan) if work.needs_scores else None
        place = {member: position for position, member in enumerate(which)}
        for fold, members, result in chain(self.book.records(which), self.book.afresh(which)):
            if fold.repeat == 0:
                to = np.array([place[int(member)] for member in members])
                predicted[np.ix_(to, fold.assessment)] = result.predicted
                if scores is not None:
                    scores[np.ix_(to, fold.assessment)] = result.scores
        ids = tuple(self.candidates[member].id for member in which)
        return Assessed(ids, work.task.target, predicted, scores)


def gather(book: RunIndex, rows: RunIndex, se_of: SeOf | None = None) -> Results:
    """Add up the scores of one book and the rows of another (the same one, but in very large spaces).

    `se_of` says what standard errors are computed over: rows where the measure is a mean over rows, else folds.
    """
    work, scores = book.work, book.scores
    (status, reasons), means = scores.verdicts(), scores.means()
    over = _over(work, se_of)
    kept = np.flatnonzero(rows.which)
    losses, row_errors = _none(work), None
    if work.measure.over_rows:
        losses, row_errors = _losses(rows.work, kept, rows.scores.eligible, rows.records(kept))
    se = row_errors if over == "rows" and row_errors is not None else fold_errors(scores.score, work.resampling)
    candidates = tuple(book.formed.get(at, candidate) for at, candidate in enumerate(work.plan.candidates))
    board = Scoreboard(
        ids=tuple(candidate.id for candidate in candidates),
        folds=scores.score,
        mean=scores.mean("score"),
        se=se,
        complexity=means["complexity"],
        unit=tuple(str(candidate.learner.unit) for candidate in candidates),
        eligible=scores.eligible,
        higher_is_better=work.measure.higher_is_better,
        beside={name: each.mean(axis=1) for name, each in scores.beside.items()},
        scale=work.scale,
    )
    return Results(
        candidates=candidates,
        status=status,
        reasons=reasons,
        tracebacks=scores.tracebacks(),
        board=board,
        means=means,
        losses=losses,
        kept=kept,
        se_of=over,
        reused=book.reused,
        computed=book.asked - book.reused,
        why=dict(book.why),
        book=rows,
        beside=scores.beside,
        warned=scores.fit_warnings(),
    )


def error_of(book: RunIndex, member: int, se_of: SeOf | None = None) -> float:
    """The standard error of a candidate that has finished all folds, as `gather` will give it."""
    work, one = book.work, np.array([member])
    if _over(work, se_of) == "rows" and work.measure.over_rows:
        return float(_losses(work, one, book.scores.eligible, book.records(one))[1][member])
    return float(fold_errors(book.scores.score[one], work.resampling)[0])


def _over(work: RunContext, se_of: SeOf | None) -> SeOf:
    return se_of or ("rows" if work.measure.over_rows else "folds")


def _losses(
    work: RunContext, kept: Integers, eligible: Booleans, records: Iterable[tuple[Fold, Integers, CellResult]]
) -> tuple[Losses, Floats]:
    """The loss matrix of some candidates, and standard errors of all (NaN where rows were not kept)."""
    column = np.full(len(eligible), -1)
    column[kept] = np.arange(len(kept))
    matrix = LossMatrix(work.task, work.resampling, len(kept))
    for fold, members, result in records:
        ok = result.ok
        truth = work.task.target[fold.assessment]
        losses = work.measure.losses(truth, result.outputs(ok), work.task.class_count)
        matrix.add(fold.assessment, column[members[ok]], losses)
    filled = matrix.finish(eligible[kept])
    errors = np.full(len(eligible), np.nan)
    errors[kept] = matrix.standard_errors()
    return Losses(filled, matrix.fold, work.task.rows, _ids(work, kept)), errors


def _none(work: RunContext) -> Losses:
    everyone = np.arange(len(work.plan.candidates))
    return Losses(None, folds_of(work.task, work.resampling), work.task.rows, _ids(work, everyone))


def _ids(work: RunContext, which: Integers) -> tuple[str, ...]:
    return tuple(work.plan.candidates[position].id for position in which)
