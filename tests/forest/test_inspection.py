"""Importances, proximities and variances are those of plain loops over trees and rows; noise has no importance."""

import numpy as np
import pytest

from modelsel.core.types import Feature, Task, positions
from modelsel.forest.grow import drawn_rows
from modelsel.learner.forest import Forest
from modelsel.learner.forests.inspection import impurity_importance, jackknife_variance, proximities
from tests.forest.test_forest import walked


def some_task(rows: int = 70, noise: int = 1) -> Task:
    rng = np.random.default_rng(4)
    values = np.column_stack([rng.normal(size=rows), rng.integers(0, 3, rows), *rng.normal(size=(noise, rows))])
    target = (values[:, 0] + (values[:, 1] == 1) + rng.normal(size=rows) / 2 > 0.5).astype(np.int32)
    features = tuple(Feature(f"f{i}", "numeric") for i in range(values.shape[1]))
    return Task(name="t", features=features, values=values, rows=np.arange(rows), classes=("no", "yes"), target=target)


def shares(tree) -> np.ndarray:
    return tree.counts / tree.counts.sum(axis=1, keepdims=True)


def test_importance_is_the_rise_of_the_own_class_along_the_way_of_rows_out_of_bag() -> None:
    task = some_task()
    path = Forest().fit_path(task, positions(task), np.random.default_rng(0))
    plainly = []
    for number, tree in enumerate(path.trees(6)):
        out = np.flatnonzero(drawn_rows(path.ground, path.growth, number)[0] == 0)
        own = np.zeros(3)
        for row in out:
            node, share = walked(tree, tree.terminal, task, task.values[row]), shares(tree)[:, task.target[row]]
            while tree.parent[node] >= 0:
                above = tree.parent[node]
                own[tree.nodes[above, 1]] += (share[node] - share[above]) / len(out)
                node = int(above)
        plainly.append(own)
    np.testing.assert_allclose(impurity_importance(path, 6), np.mean(plainly, axis=0), atol=1e-12)


def test_noise_of_many_values_has_no_importance_out_of_bag() -> None:
    """The impurity of the rows that grew the trees calls it important: its cuts fit them."""
    task = some_task(300, noise=5)
    path = Forest(features="all").fit_path(task, positions(task), np.random.default_rng(0))
    found = impurity_importance(path, 60)
    assert (np.abs(found[2:]) < 0.02).all()
    assert found[0] > 0.1


def test_without_rows_out_of_bag_there_is_no_importance() -> None:
    task = some_task()
    path = Forest(rows="all").fit_path(task, positions(task), np.random.default_rng(0))
    with pytest.raises(ValueError, match="no row is out of bag"):
        impurity_importance(path, 3)


def test_proximity_is_the_share_of_trees_in_which_two_rows_share_a_leaf() -> None:
    task = some_task()
    path, rows = Forest().fit_path(task, positions(task), np.random.default_rng(0)), np.array([0, 3, 5, 20])
    found = proximities(path, 8, task, rows)
    for i, one in enumerate(rows):
        for j, other in enumerate(rows):
            same = [
                walked(tree, tree.terminal, task, task.values[one]) == walked(tree, tree.terminal, task, task.values[other])
                for tree in path.trees(8)
            ]
            assert found[i, j] == np.mean(same)


def test_the_variance_is_that_of_the_formula_written_out() -> None:
    task = some_task(20)
    path, many = Forest().fit_path(task, positions(task), np.random.default_rng(0)), 200
    times = [drawn_rows(path.ground, path.growth, number)[0] for number in range(many)]
    found = jackknife_variance(path, many, task, np.array([2, 7]))
    for place, row in enumerate((2, 7)):
        said = [shares(tree)[walked(tree, tree.terminal, task, task.values[row])] for tree in path.trees(many)]
        for c in range(2):
            t = [one[c] for one in said]
            middle = sum(t) / many
            total = 0.0
            for i in range(20):
                mean = sum(n[i] for n in times) / many
                total += (sum((n[i] - mean) * (x - middle) for n, x in zip(times, t)) / many) ** 2
            total -= 20 / many**2 * sum((x - middle) ** 2 for x in t)
            assert found[place, c] == pytest.approx(max(total, 0.0), abs=1e-12)


def test_the_variance_is_of_bootstrapped_trees_alone() -> None:
    task = some_task()
    path = Forest(rows=0.5).fit_path(task, positions(task), np.random.default_rng(0))
    with pytest.raises(ValueError, match="bootstrapped"):
        jackknife_variance(path, 5, task, positions(task))


def test_tests_below_the_limits_of_a_learner_have_no_importance() -> None:
    task = some_task()
    path = Forest().fit_path(task, positions(task), np.random.default_rng(0))
    plainly = []
    for number, tree in enumerate(path.trees(6)):
        out = np.flatnonzero(drawn_rows(path.ground, path.growth, number)[0] == 0)
        own = np.zeros(3)
        for row in out:  # the test at the root alone
            side = int(task.values[row, tree.nodes[0, 1]] > tree.threshold[0])
            share = shares(tree)[:, task.target[row]]
            own[tree.nodes[0, 1]] += (share[tree.nodes[0, 3] if side else 1] - share[0]) / len(out)
        plainly.append(own)
    np.testing.assert_allclose(impurity_importance(path, 6, Forest(max_depth=1)), np.mean(plainly, axis=0), atol=1e-12)
