"""Cost-complexity sequences against scikit-learn's, on heart_statlog: the same wherever the grown trees are.

Named difference: where two tests at a node are equally good, scikit-learn takes one by a draw (its `random_state`) and we by
the feature's place; the trees beneath differ, and so do the leaves of the pruned ones. At every first difference both tests
lower the Gini index by the same amount, in exact arithmetic; no other difference is there. scikit-learn's own sequences differ
likewise from one `random_state` to the next. Both sides are right.
"""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from modelsel.core.spec import make
from modelsel.learner.tree import Tree

NOTHING = np.random.default_rng(0)


def gini_loss(target: np.ndarray) -> Fraction:
    """Rows times the Gini index."""
    count = len(target)
    return count - Fraction(int((np.bincount(target) ** 2).sum()), count) if count else Fraction(0)


def gained(values: np.ndarray, target: np.ndarray, feature: int, threshold: float) -> Fraction:
    left = values[:, feature] <= threshold
    return gini_loss(target) - gini_loss(target[left]) - gini_loss(target[~left])


def first_differences(ours, theirs, values, target, rows, node=0, other=0) -> list[tuple[Fraction, Fraction]]:
    """What both tests gain at the first node of each path at which the trees divide these rows otherwise."""
    inner = ours.feature[node] >= 0
    assert inner == (theirs.children_left[other] >= 0)
    if not inner:
        return []
    tests = (int(ours.feature[node]), float(ours.threshold[node])), (int(theirs.feature[other]), float(theirs.threshold[other]))
    left, left_there = (values[rows, feature] <= threshold for feature, threshold in tests)
    if (left != left_there).any():
        return [tuple(gained(values[rows], target[rows], *test) for test in tests)]
    below = zip((left, ~left), ours.children(node), (theirs.children_left[other], theirs.children_right[other]))
    return [
        pair for side, own, their in below for pair in first_differences(ours, theirs, values, target, rows[side], own, their)
    ]


def leaves(rows, task, strengths, alpha) -> tuple[list[int], object]:
    """Leaves of our trees at scikit-learn's strengths, and the unpruned tree."""
    learners = [Tree(criterion=make("criterion", "gini"), min_leaf=1, pruner=alpha(float(each))) for each in (0.0, *strengths)]
    path = learners[0].fit_path(task, rows, NOTHING)
    models = [path.model(learner) for learner in learners]
    return [model.n_leaves for model in models[1:]], models[0].cut.tree


@pytest.mark.about("heart_statlog")
def test_sequences_are_scikit_learns_where_no_tests_tie(reference_task, reference_folds) -> None:
    task, fold = reference_task("heart_statlog"), reference_folds("heart_statlog")
    values, target = task.values, task.target
    same = tied = draws = 0
    for number in (1, 3, 5, 6, 9):
        rows = np.flatnonzero(fold != number)
        theirs = DecisionTreeClassifier(random_state=0).fit(values[rows], target[rows])
        alphas = theirs.cost_complexity_pruning_path(values[rows], target[rows]).ccp_alphas
        between = np.append(np.sqrt(alphas[:-1] * alphas[1:]), 2 * alphas[-1])
        sizes = [
            [
                int(DecisionTreeClassifier(random_state=seed, ccp_alpha=alpha).fit(values[rows], target[rows]).get_n_leaves())
                for alpha in between
            ]
            for seed in (0, 1)
        ]
        own, tree = leaves(rows, task, between, lambda alpha: make("pruner", "cost_complexity", alpha=alpha, impurity="gini"))
        differences = first_differences(tree, theirs.tree_, values, target, rows)
        assert all(mine == other for mine, other in differences), number
        assert differences or own == sizes[0], number
        same += own == sizes[0]
        tied += own != sizes[0]
        draws += sizes[0] != sizes[1]
    assert same >= 2
    assert tied >= 2
    assert draws >= 1


def test_what_two_tests_gain_is_told_apart_exactly() -> None:
    values, target = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 0, 1, 1])
    assert gained(values, target, 0, 0.5) == Fraction(2)
    assert gained(values, target, 1, 0.5) == 0
    assert gini_loss(target) == pytest.approx(2.0)
