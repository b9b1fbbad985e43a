"""The whole selection inside each fold of an outer scheme: what is scored is the selecting, not one candidate.

Families are resolved on each outer analysis part, as they would be if nothing else were known; all inner cells go into the
study's one journal.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from modelsel.compare.nested import Nested, nested
from modelsel.compare.ratio import assessed_per_analysed
from modelsel.core.errors import NoCandidateError, Problem
from modelsel.core.protocols import Measure, Rule, Scheme
from modelsel.core.types import Candidate, Fold, Outputs, Resampling, Scoreboard, Task
from modelsel.plan.make import Plan, make
from modelsel.runner.families import resolve
from modelsel.runner.final import fit
from modelsel.runner.journal import Journal
from modelsel.runner.results import Results

RunPlan = Callable[[Plan, Task, Resampling], Results]


@dataclass(frozen=True, eq=False)
class Selecting:
    """How a choice is made: what all outer folds have in common. `run` computes a plan's cells, `journal` knows families."""

    candidates: Sequence[Candidate]
    scheme: Scheme
    measure: Measure
    rule: Rule
    seed: int
    run: RunPlan
    journal: Journal | None = None


def score_selection(selecting: Selecting, task: Task, outer: Resampling) -> Nested:
    """Select on each outer analysis part, score its winner on the assessment part. Raises what a selection raises."""
    each = [_one(selecting, task, fold) for fold in outer.folds]
    scores, winners = zip(*each, strict=True)
    return nested(scores, assessed_per_analysed(outer), winners)


def _one(selecting: Selecting, task: Task, fold: Fold) -> tuple[float, str]:
    inner = task.take(fold.analysis)
    candidates = resolve(selecting.candidates, inner, selecting.seed, selecting.journal)
    folds = selecting.scheme.instantiate(inner, selecting.seed)
    board = selecting.run(make(candidates, inner, folds), inner, folds).board
    if not board.eligible.any():
        fix = "the reasons stand in the journal of the study without outer"
        raise NoCandidateError(Problem("MSEL-703", "no candidate is eligible", f"outer fold {fold.index}", fix))
    winner = selecting.rule.choose(board)
    model = fit(candidates[winner], inner, selecting.seed)
    rows = task.take(fold.assessment)
    scores = model.scores(rows)[None] if selecting.measure.needs_scores else None
    outputs = Outputs(model.predict(rows)[None], scores)
    score = selecting.measure.score(rows.target, outputs, rows.weights, len(task.classes))
    return float(np.asarray(score)[0]), _name(candidates[winner], board, winner)


def _name(candidate: Candidate, board: Scoreboard, winner: int) -> str:
    """A name that means the same in every fold: members of a family depend on the rows and go by their size."""
    size = f"{board.complexity[winner]:.0f} {board.unit[winner]}"
    return f"{candidate.entry} {size}" if candidate.family else f"{candidate.entry} {candidate.id}"
