"""A fitted tree of numbers: each leaf answers the mean of its rows, or of a model tree what its linear model says."""

from dataclasses import asdict, dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Description, Floats, Table, positions
from modelsel.learner.base import FittedModel
from modelsel.learner.trees.restoring import demand, restored_tree, structure
from modelsel.tree.node import LEAF, NodeModels, NodeNumbers, PrunedView, Term
from modelsel.tree.routing import Routed, route
from modelsel.tree.rules import row_paths

READS_CLASSES = "reads classes, and this target is a number"
SQUARED = ("variance", "gini")  # the Gini index of numbers is their variance
NUMBERS = ("prediction", "counts", "mean", "squares")
MODELS = ("intercept", "coefficients", "model_squares", "term_feature", "term_fill", "term_levels")


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
        facts: dict[str, object] = {"classes": [], "features": [asdict(feature) for feature in tree.features]}
        arrays: dict[str, NDArray[np.generic]] = {
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


@dataclass(frozen=True, eq=False)
class ModelTree(NumberTreeModel):
    """`cut.models` say what each leaf answers."""

    def predict(self, table: Table) -> Floats:
        assert self.cut.models is not None
        return self.cut.models.answers(self._route(table).leaf, self.cut.models.values(np.asarray(table.values)))

    def describe(self) -> Description:
        """Describe the model: the tree, then its models; the marks of indicators one after the other."""
        own, models = super().describe(), self.cut.models
        assert models is not None
        marks = [term.levels for term in models.terms if term.levels is not None]
        arrays: dict[str, NDArray[np.generic]] = {
            "intercept": models.intercept, "coefficients": models.coefficients, "model_squares": models.squares,
            "term_feature": np.array([term.feature for term in models.terms], np.int64),
            "term_fill": np.array([term.fill for term in models.terms], np.float64),
            "term_levels": np.concatenate([np.zeros(0, bool), *marks]),
        }  # fmt: skip
        return Description("m5p", own.facts, {**own.arrays, **arrays})


def restore_models(description: Description) -> ModelTree:
    """Read a model tree back; ValueError names the first thing that is not whole."""
    cut, arrays = restore_numbers(description).cut, description.arrays
    demand(set(MODELS) <= set(arrays), "arrays of models are missing")
    terms = _terms(description, cut)
    shapes = {"intercept": (len(cut.tree),), "model_squares": (len(cut.tree),), "coefficients": (len(cut.tree), len(terms))}
    for name, shape in shapes.items():
        demand(arrays[name].shape == shape, f"{name} has shape {arrays[name].shape}, not {shape}")
        demand(np.isfinite(arrays[name]), f"{name} are finite")
    intercept, coefficients, squares = (
        np.ascontiguousarray(arrays[name], np.float64) for name in ("intercept", "coefficients", "model_squares")
    )
    demand(squares >= 0, "squares of models are at least 0")
    return ModelTree(replace(cut, models=NodeModels(terms, intercept, coefficients, squares)))


def _terms(description: Description, cut: PrunedView) -> tuple[Term, ...]:
    """The terms of the models: of a nominal feature marks of its levels, else its number."""
    features, arrays = cut.tree.features, description.arrays
    of, fill, marks = arrays["term_feature"], arrays["term_fill"], arrays["term_levels"].astype(bool)
    demand(np.issubdtype(of.dtype, np.integer) and of.shape == fill.shape, "terms name features, and have what fills gaps")
    demand((of >= 0) & (of < len(features)) & np.isfinite(fill), "a term reads a feature that is not there")
    ends = np.cumsum([0, *(len(features[each].levels) * (features[each].kind == "nominal") for each in of.tolist())])
    demand(len(marks) == ends[-1], "marks of terms do not fit their features")
    own = [
        marks[low:high] if features[each].kind == "nominal" else None for each, low, high in zip(of.tolist(), ends, ends[1:])
    ]
    ranks = [len(features[each].levels) if features[each].kind == "ordered" else 0 for each in of.tolist()]
    return tuple(Term(*each) for each in zip(of.tolist(), fill.tolist(), own, ranks, strict=True))
