"""Ten trees of the cost-complexity sequence by deviance: sizes and deviances against counting leaf by leaf."""

import math
from dataclasses import replace

import numpy as np
import pytest

from modelsel.core.types import Feature, Task
from modelsel.learner.tree import Splits, Tree
from modelsel.pruner.cost_complexity import CostComplexity
from modelsel.pruner.deviance_sequence import DevianceSequence
from modelsel.statistics.auc import auc
from modelsel.tree.cutting import PruningData


def sequence(cut, held_back):
    return DevianceSequence().path(cut, PruningData(float(cut.counts[0].sum()) or 1.0, pruning_counts=held_back))


def deviance(cut, leaves, held_back):
    total = 0.0
    for leaf in leaves:
        grown = cut.tree.counts[leaf]
        for weight, count in zip(held_back[leaf], grown, strict=True):
            share = count / grown.sum() if grown.sum() else 0.0
            total -= 2 * weight * math.log(max(share, 1e-6))
    return total


def test_sizes_and_deviances_are_those_of_the_trees_counted_leaf_by_leaf(grow, leaf_set):
    rng = np.random.default_rng(0)
    for _ in range(80):
        cut = grow(rng, inner=int(rng.integers(1, 9)), classes=2, amounts="fractions")
        held_back = rng.integers(0, 5, cut.tree.counts.shape).astype(float)
        path = sequence(cut, held_back)
        for k, strength in enumerate(path.strengths):
            evidence = PruningData(float(cut.counts[0].sum()) or 1.0)
            total = CostComplexity(impurity="entropy", alpha=float(strength))
            leaves = leaf_set(total.path(cut, evidence).cut(total))
            assert path.splits[k] == len(leaves) - 1
            assert path.deviance[k] == pytest.approx(deviance(cut, leaves, held_back), rel=1e-9, abs=1e-9)


def test_nothing_larger_than_the_tree_of_least_deviance_and_nothing_below_three_splits(grow, leaf_set):
    rng, seen = np.random.default_rng(1), 0
    for _ in range(80):
        cut = grow(rng, inner=25, classes=2, amounts="fractions")
        path = sequence(cut, cut.tree.counts * rng.uniform(0.3, 1.7, cut.tree.counts.shape))
        best = int(path.splits[np.flatnonzero(path.deviance <= path.deviance.min() + 1e-9)[-1]])
        taken = [len(leaf_set(path.cut(DevianceSequence(step=step)))) - 1 for step in range(1, 11)]
        assert taken[0] == best
        assert taken == sorted(taken, reverse=True)
        assert taken[-1] == min(best, min((s for s in path.splits if s >= 3), default=best))
        seen += len(set(taken)) > 3
    assert seen > 10


def test_the_steps_are_even_along_the_sequence():
    path = sequence_of(splits=list(range(30, 0, -1)), deviance=[40.0] * 9 + [5.0] + [6.0] * 20)
    taken = [path.splits[path.taken(DevianceSequence(step=step))] for step in range(1, 11)]
    assert taken == [21, 19, 17, 15, 13, 11, 9, 7, 5, 3]
    assert path.splits[path.taken(DevianceSequence(step=4, trees=4, smallest=15))] == 15


def sequence_of(splits, deviance):
    from modelsel.pruner.deviance_sequence import DevianceSequencePath

    return DevianceSequencePath(None, np.arange(len(splits), dtype=float), np.array(splits), np.array(deviance))  # type: ignore[arg-type]


def test_of_equal_deviances_the_smaller_tree_is_the_first_step():
    path = sequence_of(splits=[9, 7, 5, 3, 1], deviance=[4.0, 2.0, 2.0, 3.0, 3.0])
    assert path.splits[path.taken(DevianceSequence(step=1))] == 5


def test_it_needs_rows_that_were_held_back(grow):
    with pytest.raises(ValueError, match="held-back"):
        DevianceSequence().path(grow(np.random.default_rng(0)), PruningData(1.0))


def task_of(rng, rows=300):
    features = (Feature("x", "numeric"), Feature("y", "numeric"))
    values = rng.normal(size=(rows, 2))
    target = (values.sum(axis=1) + rng.normal(size=rows) > 0).astype(np.int32)
    return Task(name="t", features=features, values=np.asfortranarray(values), rows=np.arange(rows),
                classes=("no", "yes"), target=target)  # fmt: skip


@pytest.mark.parametrize("softener", ["hard", "range_fraction", "c45"])
def test_held_back_rows_judge_and_do_nothing_else(softener):
    """Other labels and values of the rows that judge leave every step's tree and widths of equal size as they were."""
    from modelsel.core.spec import make

    rng = np.random.default_rng(2)
    task = task_of(rng)
    rows = np.arange(250)
    learner = Tree(splits=Splits(nominal="subset"), pruner=DevianceSequence(), softener=make("softener", softener))
    path = learner.fit_path(task, rows, np.random.default_rng(0))
    judging = path.judging
    assert len(judging) == pytest.approx(250 / 3, abs=2)
    assert not np.isin(path.rows, judging).any()
    values = task.values.copy()
    values[judging] += 100.0 * np.abs(values[judging]).max()  # far outside the range of the others
    other = replace(task, values=np.asfortranarray(values))
    moved = learner.fit_path(other, rows, np.random.default_rng(0))
    assert np.array_equal(moved.judging, judging)
    assert np.array_equal(moved.tree.threshold, path.tree.threshold, equal_nan=True)
    for step in range(1, 11):
        ours = path.model(replace(learner, pruner=DevianceSequence(step=step)))
        for k in range(1, 11):
            theirs = moved.model(replace(learner, pruner=DevianceSequence(step=k)))
            if theirs.n_leaves == ours.n_leaves and ours.widths is not None:
                assert np.array_equal(ours.widths.below, theirs.widths.below)
                assert np.array_equal(ours.widths.above, theirs.widths.above)


def test_the_score_on_held_back_rows_is_the_area_of_the_model_on_them():
    task = task_of(np.random.default_rng(3))
    learners = [Tree(pruner=DevianceSequence(step=step)) for step in (1, 5, 10)]
    path = learners[0].fit_path(task, np.arange(250), np.random.default_rng(0))
    for learner, score in zip(learners, path.held_back(learners), strict=True):
        judged = task.take(path.judging)
        assert score == pytest.approx(float(auc(judged.target == 1, path.model(learner).scores(judged)[:, 1])))


def test_other_pruners_hold_no_rows_back_to_judge_by():
    task = task_of(np.random.default_rng(4))
    path = Tree().fit_path(task, np.arange(250), np.random.default_rng(0))
    assert np.isnan(path.held_back([Tree()])).all()
