"""Where a surrogate cuts: a row that is known in it alone goes the same way when the tree grows and when it predicts."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn.datasets

from modelsel.config.build import build as built
from modelsel.core.spec import make
from modelsel.core.types import Feature, Task, positions
from modelsel.criterion.base import BaseCriterion
from modelsel.tree.growing.grow import grow
from modelsel.tree.growing.growth import GrowthParams
from modelsel.tree.routing import route, weights_by_node
from tests.tree.test_grow import PlainGini, drawn_task

FIGURES = Path(__file__).parents[1] / "figures" / "rpart_surrogates.json"
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


@BOTH
def test_by_count_gaps_count_against_a_surrogate(criterion: BaseCriterion) -> None:
    """`seldom` sends six of ten rows the same way, `often` nine; half of the rows agree with the larger side already."""
    x = [0.0] * 5 + [1.0] * 5
    often = [0.0] * 4 + [1.0] * 6
    seldom = [0.0] * 3 + [np.nan] * 4 + [1.0] * 3
    never = [0.0] * 2 + [np.nan] * 5 + [1.0] * 3
    level = [0.0] * 4 + [np.nan] * 2 + [1.0] * 4
    names = ("x", "seldom", "often", "never", "level")
    task = Task(
        name="four", values=np.array([x, seldom, often, never, level]).T, rows=np.arange(10), classes=("a", "b"),
        features=tuple(Feature(name, *(("nominal", ("l", "m")) if name == "level" else ("numeric",))) for name in names),
        target=np.array([0] * 5 + [1] * 5, np.int32),
    )  # fmt: skip
    for weights in (np.ones(10), np.full(10, 0.7)):
        weighted = replace(task, weights=weights)
        found = grow(weighted, positions(task), criterion, GrowthParams("surrogate", "subset", by_count=True)).surrogates
        assert found is not None
        assert [names[f] for f in found.feature] == ["often", "level", "seldom"]
        assert found.agreement == pytest.approx([0.9, 0.8, 0.6])


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer"])
@pytest.mark.parametrize(("style", "policy"), [("0", "surrogate_count"), ("1", "surrogate")])
def test_both_styles_are_those_of_rpart_on_tables_with_gaps(name: str, style: str, policy: str) -> None:
    table = getattr(sklearn.datasets, f"load_{name}")()
    values = np.array(table.data, float)[:, :8]
    values[np.random.default_rng(0).random(values.shape) < np.linspace(0, 0.6, values.shape[1])] = np.nan
    task = Task(
        name=name, features=tuple(Feature(f"x{i}", "numeric") for i in range(values.shape[1])), values=values,
        rows=np.arange(len(values)), classes=tuple(map(str, table.target_names)), target=table.target.astype(np.int32),
    )  # fmt: skip
    learner = built("tree", {"criterion": "gini", "splits.nominal": "subset", "missing": policy, "max_depth": 1})[0]
    found = learner.fit(task, positions(task), np.random.default_rng(0)).cut.tree.surrogates
    mine = [] if found is None else list(zip(found.feature.tolist(), found.threshold.tolist(), found.agreement.tolist()))
    theirs = json.loads(FIGURES.read_text())[name][style]
    assert len(mine) == len(theirs)
    assert np.allclose(mine, theirs, rtol=0, atol=1e-5)


@pytest.mark.parametrize("seed", range(60))
def test_rows_that_grew_a_tree_are_counted_where_they_are_predicted(seed: int) -> None:
    rng = np.random.default_rng(seed)
    task: Any = drawn_task(rng)
    for nominal in ("equality", "subset"):
        tree = grow(task, positions(task), make("criterion", "gini"), GrowthParams("surrogate", nominal))
        arrived = weights_by_node(tree, route(tree, task, positions(task)), task.target, task.row_weights)
        np.testing.assert_allclose(arrived, tree.counts, atol=1e-9)
