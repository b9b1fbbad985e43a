"""A fitted tree, of classes or numbers, written down and read back without trust: every index is checked before it is used."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Codes, Description, Feature, Floats, Integers, Table, positions
from modelsel.learner.base import FittedModel
from modelsel.learner.trees.leaf import frequencies
from modelsel.tree.node import (
    BY_SURROGATES,
    EQUALITY,
    LEAF,
    MULTIWAY,
    SUBSET,
    THRESHOLD,
    DecisionTree,
    NodeModels,
    NodeNumbers,
    PrunedView,
    Surrogates,
    Term,
)
from modelsel.tree.pruning import best_class
from modelsel.tree.routing import Routed, route
from modelsel.tree.rules import TreeRule as TreeRule
from modelsel.tree.rules import row_paths, to_rules
from modelsel.tree.softening import Widths, soft_route

# The arrays of any tree, and a tree from arrays.


STRUCTURE = ("parent", "test", "feature", "threshold", "weights", "goodness", "missing_to")
NOMINAL_ONLY = (EQUALITY, MULTIWAY, SUBSET)


def structure(tree: DecisionTree) -> dict[str, NDArray[np.generic]]:
    """The nodes of a tree as arrays."""
    arrays: dict[str, NDArray[np.generic]] = {
        "parent": tree.parent, "test": tree.test, "feature": tree.feature, "threshold": tree.threshold,
        "weights": tree.counts, "goodness": tree.goodness, "missing_to": np.asarray(tree.missing_to),
        "subsets": np.concatenate([np.zeros(0, bool), *(tree.subset[node] for node in sorted(tree.subset))]),
    }  # fmt: skip
    return arrays if tree.surrogates is None else {**arrays, **_surrogate_arrays(tree.surrogates)}


def restored_tree(description: Description, more: Sequence[str]) -> tuple[DecisionTree, dict[str, NDArray[Any]]]:
    """Read a tree back that also has `more` arrays; ValueError names the first thing that is not whole."""
    features = tuple(Feature(**{**one, "levels": tuple(one["levels"])}) for one in description.facts["features"])
    classes = tuple(description.facts["classes"])
    demand({*STRUCTURE, *more} <= set(description.arrays), "arrays are missing")
    arrays = dict(description.arrays)
    parent, test = whole(arrays["parent"]), whole(arrays["test"])
    nodes = len(parent)
    for name in STRUCTURE:
        shape = (nodes, max(len(classes), 1)) if name == "weights" else (nodes,)
        demand(arrays[name].shape == shape, f"{name} has shape {arrays[name].shape}, not {shape}")
    demand(np.isfinite(arrays["weights"]) & (arrays["weights"] >= 0), "weights are finite and at least 0")
    _check_preorder(parent)
    branches = np.bincount(parent[1:], minlength=nodes)
    _check_tests(arrays, features, branches)
    tree = DecisionTree(
        features=features,
        classes=classes,
        parent=parent.astype(np.int32),
        test=test.astype(np.int8),
        feature=arrays["feature"].astype(np.int32),
        threshold=np.ascontiguousarray(arrays["threshold"], np.float64),
        first=np.append(0, np.cumsum(branches)).astype(np.int32),
        child=(1 + np.argsort(parent[1:], kind="stable")).astype(np.int32),
        counts=np.ascontiguousarray(arrays["weights"], np.float64),
        goodness=np.ascontiguousarray(arrays["goodness"], np.float64),
        subset=_subsets(arrays, features),
        missing_to=arrays["missing_to"].astype(np.int32),
        surrogates=_surrogates(arrays, features, nodes),
    )
    return tree, arrays


def demand(holds: Any, what: str) -> None:
    """ValueError with these words where something does not hold throughout."""
    if not bool(np.all(holds)):
        raise ValueError(f"not a whole tree: {what}")


def whole(array: NDArray[np.generic]) -> NDArray[np.int64]:
    """An array of indices, checked to be whole numbers."""
    demand(array.ndim == 1 and len(array) and np.issubdtype(array.dtype, np.integer), "indices are whole numbers")
    return array.astype(np.int64)


def _check_preorder(parent: NDArray[np.int64]) -> None:
    """Check that nodes stand in preorder: each within its parent's subtree."""
    demand(parent[0] == -1, "node 0 is not the root")
    open_: list[int] = []
    for node, above in enumerate(parent.tolist()):
        while open_ and open_[-1] != above:
            open_.pop()
        if node and not open_:
            demand(False, f"node {node} stands outside its parent's subtree")
        open_.append(node)


def _check_tests(arrays: dict[str, NDArray[Any]], features: tuple[Feature, ...], branches: NDArray[np.int64]) -> None:
    """Check that each test fits its feature, its branches and its direction for missing values."""
    test, feature, missing_to = whole(arrays["test"]), whole(arrays["feature"]), whole(arrays["missing_to"])
    demand((test >= LEAF) & (test <= SUBSET) & ((test != LEAF) == (branches > 0)), "a leaf has children, or a test none")
    demand(feature[test == LEAF] == -1, "a leaf tests a feature")
    inner = np.flatnonzero(test != LEAF)
    test, feature, missing_to, threshold = test[inner], feature[inner], missing_to[inner], arrays["threshold"][inner]
    branches = branches[inner]
    _demand_each((feature >= 0) & (feature < len(features)), inner, "tests a feature that is not there")
    many = np.array([len(one.levels) for one in features], np.int64)[feature]
    nominal = np.array([not one.has_order for one in features], np.bool_)[feature]
    multiway = test == MULTIWAY
    _demand_each(np.isin(test, NOMINAL_ONLY) == nominal, inner, "tests its feature the wrong way")
    fits = np.where(multiway, (branches == many) | (branches == many + 1), branches == 2)
    _demand_each(fits, inner, "has another number of branches than its test")
    _demand_each((test != THRESHOLD) | ~np.isnan(threshold), inner, "has no threshold")
    declared = (threshold >= 0) & (threshold < many) & (threshold == np.round(threshold))
    _demand_each((test != EQUALITY) | declared, inner, "tests a level that is not declared")
    _demand_each((missing_to >= BY_SURROGATES - 1) & (missing_to < branches), inner, "sends missing values nowhere")


def _demand_each(holds: NDArray[np.bool_], nodes: NDArray[np.int64], what: str) -> None:
    """Raise where a condition fails at one of some nodes; the first such node is named."""
    if not holds.all():
        demand(False, f"node {nodes[np.argmin(holds)]} {what}")


def _subsets(arrays: dict[str, NDArray[np.generic]], features: tuple[Feature, ...]) -> dict[int, NDArray[np.bool_]]:
    """Divide the marks of subset tests among their nodes."""
    nodes = np.flatnonzero(arrays["test"] == SUBSET)
    ends = np.cumsum([0] + [len(features[arrays["feature"][node]].levels) for node in nodes])
    marks = arrays.get("subsets", np.zeros(0, bool)).astype(bool)
    demand(len(marks) == ends[-1], "subsets do not fit their features")
    return {int(node): marks[ends[i] : ends[i + 1]] for i, node in enumerate(nodes)}


def _surrogate_arrays(found: Surrogates) -> dict[str, NDArray[np.generic]]:
    """Write surrogate tests as arrays."""
    sides = [found.sides[each] for each in sorted(found.sides)]
    return {
        "surrogate_first": found.first, "surrogate_feature": found.feature, "surrogate_threshold": found.threshold,
        "surrogate_flipped": found.flipped, "surrogate_agreement": found.agreement,
        "surrogate_sides": np.concatenate([np.zeros(0, np.int8), *sides]),
    }  # fmt: skip


def _surrogates(arrays: dict[str, NDArray[np.generic]], features: tuple[Feature, ...], nodes: int) -> Surrogates | None:
    """Check and read surrogate tests; None where there are none."""
    if "surrogate_first" not in arrays:
        return None
    first, feature = whole(arrays["surrogate_first"]), arrays["surrogate_feature"].astype(np.int64)
    demand(len(first) == nodes + 1 and first[0] == 0 and first[-1] == len(feature), "surrogates do not fit the nodes")
    demand(np.diff(first) >= 0, "surrogates are out of order")
    demand((feature >= 0) & (feature < len(features)), "a surrogate tests a feature that is not there")
    for name in ("threshold", "flipped", "agreement"):
        demand(len(arrays[f"surrogate_{name}"]) == len(feature), f"surrogate {name} does not fit")
    nominal = [each for each, f in enumerate(feature) if not features[f].has_order]
    ends = np.cumsum([0] + [len(features[feature[each]].levels) for each in nominal])
    sides = arrays["surrogate_sides"].astype(np.int8)
    demand(len(sides) == ends[-1] and np.isin(sides, (-1, 0, 1)).all(), "surrogate sides do not fit their features")
    return Surrogates(
        first=first.astype(np.int32),
        feature=feature.astype(np.int32),
        threshold=np.ascontiguousarray(arrays["surrogate_threshold"], np.float64),
        flipped=arrays["surrogate_flipped"].astype(bool),
        sides={each: sides[ends[i] : ends[i + 1]] for i, each in enumerate(nominal)},
        agreement=np.ascontiguousarray(arrays["surrogate_agreement"], np.float64),
    )


CLASSES = ("prediction", "counts", "scores")


@dataclass(frozen=True, eq=False)
class TreeModel(FittedModel):
    """`cut.tree` holds only nodes that stand; `node_scores` are class scores per node, `costs` true × predicted class."""

    abilities: ClassVar[str] = "modelsel.exports.of_trees"

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

    def leaf_rules(self) -> tuple[TreeRule, ...]:
        """Return the rule of each leaf."""
        return to_rules(self.cut)

    def leaf_of(self, table: Table, rows: Integers) -> Codes:
        """Return the leaf that each of some rows reaches, where none is divided."""
        return route(self.cut.tree, table, rows).leaf

    @property
    def is_binary(self) -> bool:
        """Say whether every test has two sides, with one level on either of them where it is a set of levels."""
        tree, inner = self.cut.tree, np.flatnonzero(~self.cut.leaf)
        wide = (tree.test[inner] == MULTIWAY) & (np.diff(tree.first)[inner] > 2)
        sets = [min(side.sum(), (~side).sum()) > 1 for node, side in tree.subset.items() if tree.test[node] == SUBSET]
        return not (wide.any() or any(sets))

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


# A tree of numbers: each leaf answers the mean of its rows, or of a model tree what its linear model says.


READS_CLASSES = "reads classes, and this target is a number"
SQUARED = ("variance", "gini")  # the Gini index of numbers is their variance
NUMBERS = ("prediction", "counts", "mean", "squares")
MODELS = ("intercept", "coefficients", "model_squares", "term_feature", "term_fill", "term_levels")


@dataclass(frozen=True, eq=False)
class NumberTreeModel(FittedModel):
    """`cut.tree` holds only nodes that stand; `cut.prediction` is what each of them answers."""

    abilities: ClassVar[str] = "modelsel.exports.of_trees"

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
    ends = np.cumsum([0, *(len(features[each].levels) * (not features[each].has_order) for each in of.tolist())])
    demand(len(marks) == ends[-1], "marks of terms do not fit their features")
    own = [marks[low:high] if not features[each].has_order else None for each, low, high in zip(of.tolist(), ends, ends[1:])]
    ranks = [len(features[each].levels) if features[each].is_ranked else 0 for each in of.tolist()]
    return tuple(Term(*each) for each in zip(of.tolist(), fill.tolist(), own, ranks, strict=True))
