"""Where a surrogate cuts: a row that is known in it alone goes the same way when the tree grows and when it predicts."""

from typing import Any

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.core.types import Feature, Task, positions
from modelsel.criterion.base import BaseCriterion
from modelsel.tree.growing.grow import grow
from modelsel.tree.growing.growth import GrowthParams
from modelsel.tree.routing.route import route, weights_by_node
from tests.tree.test_grow import PlainGini, drawn_task

BOTH = pytest.mark.parametrize("criterion", [make("criterion", "gini"), PlainGini()], ids=["compiled", "numpy"])


@BOTH
def test_the_cut_lies_below_the_next_value_at_the_node_not_the_next_that_both_features_know(criterion: BaseCriterion) -> None:
    """z mimics x by 1 against 3; the last row knows z = 1.8 alone: θ is 1.4, not 2."""
    x = [0.0] * 5 + [1.0] * 5 + [np.nan]
    z = [1.0] * 6 + [3.0] * 4 + [1.8]
    task = Task(
        name="two", features=(Feature("x", "numeric"), Feature("z", "numeric")), values=np.array([x, z]).T, rows=np.arange(11),
        classes=("a", "b"), target=np.array([0] * 5 + [1] * 6, np.int32),
    )  # fmt: skip
    tree = grow(task, positions(task), criterion, GrowthParams("surrogate", "subset"))
    assert tree.surrogates is not None
    assert (tree.feature[0], tree.surrogates.threshold[0], tree.surrogates.agreement[0]) == (0, 1.4, 0.9)
    assert tree.weight.tolist() == [11, 5, 6]
    assert route(tree, task, np.array([10])).leaf.tolist() == [2]


@BOTH
def test_a_surrogate_that_agrees_on_a_larger_share_comes_first_though_fewer_rows_know_it(criterion: BaseCriterion) -> None:
    x = [0.0] * 5 + [1.0] * 5
    often = [0.0] * 4 + [1.0] * 6
    seldom = [0.0] * 3 + [np.nan] * 4 + [1.0] * 3
    names = ("x", "often", "seldom")
    task = Task(
        name="three", features=tuple(Feature(name, "numeric") for name in names), values=np.array([x, often, seldom]).T,
        rows=np.arange(10), classes=("a", "b"), target=np.array([0] * 5 + [1] * 5, np.int32),
    )  # fmt: skip
    found = grow(task, positions(task), criterion, GrowthParams("surrogate", "subset")).surrogates
    assert found is not None
    assert [names[f] for f in found.feature] == ["seldom", "often"]
    assert found.agreement.tolist() == [1.0, 0.9]


@pytest.mark.parametrize("seed", range(60))
def test_rows_that_grew_a_tree_are_counted_where_they_are_predicted(seed: int) -> None:
    rng = np.random.default_rng(seed)
    task: Any = drawn_task(rng)
    for nominal in ("equality", "subset"):
        tree = grow(task, positions(task), make("criterion", "gini"), GrowthParams("surrogate", nominal))
        arrived = weights_by_node(tree, route(tree, task, positions(task)), task.target, task.row_weights)
        np.testing.assert_allclose(arrived, tree.counts, atol=1e-9)
