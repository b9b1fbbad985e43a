"""Weights, cost matrices and ordered features against scikit-learn, run here."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from modelsel.core.types import Feature, Task, positions
from modelsel.learner.tree import Tree

SEEDS = range(8)


def drawn(seed: int, weighted: bool = False, levels: int = 0) -> Task:
    """Three features of single precision (ordered ones of `levels` levels), three classes."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(150, 3)).astype(np.float32).astype(float)
    if levels:
        values = np.column_stack([values[:, 0], rng.integers(0, levels, 150), rng.integers(0, levels, 150)])
    names = tuple(f"level {i}" for i in range(levels))
    kinds = ("numeric", "ordered", "ordered") if levels else ("numeric",) * 3
    features = tuple(Feature(f"x{i}", kind, names if kind == "ordered" else ()) for i, kind in enumerate(kinds))
    signal = values[:, 0] + (values[:, 1] > np.median(values[:, 1])) + rng.normal(size=150)
    return Task(
        name="drawn", features=features, values=values, rows=np.arange(150), classes=("a", "b", "c"),
        target=np.digitize(signal, [0.0, 1.0]).astype(np.int32), weights=rng.integers(1, 6, 150) / 4 if weighted else None,
    )  # fmt: skip


def both(task: Task, **settings: object):
    """Our tree and theirs, by entropy to depth 3. Limits of theirs count rows, ours weigh them: none is set."""
    ours = Tree(max_depth=3, min_split=0, min_leaf=0.01, **settings).fit(task, positions(task), np.random.default_rng(0))
    theirs = DecisionTreeClassifier(criterion="entropy", max_depth=3, random_state=0)
    return ours, theirs.fit(task.values, task.target, sample_weight=task.weights)


def asked(ours) -> list[tuple[int, float]]:
    tree = ours.cut.tree
    return [(int(f), float(c)) for f, c in zip(tree.feature, tree.threshold, strict=True) if f >= 0]


@pytest.mark.parametrize("seed", SEEDS)
def test_weights_grow_the_tree_that_scikit_learn_grows(seed: int) -> None:
    task = drawn(seed, weighted=True)
    ours, theirs = both(task)
    inner = theirs.tree_.feature >= 0
    assert [f for f, _ in asked(ours)] == theirs.tree_.feature[inner].tolist()
    np.testing.assert_allclose([c for _, c in asked(ours)], theirs.tree_.threshold[inner], rtol=1e-6)
    np.testing.assert_allclose(ours.cut.tree.weight, theirs.tree_.weighted_n_node_samples, rtol=1e-12)
    np.testing.assert_allclose(ours.scores(task), theirs.predict_proba(task.values), atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_costs_choose_the_class_of_least_expected_cost_by_scikit_learns_probabilities(seed: int) -> None:
    task = drawn(seed)
    costs = np.random.default_rng(seed).integers(1, 20, (3, 3)).astype(float)
    costs[2] *= 10
    np.fill_diagonal(costs, 0)
    ours, theirs = both(task, costs=costs.tolist())
    cheapest = np.argmin(np.round(theirs.predict_proba(task.values) @ costs, 9), axis=1)
    assert ours.predict(task).tolist() == cheapest.tolist()
    plain = Tree(max_depth=3).fit(task, positions(task), np.random.default_rng(0))
    assert (ours.predict(task) != plain.predict(task)).any(), "costs that change nothing test nothing"


@pytest.mark.parametrize("seed", SEEDS)
def test_ordered_features_are_cut_where_scikit_learn_cuts_their_codes(seed: int) -> None:
    """Every decrease of impurity is the same; in the lowest tests two features of few values may tie, and it draws one."""
    task = drawn(seed, levels=40)
    ours, theirs = both(task)
    found = theirs.tree_
    inner = found.feature >= 0
    below = [found.children_left[inner], found.children_right[inner]]
    left = sum(found.weighted_n_node_samples[child] * found.impurity[child] for child in below)
    decrease = found.impurity[inner] - left / found.weighted_n_node_samples[inner]
    tree = ours.cut.tree
    np.testing.assert_allclose(tree.goodness[tree.feature >= 0], decrease, atol=1e-12)
    above = tree.depth[tree.feature >= 0] < 2
    assert tree.feature[tree.feature >= 0][above].tolist() == found.feature[inner][above].tolist()
    np.testing.assert_allclose(tree.threshold[tree.feature >= 0][above], found.threshold[inner][above], rtol=1e-6)
