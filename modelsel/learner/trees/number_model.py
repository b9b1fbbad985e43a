"""A fitted tree of numbers: each leaf answers the mean of its rows."""

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Description, Floats, Table, positions
from modelsel.learner.base import FittedModel
from modelsel.learner.trees.restoring import demand, restored_tree, structure
from modelsel.tree.export.rules import row_paths
from modelsel.tree.routing import Routed, route
from modelsel.tree.structure.node import LEAF, NodeNumbers, PrunedView

READS_CLASSES = "reads classes, and this target is a number"
SQUARED = ("variance", "gini")  # the Gini index of numbers is their variance
NUMBERS = ("prediction", "counts", "mean", "squares")


@dataclass(frozen=True, eq=False)
class NumberTreeModel(FittedModel):
    """`cut.tree` holds only nodes that stand; `cut.prediction` is what each of them answers."""

    cut: PrunedView

    def predict(self, table: Table) -> Floats:
        return answers(self.cut, self._route(table))

    def paths(self, table: Table) -> list[str]:
        """Describe the tests on each row's way in words, and the leaf that answers."""
        return row_paths(self.cut, self._route(table))

    def unseen(self, table: Table) -> int:
        """Count the rows that met a level that training had not declared; they went with the majority."""
        return self._route(table).unseen

    @property
    def looks_for_infinity(self) -> bool:
        """Rows that go down look at all their values on the way, so that a table need not be read twice."""
        return True

    @property
    def n_leaves(self) -> int:
        return int(np.count_nonzero(self.cut.leaf))

    @property
    def n_nodes(self) -> int:
        return len(self.cut.tree)

    @cached_property
    def depth(self) -> int:
        return int(self.cut.tree.depth.max())

    def _route(self, table: Table) -> Routed:
        return route(self.cut.tree, table, positions(table))

    def describe(self) -> Description:
        """Describe the model: features as facts, nodes as arrays; there are no classes."""
        tree = self.cut.tree
        assert tree.numbers is not None
        facts: dict[str, Any] = {"classes": [], "features": [asdict(feature) for feature in tree.features]}
        arrays: dict[str, NDArray[Any]] = {
            **structure(tree), "prediction": self.cut.prediction, "counts": self.cut.counts,
            "mean": tree.numbers.mean, "squares": tree.numbers.squares,
        }  # fmt: skip
        return Description("tree", facts, arrays)


def answers(cut: PrunedView, routed: Routed) -> Floats:
    """Number per row: its leaf's, or for a divided row the mean of its leaves'."""
    return routed.per_row(cut.prediction)


def restore_numbers(description: Description) -> NumberTreeModel:
    """Read a model back; ValueError names the first thing that is not whole."""
    tree, arrays = restored_tree(description, NUMBERS)
    nodes = len(tree)
    for name in NUMBERS:
        shape = (nodes, 1) if name == "counts" else (nodes,)
        demand(arrays[name].shape == shape, f"{name} has shape {arrays[name].shape}, not {shape}")
        demand(np.isfinite(arrays[name]), f"{name} are finite")
    demand(arrays["squares"] >= 0, "squares are at least 0")
    mean, squares, prediction, counts = (
        np.ascontiguousarray(arrays[name], np.float64) for name in ("mean", "squares", "prediction", "counts")
    )
    tree = replace(tree, numbers=NodeNumbers(mean, squares))
    return NumberTreeModel(PrunedView(tree, tree.test == LEAF, prediction, counts))
