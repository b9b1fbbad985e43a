"""The scores of a search: all cells of a plan computed in memory, without folder, journal or ledger; `cv_results_` of them."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing
from threadpoolctl import threadpool_limits

from modelsel.api.search.scoring import Scoring, Scorings, fitted_on, read_by
from modelsel.comparison.bbc import bbc, bbc_generator
from modelsel.core.types import Candidate, Floats, Fold, Resampling, Scoreboard, Task, round_to_scale
from modelsel.estimator import LearnerEstimator
from modelsel.foreign import objects
from modelsel.foreign.libraries import is_pairwise
from modelsel.learner.object import Object, keeping
from modelsel.measure.base import BaseMeasure, tie_scale
from modelsel.planning.make import Cell, Plan
from modelsel.record.candidates import differing
from modelsel.rule.base import BaseRule
from modelsel.runner.budget import Budget
from modelsel.runner.costs import samples, slowness
from modelsel.runner.evaluation.cell_result import NOTHING, CellResult
from modelsel.runner.evaluation.context import CellJob, RunContext
from modelsel.runner.results import LossMatrix, Results, fold_errors
from modelsel.runner.run_index import ScoreMatrix

# All cells of a plan.


Fits = Sequence[Any]  # paths of estimator objects
TrainingScorer = Callable[[Candidate, RunContext, Fold, Fits], Mapping[str, float]]
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
        """Return the scores with one in the place of those of fits that failed, so that their candidates take part."""
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
        rng = bbc_generator(self.work.resampling, self.work.seed, task)
        found = bbc(self.losses, self.board, rule, winner=winner, groups=task.groups, weights=task.weights, rng=rng)
        if found is None:
            return None
        low, high = sorted((sign * found.low + offset, sign * found.high + offset))
        return sign * found.mean + offset, low, high


ENDING = 0.3  # seconds after the last cell, but for the winner's fit


def compute_cells(
    plan: Plan, task: Task, resampling: Resampling, measure: BaseMeasure, seed: int, workers: int,
    beside: Mapping[str, BaseMeasure] = NOTHING, training: TrainingScorer | None = None, tell: Told = lambda job, result: None,
    limit: float | None = None,
) -> CandidateScores:  # fmt: skip
    """Compute every cell, with what the rule sets bounds to `beside`. Raises DataError for data that a learner cannot use.

    `training(estimator, rows)` scores a fitted estimator on the rows that it was fitted on; without it nobody is asked about
    those. `limit` are seconds by which it should end: batches that cannot are not begun (`runner.budget`).
    """
    work = RunContext(task, resampling, plan, measure, seed, beside=beside)
    scores, seconds = (
        ScoreMatrix(len(plan.candidates), plan.folds, beside, task.class_count),
        np.zeros((len(plan.candidates), plan.folds)),
    )
    known: dict[str, Floats] = {}
    matrix = LossMatrix(task, resampling, len(plan.candidates)) if measure.over_rows else None
    jobs = _jobs_of(work, range(len(plan.batches)))
    computed = (
        _compute_jobs(work, workers, training, jobs) if limit is None else _in_time(work, workers, training, limit, scores)
    )
    for job, result, scored, trained in _on_one_thread_each(computed):
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
    """The size that the rounding of scores is relative to: where the target is a number their median, of classes 1."""
    known = np.abs(means[np.isfinite(means)])
    usual = float(np.median(known)) if len(known) and task.kind == "numbers" else 0.0
    return usual or 1.0


def of_results(results: Results) -> CandidateScores:
    """Scores of candidates from the cells that a study has computed."""
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


def _in_time(
    work: RunContext, workers: int, training: TrainingScorer | None, limit: float, scores: ScoreMatrix
) -> Iterator[Done]:
    """Jobs with their results, batch after batch, of those that end by a limit; the others are marked as not begun."""
    budget = Budget(work, limit, workers)
    budget.after = ENDING * slowness()
    measured: list[Floats] = []
    shares: list[float] = []
    found = np.empty(0)
    for place, sample in enumerate(samples(work)):
        if not budget.may_probe(place):
            break
        spent, found = np.zeros(len(budget.cells)), np.full(len(work.plan.candidates), np.nan)
        for job, result, scored, _ in _compute_jobs(sample.work, workers, None, _jobs_of(sample.work, range(len(spent)))):
            spent[job.cell.batch], found[list(job.members)] = result.seconds, scored.score
        measured.append(spent)
        shares.append(sample.share)
    budget.learn(measured, shares, found)
    for batch in budget.order():
        if not budget.fits(batch):
            scores.not_begun |= dict.fromkeys(work.plan.batches[batch].members, budget.refusal(batch))
            continue
        took = []
        for done in _compute_jobs(work, workers, training, _jobs_of(work, (batch,))):
            took.append(done[1].seconds)
            yield done
        budget.correct(batch, took)


def _jobs_of(work: RunContext, batches: Collection[int]) -> list[CellJob]:
    """The jobs of some batches, in the plan's order."""
    return [CellJob(cell, _members(work.plan, cell)) for cell in work.plan.cells if cell.batch in batches]


def _compute_jobs(work: RunContext, workers: int, training: TrainingScorer | None, jobs: Sequence[CellJob]) -> Iterator[Done]:
    """Jobs with their results, in their order whatever the number of threads."""
    if workers == 1:
        yield from (_compute_and_score(work, job, training) for job in jobs)
        return
    with ThreadPoolExecutor(None if workers < 1 else workers) as threads:
        yield from threads.map(lambda job: _compute_and_score(work, job, training), jobs)


def _compute_and_score(work: RunContext, job: CellJob, training: TrainingScorer | None) -> Done:
    """Compute a job and score it while its fits of estimator objects are there to be asked."""
    with keeping() as fits:
        result = work.evaluate(job)
        judged = _judging_study(work, job, result, fits)
        scored = judged.with_scores(job.cell.fold, result)
        trained = {} if training is None else _training_scores(work, job, result, training, fits)
    return job, result, scored, trained


def _training_scores(
    work: RunContext, job: CellJob, result: CellResult, training: TrainingScorer, fits: Fits
) -> dict[str, Floats]:
    """Scores on the analysis rows by their names; NaN for a candidate that gave no answer."""
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


# `cv_results_`, with scikit-learn's keys: parameters, scores of each fold, means, ranks, times.


TRAIN, TEST = "train", "test"


def parameters(candidates: Sequence[Candidate]) -> list[dict[str, object]]:
    """The parameters of each candidate: of an object by the user's own names, of others those that differ in their entry.

    `learner` names the entry, but where a single one holds objects, as in GridSearchCV.
    """
    by_entry: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_entry.setdefault(candidate.entry, []).append(candidate)
    telling = {entry: differing([one.parameters for one in own]) for entry, own in by_entry.items()}
    alone = len(by_entry) == 1 and all(isinstance(one.learner, Object) for one in candidates)
    return [({} if alone else {"learner": one.entry}) | _own(one, telling[one.entry]) for one in candidates]


def _own(candidate: Candidate, telling: Collection[str]) -> dict[str, Any]:
    if isinstance(candidate.learner, Object):
        return {name: objects.read_parameter(value) for name, value in candidate.learner.params.items()}
    return {name: value for name, value in candidate.parameters.items() if name in telling}


def results(found: CandidateScores, scorings: Scorings, params: list[dict[str, object]]) -> dict[str, Any]:
    """`cv_results_`; candidates that failed have NaN and the last rank."""
    names = dict.fromkeys(name for one in params for name in one)
    told: dict[str, object] = {
        "mean_fit_time": found.seconds.mean(axis=1), "std_fit_time": found.seconds.std(axis=1),
        "mean_score_time": np.zeros(len(params)), "std_score_time": np.zeros(len(params)),
        **{f"param_{name}": _mask([one.get(name, np.ma.masked) for one in params]) for name in names},
        "params": params,
    }  # fmt: skip
    for name, scoring in scorings.each.items():
        chooses = scoring is scorings.chooses
        folds = found.board.folds if chooses else found.beside[beside(name)]
        scale = found.board.scale if chooses else usual_size(folds.mean(axis=1), found.work.task)
        told |= _scores(scoring.sign * folds + scoring.offset, TEST, name, scale)
    for name, folds in found.training.items():
        told |= _scores(folds, TRAIN, name)
    return told


def beside(name: str) -> str:
    """The name of a further score among the measures beside the one that chooses, apart from those that a rule bounds."""
    return f"scoring {name}"


def _scores(folds: Floats, part: str, name: str, scale: float = 1.0) -> dict[str, object]:
    """The columns of one score; training scores have no rank, as in scikit-learn."""
    mean = folds.mean(axis=1)
    told: dict[str, object] = {f"split{index}_{part}_{name}": folds[:, index] for index in range(folds.shape[1])}
    told |= {f"mean_{part}_{name}": mean, f"std_{part}_{name}": folds.std(axis=1)}
    if part == TEST:
        ranked = np.where(np.isnan(mean), -np.inf, round_to_scale(mean, scale))
        told[f"rank_{part}_{name}"] = ((ranked[None, :] > ranked[:, None]).sum(axis=1) + 1).astype(np.int32)
    return told


def _mask(values: list[object]) -> NDArray[np.generic]:
    """A masked array, masked where a parameter does not apply; of numbers or truth values where all are of one such type."""
    given = [value for value in values if value is not np.ma.masked]
    kinds = {type(value) for value in given}
    kind: Any = kinds.pop() if len(kinds) == 1 else object
    plain = kind in (bool, int, float) or (isinstance(kind, type) and issubclass(kind, np.number | np.bool_))
    if kinds == {int, float}:
        plain, kind = True, float
    made = np.ma.MaskedArray(np.empty(len(values), kind if plain else object), mask=True)
    for index, value in enumerate(values):
        if value is not np.ma.masked:
            made[index] = value
    return made


# What a search says beside its scores: scores on the rows that were fitted on, and lines as fits end.

COUNTED, EACH, SCORED = 1, 2, 3  # levels of `verbose`


@dataclass(frozen=True, eq=False)
class Training:
    """Scores every fit of a search on its own rows."""

    search: object
    scorings: Scorings
    X: object
    y: object
    weights: object

    def __call__(self, candidate: Candidate, work: RunContext, fold: Fold, fits: Sequence[object]) -> Mapping[str, float]:
        """The scores by their names."""
        estimator, rows = fitted_on(candidate, work, fold, fits, read_by(self.search)), fold.analysis
        X, y = _safe_indexing(self.X, rows), _safe_indexing(self.y, rows)
        X = X[:, rows] if not isinstance(estimator, LearnerEstimator) and is_pairwise(estimator) else X
        weights = None if self.weights is None else _safe_indexing(np.asarray(self.weights), rows)
        return {name: one.scorer(estimator, X, y, weights) for name, one in self.scorings.each.items()}


@dataclass(frozen=True, eq=False)
class SearchLines:
    """Prints what `verbose` asks for."""

    verbose: int
    candidates: Sequence[Candidate]
    folds: int
    scoring: Scoring

    def begin(self) -> None:
        """Say how many fits there are to be."""
        if self.verbose >= COUNTED:
            count = len(self.candidates)
            print(f"Fitting {self.folds} folds for each of {count} candidates, totalling {count * self.folds} fits")  # noqa: T201

    def cell(self, job: CellJob, result: CellResult) -> None:
        """Say how the candidates of a cell did on its fold."""
        if self.verbose < EACH:
            return
        own = parameters([self.candidates[member] for member in job.members])
        for params, score in zip(own, result.score, strict=True):
            said = ", ".join(f"{name}={value}" for name, value in params.items())
            scored = f", score={self.scoring.sign * score + self.scoring.offset:.3f}" if self.verbose >= SCORED else ""
            seconds = result.seconds / len(own)
            print(f"[CV {job.cell.fold + 1}/{self.folds}] END {said}{scored}; total time={seconds:6.1f}s")  # noqa: T201
