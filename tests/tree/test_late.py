"""Surrogates found after the tree has grown are those found while it grows, and nobody looks for them before they are read."""

import pickle

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.core.types import Feature, Task, positions
from modelsel.learner.tree import Tree as TreeLearner
from modelsel.tree.growing.assemble import assemble, surrogates_of
from modelsel.tree.growing.columns import WeightedRows, columns
from modelsel.tree.growing.grow import grow
from modelsel.tree.growing.growth import GrowthParams
from modelsel.tree.growing.late_surrogates import LateTree
from modelsel.tree.growing.numpy_grower import grow as by_numpy
from modelsel.tree.routing import route
from tests.tree.in_numpy import surrogates_in_numpy
from tests.tree.test_grow import assert_same

GROWTH = GrowthParams("surrogate", "subset", min_leaf=2)


def complete(seed: int, rows: int = 200, features: int = 5, classes: int = 3) -> Task:
    """Columns that say much the same, with ties, and no hole."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=rows)
    values = np.round(hidden[:, None] + rng.normal(size=(rows, features)) * rng.uniform(0.1, 2, features), seed % 3)
    target = np.digitize(hidden + 0.3 * rng.normal(size=rows), np.linspace(-1, 1, classes - 1)).astype(np.int32)
    return Task(
        name="t", features=tuple(Feature(f"f{i}", "numeric") for i in range(features)), values=values, rows=np.arange(rows),
        classes=tuple("abcdef"[:classes]), target=target,
    )  # fmt: skip


def with_holes(task: Task, share: float = 0.3) -> Task:
    values = np.where(np.random.default_rng(1).random(task.values.shape) < share, np.nan, task.values)
    return task.with_features(task.features, values)


def whole(task: Task, rows: np.ndarray) -> object:
    """The tree of the NumPy grower, which finds surrogates on its way."""
    chosen, ranked = WeightedRows.of(task, rows), columns(task)
    return assemble(by_numpy(chosen, ranked, make("criterion", "gini"), GROWTH), task, ranked, None)


@pytest.mark.parametrize("seed", range(6))
def test_they_are_those_found_on_the_way(seed: int) -> None:
    task = complete(seed, rows=80 + 60 * seed, classes=2 + seed % 3)
    rows = np.flatnonzero(np.random.default_rng(seed).random(len(task)) < 0.8)
    late, plain = grow(task, rows, make("criterion", "gini"), GROWTH), whole(task, rows)
    assert_same(late, plain)
    assert isinstance(late, LateTree)
    records, agreement = surrogates_in_numpy(late.finder, late)
    ranked = late.finder.columns
    twin = surrogates_of(records, agreement, np.zeros(0, np.int64), np.arange(len(late)), ranked)
    np.testing.assert_array_equal(late.surrogates.threshold, twin.threshold)
    np.testing.assert_array_equal(late.surrogates.feature, twin.feature)
    np.testing.assert_allclose(late.surrogates.agreement, twin.agreement, rtol=1e-12)
    holes = with_holes(task)
    assert (route(grow(task, rows, make("criterion", "gini"), GROWTH), holes, positions(holes)).leaf
            == route(plain, holes, positions(holes)).leaf).all()  # fmt: skip


def test_nobody_looks_for_them_where_nothing_is_missing() -> None:
    task = complete(0)
    path = TreeLearner(criterion=make("criterion", "gini"), missing="surrogate").fit_path(
        task, positions(task), np.random.default_rng(0)
    )
    model = path.model(TreeLearner(criterion=make("criterion", "gini"), missing="surrogate", max_depth=3))
    path.outputs([TreeLearner(missing="surrogate")], task, positions(task), scores=True)
    model.predict(task)
    assert path.tree.waiting
    assert model.cut.tree.waiting
    model.predict(with_holes(task))
    assert not model.cut.tree.waiting
    assert path.tree.waiting  # what is left found its own
    own, of = model.cut.tree.surrogates, path.tree.surrogates
    assert own.agreement[: own.first[1]].tolist() == of.agreement[: of.first[1]].tolist()


def test_what_is_sent_elsewhere_carries_them_and_no_data() -> None:
    task = complete(3)
    tree = grow(task, positions(task), make("criterion", "gini"), GROWTH)
    sent = pickle.loads(pickle.dumps(tree))
    assert not hasattr(sent, "finder")
    assert_same(sent, whole(task, positions(task)))
