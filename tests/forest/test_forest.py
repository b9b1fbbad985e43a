"""A forest: the compiled grower is the plain one, and one forest says what forests grown apart for each learner would say."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from modelsel.config.build import build as built
from modelsel.core.fingerprint import digest
from modelsel.core.spec import make
from modelsel.core.types import Feature, Table, Task, positions
from modelsel.forest.forest_tree import ForestTree
from modelsel.forest.grow import drawn_rows, grow_tree
from modelsel.forest.growth import ForestData
from modelsel.learner.forest import Forest
from modelsel.learner.trees.leaf import Leaf, leaf_scores
from modelsel.tree.cutting import PruningData
from modelsel.tree.node import PrunedView
from modelsel.tree.pruning import best_class
from tests.forest.plain_forest import grow_plainly, plain_rows

SEEDS = settings(max_examples=60, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))


def random_task(rng: np.random.Generator) -> Task:
    """Mixed features, tied and untied, missing values, weights that are powers of two (their sums are exact)."""
    rows, classes = int(rng.integers(6, 90)), int(rng.integers(2, 5))
    features, values = [], []
    for index in range(int(rng.integers(1, 7))):
        kind = str(rng.choice(["numeric", "numeric", "nominal", "ordered"]))
        many = int(rng.integers(2, 7))
        features.append(Feature(f"f{index}", kind, () if kind == "numeric" else tuple("abcdefg"[:many])))
        column = rng.integers(0, many, rows) if kind != "numeric" else rng.integers(0, rng.choice([2, 5, 400]), rows) / 4
        values.append(np.where(rng.random(rows) < rng.choice([0.0, 0.2]), np.nan, column))
    weights = None if rng.random() < 0.6 else rng.choice([0.0, 0.5, 1.0, 2.0], rows)
    return Task(
        name="random", features=tuple(features), values=np.column_stack(values), rows=np.arange(rows),
        classes=tuple("ABCDE"[:classes]), target=rng.integers(0, classes, rows).astype(np.int32), weights=weights,
    )  # fmt: skip


def random_forest(rng: np.random.Generator) -> Forest:
    return Forest(
        features=[1, 2, "sqrt", "log2", "all", 0.5][int(rng.integers(6))],
        rows=["bootstrap", "all", 0.6][int(rng.integers(3))],
        cuts=str(rng.choice(["best", "random"])),
        honest=float(rng.choice([0.0, 0.4])),
        criterion=make("criterion", str(rng.choice(["gini", "entropy", "misclassification", "hellinger"]))),
        nominal=str(rng.choice(["subset", "equality"])),
        missing=str(rng.choice(["branch", "majority"])),
        min_leaf=float(rng.choice([1, 2, 5])),
    )


def some_rows(task: Task, rng: np.random.Generator) -> np.ndarray:
    """Rows to grow on, at least one of which has weight; now and then with repeats."""
    rows = rng.integers(0, len(task), len(task)) if rng.random() < 0.3 else rng.permutation(len(task))[: len(task) * 2 // 3]
    heavy = np.flatnonzero(task.row_weights > 0)
    return np.sort(rows) if task.row_weights[rows].sum() > 0 else np.append(rows, heavy[:1])


def plainly(ground: ForestData, growth: Any, number: int, **limits: Any) -> ForestTree:
    times, honest = plain_rows(ground.seed, number, len(ground.rows), growth)
    growing = times if honest is None else np.where(honest, 0, times)
    used = np.bincount(ground.rows, growing, len(ground.task)).astype(float)
    return grow_plainly(ground, growth, number, np.flatnonzero(used > 0).astype(np.int32), used, **limits)


def same_tree(one: ForestTree, other: ForestTree, nearly: float = 1e-12) -> None:
    assert one.nodes.tolist() == other.nodes.tolist()
    assert one.marks.tolist() == other.marks.tolist()
    np.testing.assert_array_equal(one.threshold, other.threshold)
    np.testing.assert_array_equal(one.counts, other.counts)
    np.testing.assert_allclose(one.goodness, other.goodness, rtol=0, atol=nearly)


@SEEDS
@given(seed=st.integers(0, 2**32 - 1))
def test_the_compiled_grower_grows_the_tree_of_the_plain_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    task = random_task(rng)
    rows, forest = some_rows(task, rng), random_forest(rng)
    path = forest.fit_path(task, rows, np.random.default_rng(seed))
    for number in range(2):
        times, honest = drawn_rows(path.ground, path.growth, number)
        twin = plain_rows(path.ground.seed, number, len(path.ground.rows), path.growth)
        assert times.tolist() == twin[0].tolist()
        assert (honest is None and twin[1] is None) or honest.tolist() == twin[1].tolist()
        if (np.where(honest, 0, times) if honest is not None else times).any():
            same_tree(grow_tree(path.ground, path.growth, number), plainly(path.ground, path.growth, number))


def votes_of(forest: Forest, ground: ForestData, growth: Any, table: Table) -> tuple[list[Fraction], int]:
    """Rows × classes of summed shares, by forests that stop inside the growing loop, row after row."""
    task = ground.task
    sums = np.zeros((len(table), len(task.classes)), object)
    leaves = 0
    for number in range(forest.trees):
        limits = {"most_depth": forest.max_depth, "least_rows": max(2, forest.min_split)}
        tree = plainly(ground, growth, number, **limits)
        whole = tree.tree(task.features, task.class_names)
        leaf = (
            tree.terminal | ~(tree.goodness >= forest.min_gain - 1e-12) | (whole.purest >= forest.purity * whole.weight - 1e-9)
        )
        cut = PrunedView(whole, leaf, best_class(whole.counts, None), whole.counts)
        cut = forest.pruner.path(cut, PruningData(total=float(whole.weight[0]))).cut(forest.pruner)
        shares = leaf_scores(cut, forest.leaf)
        if forest.vote == "majority":
            shares = np.eye(len(task.classes))[cut.prediction]
        ends = [walked(tree, cut.leaf, task, row) for row in table.values]
        sums += np.array([[int(share * 2**40) for share in shares[end]] for end in ends], object)
        leaves += standing(tree, cut.leaf)
    return sums, leaves


def walked(tree: ForestTree, leaf: np.ndarray, task: Task, row: np.ndarray) -> int:
    """The node where a row ends, by values and not by codes."""
    node, whole = 0, tree.tree(task.features, task.class_names)
    while not leaf[node]:
        value, feature = row[whole.feature[node]], task.features[whole.feature[node]]
        if np.isnan(value):
            side = int(whole.missing_to[node])
        elif feature.kind != "nominal":
            side = int(not value <= whole.threshold[node])
        elif value >= len(feature.levels):
            side = int(tree.others_to()[node])
        elif node in whole.subset:
            side = int(not whole.subset[node][int(value)])
        else:
            side = int(value != whole.threshold[node])
        node = int(whole.children(node)[side])
    return node


def standing(tree: ForestTree, leaf: np.ndarray) -> int:
    closed, count = np.zeros(len(tree), bool), 0
    for node in range(len(tree)):
        above = tree.parent[node]
        closed[node] = above >= 0 and (closed[above] or leaf[above])
        count += bool(leaf[node] and not closed[node])
    return count


def strange(task: Task, rng: np.random.Generator) -> Table:
    """The rows to predict: the task's own, in some a level that was never declared, in some a number never seen."""
    values = task.values.copy()
    for index, feature in enumerate(task.features):
        some = rng.random(len(task)) < 0.1
        values[some, index] = len(feature.levels) if feature.kind == "nominal" else values[some, index] + 0.03
    return task.with_features(task.features, values)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", [*range(15), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(15, 60))])
def test_one_forest_says_what_each_learner_grown_alone_would(seed: int) -> None:
    rng = np.random.default_rng(seed)
    task = random_task(rng)
    rows, base = some_rows(task, rng), replace(random_forest(rng), honest=0.0)
    pruners = [
        make("pruner", "unpruned"),
        make("pruner", "cost_complexity", alpha=0.02),
        make("pruner", "minimum_error", m=2.0),
    ]
    learners = [
        replace(
            base, trees=int(rng.integers(1, 5)), max_depth=rng.choice([None, 1, 3]), min_split=float(rng.choice([2, 6, 15])),
            min_gain=float(rng.choice([0, 0.05])), purity=float(rng.choice([1.0, 0.8])),
            vote=str(rng.choice(["mean", "majority"])),
            leaf=Leaf(str(rng.choice(["frequency", "laplace"]))), pruner=pruners[int(rng.integers(3))],
        )
        for _ in range(6)
    ]  # fmt: skip
    path = base.fit_path(task, rows, np.random.default_rng(seed))
    for table in (task, strange(task, rng)):
        outputs = path.outputs(learners, table, positions(table), scores=True)
        for index, learner in enumerate(learners):
            votes, leaves = votes_of(learner, path.ground, path.growth, table)
            assert outputs.predicted[index].tolist() == [int(np.argmax(own)) for own in votes]
            np.testing.assert_allclose(outputs.scores[index], (votes / votes.sum(axis=1)[:, None]).astype(float), atol=1e-12)
            assert path.complexity([learner])[0] == leaves
            model = Forest.restore(learner.fit(task, rows, np.random.default_rng(seed)).describe())
            assert model.predict(table).tolist() == outputs.predicted[index].tolist()
            np.testing.assert_array_equal(model.scores(table), outputs.scores[index])


def test_a_smaller_forest_is_the_beginning_of_a_larger_one() -> None:
    rng = np.random.default_rng(3)
    task = random_task(rng)
    few, many = (Forest(trees=n).fit_path(task, positions(task), np.random.default_rng(1)) for n in (3, 8))
    for one, other in zip(few.trees(3), many.trees(8)[:3], strict=True):
        same_tree(one, other)


def test_an_empty_honest_leaf_takes_its_nearest_ancestors_weights() -> None:
    rng = np.random.default_rng(5)
    task = random_task(rng)
    forest = Forest(trees=1, honest=0.5, rows="all")
    path = forest.fit_path(task, positions(task), np.random.default_rng(1))
    tree = path.trees(1)[0]
    _, honest = drawn_rows(path.ground, path.growth, 0)
    own = path.ground.rows[honest]
    counts = np.zeros_like(tree.counts)
    for row in own:
        node = walked(tree, tree.terminal, task, task.values[row])
        while node >= 0:
            counts[node, task.target[row]] += task.row_weights[row]
            node = int(tree.parent[node])
    for node in range(1, len(tree)):
        if not counts[node].any():
            counts[node] = counts[tree.parent[node]]
    np.testing.assert_array_equal(tree.counts, counts)


def test_a_tree_whose_rows_all_fill_leaves_is_one_leaf_of_them() -> None:
    task = replace(random_task(np.random.default_rng(5)), weights=None)
    rows, lone = positions(task)[:5], 0
    path = Forest(trees=60, honest=0.7).fit_path(task, rows, np.random.default_rng(1))
    for number, tree in enumerate(path.trees(60)):
        times, honest = drawn_rows(path.ground, path.growth, number)
        if not np.where(honest, 0, times).any():
            lone += 1
            assert tree.counts.tolist() == [np.bincount(task.target[rows], times, len(task.classes)).tolist()]
    assert lone


def test_out_of_bag_votes_are_those_of_trees_that_have_not_drawn_the_row() -> None:
    rng = np.random.default_rng(7)
    task = replace(random_task(rng), weights=None)
    forest = Forest(trees=12)
    path = forest.fit_path(task, positions(task), np.random.default_rng(2))
    outputs, voters = path.out_of_bag([forest])
    votes = np.zeros((len(task), len(task.classes)))
    for number, tree in enumerate(path.trees(12)):
        times, _ = drawn_rows(path.ground, path.growth, number)
        for row in np.flatnonzero(times == 0):
            counts = tree.counts[walked(tree, tree.terminal, task, task.values[row])]
            votes[row] += np.floor(counts / counts.sum() * 2**40)
    judged = voters > 0
    assert voters.tolist() == [
        sum(drawn_rows(path.ground, path.growth, n)[0][row] == 0 for n in range(12)) for row in range(len(task))
    ]
    assert outputs.predicted[0][judged].tolist() == votes[judged].argmax(axis=1).tolist()


@pytest.mark.parametrize(
    ("settings_", "said"),
    [
        ({"features": "most"}, "features is one of sqrt, log2, all"),
        ({"features": 2.5}, "a number of features"),
        ({"rows": 3}, "rows as a number is a share"),
        ({"criterion": make("criterion", "gain_ratio")}, "compares cuts by goodness alone"),
        ({"pruner": make("pruner", "reduced_error")}, "needs rows of its own"),
        ({"pruner": make("pruner", "cost_complexity", alpha="path")}, "give numbers to a forest"),
    ],
)
def test_what_a_forest_cannot_do_is_said(settings_: dict[str, Any], said: str) -> None:
    assert any(said in problem for problem in Forest(**settings_).problems())


@pytest.mark.parametrize(
    ("features", "many"), [(1, 1), (3, 3), (3.0, 3), (9, 5), (1.0, 5), (0.5, 2), (0.1, 1), ("all", 5), ("sqrt", 2)]
)
def test_whole_numbers_are_counts_of_features_by_name_and_by_hand(features: str | float, many: int) -> None:
    values = np.random.default_rng(0).normal(size=(20, 5))
    task = Task(
        name="five", features=tuple(Feature(f"f{i}", "numeric") for i in range(5)), values=values, rows=np.arange(20),
        classes=("A", "B"), target=(values[:, 0] > 0).astype(np.int32),
    )  # fmt: skip
    for forest in (Forest(features=features), built("forest", {"features": features})[0]):
        assert forest.fit_path(task, positions(task), np.random.default_rng(0)).growth.features == many


def test_a_share_of_one_and_a_count_of_one_have_different_fits() -> None:
    one, share, words = (built("forest", {"features": given})[0] for given in (1, 1.0, "all"))
    assert digest(one.fit_key()) != digest(share.fit_key()) == digest(words.fit_key())


def test_a_description_that_is_not_whole_is_refused() -> None:
    task = random_task(np.random.default_rng(11))
    description = Forest(trees=3).fit(task, positions(task), np.random.default_rng(0)).describe()
    for name, place, value in (
        ("nodes", (0, 1), 99),
        ("voted", 0, 77),
        ("trees", 1, 10**6),
        ("first", 1, -4),
        ("nodes", (0, 3), 10**6),
    ):
        arrays = {key: array.copy() for key, array in description.arrays.items()}
        arrays[name][place] = value
        with pytest.raises(ValueError, match="not a whole forest"):
            Forest.restore(replace(description, arrays=arrays))


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_many_rows_are_sorted_and_counted_as_few_are(classes: int, criterion: str) -> None:
    """Columns of many, some and two values, enough rows for every way of ordering them."""
    rng = np.random.default_rng(classes)
    rows = 2600
    values = np.column_stack(
        [rng.normal(size=rows), rng.integers(0, 300, rows), rng.integers(0, 9, rows), rng.integers(0, 2, rows)]
    )
    target = np.digitize(values[:, 0] + values[:, 3] + rng.normal(size=rows), np.linspace(-1, 2, classes - 1)).astype(np.int32)
    features = tuple(Feature(f"f{i}", "numeric", ()) for i in range(4))
    task = Task(
        name="many", features=features, values=values, rows=np.arange(rows), classes=tuple("ABCDE"[:classes]), target=target
    )
    for min_leaf in (10.0, 25.0):
        forest = Forest(trees=1, features="all", criterion=make("criterion", criterion), min_leaf=min_leaf)
        path = forest.fit_path(task, positions(task), np.random.default_rng(0))
        same_tree(
            grow_tree(path.ground, path.growth, 0), plainly(path.ground, path.growth, 0), 1e-10
        )  # terms of the entropy are rounded
