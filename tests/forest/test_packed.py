"""Packed nodes say what the nodes they were made from say, and forests that do not fit are polled node by node."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modelsel.core.types import Feature, Task, positions
from modelsel.forest.votes import cuts_of, number_cuts, number_trees
from modelsel.kernels.compiler import load
from modelsel.kernels.forests.forest_layout import RIGHT, TEST
from modelsel.kernels.layout import LEAF
from modelsel.learner.forest import Forest
from modelsel.learner.forests.model import ForestModel, PackedForest


def numbers(rng: np.random.Generator) -> Task:
    rows, features = int(rng.integers(4, 120)), int(rng.integers(1, 6))
    scale = rng.choice([1e-310, 1.0, 1e300], features)
    values = np.where(
        rng.random((rows, features)) < 0.5, rng.integers(0, 4, (rows, features)), rng.normal(size=(rows, features))
    )
    values = np.where(rng.random((rows, features)) < rng.choice([0.0, 0.15]), np.nan, values * scale)
    classes = int(rng.integers(2, 5))
    return Task(
        name="numbers", features=tuple(Feature(f"f{i}", "numeric", ()) for i in range(features)), values=values,
        rows=np.arange(rows), classes=tuple("ABCDE"[:classes]), target=rng.integers(0, classes, rows).astype(np.int32),
    )  # fmt: skip


def strange(task: Task, rng: np.random.Generator) -> Task:
    """Other rows: thresholds themselves, infinite and missing values among them."""
    values = task.values[rng.integers(0, len(task), 50)].copy()
    values[rng.random(values.shape) < 0.1] = np.inf
    values[rng.random(values.shape) < 0.1] = -np.inf
    if rng.random() < 0.5:
        values[rng.random(values.shape) < 0.2] = np.nan
    return replace(task, values=values, rows=np.arange(50), target=np.zeros(50, np.int32))


def by_nodes(model: ForestModel, task: Task) -> np.ndarray:
    """Votes by the nodes themselves."""
    votes = np.zeros((len(task), model.classes), np.int64)
    model.poll_nodes(task, positions(task), votes)
    return votes


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_packed_nodes_vote_as_the_nodes_do(seed: int) -> None:
    rng = np.random.default_rng(seed)
    task = numbers(rng)
    model = Forest(trees=5, min_split=float(rng.choice([2, 6]))).fit(task, positions(task), rng)
    assert model.packable
    for table in (task, strange(task, rng)):
        votes = by_nodes(model, table)
        np.testing.assert_array_equal(model.scores(table), votes / votes.sum(axis=1, keepdims=True))
        np.testing.assert_array_equal(model.predict(table), votes.argmax(axis=1))


def test_a_packed_node_has_its_second_branch_as_far_behind_it_as_in_its_tree() -> None:
    rng = np.random.default_rng(1)
    task = numbers(rng)
    model = Forest(trees=3).fit(task, positions(task), rng)
    for first, end in zip(model.trees[:-1], model.trees[1:], strict=True):
        nodes, words = model.nodes[first:end], PackedForest.of(load("forest_predict"), model).plain[first:end]
        steps = [int(word) % 2**24 for word in words]
        assert steps == [node[RIGHT] - place if node[TEST] != LEAF else 0 for place, node in enumerate(nodes.tolist())]
        assert max(steps) > 1


@pytest.mark.parametrize("cuts", ["best", "random"])
def test_thresholds_are_numbered_by_codes_as_by_their_values(cuts: str) -> None:
    """Columns of many values and of two, so that a code has one threshold or many, alike or all different."""
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=90), rng.integers(0, 2, 90), rng.integers(0, 9, 90), np.zeros(90)])
    task = Task(
        name="t", features=tuple(Feature(f"f{i}", "numeric", ()) for i in range(4)), values=X, rows=np.arange(90),
        classes=("no", "yes"), target=rng.integers(0, 2, 90).astype(np.int32),
    )  # fmt: skip
    trees = Forest(trees=9, cuts=cuts).fit_path(task, positions(task), rng).trees(9)
    nodes, thresholds = np.vstack([tree.nodes for tree in trees]), np.concatenate([tree.thresholds for tree in trees])
    found, own = number_trees(nodes, thresholds, 4)
    by_value = cuts_of(nodes, thresholds, 4)
    assert len(own[0]) > len(own[2]) > 1
    assert not len(own[3])
    for one, other in zip(own, by_value, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(found, number_cuts(nodes, thresholds, by_value))


def test_a_threshold_itself_goes_first() -> None:
    rng = np.random.default_rng(1)
    task = numbers(rng)
    model = Forest(trees=3, features="all").fit(task, positions(task), rng)
    cuts = np.concatenate(model.cuts)
    table = replace(task, values=np.tile(cuts[:, None], (1, len(task.features))), rows=np.arange(len(cuts)),
                    target=np.zeros(len(cuts), np.int32))  # fmt: skip
    votes = by_nodes(model, table)
    np.testing.assert_array_equal(model.scores(table), votes / votes.sum(axis=1, keepdims=True))


def test_levels_are_polled_node_by_node() -> None:
    rng = np.random.default_rng(2)
    values = np.column_stack([rng.integers(0, 3, 40), rng.normal(size=40)])
    features = Feature("level", "nominal", tuple("abc")), Feature("number", "numeric", ())
    target = (values[:, 0] == 1).astype(np.int32)
    task = Task(name="levels", features=features, values=values, rows=np.arange(40), classes=("A", "B"), target=target)
    model = Forest(trees=5, features="all").fit(task, positions(task), rng)
    assert not model.packable
    np.testing.assert_array_equal(model.predict(task), target)
