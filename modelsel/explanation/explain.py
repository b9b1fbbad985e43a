"""Explanations of a study's choice: importances, weak spots, learning curves. Plain data for the record.

Only development rows are read. A part whose fits fail says why in its place (`failed`), and costs the study nothing else.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from modelsel.comparison.ratio import assessed_per_analysed
from modelsel.comparison.selection import rank
from modelsel.config.settings import BOUNDS, WINNER, ExplanationSettings, OptimalSettings
from modelsel.core.selection import Selection
from modelsel.core.types import Candidate, ClassTask, Integers, NumberTask, Resampling, Task, readable
from modelsel.explanation.correlated import together
from modelsel.explanation.forest_importance import forest_importance, has_rows_out_of_bag
from modelsel.explanation.learning_curve import RunPlan, learning_curve, runners
from modelsel.explanation.optimal_bounds import optimal_bounds
from modelsel.explanation.prediction_intervals import choices, fold_residuals
from modelsel.explanation.prediction_sets import fold_model
from modelsel.explanation.weak_slices import RowErrors, declared_slices, off_by, weak_slices
from modelsel.learner.crossed import taught_by
from modelsel.measure.base import BaseMeasure
from modelsel.record.documents import DependenceShape, ExplanationShape, ImportanceShape
from modelsel.record.facts import UnseenRows
from modelsel.rule.base import BaseRule
from modelsel.runner.execution.single_job import CallsApart, Failure
from modelsel.runner.final_fit import Final

NO_NOISE = "it learns from the study's own folds, which a table with one column more does not have"

LOG = logging.getLogger("modelsel.study")  # goes to study.log


@dataclass(frozen=True, eq=False)
class StudyToExplain:
    """A finished selection, and how its fits are made: one by one (`apart`), or as a plan with the journal (`run`).

    `final` is None where the winner could not be fitted.
    """

    task: Task
    resampling: Resampling
    selection: Selection
    measure: BaseMeasure
    seed: int
    final: Final | None
    apart: CallsApart
    run: RunPlan
    rule: BaseRule
    tolerance: float | None = None  # of numbers: what a look counts


def explanation(
    of: StudyToExplain,
    settings: ExplanationSettings,
    groups: Sequence[str] = (),
    curve: bool = False,
    best: OptimalSettings | None = None,
) -> ExplanationShape:
    """Everything that was asked for, by name; `groups` are columns whose levels are shown as slices."""
    found: ExplanationShape = {}
    if settings.importance:
        found["importance"] = [_importance(of, settings, member) for member in members(of.selection, settings.candidates)]
    if settings.dependence and of.final is not None:
        found["dependence"] = _dependence(of, of.final, found.get("importance", []))
    if curve:
        found["curve"] = learning_curve(runners(of.selection), of.task, of.resampling, of.seed, of.run)
    if best is not None and best.kind == BOUNDS and isinstance(of.task, ClassTask):
        found["optimal"] = optimal_bounds(of.selection, of.task, of.resampling, of.seed, of.apart, best)
    found.update(_slices(of, settings.weak_slices, groups))
    return found


def fold_models(of: StudyToExplain, chosen: Sequence[Candidate] = ()) -> list[tuple[Final, UnseenRows]] | Failure:
    """The model of each fold, and how strange its other rows are to it.

    `chosen` are the candidates of the folds; without them the choice is repeated by the scores of the other folds.
    """
    folds, function = of.resampling.folds, fold_residuals if isinstance(of.task, NumberTask) else fold_model
    chosen = chosen or [of.selection.candidates[place] for place in choices(of.rule, of.selection.board, folds)]
    found = [of.apart(function, own, of.task, fold, of.seed) for own, fold in zip(chosen, folds, strict=True)]
    failed = next((one for one in found if isinstance(one, Failure)), None)
    return failed or [one for one in found if not isinstance(one, Failure)]


def members(selection: Selection, names: Sequence[str]) -> list[int]:
    """Positions of the candidates that are named: the winner, an entry's best, an id or the beginning of one.

    A name that fits nobody stands for nobody: entries are checked before anything is fitted, ids are known only afterwards.
    """
    order = rank(selection.board)
    found: list[int] = []
    for name in names:
        own = [selection.winner] if name == WINNER else [i for i in order if selection.candidates[i].entry == name][:1]
        found += own or [i for i in order if selection.candidates[i].id.startswith(name)][:1]
    return list(dict.fromkeys(found))


def _importance(of: StudyToExplain, settings: ExplanationSettings, member: int) -> ImportanceShape:
    """Compute permutation importances on every fold, and a forest's impurity importances."""

    from modelsel.explanation.importance import FoldImportance, ImportanceRequest, fold_importance, summary  # scikit-learn's

    candidate = of.selection.candidates[member]
    noise = settings.noise and taught_by(candidate.learner) is None
    asked = ImportanceRequest(of.measure, of.seed, settings.repeats, together(of.task, settings.together), noise)
    who: ImportanceShape = {"candidate": candidate.id, "entry": candidate.entry}
    if noise != settings.noise:
        who["no_noise"] = NO_NOISE
    folds: list[FoldImportance] = []
    for fold in of.resampling.folds:
        done = of.apart(fold_importance, candidate, of.task, fold, asked)
        if isinstance(done, Failure):
            return {**who, "failed": f"{done.status}, {done.reason}"}
        folds.append(done)
    told: ImportanceShape = {**who, **summary(folds, of.task, asked, assessed_per_analysed(of.resampling))}
    if not has_rows_out_of_bag(candidate.learner):
        return told
    impurity = of.apart(forest_importance, candidate, of.task, of.seed)
    if isinstance(impurity, Failure):
        return {**who, "failed": f"{impurity.status}, {impurity.reason}"}
    return {**told, "impurity": impurity}


def _slices(of: StudyToExplain, search: bool, groups: Sequence[str]) -> ExplanationShape:
    """Find where the winner fails, by its out-of-fold answers of the first repeat."""
    known = np.flatnonzero(of.selection.assessed.known(0))
    task, errors = of.task if len(known) == len(of.task) else of.task.take(known), _errors(of, known)
    found: ExplanationShape = {}
    if search and readable(task).features:
        found["weak_slices"] = weak_slices(readable(task), errors, of.seed)
    if groups:
        found["declared_slices"] = declared_slices(task, errors, groups)
    return found


def _errors(of: StudyToExplain, known: Integers) -> RowErrors:
    """What is wrong of the winner's out-of-fold answers; of numbers, what is off by more than a tolerance, and by how much."""
    assessed = of.selection.assessed
    said, truth = assessed.predicted[0, known], assessed.truth[known]
    return off_by(np.abs(said - truth), of.tolerance) if assessed.numbers else RowErrors(said != truth)


def _dependence(of: StudyToExplain, final: Final, importance: Sequence[ImportanceShape]) -> list[DependenceShape]:
    """Of the most important columns of the first candidate asked for, else of the first of the table."""
    from modelsel.explanation.dependence import COLUMNS, dependence

    lines = importance[0].get("columns", []) if importance else []
    names = [line["column"] for line in lines] or [feature.name for feature in of.task.features]
    texts = {feature.name for feature in of.task.features if feature.text}
    names = [name for name in names if name not in texts]
    found = of.apart(dependence, final, of.task, names[:COLUMNS], of.seed)
    if isinstance(found, Failure):
        LOG.warning("no partial dependence: %s, %s", found.status, found.reason)
        return []
    return list(found)
