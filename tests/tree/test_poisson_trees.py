"""Trees by Poisson deviance: every test against brute force, the kernel against its twin, scikit-learn's answers, refusals."""

from dataclasses import replace
from math import log

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from modelsel.config.build import build
from modelsel.core.types import Feature, positions
from modelsel.tree.growing.grow_numbers import grow_numbers
from modelsel.tree.growing.growth import POISSON_DEVIANCE, GrowthParams
from modelsel.tree.node import LEAF
from modelsel.tree.routing import route
from tests.tree.number_tables import drawn, number_task, rows_of_nodes
from tests.tree.test_number_trees import compiled, in_numpy

TABLES = 50  # to a block


def half_deviance(y: np.ndarray) -> float:
    """Σ (y log(y/ȳ) − y + ȳ), term by term."""
    mean = y.mean() if len(y) else 0.0
    return sum((one * log(one / mean) if one > 0 else 0.0) - one + mean for one in y.tolist())


def best_of_all(X: np.ndarray, y: np.ndarray, least: int) -> float | None:
    """What the best admissible test saves: every cut of the first column, every set of levels of the second."""
    saved = []
    for f, column in enumerate(X.T):
        values = sorted(set(column.tolist()))
        cuts = [np.isin(column, values[:k]) for k in range(1, len(values))]
        if f == 1:
            cuts = [np.isin(column, [v for i, v in enumerate(values) if s >> i & 1]) for s in range(1, 2 ** len(values) - 1)]
        for left in cuts:
            if min(left.sum(), (~left).sum()) >= least:
                saved.append(half_deviance(y) - half_deviance(y[left]) - half_deviance(y[~left]))
    return max(saved, default=None)


@pytest.mark.parametrize("block", range(6))
def test_every_test_is_the_best_of_all_on_fifty_small_tables(block: int) -> None:
    features = (Feature("a", "numeric"), Feature("b", "nominal", tuple("abcd")))
    for seed in range(TABLES * block, TABLES * (block + 1)):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 13))
        X = np.column_stack([rng.integers(0, 5, n), rng.integers(0, 4, n)]).astype(float)
        y = rng.poisson(2.0, n) / (1.0, 4.0)[seed % 2]
        if seed % 3 == 0:
            y = rng.gamma(1.0, 3.0, n)  # no decimals: whole numbers of a power of two
        task = number_task(X, y, None, features)
        tree = grow_numbers(task, positions(task), GrowthParams(nominal="subset", min_split=2.0), loss=POISSON_DEVIANCE)
        for node, rows in rows_of_nodes(tree, X):
            best = best_of_all(X[rows], y[rows], 1)
            if tree.test[node] == LEAF:
                assert len(set(y[rows].tolist())) == 1 or best is None
                continue
            assert tree.goodness[node] == pytest.approx(best / len(rows), rel=1e-6, abs=1e-9), (seed, node)


@pytest.mark.parametrize("seed", range(40))
def test_the_kernel_and_its_twin_agree_whatever_the_weights_gaps_and_levels(seed: int, code) -> None:
    table = drawn(seed)
    table = replace(table, y=np.abs(table.y))
    ours = compiled(code, table.task, table.growth, POISSON_DEVIANCE)
    twin = in_numpy(table.task, table.growth, POISSON_DEVIANCE)
    assert np.array_equal(ours.parent, twin.parent)
    assert np.array_equal(ours.feature, twin.feature)
    assert np.array_equal(ours.threshold, twin.threshold, equal_nan=True)
    np.testing.assert_allclose(ours.goodness, twin.goodness, rtol=1e-6, atol=1e-9)


def test_positive_numbers_are_predicted_as_scikit_learn_does() -> None:
    """Numbers above 0 without ties: scikit-learn passes over cuts that leave zeros alone on a side."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(500, 4))
    y = rng.gamma(2.0, np.exp(X[:, 0] + 0.5 * np.abs(X[:, 1])))
    for limits in ({"max_depth": 4}, {"max_depth": 8, "min_samples_leaf": 10}, {"min_samples_leaf": 5}):
        growth = GrowthParams(
            min_leaf=float(limits.get("min_samples_leaf", 1)), min_split=2.0, max_depth=limits.get("max_depth")
        )
        task = number_task(X, y)
        tree = grow_numbers(task, positions(task), growth, loss=POISSON_DEVIANCE)
        said = tree.numbers.mean[route(tree, task, positions(task)).leaf]
        theirs = DecisionTreeRegressor(criterion="poisson", random_state=0, **limits).fit(X, y).predict(X)
        assert np.mean(np.isclose(said, theirs, rtol=1e-9)) > 0.99, limits


def test_negative_numbers_are_refused_before_a_fit() -> None:
    task = number_task(np.arange(4.0)[:, None], np.array([1.0, -2.0, 3.0, -1.0]))
    spec = build("tree", {"criterion": "poisson"})[0]
    assert any("2 of the target's are below" in reason for reason in spec.problems(task))
    assert not list(spec.problems(number_task(np.arange(4.0)[:, None], np.arange(4.0))))
    assert any("single trees" in reason for reason in build("forest", {"criterion": "poisson"})[0].problems(task))


def test_the_learner_grows_by_deviance() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(80, 3)), rng.poisson(2.0, 80).astype(float)
    task = number_task(X, y)
    for missing in ("node_mode", "surrogate"):
        spec = build("tree", {"criterion": "poisson", "missing": missing, "splits.nominal": "subset", "max_depth": 3})[0]
        model = spec.fit(task, positions(task), np.random.default_rng(0))
        tree = grow_numbers(task, positions(task), GrowthParams(min_split=2.0, max_depth=3), loss=POISSON_DEVIANCE)
        np.testing.assert_array_equal(model.predict(task), tree.numbers.mean[route(tree, task, positions(task)).leaf])
