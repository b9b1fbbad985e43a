"""All cells of a plan computed in memory: no folder, no journal, no ledger."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from modelsel.comparison.bbc import bbc
from modelsel.core.fingerprint import generator
from modelsel.core.types import Candidate, Floats, Fold, Resampling, Scoreboard, Task
from modelsel.learner.object import keeping
from modelsel.measure.base import BaseMeasure, tie_scale
from modelsel.planning.make import Cell, Plan
from modelsel.rule.base import BaseRule
from modelsel.runner.evaluation.cell_result import NOTHING, CellResult
from modelsel.runner.evaluation.context import CellJob, RunContext
from modelsel.runner.results import LossMatrix, Results, fold_errors
from modelsel.runner.run_index import ScoreMatrix

Fits = Sequence[Any]  # paths of estimator objects
Training = Callable[[Candidate, RunContext, Fold, Fits], Mapping[str, float]]
Done = tuple[CellJob, CellResult, CellResult, dict[str, Floats]]
Told = Callable[[CellJob, CellResult], None]


@dataclass(frozen=True, eq=False)
class CandidateScores:
    """Scores of all candidates, seconds per candidate and fold (those of a fit divided among whom it answers), losses."""

    work: RunContext
    board: Scoreboard
    reasons: Sequence[str]
    seconds: Floats
    losses: NDArray[np.float32] | None  # rows × candidates; None where no correction can be had
    beside: Mapping[str, Floats] = field(default_factory=dict)  # other scores, candidates × folds
    training: Mapping[str, Floats] = field(
        default_factory=dict
    )  # scores on the rows that were fitted on, where they were wanted

    def fill_failed(self, value: float, chooses: Any, each: Mapping[str, Any]) -> "CandidateScores":
        """The same with a score in the place of those of fits that failed, so that their candidates take part."""
        own = (value - chooses.offset) / chooses.sign
        folds = np.where(np.isnan(self.board.folds), own, self.board.folds)
        se = np.where(np.isnan(self.board.se), fold_errors(folds, self.work.resampling), self.board.se)
        board = replace(self.board, folds=folds, mean=folds.mean(axis=1), se=se, eligible=np.ones(len(folds), bool))
        signs = {f"scoring {name}": (value - one.offset) / one.sign for name, one in each.items()}
        others = {name: np.where(np.isnan(one), signs.get(name, np.nan), one) for name, one in self.beside.items()}
        return replace(self, board=board, beside=others, losses=None)

    def corrected_score(self, rule: BaseRule, winner: int, sign: float, offset: float) -> tuple[float, float, float] | None:
        """The winner's score without the optimism of the choice, and its interval (BBC-CV)."""
        if self.losses is None or len(getattr(rule, "bounds", ())) > 0:
            return None
        task = self.work.task
        rng = generator(self.work.seed, self.work.resampling.fingerprint, "bbc")
        found = bbc(self.losses, self.board, rule, winner=winner, groups=task.groups, weights=task.weights, rng=rng)
        if found is None:
            return None
        low, high = sorted((sign * found.low + offset, sign * found.high + offset))
        return sign * found.mean + offset, low, high


def compute_cells(
    plan: Plan, task: Task, resampling: Resampling, measure: BaseMeasure, seed: int, workers: int,
    beside: Mapping[str, BaseMeasure] = NOTHING, training: Training | None = None, tell: Told = lambda job, result: None,
) -> CandidateScores:  # fmt: skip
    """Compute every cell, with what the rule sets bounds to `beside`. Raises DataError for data that a learner cannot use.

    `training(estimator, rows)` scores a fitted estimator on the rows that it was fitted on; without it nobody is asked about
    those.
    """
    work = RunContext(task, resampling, plan, measure, seed, beside=beside)
    scores, seconds = (
        ScoreMatrix(len(plan.candidates), plan.folds, beside, task.class_count),
        np.zeros((len(plan.candidates), plan.folds)),
    )
    known: dict[str, Floats] = {}
    matrix = LossMatrix(task, resampling, len(plan.candidates)) if measure.over_rows else None
    for job, result, scored, trained in _on_one_thread_each(_compute_jobs(work, workers, training)):
        members = np.array(job.members)
        scores.add(job.cell.fold, members, scored)
        seconds[members, job.cell.fold] = result.seconds / len(members)
        tell(job, scored)
        for name, values in trained.items():
            known.setdefault(name, np.full(scores.score.shape, np.nan))[members, job.cell.fold] = values
        if matrix is not None:
            _enter(matrix, work, job, result)
    status = scores.eligible
    losses = None if matrix is None else np.asarray(matrix.finish(status))
    board = Scoreboard(
        ids=tuple(candidate.id for candidate in plan.candidates), folds=scores.score, mean=scores.mean("score"),
        se=fold_errors(scores.score, resampling) if matrix is None else matrix.standard_errors(),
        complexity=scores.mean("complexity"), unit=tuple(str(candidate.learner.unit) for candidate in plan.candidates),
        eligible=status, higher_is_better=measure.higher_is_better,
        beside={name: each.mean(axis=1) for name, each in scores.beside.items()},
        scale=tie_scale(measure, task) if measure.over_rows else usual_size(scores.mean("score"), task),
    )  # fmt: skip
    kept = losses if whole(resampling, task) else None
    return CandidateScores(work, board, scores.verdicts()[1], seconds, kept, scores.beside, known)


def usual_size(means: Floats, task: Task) -> float:
    """What the rounding of scores of any kind is relative to: where the target is a number their median, of classes 1."""
    known = np.abs(means[np.isfinite(means)])
    usual = float(np.median(known)) if len(known) and task.kind == "numbers" else 0.0
    return usual or 1.0


def of_results(results: Results) -> CandidateScores:
    """The same from the cells that a study has computed."""
    work, seconds = results.book.work, np.zeros(results.board.folds.shape)
    for fold, members, result in results.book.records(results.kept):
        seconds[members, fold.index] = result.seconds / len(members)
    kept = results.losses.matrix is not None and len(results.kept) == len(results.candidates)
    losses = np.asarray(results.losses.matrix) if kept and whole(work.resampling, work.task) else None
    return CandidateScores(work, results.board, results.reasons, seconds, losses, results.beside)


def whole(resampling: Resampling, task: Task) -> bool:
    """Say whether each row that counts is assessed once in every repeat, by a fit on all others."""
    counts = task.row_weights > 0
    times = np.zeros((len(task), resampling.repeats), np.int64)
    for fold in resampling.folds:
        times[fold.assessment, fold.repeat] += 1
    full = all(len(fold.analysis) + len(fold.assessment) in (counts.sum(), len(task)) for fold in resampling.folds)
    return full and bool((times[counts] == 1).all())


def _compute_jobs(work: RunContext, workers: int, training: Training | None) -> Iterator[Done]:
    """Jobs with their results, in the plan's order whatever the number of threads."""
    jobs = [CellJob(cell, _members(work.plan, cell)) for cell in work.plan.cells]
    if workers == 1:
        yield from (_compute_and_score(work, job, training) for job in jobs)
        return
    with ThreadPoolExecutor(None if workers < 1 else workers) as threads:
        yield from threads.map(lambda job: _compute_and_score(work, job, training), jobs)


def _compute_and_score(work: RunContext, job: CellJob, training: Training | None) -> Done:
    """Compute a job and score it while its fits of estimator objects are there to be asked."""
    with keeping() as fits:
        result = work.evaluate(job)
        judged = _judging_study(work, job, result, fits)
        scored = judged.with_scores(job.cell.fold, result)
        trained = {} if training is None else _training_scores(work, job, result, training, fits)
    return job, result, scored, trained


def _training_scores(work: RunContext, job: CellJob, result: CellResult, training: Training, fits: Fits) -> dict[str, Floats]:
    """Scores on the analysis rows, by the names of the scores; NaN for who did not answer."""
    fold, candidates = work.resampling.folds[job.cell.fold], work.candidates(job)
    found: dict[str, Floats] = {}
    for place in result.ok.tolist():
        for name, value in training(candidates[place], work, fold, fits).items():
            found.setdefault(name, np.full(len(candidates), np.nan))[place] = value
    return found


def _on_one_thread_each(found: Any) -> Any:
    """Limit libraries with threads of their own to one, as several cells are computed at a time."""
    with threadpool_limits(1):
        yield from found


def _judging_study(work: RunContext, job: CellJob, result: CellResult, fits: Fits) -> RunContext:
    """The study as the candidates that answered are judged: a scorer is told who they are, and which rows they answer for."""
    candidates, fold = work.candidates(job), work.resampling.folds[job.cell.fold]
    ok = [candidates[one] for one in result.ok]

    def told(measure: BaseMeasure) -> BaseMeasure:
        on = getattr(measure, "on", None)
        return measure if on is None else on(work, fold, ok, fits)

    return replace(work, measure=told(work.measure), beside={name: told(each) for name, each in work.beside.items()})


def _members(plan: Plan, cell: Cell) -> tuple[int, ...]:
    return tuple(plan.batches[cell.batch].members)


def _enter(matrix: LossMatrix, work: RunContext, job: CellJob, result: CellResult) -> None:
    """Put the losses of a finished cell into the matrix."""
    rows, ok = work.resampling.folds[job.cell.fold].assessment, result.ok
    if len(ok):
        losses = work.measure.losses(work.task.target[rows], result.outputs(ok), work.task.class_count)
        matrix.add(rows, np.array(job.members)[ok], losses)
