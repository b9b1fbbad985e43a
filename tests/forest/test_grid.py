"""Votes under many cuts, and the lists that they are made of: kernels against their twins, many cuts against each alone."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from modelsel.core.types import Feature, Task, positions
from modelsel.forest.forest_tree import ForestTree
from modelsel.forest.grow import drawn_rows
from modelsel.learner.forest import Forest
from modelsel.learner.trees.leaf import Leaf
from tests.forest.test_forest import random_forest, random_task, some_rows, strange, walked


def learners(base: Forest) -> list[Forest]:
    return [
        replace(base, trees=trees, max_depth=depth, min_split=split, leaf=Leaf(score), vote=vote)
        for trees, vote in ((2, "mean"), (3, "majority"))
        for depth in (*range(12), None)
        for split, score in ((2.0, "frequency"), (5.0, "frequency"), (7.0, "laplace"), (9.0, "laplace"), (20.0, "laplace"))
    ]


@pytest.mark.parametrize("seed", range(6))
def test_more_cuts_than_a_word_has_bits_say_what_each_says_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    task = random_task(rng)
    base = random_forest(rng)
    path, asked = base.fit_path(task, some_rows(task, rng), np.random.default_rng(seed)), learners(base)
    table = strange(task, rng)
    together = path.outputs(asked, table, positions(table), scores=True)
    for k in rng.permutation(len(asked))[:12]:
        alone = path.outputs([asked[k]], table, positions(table), scores=True)
        assert together.predicted[k].tolist() == alone.predicted[0].tolist()
        np.testing.assert_array_equal(together.scores[k], alone.scores[0])
        assert path.complexity(asked)[k] == path.complexity([asked[k]])[0]


@pytest.mark.parametrize("seed", range(4))
def test_without_kernels_the_same_is_said(seed: int, code) -> None:
    rng = np.random.default_rng(seed)
    task = random_task(rng)
    base = random_forest(rng)
    with code("kernels"):
        path, asked = base.fit_path(task, some_rows(task, rng), np.random.default_rng(seed)), learners(base)[::17]
        said, size = path.outputs(asked, task, positions(task), scores=True), path.complexity(asked)
        lists, up = [tree.counts for tree in path.trees(3)], [tree.depth.tolist() for tree in path.trees(3)]
    with code("plain"):
        plainly = path.outputs(asked, task, positions(task), scores=True)
    np.testing.assert_array_equal(plainly.predicted, said.predicted)
    np.testing.assert_array_equal(plainly.scores, said.scores)
    assert path.complexity(asked).tolist() == size.tolist()
    for tree, counts, depth in zip(path.trees(3), lists, up):
        np.testing.assert_array_equal(tree.counts, counts)
        assert tree.depth.tolist() == depth


def test_class_weights_of_nodes_are_those_of_the_rows_that_come_by() -> None:
    task = random_task(np.random.default_rng(8))
    path = Forest().fit_path(task, positions(task), np.random.default_rng(0))
    for number, tree in enumerate(path.trees(3)):
        times, _ = drawn_rows(path.ground, path.growth, number)
        counts = np.zeros((len(tree), len(task.classes)))
        for row, many in zip(path.ground.rows, times):
            node = walked(tree, tree.terminal, task, task.values[row])
            while node >= 0:
                counts[node, task.target[row]] += many * task.row_weights[row]
                node = int(tree.parent[node])
        np.testing.assert_array_equal(tree.counts, counts)


def size_of(tree: ForestTree) -> int:
    return sum(array.nbytes for array in (tree.nodes, tree.thresholds, tree.gains, *tree.leaves, tree.marks))


@pytest.mark.parametrize("classes", [2, 26])
def test_trees_and_models_are_half_as_large_as_those_of_scikit_learn(classes: int) -> None:
    rng = np.random.default_rng(classes)
    X, y = rng.normal(size=(1500, 6)), rng.integers(0, classes, 1500)
    features = tuple(Feature(f"x{i}", "numeric") for i in range(6))
    task = Task(name="t", features=features, values=X, rows=np.arange(1500), classes=tuple(map(str, range(classes))),
                target=y.astype(np.int32))  # fmt: skip
    path = Forest().fit_path(task, positions(task), np.random.default_rng(0))
    theirs = [tree.tree_ for tree in RandomForestClassifier(3, random_state=0).fit(X, y).estimators_]
    nodes = sum(tree.node_count for tree in theirs)
    most = 0.5 * sum(tree.__getstate__()["nodes"].nbytes + tree.value.nbytes for tree in theirs) / nodes
    trees, model = path.trees(3), path.model(Forest(trees=3))
    assert sum(map(size_of, trees)) / sum(map(len, trees)) <= most
    assert sum(array.nbytes for array in model.describe().arrays.values()) / len(model.nodes) <= most
