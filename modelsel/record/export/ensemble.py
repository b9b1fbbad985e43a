"""A tree in the form that tree ensembles of other systems have: two children a node, every test `column <= threshold`."""

from dataclasses import dataclass, field

import numpy as np

from modelsel.core.types import Floats
from modelsel.learner.trees.model import TreeModel
from modelsel.tree.structure.node import EQUALITY, MULTIWAY, SUBSET, THRESHOLD, DecisionTree


@dataclass(frozen=True)
class NodeInput:
    """The input of a test: a number as it is (`child` is None), or the position of the child that takes a level."""

    feature: int
    child: tuple[int, ...] | None = None  # by level
    missing: int = 0
    rest: int = 0  # for levels that training had not declared


@dataclass
class Ensemble:
    """One list entry per node: `column` (-1: a leaf) at most `threshold` -> node `below`, else `above`."""

    columns: dict[NodeInput, int] = field(default_factory=dict)  # to its number
    column: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    below: list[int] = field(default_factory=list)
    above: list[int] = field(default_factory=list)
    missing_below: list[int] = field(default_factory=list)
    leaf: list[int] = field(default_factory=list)
    answer: list[Floats] = field(default_factory=list)  # of each leaf: number of the class, then the scores

    def add(self, column: int, threshold: float = 0.0, missing_below: bool = False) -> int:
        """Add a node and return its index."""
        self.column.append(column)
        self.threshold.append(threshold)
        self.below.append(0)
        self.above.append(0)
        self.missing_below.append(int(missing_below))
        return len(self.column) - 1

    def number(self, column: NodeInput) -> int:
        return self.columns.setdefault(column, len(self.columns))


def ensemble(model: TreeModel) -> Ensemble:
    """Copy the tree; a test with k children becomes k - 1 tests that halve their positions."""
    made, tree = Ensemble(), model.cut.tree
    waiting = [(0, 0, _last(tree, 0), made.below, -1)]  # node, its children from, to; the list and place that point here
    while waiting:
        node, low, high, pointer, place = waiting.pop()
        if model.cut.leaf[node]:
            here = made.add(-1)
            made.leaf.append(here)
            made.answer.append(np.append(float(model.cut.prediction[node]), model.node_scores[node]))
        else:
            middle = (low + high) // 2
            here = made.add(made.number(_column(tree, node)), *_test(tree, node, middle))
            for side, start, end in ((made.above, middle + 1, high), (made.below, low, middle)):
                child = int(tree.children(node)[start])
                waiting.append((child, 0, _last(tree, child), side, here) if start == end else (node, start, end, side, here))
        if place >= 0:
            pointer[place] = here
    if not made.columns:  # a leaf alone still answers as many rows as it is given
        made.number(NodeInput(0, None if tree.features[0].kind == "numeric" else (0,) * len(tree.features[0].levels)))
    return made


def _last(tree: DecisionTree, node: int) -> int:
    return len(tree.children(node)) - 1


def _test(tree: DecisionTree, node: int, middle: int) -> tuple[float, bool]:
    """Threshold, and whether a missing number goes below it."""
    if tree.features[tree.feature[node]].kind != "numeric":
        return middle + 0.5, False
    assert tree.missing_to is not None
    return float(tree.threshold[node]), int(tree.missing_to[node]) == 0


def _column(tree: DecisionTree, node: int) -> NodeInput:
    """Describe which input a node reads, and its branches for missing and other levels."""
    feature = int(tree.feature[node])
    if tree.features[feature].kind == "numeric":
        return NodeInput(feature)
    assert tree.missing_to is not None
    rest = 1 if tree.test[node] == THRESHOLD else int(tree.majority[node])
    return NodeInput(feature, _children(tree, node), int(tree.missing_to[node]), rest)


def _children(tree: DecisionTree, node: int) -> tuple[int, ...]:
    """Position of the child that takes each declared level."""
    levels, test, threshold = np.arange(len(tree.features[tree.feature[node]].levels)), tree.test[node], tree.threshold[node]
    if test == MULTIWAY:
        return tuple(levels.tolist())
    first = tree.subset[node] if test == SUBSET else levels == threshold if test == EQUALITY else levels <= threshold
    return tuple(np.where(first, 0, 1).tolist())
