"""Rows sent down side by side end where the twin, a node at a time, sends them: every kind of test, every missing policy."""

from dataclasses import replace

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.core.types import Feature, Floats, RowTable, Table, Task, positions
from modelsel.estimator import classifier
from modelsel.tree.growing.grow import grow
from modelsel.tree.growing.growth import MISSING, NOMINAL, GrowthParams
from modelsel.tree.node import DecisionTree
from modelsel.tree.routing import RerouteState, route
from tests.tree.in_numpy import route_in_numpy

LEVELS = (3, 7, 1)


def drawn(rng: np.random.Generator, rows: int, holes: float, beyond: int = 0) -> Floats:
    """Three numeric and three nominal columns, the latter with codes up to `beyond` more than are declared."""
    numbers = rng.normal(size=(rows, 3)).round(1)
    levels = [rng.integers(0, many + beyond, rows) for many in LEVELS]
    values = np.column_stack([numbers, *levels]).astype(np.float64)
    values[:, 3:] = np.minimum(values[:, 3:], LEVELS)  # whatever was never declared has one code
    return np.where(rng.random(values.shape) < holes, np.nan, values)


def task_of(values: Floats, rng: np.random.Generator) -> Task:
    features = [Feature(f"n{i}", "numeric") for i in range(3)]
    features += [Feature(f"l{i}", "nominal", tuple("abcdefg"[:many])) for i, many in enumerate(LEVELS)]
    signal = np.nan_to_num(values[:, 0]) + np.nan_to_num(values[:, 4]) / 3 + rng.normal(size=len(values))
    target = np.digitize(signal, [0.5, 1.5]).astype(np.int32)
    return Task(
        name="t", features=tuple(features), values=values, rows=np.arange(len(values)), classes=("x", "y", "z"), target=target
    )


def same(tree: DecisionTree, table: Table, by_row: RowTable, rows: np.ndarray) -> None:
    twin = route_in_numpy(tree, table, rows)
    for sent in (route(tree, table, rows), route(tree, by_row, rows)):
        assert sent.owner.tolist() == twin.owner.tolist()
        assert sent.leaf.tolist() == twin.leaf.tolist()
        assert sent.unseen == twin.unseen
        np.testing.assert_allclose(sent.part, twin.part, rtol=1e-12)


@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("nominal", NOMINAL)
def test_every_row_ends_where_the_twin_sends_it(missing: str, nominal: str) -> None:
    if (missing, nominal) == ("surrogate", "multiway"):
        return
    rng = np.random.default_rng(len(missing) * 100 + len(nominal))
    for holes in (0.0, 0.02, 0.4):
        task = task_of(drawn(rng, 300, holes), rng)
        tree = grow(task, positions(task), make("criterion", "gini"), GrowthParams(missing, nominal))
        for fresh, count in ((0.0, 1), (0.01, 8), (0.3, 777)):
            values = drawn(rng, count, fresh, beyond=2)
            table = Table(name="new", features=task.features, values=np.asfortranarray(values), rows=np.arange(count))
            by_row = RowTable(name="new", features=task.features, values=values, rows=np.arange(count))
            same(tree, table, by_row, positions(table))
            same(tree, table, by_row, rng.integers(0, count, 50))


def test_no_row_and_no_test() -> None:
    rng = np.random.default_rng(0)
    task = task_of(drawn(rng, 40, 0.1), rng)
    stump = grow(task, positions(task), make("criterion", "gini"), GrowthParams(max_depth=0))
    for tree in (stump, grow(task, positions(task), make("criterion", "gini"), GrowthParams())):
        by_row = RowTable(name="new", features=task.features, values=np.ascontiguousarray(task.values), rows=task.rows)
        for rows in (positions(task), positions(task)[:0]):
            same(tree, task, by_row, rows)


def test_rows_that_came_by_row_become_columns_when_asked_for() -> None:
    given = np.arange(6.0).reshape(3, 2)
    table = RowTable(name="new", features=(Feature("a", "numeric"), Feature("b", "numeric")), values=given, rows=np.arange(3))
    assert np.shares_memory(table.by_row, given)
    assert given.flags.writeable  # what somebody gave is still theirs
    assert table.values.flags.f_contiguous
    assert table.column("b").tolist() == [1.0, 3.0, 5.0]
    assert type(replace(table, values=table.values[:, ::-1])).__name__ == "RowTable"


def test_an_array_and_its_columns_are_predicted_alike() -> None:
    rng = np.random.default_rng(5)
    values = drawn(rng, 400, 0.1)[:, :3]
    target = (np.nan_to_num(values[:, 0]) > 0.1).astype(int)
    for learner in ("c45", "cart", "tree", "naive_bayes", "knn"):
        model = classifier(learner).fit(values, target)
        by_row, by_column = (model.predict_proba(order(values)) for order in (np.ascontiguousarray, np.asfortranarray))
        np.testing.assert_array_equal(by_row, by_column)


@pytest.mark.parametrize("depth", [0, 2, None])
def test_infinity_in_any_row_or_column_is_refused_while_rows_go_down(depth: int | None) -> None:
    """Also in a column that no test reads, and in the last row."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 4))
    fitted = classifier("tree", max_depth=depth).fit(X, (X[:, 0] > 0).astype(int))
    assert len(fitted.predict(np.where(rng.random(X.shape) < 0.1, np.nan, X))) == len(X)
    for row, column, value in ((0, 0, np.inf), (599, 3, -np.inf), (300, 2, np.inf)):
        table = X.copy()
        table[row, column] = value
        for call in (fitted.predict, fitted.predict_proba):
            with pytest.raises(ValueError, match="infinity"):
                call(table)


def test_rows_of_which_none_is_known_are_divided_as_those_that_grew_the_tree() -> None:
    rng = np.random.default_rng(0)
    task = task_of(drawn(rng, 60, 0.2), rng)
    tree = grow(task, positions(task), make("criterion", "entropy"), GrowthParams("fractional", "multiway"))
    blank = replace(task, values=np.full_like(task.values, np.nan))
    parts = RerouteState(tree, blank, positions(task)).divide(0, np.arange(3), np.ones(3))
    assert [weights.tolist() for _, weights in parts] == [[share] * 3 for share in tree.share[tree.children(0)]]
