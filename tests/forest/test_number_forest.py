"""A forest of numbers: the compiled grower is the plain one, its cuts are those of exact fractions, and one forest says what
each learner grown alone would, to the last bit."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

from modelsel.core.spec import make
from modelsel.core.types import NumberTask, positions
from modelsel.forest.forest_tree import ForestTree
from modelsel.forest.grow import drawn_rows, grow_tree
from modelsel.forest.growth import SUMS, NumberTarget
from modelsel.learner.forest import Forest
from modelsel.learner.forests.inspection import impurity_importance, jackknife_variance
from modelsel.learner.forests.path import ForestPath
from modelsel.tree.cutting import PruningData
from modelsel.tree.node import NodeNumbers
from modelsel.tree.pruning import StoppingLimits, truncate
from tests.forest.test_forest import SEEDS, plainly, random_forest, random_task, same_tree, some_rows, strange, walked
from tests.tree.number_tables import friedman, number_task


def numbers(rng: np.random.Generator) -> NumberTask:
    """The random tables of forests of classes, with numbers in their place: rounded, tied, of heavy tails or far from 0."""
    task = random_task(rng)
    n = len(task)
    y = (
        rng.normal(size=n), np.round(rng.normal(size=n), 1), rng.integers(0, 4, n) * 1.0, np.exp(4 * rng.normal(size=n)),
        1e9 + rng.normal(size=n),
    )[int(rng.integers(5))]  # fmt: skip
    weights = None if task.weights is None else task.weights * rng.choice([1.0, 0.3, 3.0])
    return number_task(task.values, y, weights, task.features)


def forest_of(rng: np.random.Generator, **settings: object) -> Forest:
    return replace(random_forest(rng), criterion=make("criterion", "variance"), **settings)


def means(tree: ForestTree, ground: object) -> np.ndarray:
    return ground.numbers.means(tree.counts)


@SEEDS
@example(seed=1_527_162_806)  # rows of weight ½, each drawn twice: whole weights, and numbers too long for a word
@given(seed=st.integers(0, 2**32 - 1))
def test_the_compiled_grower_grows_the_tree_of_the_plain_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    task = numbers(rng)
    path = forest_of(rng).fit_path(task, some_rows(task, rng), np.random.default_rng(seed))
    for number in range(2):
        times, honest = drawn_rows(path.ground, path.growth, number)
        if (np.where(honest, 0, times) if honest is not None else times).any():
            compiled, plain = grow_tree(path.ground, path.growth, number), plainly(path.ground, path.growth, number)
            unit = path.ground.numbers.unit**2
            same_tree(
                replace(compiled, gains=compiled.gains * unit), plain, nearly=1e-6 * max(plain.gains.max(initial=0.0), 1.0)
            )


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("features", "least"), [("all", 1), (3, 1), (3, 4), (2, 1)])
def test_columns_that_are_sorted_once_give_the_tree_of_the_plain_grower(features: str | int, least: int) -> None:
    """Three columns of many codes, one of them with ties, beside one of few: nodes above and below what a node sorts itself."""
    rng = np.random.default_rng(least)
    X = np.column_stack([rng.normal(size=(400, 2)), np.round(rng.normal(size=400), 2), rng.integers(0, 4, 400)])
    task = number_task(X, X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=400) / 3)
    for rows in ("bootstrap", "all"):
        forest = Forest(criterion=make("criterion", "variance"), features=features, rows=rows, min_leaf=least, trees=1)
        path = forest.fit_path(task, np.arange(0, 400, 2), np.random.default_rng(0))
        tree = grow_tree(path.ground, path.growth, 0)
        assert len(tree) > 50
        same_tree(
            replace(tree, gains=tree.gains * path.ground.numbers.unit**2), plainly(path.ground, path.growth, 0),
            nearly=1e-6 * tree.gains.max() * path.ground.numbers.unit**2,
        )  # fmt: skip


def test_a_tree_of_numbers_whose_rows_all_fill_leaves_says_their_mean() -> None:
    task = number_task(np.arange(10.0).reshape(5, 2), np.array([1.0, 2.0, 4.0, 8.0, 16.0]))
    path = Forest(criterion=make("criterion", "variance"), trees=60, honest=0.7).fit_path(
        task, positions(task), np.random.default_rng(1)
    )
    lone = 0
    for number, tree in enumerate(path.trees(60)):
        times, honest = drawn_rows(path.ground, path.growth, number)
        if not np.where(honest, 0, times).any():
            lone += 1
            assert means(tree, path.ground) == pytest.approx([np.average(task.target, weights=times)])
    assert lone


def spared(rows: list[tuple[Fraction, Fraction]], first: list[bool]) -> Fraction:
    """Weighted squared error that dividing some (number, weight) spares, over their weight."""

    def error(own: list[tuple[Fraction, Fraction]]) -> Fraction:
        weight = sum(w for _, w in own)
        mean = sum(y * w for y, w in own) / weight
        return sum((w * (y - mean) ** 2 for y, w in own), Fraction(0))

    one, other = ([row for row, side in zip(rows, first, strict=True) if side is which] for which in (True, False))
    return (error(rows) - error(one) - error(other)) / sum(w for _, w in rows)


def rows_of_nodes(tree: ForestTree, task: NumberTask) -> dict[int, list[int]]:
    """The rows that come by each node."""
    here: dict[int, list[int]] = {}
    for row in range(len(task)):
        node = walked(tree, tree.terminal, task, task.values[row])
        while node >= 0:
            here.setdefault(node, []).append(row)
            node = int(tree.parent[node])
    return here


def most_spared(task: NumberTask, own: list[int], exact: list[tuple[Fraction, Fraction]], least: int) -> Fraction:
    """The most that any admissible cut of numeric columns spares."""
    sides = [
        [bool(task.values[row, feature] <= cut) for row in own]
        for feature in range(len(task.features))
        for cut in np.unique(task.values[own, feature])[:-1]
    ]
    return max((spared(exact, first) for first in sides if least <= sum(first) <= len(own) - least), default=Fraction(-1))


def test_every_cut_is_the_best_by_exact_fractions() -> None:
    """All rows, all features, numeric columns with ties: what a node's test spares is the most that any cut does."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n, least = int(rng.integers(4, 25)), int(rng.integers(1, 4))
        y, weights = np.round(rng.normal(size=n), 2), None if seed % 2 else rng.integers(1, 4, n).astype(float)
        task = number_task(rng.integers(0, 8, (n, 3)) / 4, y, weights)
        path = Forest(trees=1, rows="all", features="all", min_leaf=least).fit_path(task, positions(task), rng)
        tree = path.trees(1)[0]
        for node, own in rows_of_nodes(tree, task).items():
            exact = [(Fraction(str(y[row])), Fraction(int(task.row_weights[row]))) for row in own]
            most = most_spared(task, own, exact, least)
            if tree.terminal[node]:
                assert most <= 0 or len({number for number, _ in exact}) == 1
            else:
                assert float(tree.goodness[node]) == pytest.approx(float(most), rel=1e-9, abs=1e-12)
            mean = sum(number * w for number, w in exact) / sum(w for _, w in exact)
            assert means(tree, path.ground)[node] == pytest.approx(float(mean), rel=1e-12, abs=1e-12)


def test_a_tree_of_all_rows_says_what_that_of_scikit_learn_says() -> None:
    X, y = load_diabetes(return_X_y=True)
    task = number_task(X, y)
    model = Forest(trees=1, rows="all", features="all", min_leaf=5).fit(task, positions(task), np.random.default_rng(0))
    theirs = DecisionTreeRegressor(min_samples_leaf=5, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict(task), theirs.predict(X), rtol=0, atol=1e-9)


def grid_of(base: Forest) -> list[Forest]:
    pruners = make("pruner", "unpruned"), make("pruner", "cost_complexity", alpha=0.02)
    return [
        replace(base, trees=trees, max_depth=depth, min_split=split, min_gain=gain, pruner=pruner)
        for trees, depth, split, gain, pruner in product((1, 3), (None, 0, 2), (2, 8), (0.0, 0.05), pruners)
    ]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(8))
def test_one_forest_says_what_each_learner_grown_alone_would_bit_for_bit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    task = numbers(rng)
    rows, base = some_rows(task, rng), forest_of(rng)
    asked = grid_of(base)
    path = base.fit_path(task, rows, np.random.default_rng(seed))
    table = strange(task, rng)
    said, size = path.outputs(asked, table, positions(table), scores=False), path.complexity(asked)
    for learner, own, leaves in zip(asked, said.predicted, size, strict=True):
        alone = Forest.restore(learner.fit(task, rows, np.random.default_rng(seed)).describe())
        assert np.array_equal(alone.predict(table), own)
        assert path.complexity([learner])[0] == leaves
        some, ends = table.values[:5], [leaves_of(learner, path, tree) for tree in path.trees(learner.trees)]
        each = [
            [means(tree, path.ground)[walked(tree, leaf, task, row)] for row in some]
            for tree, leaf in zip(path.trees(learner.trees), ends, strict=True)
        ]
        np.testing.assert_allclose(own[:5], np.mean(each, axis=0), rtol=1e-12, atol=1e-12 * max(np.ptp(task.target), 1e-12))


def leaves_of(learner: Forest, path: ForestPath, tree: ForestTree) -> np.ndarray:
    """The leaves of a tree of decisions, pruned as any tree of numbers is, under the limits of a learner."""
    own = means(tree, path.ground)
    features = path.ground.task.features
    whole = tree.tree(features, (), NodeNumbers(own, np.zeros(len(own))))
    cut = truncate(whole, StoppingLimits(learner.max_depth, 0.0, learner.min_gain))
    leaf = cut.leaf | (tree.rows < learner.min_split)
    cut = replace(cut, leaf=leaf, prediction=own)
    return learner.pruner.path(cut, PruningData(total=float(whole.weight[0]))).cut(learner.pruner).leaf


def test_neither_the_order_of_rows_nor_repeats_in_place_of_weights_change_a_bit() -> None:
    """With every row in every tree nothing is drawn by position."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        task = numbers(rng)
        forest = forest_of(rng, rows="all", honest=0.0, trees=4)
        said = forest.fit(task, positions(task), np.random.default_rng(1)).predict(task)
        order = rng.permutation(len(task))
        other = forest.fit(task.take(order), np.arange(len(task)), np.random.default_rng(1)).predict(task)
        assert np.array_equal(said, other)
        if task.weights is None and forest.min_leaf == 1:
            twice = forest.fit(task, np.repeat(positions(task), 2), np.random.default_rng(1)).predict(task)
            weighted = replace(task, weights=np.full(len(task), 2.0))
            assert np.array_equal(twice, forest.fit(weighted, positions(task), np.random.default_rng(1)).predict(task))


@pytest.mark.parametrize("seed", range(4))
def test_without_kernels_the_same_is_said(seed: int, code) -> None:
    rng = np.random.default_rng(seed)
    task = numbers(rng)
    rows, base = some_rows(task, rng), forest_of(rng)
    asked = grid_of(base)[::7]
    with code("kernels"):
        path = base.fit_path(task, rows, np.random.default_rng(seed))
        said, size = path.outputs(asked, task, positions(task), scores=False).predicted, path.complexity(asked)
    with code("plain"):
        plain = base.fit_path(task, rows, np.random.default_rng(seed))
        assert np.array_equal(plain.outputs(asked, task, positions(task), scores=False).predicted, said)
        assert plain.complexity(asked).tolist() == size.tolist()


def test_out_of_bag_numbers_are_means_of_trees_that_have_not_drawn_the_row() -> None:
    X, y = friedman(60)
    task = number_task(X, y)
    forest = Forest(trees=12)
    path = forest.fit_path(task, positions(task), np.random.default_rng(2))
    few = replace(forest, trees=2)
    outputs, voters = path.out_of_bag([forest, few])
    drawn = np.array([drawn_rows(path.ground, path.growth, number)[0] > 0 for number in range(12)])
    assert voters.tolist() == (~drawn).sum(axis=0).tolist()
    for learner, said in zip((forest, few), outputs.predicted, strict=True):
        for row in range(60):
            own = [
                means(tree, path.ground)[walked(tree, tree.terminal, task, X[row])]
                for tree, seen in zip(path.trees(learner.trees), drawn, strict=False)
                if not seen[row]
            ]
            assert said[row] == pytest.approx(np.mean(own) if own else y.mean(), rel=1e-12)
    assert np.mean(np.square(outputs.predicted[0] - y)) < np.var(y)


def test_importances_are_what_tests_spare_of_rows_out_of_bag() -> None:
    X, y = friedman(80)
    task = number_task(np.column_stack([X, np.random.default_rng(0).random(80)]), y)
    forest = Forest(trees=30, features="all", max_depth=3)
    path = forest.fit_path(task, positions(task), np.random.default_rng(0))
    found = np.zeros(6)
    for number, tree in enumerate(path.trees(30)):
        out = np.flatnonzero(drawn_rows(path.ground, path.growth, number)[0] == 0)
        mean, depth = means(tree, path.ground), tree.depth
        for row in out:
            node = walked(tree, tree.terminal, task, task.values[row])
            while node > 0:
                above = int(tree.parent[node])
                if depth[above] < 3:
                    found[tree.nodes[above, 1]] += (mean[node] - mean[above]) * (y[row] - mean[0]) / len(out) / 30
                node = above
    np.testing.assert_allclose(impurity_importance(path, 30, forest), found, rtol=1e-9, atol=1e-9)
    assert found[5] < found[:5].max() / 10
    assert jackknife_variance(path, 30, task, positions(task)).shape == (80, 1)


def test_what_speaks_of_classes_is_refused_by_name() -> None:
    task = number_task(*friedman(20))
    for name, settings in {
        "criterion=entropy": {"criterion": make("criterion", "entropy")}, "vote": {"vote": "majority"},
        "purity": {"purity": 0.9},
        "pruner=minimum_error": {"pruner": make("pruner", "minimum_error")},
        "a forest of numbers has 65536 trees at most": {"trees": 65537},
    }.items():  # fmt: skip
        assert any(said.startswith(name) for said in Forest(**settings).problems(task)), name
    assert list(Forest().problems(task)) == []


def test_a_target_of_one_value_or_two_rows_is_no_trouble() -> None:
    for y in ([3.25] * 5, [1.0, 2.0], [-1e300, 1e300, 0.0]):
        task = number_task(np.arange(len(y), dtype=float)[:, None], np.array(y))
        said = Forest(trees=5, rows="all").fit(task, positions(task), np.random.default_rng(0)).predict(task)
        np.testing.assert_allclose(said, y, rtol=1e-9, atol=1e-9 * np.abs(y).max())


def test_a_description_that_is_not_whole_is_refused() -> None:
    task = number_task(*friedman(30))
    description = Forest(trees=3).fit(task, positions(task), np.random.default_rng(0)).describe()
    broken = {**description.facts, "numbers": {**description.facts["numbers"], "scale": 0.0}}
    with pytest.raises(ValueError, match="votes cannot be read as numbers"):
        Forest.restore(replace(description, facts=broken))


@pytest.mark.slow
def test_many_rows_are_sorted_and_counted_as_few_are() -> None:
    """Columns of many, some and two values, enough rows for every way of ordering them."""
    rng = np.random.default_rng(0)
    n = 2600
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 300, n), rng.integers(0, 9, n), rng.integers(0, 2, n)])
    task = number_task(X, X[:, 0] + X[:, 3] + rng.normal(size=n))
    for least in (1.0, 25.0):
        path = Forest(trees=1, features="all", min_leaf=least).fit_path(task, positions(task), np.random.default_rng(0))
        compiled, plain = grow_tree(path.ground, path.growth, 0), plainly(path.ground, path.growth, 0)
        same_tree(replace(compiled, gains=plain.gains), plain)


@pytest.mark.slow
def test_errors_are_no_worse_than_those_of_scikit_learn() -> None:
    """Means over ten seeds on held-out halves, the same settings: within two standard errors of the difference, or lower."""
    tables = {"diabetes": load_diabetes(return_X_y=True), "friedman": friedman(400), "tails": tailed(400)}
    for name, (X, y) in tables.items():
        half = len(X) // 2
        task = number_task(X, y)
        for features, share in (("all", 1.0), (0.34, 0.34)):
            forest = Forest(trees=40, features=features)
            ours, theirs = [], []
            for seed in range(10):
                model = forest.fit(task, np.arange(half), np.random.default_rng(seed))
                peer = RandomForestRegressor(40, max_features=share, random_state=seed).fit(X[:half], y[:half])
                ours.append(np.mean(np.square(model.predict(task)[half:] - y[half:])))
                theirs.append(np.mean(np.square(peer.predict(X[half:]) - y[half:])))
            slack = 2 * np.sqrt((np.var(ours, ddof=1) + np.var(theirs, ddof=1)) / 10)
            assert np.mean(ours) <= np.mean(theirs) + slack, (name, features, np.mean(ours), np.mean(theirs))


def tailed(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    X = rng.random((n, 8))
    return X, np.exp(2 * X[:, 0] + rng.normal(size=n) / 2) + 3 * X[:, 1]


@pytest.mark.parametrize("heaviest", [1.0, 8.0, 0.7 * 2**10])
def test_of_as_many_rows_as_are_drawn_the_heaviest_still_have_exact_sums(heaviest: float) -> None:
    rng = np.random.default_rng(0)
    weights = heaviest * rng.choice([0.25, 1.0], 500)
    task = number_task(rng.normal(size=(500, 1)), rng.normal(size=500), weights)
    found = NumberTarget.of(task, positions(task))
    assert np.abs(found.v).max() * len(task) <= 2.0**SUMS
    drawn = [[Fraction(one) for one in values[rng.integers(0, 500, 500)]] for values in (found.v, found.weights)]
    assert all(Fraction(float(np.sum(np.array(each, float)))) == sum(each) for each in drawn)
