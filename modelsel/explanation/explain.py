"""Explanations of a study's choice: importances, weak spots, learning curves. Plain data for the record.

Only development rows are read. A part whose fits fail says why in its place (`failed`), and costs the study nothing else.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from modelsel.comparison.selection import rank
from modelsel.config.settings import BOUNDS, NESTED, WINNER, ExplanationSettings, OptimalSettings
from modelsel.core.facts import UNSTATED
from modelsel.core.fingerprint import generator
from modelsel.core.selection import Selection
from modelsel.core.types import (
    Booleans,
    Candidate,
    ClassTask,
    Floats,
    Integers,
    NumberTask,
    Resampling,
    Table,
    Task,
    positions,
    readable,
)
from modelsel.explanation.learning_curve import RUNNERS_UP, SHARES, RunPlan, learning_curve, runners
from modelsel.explanation.optimal_bounds import is_single_tree, optimal_bounds, searches
from modelsel.explanation.prediction_sets import choices, fold_model, fold_residuals
from modelsel.explanation.weak_slices import RowErrors, declared_slices, off_by, weak_slices
from modelsel.learner.forests.inspection import impurity_importance
from modelsel.learner.inner import taught_by
from modelsel.measure.base import BaseMeasure
from modelsel.planning.make import fit_digest
from modelsel.record.documents import DependenceFacts, ExplanationFacts, ImportanceFacts, ImpurityFacts
from modelsel.record.facts import UnseenRows
from modelsel.rule.base import BaseRule
from modelsel.runner.evaluation.preprocessing import prepare, rows_digest
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
) -> ExplanationFacts:
    """Everything that was asked for, by name; `groups` are columns whose levels are shown as slices."""
    found = ExplanationFacts()
    if settings.importance:
        named = members(of.selection, settings.candidates)
        found = found.but(importance=[_importance(of, settings, member) for member in named])
    if settings.dependence and of.final is not None:
        found = found.but(dependence=_dependence(of, of.final, found.importance))
    if curve:
        bounds = of.measure.bounds
        found = found.but(curve=learning_curve(runners(of.selection), of.task, of.resampling, of.seed, of.run, bounds))
    if best is not None and best.kind == BOUNDS and isinstance(of.task, ClassTask):
        found = found.but(optimal=optimal_bounds(of.selection, of.task, of.resampling, of.seed, of.apart, best))
    return found.but(**_slices(of, settings.weak_slices, groups).stated)


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


def _importance(of: StudyToExplain, settings: ExplanationSettings, member: int) -> ImportanceFacts:
    """Compute permutation importances on every fold, and a forest's impurity importances."""

    from modelsel.explanation.importance import FoldImportance, ImportanceRequest, fold_importance, summary  # scikit-learn's

    candidate = of.selection.candidates[member]
    noise = settings.noise and taught_by(candidate.learner) is None
    asked = ImportanceRequest(of.measure, of.seed, settings.repeats, together(of.task, settings.together), noise)
    without = NO_NOISE if noise != settings.noise else UNSTATED
    who = ImportanceFacts(candidate=candidate.id, entry=candidate.entry, no_noise=without)
    folds: list[FoldImportance] = []
    for fold in of.resampling.folds:
        done = of.apart(fold_importance, candidate, of.task, fold, asked)
        if isinstance(done, Failure):
            return who.but(failed=f"{done.status}, {done.reason}")
        folds.append(done)
    told = who.but(**summary(folds, of.task, asked, of.resampling.ratio).stated)
    if not has_rows_out_of_bag(candidate.learner):
        return told
    impurity = of.apart(forest_importance, candidate, of.task, of.seed)
    if isinstance(impurity, Failure):
        return who.but(failed=f"{impurity.status}, {impurity.reason}")
    return told.but(impurity=impurity)


def _slices(of: StudyToExplain, search: bool, groups: Sequence[str]) -> ExplanationFacts:
    """Find where the winner fails, by its out-of-fold answers of the first repeat."""
    known = np.flatnonzero(of.selection.assessed.assessed_by(0))
    task, errors = of.task if len(known) == len(of.task) else of.task.take(known), _errors(of, known)
    searched = search and readable(task).features
    return ExplanationFacts(
        weak_slices=weak_slices(readable(task), errors, of.seed) if searched else UNSTATED,
        declared_slices=declared_slices(task, errors, groups) if groups else UNSTATED,
    )


def _errors(of: StudyToExplain, known: Integers) -> RowErrors:
    """Mark the rows that the winner answered wrongly out of fold; of numbers, those off by more than a tolerance."""
    assessed = of.selection.assessed
    said, truth = assessed.predicted[0, known], assessed.truth[known]
    return off_by(np.abs(said - truth), of.tolerance) if assessed.numbers else RowErrors(said != truth)


def _dependence(of: StudyToExplain, final: Final, importance: Sequence[ImportanceFacts]) -> list[DependenceFacts]:
    """Of the most important columns of the first candidate asked for, else of the first of the table."""
    from modelsel.explanation.importance import COLUMNS, dependence

    lines = importance[0].columns if importance else []
    names = [line.column for line in lines] or [feature.name for feature in of.task.features]
    texts = {feature.name for feature in of.task.features if feature.text}
    names = [name for name in names if name not in texts]
    found = of.apart(dependence, final, of.task, names[:COLUMNS], of.seed)
    if isinstance(found, Failure):
        LOG.warning("no partial dependence: %s, %s", found.status, found.reason)
        return []
    return list(found)


# Columns that go together: ordered ones by Spearman's rank correlation, nominal ones by Cramér's V.
#
#     V = sqrt(χ² / (n (min(r, c) − 1)))
#
# Groups are what links above a threshold join (single linkage). A missing value takes the mean rank in the first, and leaves
# the row out in the second. Source: Spearman (1904); Cramér (1946).


MOST = 1_000  # columns above which nothing is looked for


def together(table: Table, least: float) -> tuple[tuple[int, ...], ...]:
    """Groups of two and more columns, each in ascending order; none in tables of more than a thousand columns."""
    from scipy.cluster.hierarchy import DisjointSet

    many = len(table.features)
    if not 1 < many <= MOST:
        return ()
    linked = DisjointSet(range(many))
    for one, other in np.argwhere(np.triu(association(table) > least, 1)):
        linked.merge(int(one), int(other))
    return tuple(sorted(tuple(sorted(group)) for group in linked.subsets() if len(group) > 1))


def association(table: Table) -> Floats:
    """Columns × columns, 0 to 1: |Spearman's ρ|, Cramér's V, and 0 between an ordered and a nominal column."""
    nominal = np.array([not feature.has_order and not feature.text for feature in table.features])
    found = np.zeros((len(nominal), len(nominal)))
    ordered = np.array([place for place, feature in enumerate(table.features) if feature.has_order], np.int64)
    found[np.ix_(ordered, ordered)] = _spearman(table.values[:, ordered])
    names = np.flatnonzero(nominal)
    for at, one in enumerate(names):
        for other in names[at + 1 :]:
            found[one, other] = found[other, one] = cramers_v(table.values[:, one], table.values[:, other])
    np.fill_diagonal(found, 1.0)
    return found


def cramers_v(one: Floats, other: Floats) -> float:
    """Compute Cramér's V of two columns of codes; 0 where one of them has a single value.

    >>> cramers_v(np.array([0., 0, 1, 1]), np.array([1., 1, 0, 0]))
    1.0
    """
    known: Booleans = ~(np.isnan(one) | np.isnan(other))
    rows, columns = (np.unique(codes[known], return_inverse=True)[1] for codes in (one, other))
    if not known.any() or min(rows.max(), columns.max()) == 0:
        return 0.0
    table = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(table, (rows, columns), 1)
    from scipy.stats import chi2_contingency

    chi2 = chi2_contingency(table, correction=False).statistic
    return float(np.sqrt(chi2 / (table.sum() * (min(table.shape) - 1))))


def _spearman(values: Floats) -> Floats:
    """Compute absolute rank correlations of columns; missing values take the middle."""

    from scipy.stats import rankdata

    ranks = rankdata(values, axis=0, nan_policy="omit")
    centred = ranks - np.nanmean(ranks, axis=0) if values.size else ranks
    centred = np.nan_to_num(centred)
    size = np.sqrt((centred**2).sum(axis=0))
    scaled = np.divide(centred, size, out=np.zeros_like(centred), where=size > 0)
    return np.asarray(np.abs(scaled.T @ scaled))


# Impurity importance of a forest, its bias corrected: what the tests on a column do for rows that a tree has not drawn.
#
# The forest is grown as the final model is, on all development rows; tests below the candidate's limits count for nothing.
# Source: Li et al. (2019), *A debiased MDI feature importance measure for random forests*.


def has_rows_out_of_bag(learner: object) -> bool:
    """Say whether a learner is a forest whose trees draw their rows."""
    return not getattr(learner, "in_every_bag", True)


def forest_importance(candidate: Candidate, task: Task, seed: int) -> list[ImpurityFacts]:
    """Take the importance of each column that the forest sees, the most important first: one job of the pool."""
    rows = positions(task)
    _, ready = prepare(candidate.preparers, task, rows, seed)
    path = candidate.learner.fit_path(ready, rows, generator(seed, rows_digest(task, rows), fit_digest(candidate)))
    found = impurity_importance(path, candidate.learner.trees, candidate.learner)
    lines = [ImpurityFacts(column=feature.name, mean=float(mean)) for feature, mean in zip(ready.features, found, strict=True)]
    return sorted(lines, key=lambda line: -line.mean)


# Fits that explaining a choice adds to a plan, beside those of the selection.


def fitted_explanations(
    settings: ExplanationSettings, curve: bool, folds: int, candidates: Sequence[Candidate], needed: int = 0
) -> Iterator[tuple[str, int]]:
    """Yield the explanations that need fits, each with the largest number of fits; `needed` are those of the selection.

    >>> list(fitted_explanations(ExplanationSettings(importance=True), False, 10, ()))
    [('permutation importance of 1 candidate, with a noise column', 20)]
    """
    if settings.importance:
        many = len(settings.candidates)
        noise = ", with a noise column" if settings.noise else ""
        yield f"permutation importance of {many} candidate{'s' * (many > 1)}{noise}", many * folds * (1 + settings.noise)
        if any(has_rows_out_of_bag(candidate.learner) for candidate in candidates):
            yield f"impurity importance of {many} forest{'s' * (many > 1)}, on all development rows", many
    if settings.sets == NESTED:
        yield "the choice made anew on the analysis rows of each fold, for prediction sets and intervals", folds * needed
    elif settings.sets:
        yield "a model of each fold, of the choice repeated, for prediction sets and intervals", folds
    if curve:
        many = min(len({candidate.entry for candidate in candidates}), 1 + RUNNERS_UP)
        yield f"learning curve of {many} candidate{'s' * (many > 1)}", many * folds * (len(SHARES) - 1)


def lines(settings: ExplanationSettings, curve: bool, folds: int, candidates: Sequence[Candidate], needed: int) -> list[str]:
    """Write the lines that `modelsel plan` prints; none where nothing costs a fit."""
    return [
        f"explanations {fits:,} fit{'s' * (fits > 1)} more: {what}"
        for what, fits in fitted_explanations(settings, curve, folds, candidates, needed)
    ]


STEPS = 0.0005  # seconds that a million steps of a search take, about


def forecast_lines(optimal: OptimalSettings, folds: int, candidates: Sequence[Candidate]) -> list[str]:
    """Write what `modelsel plan` says of the searches for the best trees; nothing where they were not asked for.

    >>> from modelsel.learner.tree import Tree
    >>> forecast_lines(OptimalSettings("bounds"), 10, [Candidate(Tree(), entry="cart")])[0]
    'optimal      at most 122 searches of trees of depth 3 beside those of cart: 100,000 million steps, 50 s'
    """
    entries = list(dict.fromkeys(one.entry for one in candidates if is_single_tree(one)))
    if optimal.kind != BOUNDS or not entries:
        return []
    many = (len(entries) + 1) * (1 + searches(folds))
    return [
        f"optimal      at most {many:,} searches of trees of depth {optimal.depth} beside those of {', '.join(entries)}: "
        f"{optimal.budget:,} million steps, {optimal.budget * STEPS:.0f} s"
    ]
