"""The whole selection inside each fold of an outer scheme: what is scored is the selecting, not one candidate.

`score_selection` selects once per fold. `score_selection_by_bates` selects without each pair of folds as well, K (K + 1) / 2
times a repeat: what is chosen without folds j and k is judged on both. Families are resolved on each outer analysis part, as
they would be if nothing else were known; all inner cells go into the study's one journal.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from modelsel.comparison.optimism import bates
from modelsel.comparison.optimism.nested import NestedResult, nested
from modelsel.comparison.ratio import assessed_per_analysed
from modelsel.core.errors import NoCandidateError, Problem
from modelsel.core.protocols.evaluation import Measure, Rule, Scheme
from modelsel.core.sized import sized
from modelsel.core.types import Candidate, Floats, Fold, Integers, Outputs, Resampling, Scoreboard, Task
from modelsel.planning.make import Plan, make
from modelsel.rule.bounds import among
from modelsel.runner.aggregation.results import Results
from modelsel.runner.families import resolve
from modelsel.runner.final_fit import answers
from modelsel.runner.journal.journal import Journal

RunPlan = Callable[[Plan, Task, Resampling], Results]


@dataclass(frozen=True, eq=False)
class SelectionProcedure:
    """The selection procedure that all outer folds share.

    `run` computes a plan's cells, `journal` knows families; `answer` fits a fold's winner and asks it about tables.
    """

    candidates: Sequence[Candidate]
    scheme: Scheme
    measure: Measure
    rule: Rule
    seed: int
    run: RunPlan
    journal: Journal | None = None
    answer: Callable[..., tuple[Outputs, ...]] = answers


@dataclass(frozen=True, eq=False)
class OuterWinner:
    """Answers of a winner for rows that did not choose it, and a name that means the same wherever it was chosen."""

    said: tuple[Outputs, ...]
    name: str


def score_selection(selecting: SelectionProcedure, task: Task, outer: Resampling) -> NestedResult:
    """Select on each outer analysis part, score its winner on the assessment part. Raises what a selection raises."""
    chosen = [_select(selecting, task, fold.analysis, fold.index, fold.assessment) for fold in outer.folds]
    scores = [_score(selecting, one.said[0], task.take(fold.assessment)) for one, fold in zip(chosen, outer.folds)]
    return nested(scores, assessed_per_analysed(outer), [one.name for one in chosen])


def score_selection_by_bates(selecting: SelectionProcedure, task: Task, outer: Resampling) -> NestedResult:
    """The same with the interval of Bates, Hastie & Tibshirani; `outer` is a k-fold scheme, `measure` a mean over rows."""
    plainly = score_selection(selecting, task, outer)
    repeats = [[fold for fold in outer.folds if fold.repeat == repeat] for repeat in range(outer.repeats)]
    found = bates.interval([_held(selecting, task, folds) for folds in repeats])
    label = f"{bates.LABEL}; {outer.repeats} × {len(repeats[0])} folds, standard error × {found.inflation:.2f}"
    return replace(plainly, mean=found.mean, low=found.low, high=found.high, label=label, method="bates")


def _held(selecting: SelectionProcedure, task: Task, folds: Sequence[Fold]) -> list[bates.OuterFoldLosses]:
    """Per fold of one repeat, losses inside the other folds and on itself."""
    inside: list[list[Floats]] = [[] for _ in folds]
    outside = []
    for k, fold in enumerate(folds):
        (own,) = _select(selecting, task, fold.analysis, fold.index, fold.assessment).said
        outside.append(_losses(selecting, own, task, fold.assessment))
        for j, other in enumerate(folds[:k]):
            rest = np.setdiff1d(fold.analysis, other.assessment)
            theirs, own = _select(selecting, task, rest, fold.index, other.assessment, fold.assessment).said
            inside[k].append(_losses(selecting, theirs, task, other.assessment))
            inside[j].append(_losses(selecting, own, task, fold.assessment))
    return [bates.OuterFoldLosses(np.concatenate(own), losses) for own, losses in zip(inside, outside)]


def _select(selecting: SelectionProcedure, task: Task, rows: Integers, fold: int, *asked: Integers) -> OuterWinner:
    """Choose and fit on some rows, and ask the winner about others."""
    inner = task.take(rows)
    candidates = resolve(selecting.candidates, inner, selecting.seed, selecting.journal)
    folds = selecting.scheme.instantiate(inner, selecting.seed)
    board = selecting.run(make(candidates, inner, folds), inner, folds).board
    if not board.eligible.any():
        fix = "the reasons stand in the journal of the study without outer"
        raise NoCandidateError(Problem("MSEL-703", "no candidate is eligible", f"outer fold {fold}", fix))
    bounds = getattr(selecting.rule, "bounds", ())
    if not among(board, bounds).eligible.any():
        what = f"nobody has {' and '.join(map(str, bounds))}"
        raise NoCandidateError(Problem("MSEL-708", what, f"outer fold {fold}", "loosen the bound, or leave outer out"))
    winner = selecting.rule.choose(board)
    tables, scores = [task.take(other) for other in asked], selecting.measure.needs_scores
    said = selecting.answer(candidates[winner], inner, selecting.seed, scores, *tables)
    return OuterWinner(said, _name(candidates[winner], board, winner))


def _score(selecting: SelectionProcedure, said: Outputs, rows: Task) -> float:
    score = selecting.measure.score(rows.target, said, rows.weights, len(rows.classes))
    return float(np.asarray(score)[0])


def _losses(selecting: SelectionProcedure, said: Outputs, task: Task, rows: Integers) -> Floats:
    """Loss per row, in proportion to its weight among the task's rows."""
    assessed = task.take(rows)
    losses = selecting.measure.losses(assessed.target, said, len(task.classes))[0]
    return np.asarray(losses * assessed.row_weights / task.row_weights.mean())


def _name(candidate: Candidate, board: Scoreboard, winner: int) -> str:
    """A name that means the same in every fold: members of a family depend on the rows and go by their size."""
    size = sized(round(float(board.complexity[winner])), board.unit[winner])
    return f"{candidate.entry} {size}" if candidate.family else f"{candidate.entry} {candidate.id}"
