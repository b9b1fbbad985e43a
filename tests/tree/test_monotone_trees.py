"""Trees that may only rise or fall with a column: on grids of inputs, every test by brute force, scikit-learn's answers."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from modelsel.config.build import build
from modelsel.core.errors import ConfigurationError
from modelsel.core.spec import spec_of
from modelsel.core.types import ClassTask, Feature, NumberTask, positions
from modelsel.learner.tree import Tree
from modelsel.tree.growing.grow_numbers import grow_numbers
from modelsel.tree.growing.growth import SQUARED_ERROR, GrowthParams
from modelsel.tree.node import LEAF
from tests.tree.number_tables import drawn, first_branch, number_task, rows_of_nodes
from tests.tree.test_number_trees import assert_same, compiled, in_numpy

FEATURES = (Feature("a", "numeric"), Feature("b", "numeric"), Feature("c", "nominal", ("x", "y", "z")))
VALUES = np.arange(-0.5, 6.0, 0.5)
GRID = np.array(list(product(VALUES, VALUES, (0.0, 1.0, 2.0))))
RNG = np.random.default_rng(0)


def table(seed: int, classes: bool) -> NumberTask | ClassTask:
    """Ties, noise against the directions, levels, and in every second table gaps of the column that has none."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 120))
    X = np.column_stack([rng.integers(0, 6, n), rng.integers(0, 6, n), rng.integers(0, 3, n)]).astype(float)
    y = X[:, 0] - X[:, 1] + 2 * (X[:, 2] == 1) + 3 * rng.normal(size=n)
    if seed % 2:
        X[rng.random(n) < 0.2, 2] = np.nan
    weights = rng.integers(1, 4, n).astype(float) if seed % 3 == 0 else None
    if not classes:
        return number_task(X, y.round(1) if seed % 4 else y, weights, FEATURES)
    return ClassTask(
        name="t", features=FEATURES, values=np.asfortranarray(X), rows=np.arange(n), weights=weights, classes=("no", "yes"),
        target=(y > np.median(y)).astype(np.int32),
    )  # fmt: skip


def learner(**settings: object) -> Tree:
    ways = {"a": "increasing", "b": "decreasing"}
    return build("tree", {"criterion": "gini", "missing": "branch", "monotone": ways, **settings})[0]


def said(model, task) -> np.ndarray:
    """Numbers, or shares of the second class, on the grid: a × b × c."""
    asked = replace(
        task,
        values=np.asfortranarray(GRID),
        rows=np.arange(len(GRID)),
        target=np.zeros(len(GRID), task.target.dtype),
        weights=None,
    )
    answers = model.predict(asked) if isinstance(task, NumberTask) else model.scores(asked)[:, 1]
    return answers.reshape(len(VALUES), len(VALUES), 3)


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("nominal", ["multiway", "equality", "subset"])
def test_no_answer_on_a_grid_of_inputs_goes_the_other_way(classes: bool, nominal: str) -> None:
    against = 0
    for seed in range(30):
        task = table(seed, classes)
        spec = learner(**{"splits.nominal": nominal, "missing": ("branch", "fractional", "node_mode")[seed % 3]})
        path = spec.fit_path(task, positions(task), RNG)
        for own in (
            *(replace(spec, max_depth=depth) for depth in (1, 2, 3, None)),
            *(replace(spec, pruner=build("cart", {"pruner.alpha": alpha})[0].pruner) for alpha in (0.01, 0.3)),
        ):
            answers = said(path.model(own), task)
            assert (np.diff(answers, axis=0) >= 0).all(), seed
            assert (np.diff(answers, axis=1) <= 0).all(), seed
        free = said(replace(spec, monotone=None).fit(task, positions(task), RNG), task)
        against += bool((np.diff(free, axis=0) < 0).any())
    assert against > 15  # without being held they do


def test_every_test_is_the_best_of_those_that_keep_to_the_directions() -> None:
    """Bounds are found again from the means of the nodes above; cuts of two columns, levels one against the others."""
    held = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(6, 30))
        X = np.column_stack([rng.integers(0, 6, n), rng.integers(0, 6, n), rng.integers(0, 3, n)]).astype(float)
        y = (X[:, 0] - X[:, 1] + 3 * rng.normal(size=n)).round(2)
        task, signs = number_task(X, y, None, FEATURES), (1, -1, 0)
        tree = grow_numbers(task, positions(task), GrowthParams(nominal="equality", min_split=2.0), signs=signs)
        bounds = {0: (-np.inf, np.inf)}
        for node, rows in rows_of_nodes(tree, X):
            low, high = bounds[node]
            best, free = _best(X[rows], y[rows], signs, low, high)
            if tree.test[node] == LEAF:
                assert best is None or len(set(y[rows].tolist())) == 1
                continue
            assert tree.goodness[node] == pytest.approx(best / len(rows), abs=1e-9), (seed, node)
            held += free > best + 1e-9
            first = first_branch(tree, node, X[rows, tree.feature[node]])
            one, other = tree.children(node).tolist()
            sign, left, right = signs[tree.feature[node]], y[rows[first]].mean(), y[rows[~first]].mean()
            middle = (left + right) / 2
            bounds[one], bounds[other] = ((low, high),) * 2
            if sign:
                pair = (low, min(high, middle)), (max(low, middle), high)
                bounds[one], bounds[other] = pair[::sign]
    assert held > 50


@pytest.mark.parametrize("seed", range(40))
def test_the_kernel_and_its_twin_grow_the_same_tree_whatever_the_weights_gaps_and_levels(seed: int, code) -> None:
    found = drawn(seed)
    growth = replace(found.growth, missing=("node_mode", "branch", "fractional")[seed % 3])
    more = SQUARED_ERROR, ((1, 0, -1, 0), (-1, 0, 0, 0), (0, 0, 1, 0))[seed // 3 % 3]
    assert_same(compiled(code, found.task, growth, *more), in_numpy(found.task, growth, *more), False)


def _best(X: np.ndarray, y: np.ndarray, signs: tuple[int, ...], low: float, high: float) -> tuple[float | None, float]:
    """What the best test saves that keeps to the directions, and the best of all."""
    kept, every, total = [], [], np.square(y - y.mean()).sum()
    for f, sign in enumerate(signs):
        values = sorted(set(X[:, f].tolist()))
        tests = [X[:, f] <= v for v in values[:-1]] if f < 2 else [X[:, f] == v for v in values]
        for left in tests:
            if left.all() or not left.any():
                continue
            one, other = y[left].mean(), y[~left].mean()
            saved = total - sum(np.square(part - part.mean()).sum() for part in (y[left], y[~left]))
            every.append(saved)
            within = min(one, other) >= low - 1e-9 and max(one, other) <= high + 1e-9
            if within and sign * (other - one) >= -1e-9:
                kept.append(saved)
    return max(kept, default=None), max(every, default=0.0)


def test_numbers_are_predicted_as_scikit_learn_does() -> None:
    """With a direction for each column: where one has none, scikit-learn takes tests of means beyond, and moves these."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3))
    y = X[:, 0] - np.abs(X[:, 1]) + rng.normal(size=400)
    task = number_task(X, y)
    ways = {"x0": "increasing", "x1": "decreasing", "x2": "increasing"}
    for limits in ({"max_depth": 3}, {"min_samples_leaf": 10}, {"max_depth": 6, "min_samples_leaf": 5}):
        spec = build(
            "tree",
            {
                "criterion": "variance", "missing": "branch", "monotone": ways,
                "min_leaf": limits.get("min_samples_leaf", 1), "max_depth": limits.get("max_depth"),
            },
        )[0]  # fmt: skip
        ours = spec.fit(task, positions(task), RNG).predict(task)
        theirs = DecisionTreeRegressor(monotonic_cst=[1, -1, 1], random_state=0, **limits).fit(X, y).predict(X)
        assert np.mean(np.isclose(ours, theirs, rtol=1e-9)) > 0.98, limits
        free = DecisionTreeRegressor(random_state=0, **limits).fit(X, y).predict(X)
        assert np.mean(np.isclose(ours, free, rtol=1e-9)) < 0.9


def test_two_classes_are_predicted_as_scikit_learn_does() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] - np.abs(X[:, 1]) + rng.normal(size=400) > -0.7).astype(np.int32)
    task = ClassTask(
        name="t", features=tuple(Feature(f"x{i}", "numeric") for i in range(3)), values=np.asfortranarray(X),
        rows=np.arange(400), classes=("no", "yes"), target=y,
    )  # fmt: skip
    ways = {"x0": "increasing", "x1": "decreasing", "x2": "increasing"}
    spec = build("tree", {"criterion": "gini", "missing": "branch", "monotone": ways, "min_leaf": 10, "max_depth": 5})[0]
    ours = spec.fit(task, positions(task), RNG).scores(task)[:, 1]
    other = DecisionTreeClassifier(monotonic_cst=[1, -1, 1], random_state=0, min_samples_leaf=10, max_depth=5).fit(X, y)
    assert np.mean(np.isclose(ours, other.predict_proba(X)[:, 1])) > 0.97


def test_what_cannot_be_is_refused_before_a_fit() -> None:
    task = table(0, False)

    def reasons(asked=task, **settings: object) -> str:
        return " ".join(replace(learner(), **settings).problems(asked))

    assert not reasons()
    assert not reasons(table(0, True))
    assert "monotone.c: there is no such column" in reasons(monotone={"c": "increasing"})
    assert "increasing or decreasing, not 'up'" in reasons(monotone={"a": "up"})
    assert "another column in its place" in reasons(table(1, False), missing="surrogate")
    assert "another column" not in reasons(missing="surrogate")
    assert "leaf.statistic out" in reasons(leaf=replace(learner().leaf, statistic="median"))
    three = replace(table(0, True), classes=("no", "yes", "more"))
    assert "these are 3" in reasons(three)
    for settings in ({"criterion": "entropy"}, {"criterion": "absolute_error"}, {"pruner": "reduced_error"}):
        with pytest.raises(ConfigurationError, match="monotone"):
            learner(**settings)


def test_surrogates_are_the_larger_branch_where_no_value_is_missing() -> None:
    task = table(0, False)
    cart, by_mode = (build("cart", {"monotone": {"a": "increasing"}, **own})[0] for own in ({}, {"missing": "node_mode"}))
    assert not list(cart.problems(task))
    assert np.array_equal(
        *(one.fit(task, positions(task), RNG).predict(replace(task, values=_gaps(task))) for one in (cart, by_mode))
    )


def _gaps(task: NumberTask) -> np.ndarray:
    values = task.values.copy()
    values[::2, 0], values[1::2, 1] = np.nan, np.nan
    return values


def test_a_tree_without_directions_is_specified_as_before() -> None:
    assert "monotone" not in spec_of(Tree())
    assert spec_of(learner())["monotone"] == [["a", "increasing"], ["b", "decreasing"]]
    assert build("tree", spec_of(learner()))[0] == learner()
