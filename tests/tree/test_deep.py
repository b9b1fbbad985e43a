"""A tree as deep as it has rows: nothing that grows, prunes, routes or writes it calls itself per level."""

import sys

import numpy as np
import pytest

from modelsel.config.schema import kinds
from modelsel.core.spec import make
from modelsel.core.types import Feature, Task, positions
from modelsel.criterion.base import BaseCriterion, decrease, shares
from modelsel.learner.tree import Tree
from modelsel.tree.draw import to_html
from modelsel.tree.nested import from_dict, to_dict, to_dot
from modelsel.tree.rules import to_rules, to_text

ROWS = 1500


class PlainGini(BaseCriterion):
    """Grown in NumPy."""

    def goodness(self, tables: np.ndarray) -> np.ndarray:
        return decrease(lambda weights: 1 - np.square(shares(weights)).sum(axis=-1), tables)


@pytest.fixture(scope="module")
def task() -> Task:
    """Classes in turns: every test cuts off one row."""
    return Task(
        name="turns", features=(Feature("x", "numeric"),), values=np.arange(float(ROWS))[:, None], rows=np.arange(ROWS),
        classes=("a", "b", "c"), target=(np.arange(ROWS) % 3).astype(np.int32),
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("criterion", [make("criterion", "gini"), PlainGini()], ids=["compiled", "numpy"])
def test_it_grows_and_is_written_in_every_form(task: Task, criterion: BaseCriterion) -> None:
    model = Tree(criterion=criterion).fit(task, positions(task), np.random.default_rng(0))
    assert model.depth > ROWS * 0.9 > sys.getrecursionlimit()
    assert (model.predict(task) == task.target).all()
    rules = to_rules(model.cut)
    assert len(rules) == to_text(model.cut).count(": ") == to_dot(model.cut).count("style=bold") == model.n_leaves == ROWS
    assert to_text(from_dict(to_dict(model.cut))) == to_text(model.cut)
    assert "The top of the tree: 1500 leaves in all" in to_html(model.cut)
    assert (Tree.restore(model.describe()).predict(task) == task.target).all()


@pytest.mark.parametrize("kind", kinds("pruner"))
def test_it_is_pruned(task: Task, kind: str) -> None:
    learner = Tree(pruner=make("pruner", kind))
    path = learner.fit_path(task, positions(task), np.random.default_rng(0))
    predicted = path.outputs([learner], task, positions(task), scores=False).predicted
    model = path.model(learner)
    assert (predicted[0] == model.predict(task)).all()
    assert path.complexity([learner])[0] == model.n_leaves
    assert model.n_leaves == ROWS or kind != "unpruned"
