"""A fitted tree, and how it is written down and read back without trust: every index is checked before it is used."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Codes, Description, Floats, Table, positions
from modelsel.learner.base import FittedModel
from modelsel.learner.trees.leaf import frequencies
from modelsel.learner.trees.restoring import demand, restored_tree, structure, whole
from modelsel.tree.node import LEAF, PrunedView
from modelsel.tree.pruning import best_class
from modelsel.tree.routing import Routed, route
from modelsel.tree.rules import row_paths
from modelsel.tree.softening import Widths, soft_route

CLASSES = ("prediction", "counts", "scores")


@dataclass(frozen=True, eq=False)
class TreeModel(FittedModel):
    """`cut.tree` holds only nodes that stand; `node_scores` are class scores per node, `costs` true × predicted class."""

    cut: PrunedView
    node_scores: Floats
    costs: Floats | None = None
    widths: Widths | None = None  # of softened thresholds

    def predict(self, table: Table) -> Codes:
        return predict_classes(self.cut, self._route(table), self.costs)

    def scores(self, table: Table) -> Floats:
        return self._route(table).per_row(self.node_scores)

    def paths(self, table: Table) -> list[str]:
        """Describe the tests on each row's way in words, and the leaf that answers."""
        return row_paths(self.cut, self._route(table))

    def unseen(self, table: Table) -> int:
        """Count the rows that met a level that training had not declared; they went with the majority."""
        return self._route(table).unseen

    @property
    def looks_for_infinity(self) -> bool:
        """Rows that go down look at all their values on the way, so that a table need not be read twice."""
        return self.widths is None

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
        if self.widths is not None:
            return soft_route(self.cut.tree, self.widths, table, positions(table))
        return route(self.cut.tree, table, positions(table))

    def describe(self) -> Description:
        """Describe the model: features and classes as facts, nodes as arrays."""
        tree = self.cut.tree
        facts: dict[str, object] = {
            "classes": list(tree.classes),
            "features": [dict(vars(feature)) for feature in tree.features],
            "costs": None if self.costs is None else self.costs.tolist(),
        }
        arrays: dict[str, NDArray[np.generic]] = {
            **structure(tree), "prediction": self.cut.prediction, "counts": self.cut.counts, "scores": self.node_scores,
        }  # fmt: skip
        if self.widths is not None:
            arrays.update(below=self.widths.below, above=self.widths.above)
        return Description("tree", facts, arrays)


def predict_classes(cut: PrunedView, routed: Routed, costs: Floats | None, end: Codes | None = None) -> Codes:
    """Class per row: its leaf's, or for a divided row the best of the mean of its leaves. `end` maps nodes to leaves."""
    if routed.whole:
        return cut.prediction.take(routed.leaf if end is None else end.take(routed.leaf))
    of_node = cut.prediction if end is None else cut.prediction[end]
    shares = frequencies(cut.counts)
    classes = best_class(routed.per_row(shares if end is None else shares[end]), costs)
    fragments = np.bincount(routed.owner, minlength=routed.rows)
    alone = fragments[routed.owner] == 1
    classes[routed.owner[alone]] = of_node[routed.leaf[alone]]
    return classes


def restore(description: Description) -> TreeModel:
    """Read a model back; ValueError names the first thing that is not whole."""
    tree, arrays = restored_tree(description, CLASSES)
    _check_classes(arrays, len(tree), len(tree.classes))
    leaf = tree.test == LEAF
    cut = PrunedView(tree, leaf, arrays["prediction"].astype(np.int32), np.ascontiguousarray(arrays["counts"], np.float64))
    costs = description.facts["costs"]
    model_costs = None if costs is None else np.array(costs, np.float64)
    demand(model_costs is None or model_costs.shape == (len(tree.classes),) * 2, "the cost matrix has not a row per class")
    return TreeModel(cut, np.ascontiguousarray(arrays["scores"], np.float64), model_costs, _widths(arrays, len(tree)))


def _check_classes(arrays: dict[str, NDArray[Any]], nodes: int, classes: int) -> None:
    """Check what nodes say about classes."""
    for name in CLASSES:
        shape = (nodes,) if name == "prediction" else (nodes, classes)
        demand(arrays[name].shape == shape, f"{name} has shape {arrays[name].shape}, not {shape}")
    for name in ("counts", "scores"):
        demand(np.isfinite(arrays[name]) & (arrays[name] >= 0), f"{name} are finite and at least 0")
    prediction = whole(arrays["prediction"])
    demand((prediction >= 0) & (prediction < classes), "a predicted class is not in the list")


def _widths(arrays: dict[str, NDArray[np.generic]], nodes: int) -> Widths | None:
    """Check and read the widths of soft thresholds; None where there are none."""
    if "below" not in arrays:
        return None
    below, above = (np.ascontiguousarray(arrays[name], np.float64) for name in ("below", "above"))
    demand(below.shape == above.shape == (nodes,), "widths do not fit the nodes")
    demand(np.isfinite(below) & np.isfinite(above) & (below >= 0) & (above >= 0), "widths are finite and at least 0")
    return Widths(below, above)
