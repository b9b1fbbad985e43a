"""Trees as arrays, and back without trust: every index is checked before it is used."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Description, Feature
from modelsel.tree.node import (
    BY_SURROGATES,
    EQUALITY,
    LEAF,
    MULTIWAY,
    SUBSET,
    THRESHOLD,
    DecisionTree,
    Surrogates,
)

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
    nominal = np.array([one.kind == "nominal" for one in features], np.bool_)[feature]
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
    nominal = [each for each, f in enumerate(feature) if features[f].kind == "nominal"]
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
