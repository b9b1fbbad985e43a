"""The path of a row says what is so of the row, and the leaf that it names holds the training rows of which the same is so."""

import operator
import re

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.core.types import Feature, Task, positions

TOLD = re.compile(r"(?P<asked>.+): (?P<said>\S+) \((?P<weight>[\d.]+)(?:/(?P<wrong>[\d.]+))?\)")
SIGNS = {"<=": operator.le, ">": operator.gt}


def holds(words, table):
    """Which rows of a task satisfy `low < name <= high`, `name <= x` or `name > x`, joined by `and`."""
    found = np.ones(len(table), bool)
    for one in words.split(" and "):
        between = re.fullmatch(r"(\S+) < (\w+) <= (\S+)", one)
        if between:
            low, name, high = between.groups()
            found &= (table.column(name) > float(low)) & (table.column(name) <= float(high))
        elif one != "any row":
            name, sign, value = one.split(" ")
            found &= SIGNS[sign](table.column(name), float(value))
    return found


@pytest.mark.parametrize("depth", [0, 1, 4, None])
def test_what_is_told_is_true_of_the_row_and_of_the_leafs_training_rows(depth):
    rng = np.random.default_rng(depth or 9)
    values = rng.normal(size=(150, 3)).round(2)
    target = ((values[:, 0] > 0.2) ^ (values[:, 1] > 0)) + (rng.random(150) < 0.1)
    task = Task(name="t", features=tuple(Feature(f"x{i}", "numeric") for i in range(3)), values=np.asfortranarray(values),
                rows=np.arange(150), classes=("a", "b", "c"), target=np.minimum(target, 2).astype(np.int32))  # fmt: skip
    model = make("learner", "tree", max_depth=depth, min_leaf=2).fit(task, positions(task), rng)
    new = task.take(rng.permutation(150)[:60])
    for at, (words, said) in enumerate(zip(model.paths(new), model.predict(new), strict=True)):
        told = TOLD.fullmatch(words)
        assert told["said"] == task.classes[said]
        assert holds(told["asked"], new)[at]
        inside = holds(told["asked"], task)
        assert inside.sum() == float(told["weight"])
        assert (task.target[inside] != said).sum() == float(told["wrong"] or 0)


def test_a_divided_row_names_every_leaf_with_its_share():
    values = np.column_stack([np.tile([0.0, 1, 2, 3], 10)])
    task = Task(name="t", features=(Feature("x", "numeric"),), values=np.asfortranarray(values), rows=np.arange(40),
                classes=("a", "b"), target=(values[:, 0] > 2).astype(np.int32))  # fmt: skip
    model = make("learner", "tree", missing="fractional").fit(task, positions(task), np.random.default_rng(0))
    hole = task.take(np.array([0, 1]))
    hole = hole.with_features(hole.features, np.array([[np.nan], [3.0]]))
    assert model.paths(hole) == ["0.75 of it: x <= 2.5: a (30); 0.25 of it: x > 2.5: b (10)", "x > 2.5: b (10)"]
