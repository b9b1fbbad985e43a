"""Could a tree of this size do better? A grown tree beside the best trees of its depth: in training, and out of fold.

    training:      errors of the grown tree of L leaves, least errors found and proven bound of trees with at most L leaves
    out of fold:   errors of the grown tree and of the optimal one on rows that they did not see, λ chosen by inner folds

A best tree that is found on the training rows has fewer errors there by construction, and keeps little of that on others; so
neither half is computed without the other. The bound holds for tests of two sides: a number against a threshold, one level
against the rest, missing values sent to either side. Prices λ are tried between those at which the best tree changes.
Source: Breiman et al. (1984, 11.4) for the prices; Bertsimas & Dunn (2017) for the question.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from modelsel.comparison.selection import rank
from modelsel.config.settings import OptimalSettings
from modelsel.core.facts import UNSTATED
from modelsel.core.fingerprint import digest, generator
from modelsel.core.selection import Selection
from modelsel.core.spec import spec_of
from modelsel.core.types import Booleans, Candidate, ClassTask, Codes, Floats, Fold, Integers, Resampling, positions
from modelsel.learner.inner import PreparedFit, inner_folds, prepared_fit
from modelsel.learner.optimal_tree import OptimalPath, OptimalTree
from modelsel.learner.tree import Tree
from modelsel.learner.trees.model import TreeModel
from modelsel.preparer.base import BasePreparer
from modelsel.record.documents import (
    DifferenceFacts,
    GrownAndBestFacts,
    OptimalFacts,
    TrainingSizeFacts,
    UnseenFacts,
    WholeTreeFacts,
)
from modelsel.runner.execution.single_job import CallsApart, Failure
from modelsel.runner.final_fit import fit
from modelsel.statistics.paired import corrected_t

INNER = 5  # folds that choose λ
DIVIDED, NOT_BINARY, SOFT = (
    "it divides rows of missing values, or asks surrogates", "it has tests of sets of levels, or of more than two sides",
    "its thresholds are soft",
)  # fmt: skip


class FittedSize(NamedTuple):
    """A tree fitted on all rows: its size, its training errors, and why the bound is none for it (empty: it is)."""

    depth: int
    leaves: int
    errors: float
    unlike: str


@dataclass(frozen=True)
class FoldErrors:
    """Weight that a fold's trees get wrong of rows that they did not see."""

    grown: tuple[float, ...]
    optimal: float
    weight: float
    leaves: float
    price: float
    ended: bool  # whether the search on the analysis rows came to its end


def is_single_tree(candidate: Candidate) -> bool:
    """Say whether the candidate is one tree of tests, and no ensemble or model around one."""
    return isinstance(candidate.learner, Tree | OptimalTree)


def trees_to_compare(selection: Selection) -> list[Candidate]:
    """The winner, if it is a tree, and the best of each entry of trees."""
    best: dict[str, Candidate] = {}
    for at in rank(selection.board):
        if is_single_tree(own := selection.candidates[at]):
            best.setdefault(own.entry, own)
    won = selection.candidates[selection.winner]
    return list(dict.fromkeys([*([won] if is_single_tree(won) else []), *best.values()]))


def searches(folds: int) -> int:
    """Count the searches that an optimal tree of one depth needs out of fold: per fold one, and one per inner fold."""
    return folds * (1 + INNER)


def limit_depth(candidate: Candidate, depth: int) -> Candidate:
    """Return the candidate with its depth held to so many levels."""
    return replace(candidate, learner=replace(candidate.learner, max_depth=depth))


def fit_size(candidate: Candidate, task: ClassTask, seed: int) -> FittedSize:
    """Fit a tree on all rows: one job of the pool."""
    final = fit(candidate, task, seed)
    model, ready = final.model, final.prepared(task)
    assert isinstance(model, TreeModel)
    wrong = float(task.row_weights[final.predict(task) != task.target].sum())
    return FittedSize(model.depth, model.n_leaves, wrong, _unlike(model, np.asarray(np.isnan(ready.values).any(axis=0))))


def _unlike(model: TreeModel, gaps: Booleans) -> str:
    """Why a tree has tests that the best trees do not have; `gaps` are the columns with missing values."""
    tree = model.cut.tree
    inner = np.flatnonzero(~model.cut.leaf)
    assert tree.missing_to is not None
    if model.widths is not None:
        return SOFT
    if (gaps[tree.feature[inner]] & (tree.missing_to[inner] < 0)).any():
        return DIVIDED
    return "" if model.is_binary else NOT_BINARY


def optimal(depth: int, limit: int, price: float = 0.0) -> OptimalTree:
    """The learner that searches: missing values to either side, which holds what every other certain policy can do."""
    return OptimalTree(max_depth=depth, leaf_price=price, missing="branch", limit=limit)


def front(steps: Sequence[BasePreparer], task: ClassTask, seed: int, depth: int, limit: int) -> tuple[list[float], list[float]]:
    """Least training errors found and their bounds, as weights, for 1 … 2^depth leaves: one job of the pool."""
    weight = task.row_weights.sum()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a search that met its limit: the bound says it
        errors, bound = _path(prepared_fit(optimal(depth, limit), steps, task, positions(task), seed)).front(depth)
    return (errors * weight).tolist(), (bound * weight).tolist()


def _path(fitted: PreparedFit) -> OptimalPath:
    assert isinstance(fitted.path, OptimalPath)
    return fitted.path


def prices(errors: Floats) -> list[float]:
    """One λ within each range of prices in which the best number of leaves stays the same, from 0 on.

    Parameters
    ----------
    errors : Floats
        Least shares of wrong weight with 1, 2, ... leaves.

    Returns
    -------
    list of float
        0, geometric means of neighbouring changes, and a price at which one leaf is best.

    Examples
    --------
    >>> [round(price, 3) for price in prices(np.array([0.5, 0.1, 0.05, 0.05]))]
    [0.0, 0.141, 0.4]
    """
    leaves, at = np.arange(1, len(errors) + 1), int(np.flatnonzero(errors <= errors.min() + 1e-12)[0])
    changes: list[float] = []
    while at > 0:
        saved = (errors[:at] - errors[at]) / (leaves[at] - leaves[:at])
        changes.append(float(saved.min()))
        at = int(np.flatnonzero(saved <= saved.min() + 1e-12)[0])
    between = [float(np.sqrt(one * two)) for one, two in pairwise(changes)]
    return [0.0, *between, *changes[-1:]]


def out_of_fold(
    trees: Sequence[Candidate], task: ClassTask, fold: Fold, seed: int, depth: int, limit: int
) -> FoldErrors:  # fmt: skip
    """Errors of a fold's trees, of equal steps, on the rows that it assesses: one job of the pool.

    λ is chosen within the analysis rows: least errors on inner folds, of equals the largest.
    """
    rows, weights = fold.assessment, task.row_weights
    unseen = task.take(rows)
    wrong = tuple(
        float(weights[rows][fit(one, task, seed, fold.analysis).predict(unseen) != unseen.target].sum()) for one in trees
    )
    steps = trees[0].preparers
    rng = generator(seed, fold.fingerprint, "optimal")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        whole = prepared_fit(optimal(depth, limit), steps, task, fold.analysis, seed)
        tried = [optimal(depth, limit, price) for price in prices(_path(whole).front(depth)[0])]
        lost = np.zeros(len(tried))
        for seen, held in inner_folds(task, fold.analysis, INNER, rng):
            own, out = fold.analysis[seen], fold.analysis[held]
            told = _classes_by_price(prepared_fit(tried[0], steps, task, own, seed), tried, task, out)
            lost += ((told != task.target[out]) * weights[out]).sum(axis=1)
        best = int(np.flatnonzero(lost <= lost.min() + 1e-9)[-1])
        found = _classes_by_price(whole, tried[best : best + 1], task, rows)[0]
        leaves = float(_path(whole).complexity(tried[best : best + 1])[0])
        errors, bound = _path(whole).front(depth)
    missed = float(weights[rows][found != task.target[rows]].sum())
    return FoldErrors(wrong, missed, float(weights[rows].sum()), leaves, tried[best].leaf_price, bool((errors == bound).all()))


def _classes_by_price(fitted: PreparedFit, learners: Sequence[OptimalTree], task: ClassTask, rows: Integers) -> Codes:
    """Classes that the trees of some prices give to some rows, learners × rows."""
    asked = task.take(rows)
    return np.asarray(fitted.path.outputs(learners, fitted.steps(asked), positions(asked), False).predicted, np.int32)


def summary(tree: FittedSize, found: tuple[list[float], list[float]], weight: float) -> TrainingSizeFacts:
    """Return the record of a tree's training errors beside the best of its size, as shares of the weight."""
    cap = min(tree.leaves, len(found[0])) - 1
    least, bound = found[0][cap], found[1][cap]
    return TrainingSizeFacts(
        depth=tree.depth, leaves=tree.leaves,
        training=GrownAndBestFacts(grown=tree.errors / weight, optimal=least / weight, bound=bound / weight),
        proven=bool(bound >= least - 1e-9), unlike=tree.unlike or UNSTATED,
    )  # fmt: skip


def mean_over_folds(at: int, folds: Sequence[FoldErrors], ratio: float) -> UnseenFacts:
    """The out-of-fold half: shares of wrong weight, and their difference with its interval over folds."""
    weight = np.array([one.weight for one in folds])
    own, best = np.array([one.grown[at] for one in folds]), np.array([one.optimal for one in folds])
    told = UnseenFacts(
        grown=float(own.sum() / weight.sum()), optimal=float(best.sum() / weight.sum()),
        leaves=float(np.mean([one.leaves for one in folds])), prices=[one.price for one in folds],
        ended=sum(one.ended for one in folds), folds=len(folds),
    )  # fmt: skip
    if len(folds) < 2:
        return told
    test = corrected_t((best - own) / weight, ratio)
    return told.but(difference=DifferenceFacts(mean=float(test.mean), low=float(test.low), high=float(test.high)))


@dataclass(frozen=True)
class Compared:
    """A candidate's tree, and the one that is set beside the best: itself, or the same held to the depth of the search."""

    candidate: Candidate
    whole: FittedSize
    twin: Candidate
    size: FittedSize

    @property
    def key(self) -> tuple[str, int]:
        """What one search depends on: the steps before the tree, and its depth."""
        return digest([spec_of(step) for step in self.candidate.preparers]), self.size.depth


def optimal_bounds(
    selection: Selection, task: ClassTask, resampling: Resampling, seed: int, apart: CallsApart, settings: OptimalSettings
) -> list[OptimalFacts]:
    """Set the winner and the best tree of each entry beside the best trees of their size.

    Parameters
    ----------
    selection : Selection
        A finished choice.
    task : ClassTask
        The development rows.
    resampling : Resampling
        The folds by which candidates were judged.
    seed : int
        The study's.
    apart : callable
        Calls a function where cells are computed, and returns its result or the Failure.
    settings : OptimalSettings
        Depth and budget. Half of the budget is for the searches on all rows, half for those of the folds.

    Returns
    -------
    list of dict
        One per tree, as explanation.json holds it.
    """
    found: list[OptimalFacts] = []
    trees: list[Compared] = []
    for candidate in trees_to_compare(selection):
        one = _compare(candidate, task, seed, apart, settings.depth)
        if isinstance(one, Failure):
            found.append(OptimalFacts(candidate=candidate.id, entry=candidate.entry, failed=f"{one.status}, {one.reason}"))
        else:
            trees.append(one)
    keys = list(dict.fromkeys(one.key for one in trees))
    for key in keys:
        found += _of_one_size([one for one in trees if one.key == key], task, resampling, seed, apart, settings, len(keys))
    order = [candidate.id for candidate in trees_to_compare(selection)]
    return sorted(found, key=lambda one: order.index(one.candidate))


def _compare(candidate: Candidate, task: ClassTask, seed: int, apart: CallsApart, depth: int) -> Compared | Failure:
    """Fit a tree on all rows; a deeper one also held to the searched depth."""
    whole = apart(fit_size, candidate, task, seed)
    if isinstance(whole, Failure) or whole.depth <= depth:
        return whole if isinstance(whole, Failure) else Compared(candidate, whole, candidate, whole)
    twin = limit_depth(candidate, depth)
    size = apart(fit_size, twin, task, seed)
    return size if isinstance(size, Failure) else Compared(candidate, whole, twin, size)


def _of_one_size(
    trees: Sequence[Compared], task: ClassTask, resampling: Resampling, seed: int, apart: CallsApart, settings: OptimalSettings,
    sizes: int,
) -> list[OptimalFacts]:  # fmt: skip
    """Trees of equal steps and depth, which share their searches."""
    who = [OptimalFacts(candidate=one.candidate.id, entry=one.candidate.entry) for one in trees]
    depth, half = trees[0].size.depth, settings.budget // 2 // sizes
    least = apart(front, trees[0].candidate.preparers, task, seed, depth, max(1, half))
    if isinstance(least, Failure):
        return [one.but(failed=f"{least.status}, {least.reason}") for one in who]
    asked = list(dict.fromkeys([*(one.twin for one in trees), *(one.candidate for one in trees)]))
    limit = max(1, half // searches(len(resampling.folds)))
    folds: list[FoldErrors] = []
    for fold in resampling.folds:
        done = apart(out_of_fold, asked, task, fold, seed, depth, limit)
        if isinstance(done, Failure):
            return [one.but(failed=f"{done.status}, {done.reason}") for one in who]
        folds.append(done)
    weight, ratio = float(task.row_weights.sum()), resampling.ratio
    told: list[OptimalFacts] = []
    for own, one in zip(who, trees, strict=True):
        unseen = mean_over_folds(asked.index(one.twin), folds, ratio)
        line = own.but(**summary(one.size, least, weight).stated, out_of_fold=unseen)
        if one.twin is not one.candidate:
            whole = mean_over_folds(asked.index(one.candidate), folds, ratio).grown
            line = line.but(whole=WholeTreeFacts(
                depth=one.whole.depth, leaves=one.whole.leaves, training=one.whole.errors / weight, out_of_fold=whole
            ))  # fmt: skip
        told.append(line)
    return told
