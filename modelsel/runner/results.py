"""From finished cells to what a choice reads: scoreboard, loss matrix with its standard errors, out-of-fold predictions."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from modelsel.core.selection import Assessed, Losses
from modelsel.core.types import Booleans, Candidate, Floats, Fold, Integers, Resampling, Scoreboard, Status, Task
from modelsel.runner.evaluation.cell_result import (
    CellResult,
)
from modelsel.runner.evaluation.context import RunContext
from modelsel.runner.run_index import FitWarning, RunIndex

# The out-of-fold loss matrix, development rows × candidates, and the standard errors that are read from it:
#
#     l_i = mean over repeats of the row's loss        m = Σ w_i l_i / Σ w_i
#     se² = Σ_g (Σ_{i in g} w_i (l_i − m))² / (Σ w_i)²
#
# over groups g, each row a group of its own where there are none: for 0/1 loss and unit weights sqrt(m (1 − m) / n).
# Source: Breiman, Friedman, Olshen & Stone (1984, 3.4.3 and 11.5); groups as clusters: Liang & Zeger (1986).


BLOCK = 1 << 18  # numbers worked on at a time
LARGE = 1 << 27  # bytes above which the matrix lies in a file instead of in memory


class LossMatrix:
    """Filled cell by cell, in the order of folds, so that sums over repeats are the same whoever computed the cells."""

    def __init__(self, task: Task, resampling: Resampling, columns: int) -> None:
        """Number the folds of each row, and begin with sums of 0."""
        self._task = task
        self.fold = folds_of(task, resampling)
        self._times = (self.fold >= 0).sum(axis=1)
        self._sum = _zeros((len(task), columns))

    def add(self, rows: Integers, columns: Integers, losses: Floats) -> None:
        """Losses (candidates × rows) of one cell."""
        for at in _blocks(len(columns), len(rows)):
            own = columns[at]
            if own[-1] - own[0] == len(own) - 1:  # neighbours, as members of a batch mostly are
                self._sum[rows, own[0] : own[-1] + 1] += losses[at].T
            else:
                self._sum[np.ix_(rows, own)] += losses[at].T

    def finish(self, complete: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Divide by the number of repeats; NaN for rows not assessed and for candidates that are not complete."""
        times = np.where(self._times > 0, self._times, np.nan).astype(np.float32)
        for at in _blocks(self._sum.shape[1], len(self._sum)) if (times != 1).any() else ():
            self._sum[:, at] /= times[:, None]
        self._sum[:, ~complete] = np.nan
        return self._sum

    def standard_errors(self) -> Floats:
        """Per candidate, from the finished matrix; NaN where its column is NaN."""
        rows: Any = slice(None) if self._times.all() else np.flatnonzero(self._times)
        weights = self._task.row_weights[rows]
        groups = None if self._task.groups is None else np.unique(self._task.groups[rows], return_inverse=True)[1]
        se = np.full(self._sum.shape[1], np.nan)
        for at in _blocks(len(se), len(weights)):
            se[at] = standard_error(self._sum[rows, at].astype(np.float64), weights, groups)
        return se


def standard_error(losses: Floats, weights: Floats, groups: Integers | None) -> Floats:
    """Standard errors of the weighted means of the columns (rows × columns), each the same in any company; works in place."""
    if losses.shape[1] == 1:  # NumPy adds a lone column up in another order
        return standard_error(np.repeat(losses, 2, axis=1), weights, groups)[:1]
    total = weights.sum()
    losses -= np.einsum("i,ij->j", weights, losses) / total
    losses *= (weights / total)[:, None]
    if groups is not None:
        sums = np.zeros((groups.max() + 1, losses.shape[1]))
        np.add.at(sums, groups, losses)
        losses = sums
    return np.asarray(np.sqrt(np.einsum("ij,ij->j", losses, losses)))


def fold_errors(scores: Floats, resampling: Resampling) -> Floats:
    """Standard errors of measures that are not means over rows: sd over a repeat's k folds / sqrt(k), averaged over repeats.

    Never divided by sqrt(k · repeats): repeats share their rows. NaN where a repeat has a single fold.
    """
    repeat = np.array([fold.repeat for fold in resampling.folds])
    each = [_spread(scores[:, repeat == number]) for number in np.unique(repeat)]
    return np.asarray(np.mean(each, axis=0))


def _spread(scores: Floats) -> Floats:
    k = scores.shape[1]
    return np.full(len(scores), np.nan) if k < 2 else np.asarray(scores.std(axis=1, ddof=1) / np.sqrt(k))


def folds_of(task: Task, resampling: Resampling) -> Integers:
    """Rows × repeats: the fold in which the row was assessed, −1 where it was not."""
    fold_of = np.full((len(task), resampling.repeats), -1, np.int64)
    for fold in resampling.folds:
        fold_of[fold.assessment, fold.repeat] = fold.index
    return fold_of


def _blocks(columns: int, rows: int) -> Iterator[slice]:
    size = max(1, BLOCK // max(rows, 1))
    return (slice(start, start + size) for start in range(0, columns, size))


def _zeros(shape: tuple[int, int]) -> NDArray[np.float32]:
    """Zeros, in a file without a name when there are many: the system takes it back with the last reference."""
    if 4 * shape[0] * shape[1] <= LARGE:
        return np.zeros(shape, np.float32)
    with tempfile.TemporaryFile() as file:
        file.truncate(4 * shape[0] * shape[1])
        matrix: Any = np.memmap(file, np.float32, "r+", shape=shape)
        return matrix  # type: ignore[no-any-return]


# What rules, comparison and record read: the scoreboard, the loss matrix, out-of-fold predictions.


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
