"""Trees of numbers: the best test against brute force, kernels against their twins, any order of rows, weights as repeats."""

from fractions import Fraction
from itertools import chain, combinations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.tree import DecisionTreeRegressor

from modelsel.core.types import Feature, NumberTask, positions
from modelsel.tree.growing import grow_numbers as growing
from modelsel.tree.growing.columns import columns
from modelsel.tree.growing.grow_numbers import grow_numbers
from modelsel.tree.growing.growth import GrowthParams
from modelsel.tree.growing.whole_target import WeightedWholes, WholeTarget
from modelsel.tree.node import LEAF, DecisionTree
from modelsel.tree.routing import route
from tests.tree.number_tables import drawn, friedman, number_task, rows_of_nodes
from tests.tree.numpy_numbers import grow_in_numpy

SAME = ("parent", "test", "feature", "threshold", "counts", "goodness", "missing_to")


def assert_same(one: DecisionTree, other: DecisionTree, exactly: bool = True) -> None:
    for name in SAME:
        assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True), name
    assert one.subset.keys() == other.subset.keys()
    assert all(np.array_equal(one.subset[node], other.subset[node]) for node in one.subset)
    bound = 0.0 if exactly else 1e-14
    np.testing.assert_allclose(one.numbers.mean, other.numbers.mean, rtol=bound, atol=bound)
    np.testing.assert_allclose(one.numbers.squares, other.numbers.squares, rtol=0.0 if exactly else 1e-10)


def in_numpy(task, growth, *more: object) -> DecisionTree:
    return grow_in_numpy(task, positions(task), growth, *more)


def compiled(code, task, growth, *more: object) -> DecisionTree:
    with code("kernels"):
        return grow_numbers(task, positions(task), growth, *more)


@pytest.mark.parametrize("seed", range(60))
def test_the_kernels_and_their_twin_grow_the_same_tree_to_the_last_bit(seed: int, code) -> None:
    table = drawn(seed)
    assert_same(compiled(code, table.task, table.growth), in_numpy(table.task, table.growth), False)


@pytest.mark.parametrize("seed", range(20))
def test_complete_columns_have_a_kernel_of_their_own_with_the_same_answer(seed: int, code) -> None:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(int(rng.integers(2, 200)), 3)), seed % 3) + 0.0
    y = np.round(rng.normal(size=len(X)), seed % 4)
    task, growth = number_task(X, y), GrowthParams(min_leaf=float(seed % 5 + 1), min_split=2.0)
    assert_same(compiled(code, task, growth), in_numpy(task, growth), False)


@pytest.mark.parametrize("seed", range(40))
def test_nodes_of_two_and_three_rows_are_cut_as_the_twin_cuts_them(seed: int, code) -> None:
    """Many equal values and equal targets in few rows, so that features, cuts and rows tie."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, (40, 5)).astype(float), rng.integers(0, 4 + seed, 40).astype(float)
    X[:, 4] += rng.random(40)
    task, growth = number_task(X, y), GrowthParams(min_leaf=1.0, min_split=2.0)
    mine, twin = compiled(code, task, growth), in_numpy(task, growth)
    assert (mine.weight[~mine.terminal] <= 3).sum() > 5
    assert_same(mine, twin, False)


@pytest.mark.parametrize("seed", range(60))
def test_the_order_of_rows_changes_no_bit(seed: int) -> None:
    table = drawn(seed)
    other = table.rows(np.random.default_rng(seed).permutation(len(table.y)))
    assert_same(
        grow_numbers(table.task, positions(table.task), table.growth), grow_numbers(other, positions(other), table.growth)
    )


@pytest.mark.parametrize("missing", ["node_mode", "branch", "surrogate"])
def test_a_whole_weight_is_so_many_repeats(missing: str) -> None:
    for seed in range(20):
        table = drawn(seed)
        weight = np.random.default_rng(seed).integers(1, 4, len(table.y))
        growth = GrowthParams(missing=missing, nominal="subset", min_leaf=2.0, min_split=2.0)
        weighted = number_task(table.X, table.y, weight.astype(float), table.features)
        rows = np.repeat(np.arange(len(table.y)), weight)
        repeated = number_task(table.X[rows], table.y[rows], None, table.features)
        one, other = grow_numbers(weighted, positions(weighted), growth), grow_numbers(repeated, positions(repeated), growth)
        assert_same(one, other, exactly=False)
        plain = number_task(table.X, table.y, None, table.features)
        assert_same(one, grow_numbers(plain, rows, growth), exactly=False)


def sum_of_squares(y: list[Fraction]) -> Fraction:
    return sum((one - sum(y) / len(y)) ** 2 for one in y) if y else Fraction(0)


def best_of_all(X: np.ndarray, y: list[Fraction], least: int) -> Fraction | None:
    """What the best admissible test of two branches saves, over all cuts and all sets of levels.

    Where branches must have several rows, a set of levels is a prefix of them in the order of their means, as for classes.
    """
    saved, every = [], y
    for f, column in enumerate(X.T):
        known = ~np.isnan(column)
        column, y = column[known], [one for one, there in zip(every, known, strict=True) if there]
        values = sorted(set(column))
        tests = [set(values[:k]) for k in range(1, len(values))]
        if f == 1 and least == 1:
            tests = [set(one) for one in chain.from_iterable(combinations(values, k) for k in range(1, len(values)))]
        elif f == 1:
            own = {value: [a for a, b in zip(y, column, strict=True) if b == value] for value in values}
            values.sort(key=lambda value, own=own: (sum(own[value]) / len(own[value]), value))
            tests = [set(values[:k]) for k in range(1, len(values))]
        for inside in tests:
            left = [one for one, value in zip(y, column, strict=True) if value in inside]
            right = [one for one, value in zip(y, column, strict=True) if value not in inside]
            if min(len(left), len(right)) >= least:
                saved.append(sum_of_squares(y) - sum_of_squares(left) - sum_of_squares(right))
    return max(saved, default=None)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("block", range(6))
def test_every_test_is_the_best_of_all_on_fifty_small_tables(block: int) -> None:
    for seed in range(50 * block, 50 * block + 50):
        rng = np.random.default_rng(seed)
        n, least = int(rng.integers(3, 13)), int(rng.integers(1, 3))
        X = np.column_stack([rng.integers(0, 5, n), rng.integers(0, 4, n)]).astype(float)
        y = rng.integers(0, 6, n) / 4
        features = (Feature("a", "numeric"), Feature("b", "nominal", tuple("abcd")))
        task = number_task(X, y, None, features)
        tree = grow_numbers(task, positions(task), GrowthParams(nominal="subset", min_leaf=float(least), min_split=2.0))
        for node, rows in rows_of_nodes(tree, X):
            exact = [Fraction(float(one)) for one in y[rows]]
            assert tree.numbers.mean[node] == pytest.approx(float(sum(exact) / len(exact)), abs=1e-15)
            assert tree.numbers.squares[node] == pytest.approx(float(sum_of_squares(exact)), abs=1e-12)
            best = best_of_all(X[rows], exact, least)
            if tree.test[node] == LEAF:
                assert sum_of_squares(exact) == 0 or best is None
                continue
            assert tree.goodness[node] == pytest.approx(float(best) / len(rows), rel=1e-12, abs=1e-15)


@pytest.fixture(scope="module")
def gaps() -> list[tuple[NumberTask, float]]:
    """120 small tables whose features differ in the rows that they know, and the best of all first tests in exact fractions."""
    found = []
    for seed in range(120):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(5, 40))
        X = np.column_stack([rng.integers(0, 5, n), rng.integers(0, 4, n), rng.normal(size=n)]).astype(float)
        X[rng.random(X.shape) < 0.3] = np.nan
        y = rng.integers(0, 4, n) * (1.0, 0.25, 1000.0)[seed % 3]
        features = (Feature("a", "numeric"), Feature("b", "nominal", tuple("abcd")), Feature("c", "numeric"))
        best = best_of_all(X, [Fraction(float(one)) for one in y], 2)
        found.append((number_task(X, y, None, features), float("nan") if best is None else float(best) / n))
    return found


@pytest.mark.sampled(1)
@pytest.mark.parametrize("which", ["kernels", "plain"])
@pytest.mark.parametrize("missing", ["surrogate", "fractional"])
def test_where_values_are_missing_the_rows_that_have_one_say_what_a_test_saves(
    missing: str, which: str, code, gaps: list[tuple[NumberTask, float]]
) -> None:
    growth = GrowthParams(missing=missing, nominal="subset", min_leaf=2.0, min_split=2.0)
    for seed, (task, best) in enumerate(gaps):
        with code(which):
            tree = grow_numbers(task, positions(task), growth)
        if tree.test[0] != LEAF:
            assert tree.goodness[0] == pytest.approx(best, rel=1e-9, abs=1e-12), seed


def sklearn_and_ours(X: np.ndarray, y: np.ndarray, new: np.ndarray, **limits: int) -> tuple[np.ndarray, np.ndarray]:
    task, asked = number_task(X, y), number_task(new, np.zeros(len(new)))
    growth = GrowthParams(min_leaf=float(limits.get("min_samples_leaf", 1)), min_split=2.0, max_depth=limits.get("max_depth"))
    tree = grow_numbers(task, positions(task), growth)
    reference = DecisionTreeRegressor(random_state=0, **limits).fit(X, y)
    return tree.numbers.mean[route(tree, asked, positions(asked)).leaf], reference.predict(new)


def test_shallow_trees_predict_new_rows_as_scikit_learn_does() -> None:
    rng = np.random.default_rng(5)
    X, new = rng.normal(size=(400, 4)), rng.normal(size=(500, 4))
    y = X[:, 0] * 2 + np.abs(X[:, 1]) + rng.normal(size=400)
    for limits in ({"max_depth": 3}, {"max_depth": 6, "min_samples_leaf": 10}, {"min_samples_leaf": 20}):
        ours, theirs = sklearn_and_ours(X, y, new, **limits)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-11)


@pytest.mark.parametrize("least", [1, 5])
def test_training_rows_are_predicted_as_by_scikit_learn(least: int) -> None:
    for X, y in (load_diabetes(return_X_y=True), friedman(600)):
        ours, theirs = sklearn_and_ours(X, y, X, min_samples_leaf=least)
        if least == 1:
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-11)
        assert np.square(ours - y).sum() == pytest.approx(np.square(theirs - y).sum(), rel=2e-3)


def test_decimals_are_kept_exactly_and_everything_else_to_a_share_of_the_range() -> None:
    prices = np.array([199.99, 0.01, 1e6, 12.5])
    found = WholeTarget.of(prices, 4.0)
    assert found.scale == 100.0
    assert np.array_equal(found.value(found.whole.astype(float)), prices)
    for y in (np.random.default_rng(0).normal(size=500) * 1e-100, np.random.default_rng(1).normal(size=500) * 1e100,
              1e12 + np.random.default_rng(2).random(500)):  # fmt: skip
        found = WholeTarget.of(y, 500.0)
        assert np.abs(found.whole).max() < 2**41
        assert np.abs(found.value(found.whole.astype(float)) - y).max() <= 2.0**-41 * np.ptp(y) + 1e-15 * np.abs(y).max()


def test_sums_stay_within_a_word_at_the_largest_weights() -> None:
    found = WholeTarget.of(np.array([-1e300, 0.123456789012, 1e300]), 2.0**40)
    assert float(np.abs(found.whole).max()) * 2.0**40 <= 2.0**62


def test_a_branch_without_weight_is_worth_nothing() -> None:
    target = WholeTarget(np.zeros(1, np.int64), 0.0, 0.0, 2.0)
    wholes = WeightedWholes(target, target.whole, True, 1.0, 1.0)
    assert wholes.goodness(np.array([0.0, 8.0]), np.array([0.0, 2.0])).tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("missing", "gap", "whole"), [("fractional", True, False), ("fractional", False, True), ("branch", True, True)]
)
def test_whole_weights_stay_whole_unless_rows_are_divided(missing: str, gap: bool, whole: bool) -> None:
    task = number_task(np.array([[1.0], [np.nan if gap else 2.0], [3.0]]), np.array([1.0, 2.0, 4.0]))
    wholes = growing.whole_rows(task, positions(task), GrowthParams(missing=missing), columns(task))[1]
    assert wholes.integral is whole
