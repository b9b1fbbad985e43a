"""The grower against its twin, against brute force at the root, and against what must not change a tree."""

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modelsel.core.spec import make
from modelsel.core.types import Feature, Task, positions
from modelsel.criterion.base import BaseCriterion
from modelsel.kernels import stop
from modelsel.kernels.compiler import load
from modelsel.tree.growing.assemble import assemble
from modelsel.tree.growing.columns import WeightedRows, columns, release
from modelsel.tree.growing.grow import grow
from modelsel.tree.growing.growth import MISSING, NOMINAL, GrowthParams
from modelsel.tree.growing.numpy_grower import grow as grow_in_numpy
from modelsel.tree.node import EQUALITY, LEAF, MULTIWAY, SUBSET, THRESHOLD, DecisionTree
from modelsel.tree.routing import route
from tests.tree.in_numpy import route_in_numpy

CRITERIA = ("entropy", "gini", "gain_ratio", "misclassification", "twoing", "chi_square", "symmetric_uncertainty",
            "hellinger", "dkm", "tan_schlimmer", "nunez")  # fmt: skip


def drawn_task(rng: np.random.Generator, rows: int = 50, missing: bool = True, weighted: bool = True, levels: int = 6) -> Task:
    n, classes = int(rng.integers(4, rows)), int(rng.integers(2, 5))
    features, values = [], []
    for index in range(int(rng.integers(1, 5))):
        kind, many = str(rng.choice(["numeric", "nominal", "ordered"])), int(rng.integers(2, levels))
        names = () if kind == "numeric" else tuple(f"v{i}" for i in range(many))
        features.append(Feature(f"f{index}", kind, names, cost=float(rng.integers(1, 4))))
        column = rng.integers(0, many, n) if names else rng.integers(0, rng.choice([3, 60]), n) / 4
        lost = rng.random(n) < (rng.choice([0, 0.1, 0.4]) if missing else 0)
        values.append(np.where(lost, np.nan, column))
    weights = rng.choice([None, "whole", "real"]) if weighted else None
    drawn = {None: None, "whole": rng.integers(1, 4, n).astype(float), "real": rng.random(n) + 0.01}[weights]
    return Task(
        name="drawn", features=tuple(features), values=np.column_stack(values), rows=np.arange(n),
        classes=tuple("ABCDE"[:classes]), target=rng.integers(0, classes, n).astype(np.int32), weights=drawn,
    )  # fmt: skip


def valid(kind: str, growth: GrowthParams) -> bool:
    multiway = growth.nominal == "multiway"
    return not (multiway and (make("criterion", kind).binary or growth.missing == "surrogate"))


def both(task: Task, rows: np.ndarray, criterion: Any, growth: GrowthParams) -> tuple[DecisionTree, DecisionTree]:
    ranked, chosen = columns(task), WeightedRows.of(task, rows)
    return grow(task, rows, criterion, growth), assemble(grow_in_numpy(chosen, ranked, criterion, growth), task, ranked, None)


def assert_same(one: DecisionTree, other: DecisionTree) -> None:
    for name in ("parent", "test", "feature", "first", "child", "missing_to"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist(), name
    for name in ("threshold", "goodness", "counts"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=0, atol=1e-9, err_msg=name)
    assert {node: marks.tolist() for node, marks in one.subset.items()} == {n: m.tolist() for n, m in other.subset.items()}
    assert (one.surrogates is None) == (other.surrogates is None)
    if one.surrogates is not None and other.surrogates is not None:
        for name in ("first", "feature", "flipped"):
            assert getattr(one.surrogates, name).tolist() == getattr(other.surrogates, name).tolist(), name
        np.testing.assert_allclose(one.surrogates.agreement, other.surrogates.agreement, rtol=1e-12)
        assert {k: v.tolist() for k, v in one.surrogates.sides.items()} == {
            k: v.tolist() for k, v in other.surrogates.sides.items()
        }


@pytest.mark.sampled(4)
@pytest.mark.skipif(load("grow") is None, reason="only the NumPy grower is there")
@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("kind", CRITERIA)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_compiled_grower_and_its_twin_agree(kind: str, missing: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    task = drawn_task(rng, levels=14 if rng.random() < 0.2 else 6)
    rows = positions(task) if rng.random() < 0.5 else rng.integers(0, len(task), len(task))
    for nominal in NOMINAL:
        rule = str(rng.choice(["plain", "c45"]))
        growth = GrowthParams(missing, nominal, min_leaf=float(rng.choice([1, 2, 5])), min_leaf_rule=rule)
        if valid(kind, growth):
            compiled, plain = both(task, rows, make("criterion", kind), growth)
            assert_same(compiled, plain)
            sent, twin = route(compiled, task, positions(task)), route_in_numpy(plain, task, positions(task))
            assert (sent.owner == twin.owner).all()
            assert (sent.leaf == twin.leaf).all()
            assert sent.unseen == twin.unseen
            np.testing.assert_allclose(sent.part, twin.part, rtol=1e-9)


def long_task(rng: np.random.Generator, most: int = 700) -> Task:
    """Enough rows for the kernel's blocks, few or many values, classes that depend on them or not, sometimes unbalanced."""
    n, classes = int(rng.integers(66, most)), int(rng.integers(2, 13))
    many = rng.choice([2, 5, 17, 300, 10**6], 4)
    values = rng.integers(0, many, (n, 4)) - many // 2.0
    signal = np.argsort(np.argsort(values[:, rng.integers(4)] + rng.choice([0.1, 5.0]) * rng.normal(size=n)))
    target = np.where(rng.random(n) < rng.choice([0.1, 0.6, 1.0]), rng.integers(0, classes, n), signal * classes // n)
    if rng.random() < 0.3:
        target = np.where(rng.random(n) < 0.9, 0, target)
    return Task(
        name="long", features=tuple(Feature(f"f{i}", "numeric") for i in range(4)), values=values, rows=np.arange(n),
        classes=tuple("ABCDEFGHIJKLM"[:classes]), target=target.astype(np.int32),
    )  # fmt: skip


def check_a_long_task(seed: int, most: int = 700) -> None:
    rng = np.random.default_rng(seed)
    task = long_task(rng, most)
    rows = positions(task) if rng.random() < 0.5 else rng.permutation(len(task))[: len(task) * 3 // 4]
    growth = GrowthParams(str(rng.choice(MISSING[:4])), min_leaf=float(rng.choice([1, 3, 20])),
                    min_leaf_rule=str(rng.choice(["plain", "c45"])))  # fmt: skip
    for kind in ("entropy", "gini", "gain_ratio"):
        assert_same(*both(task, rows, make("criterion", kind), growth))


@pytest.mark.slow
@pytest.mark.skipif(load("grow") is None, reason="only the NumPy grower is there")
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_grower_of_whole_counts_and_its_twin_agree_on_long_columns(seed: int) -> None:
    check_a_long_task(seed)


def tabled_task(rng: np.random.Generator) -> Task:
    """Few values and many rows: a node has a table of counts until its rows are fewer than cells."""
    n, classes, features = int(rng.integers(300, 900)), int(rng.integers(2, 5)), int(rng.integers(2, 7))
    values = rng.integers(0, rng.integers(1, 7, features), (n, features)) / 2 - 1
    target = (
        (values @ rng.normal(size=features) + rng.choice([0.1, 2.0]) * rng.normal(size=n)).argsort().argsort() * classes // n
    )
    names = tuple(Feature(f"f{i}", "numeric") for i in range(features))
    return Task(name="tabled", features=names, values=values, rows=np.arange(n), classes=tuple("ABCD"[:classes]),
                target=target.astype(np.int32))  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(load("grow") is None, reason="only the NumPy grower is there")
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_tables_of_few_values_grow_the_tree_of_the_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    task = tabled_task(rng)
    rows = positions(task) if rng.random() < 0.5 else rng.permutation(len(task))[: len(task) * 3 // 4]
    depth = int(rng.integers(1, 9)) if rng.random() < 0.3 else None
    growth = GrowthParams(str(rng.choice(MISSING[:4])), min_leaf=float(rng.choice([1, 3, 20])), max_depth=depth)
    for kind in ("entropy", "gini", "gain_ratio"):
        assert_same(*both(task, rows, make("criterion", kind), growth))
    assert_same(*both(task, rows, make("criterion", "gain_ratio", numeric_penalty=False), growth))


@pytest.mark.parametrize("nominal", sorted(NOMINAL))
@pytest.mark.parametrize("kind", [kind for kind in CRITERIA if kind not in ("gain_ratio", "tan_schlimmer", "nunez")])
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_test_at_the_root_is_better_than_the_one_made(kind: str, nominal: str, seed: int) -> None:
    """Brute force, without missing values: every cut, level and set of levels of every feature."""
    growth = GrowthParams(nominal=nominal, min_leaf=1e-6)
    if not valid(kind, growth):
        return
    task = drawn_task(np.random.default_rng(seed), rows=25, missing=False)
    criterion = make("criterion", kind)
    tree = grow(task, positions(task), criterion, growth)
    best = max((float(criterion.goodness(table[None])[0]) for table in every_table(task, nominal)), default=None)
    if tree.test[0] == LEAF:
        assert best is None or (tree.counts[0] > 0).sum() == 1
    else:
        assert best is not None
        assert tree.goodness[0] == pytest.approx(best, abs=1e-9)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(300))
def test_the_long_form_of_the_same(seed: int) -> None:
    check_a_long_task(seed, 1500)


def every_table(task: Task, nominal: str) -> list[np.ndarray]:
    tables = []
    for index, feature in enumerate(task.features):
        column = task.values[:, index]
        present = np.unique(column)
        if feature.kind != "nominal":
            groups = [[column <= value, column > value] for value in present[:-1]]
        elif nominal == "multiway":
            groups = [[column == value for value in present]] if len(present) > 1 else []
        elif nominal == "equality":
            groups = [[column == value, column != value] for value in present] if len(present) > 1 else []
        else:
            sizes = range(1, len(present))
            sets = [chosen for size in sizes for chosen in combinations(present, size)]
            groups = [[np.isin(column, chosen), ~np.isin(column, chosen)] for chosen in sets]
        tables += [np.array([_weights(task, mask) for mask in group]) for group in groups]
    return tables


def _weights(task: Task, mask: np.ndarray) -> np.ndarray:
    return np.bincount(task.target[mask], task.row_weights[mask], len(task.classes)).astype(float)


class PlainGini(BaseCriterion):
    """What somebody writes in ten lines, without a loop."""

    convex = True  # else all sets of levels are tried, and among equal ones another may win

    def goodness(self, tables: np.ndarray) -> np.ndarray:
        weight = tables.sum(axis=-1)
        total = weight.sum(axis=-1)
        squares = np.divide(np.square(tables).sum(axis=-1), weight, out=np.zeros_like(weight), where=weight > 0)
        return (squares.sum(axis=-1) - np.square(tables.sum(axis=-2)).sum(axis=-1) / total) / total


@pytest.mark.parametrize("missing", MISSING)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_criterion_of_ones_own_grows_the_trees_of_the_built_in(missing: str, seed: int) -> None:
    task = drawn_task(np.random.default_rng(seed))
    for nominal in ("equality", "subset", "multiway"):
        growth = GrowthParams(missing, nominal)
        if valid("gini", growth):
            assert_same(
                grow(task, positions(task), PlainGini(), growth), grow(task, positions(task), make("criterion", "gini"), growth)
            )


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_order_of_rows_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    task = drawn_task(rng)
    growth = GrowthParams(str(rng.choice(MISSING[:4])), str(rng.choice(list(NOMINAL))))
    order = rng.permutation(len(task))
    criterion = make("criterion", "gini")
    assert_same(grow(task, positions(task), criterion, growth), grow(task.take(order), positions(task), criterion, growth))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_weights_are_repeats(seed: int) -> None:
    rng = np.random.default_rng(seed)
    task = drawn_task(rng, weighted=False)
    repeats = rng.integers(0, 4, len(task))
    repeats[0] = 1
    growth = GrowthParams(str(rng.choice(MISSING[:4])), str(rng.choice(list(NOMINAL))), min_leaf=2)
    criterion = make("criterion", str(rng.choice(["entropy", "gini", "chi_square"])))
    weighted = replace(task, weights=repeats.astype(float))
    repeated = np.repeat(positions(task), repeats)
    assert_same(grow(weighted, positions(task), criterion, growth), grow(task, repeated, criterion, growth))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_monotone_transform_parts_the_training_rows_alike(seed: int) -> None:
    rng = np.random.default_rng(seed)
    task = drawn_task(rng)
    growth = GrowthParams(str(rng.choice(MISSING[:4])), "equality")
    numeric = np.array([feature.kind == "numeric" for feature in task.features])
    stretched = task.with_features(task.features, np.where(numeric, np.exp(task.values) - 3, task.values))
    criterion = make("criterion", "entropy")
    one, other = (grow(each, positions(task), criterion, growth) for each in (task, stretched))
    assert (one.feature == other.feature).all()
    assert (one.parent == other.parent).all()
    np.testing.assert_allclose(one.counts, other.counts, atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_columns_in_another_order_find_the_same_goodness_at_the_root(seed: int) -> None:
    """Beneath, ties may be broken another way: the first of equal features is another one."""
    rng = np.random.default_rng(seed)
    task = drawn_task(rng)
    order = rng.permutation(len(task.features))
    other = task.with_features(tuple(task.features[i] for i in order), task.values[:, order])
    growth, criterion = GrowthParams("node_mode", "subset"), make("criterion", "gini")
    one, two = (grow(each, positions(task), criterion, growth) for each in (task, other))
    np.testing.assert_allclose(one.goodness[0], two.goodness[0], atol=1e-12)


def numbers(values: list[float], target: list[int], kind: str = "numeric") -> Task:
    feature = Feature("x", kind, () if kind == "numeric" else tuple("abcdef"))
    return Task(
        name="one", features=(feature,), values=np.array(values, float)[:, None], rows=np.arange(len(values)),
        classes=("No", "Yes"), target=np.array(target, np.int32),
    )  # fmt: skip


def test_mitchells_temperatures_are_cut_at_54_then_85() -> None:
    task = numbers([40, 48, 60, 72, 80, 90], [0, 0, 1, 1, 1, 0])
    tree = grow(task, positions(task), make("criterion", "entropy"), GrowthParams())
    assert tree.threshold[tree.test == THRESHOLD].tolist() == [54.0, 85.0]


def test_a_test_of_no_gain_is_made_where_it_helps_later() -> None:
    """Exclusive or: neither feature tells anything alone."""
    task = replace(
        numbers([0, 0, 1, 1], [0, 1, 1, 0]),
        features=(Feature("a", "numeric"), Feature("b", "numeric")),
        values=np.array([[0, 0, 1, 1], [0, 1, 0, 1]], float).T,
    )
    tree = grow(task, positions(task), make("criterion", "entropy"), GrowthParams())
    assert tree.goodness[0] == pytest.approx(0.0, abs=1e-12)
    assert (tree.counts[tree.test == LEAF].max(axis=1) == 1).all()
    assert (tree.test == LEAF).sum() == 4


def test_empty_branches_are_leaves_and_absent_levels_go_with_the_larger_side() -> None:
    task = numbers([0, 0, 2, 2, 2, 4], [0, 0, 1, 1, 1, 1], "nominal")
    multiway = grow(task, positions(task), make("criterion", "entropy"), GrowthParams(nominal="multiway"))
    assert multiway.test.tolist() == [MULTIWAY] + [LEAF] * 6
    assert multiway.weight[1:].tolist() == [2, 0, 3, 0, 1, 0]
    subset = grow(task, positions(task), make("criterion", "entropy"), GrowthParams(nominal="subset"))
    assert subset.test[0] == SUBSET
    assert subset.subset[0].tolist() == [True, False, False, False, False, False]
    assert grow(task, positions(task), make("criterion", "gini"), GrowthParams(nominal="equality")).test[0] == EQUALITY


@pytest.mark.parametrize("missing", MISSING)
def test_nothing_to_test_gives_one_leaf(missing: str) -> None:
    for values in ([np.nan] * 4, [1.0] * 4):
        task = numbers(values, [0, 1, 0, 1])
        assert len(grow(task, positions(task), make("criterion", "gini"), GrowthParams(missing, "equality"))) == 1


def test_the_divided_example_of_the_c45_book() -> None:
    """Outlook of one row unknown: gain .199, split information 1.809 (Quinlan 1993, section 3.3)."""
    outlook = [0, 0, 1, 2, 2, 2, 1, 0, 0, 2, 0, np.nan, 1, 2]
    play = [0, 0, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0]
    task = replace(numbers(outlook, play, "nominal"), features=(Feature("outlook", "nominal", ("sunny", "overcast", "rain")),))
    tree = grow(task, positions(task), make("criterion", "entropy"), GrowthParams("fractional", "multiway"))
    assert tree.goodness[0] == pytest.approx(0.19904070834647855, abs=1e-12)
    ratio = make("criterion", "gain_ratio", average_gain=False, numeric_penalty=False)
    tree = grow(task, positions(task), ratio, GrowthParams("fractional", "multiway"))
    assert tree.goodness[0] == pytest.approx(0.1100158659900511, abs=1e-12)
    shares = np.array([5, 3, 5]) / 13  # so the unknown row is divided
    np.testing.assert_allclose(tree.counts[1:4].sum(axis=1), [5 + 5 / 13, 3 + 3 / 13, 5 + 5 / 13])
    np.testing.assert_allclose(tree.share[1:4], shares)


def test_a_request_to_stop_is_heard() -> None:
    task = numbers([1, 2, 3, 4], [0, 1, 0, 1])
    stop.request()
    try:
        with pytest.raises(stop.Stopped):
            grow(task, positions(task), make("criterion", "gini"), GrowthParams())
        with pytest.raises(stop.Stopped):
            grow(task, positions(task), PlainGini(), GrowthParams())
    finally:
        stop.clear()


def test_thresholds_between_neighbouring_floats_and_infinities_part_them() -> None:
    low = 1.0
    high = np.nextafter(low, 2.0)
    for values in (
        [low, low, high, high],
        [-np.inf, -np.inf, 3.0, 3.0],
        [3.0, 3.0, np.inf, np.inf],
        [-1e308, -1e308, 1e308, 1.5e308],
    ):
        task = numbers(values, [0, 0, 1, 1])
        tree = grow(task, positions(task), make("criterion", "gini"), GrowthParams())
        assert route(tree, task, positions(task)).leaf.tolist() == [1, 1, 2, 2]


def test_ranks_are_shared_by_tables_of_the_same_values_and_let_go_when_released() -> None:
    task = Task(
        name="t", features=(Feature("x", "numeric"),), values=np.arange(6.0)[:, None], rows=np.arange(6), classes=("a", "b"),
        target=np.array([0, 1, 0, 1, 0, 1], np.int32),
    )  # fmt: skip
    ranked = columns(task)
    assert columns(replace(task, target=1 - task.target)) is ranked
    release(task)
    assert columns(task) is not ranked
