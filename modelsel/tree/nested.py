"""A tree for other programs: plain data (and back again) and Graphviz."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from modelsel.core.types import Booleans, Feature, Floats
from modelsel.tree.conditions import branch_words
from modelsel.tree.cutting import reached
from modelsel.tree.node import (
    EQUALITY,
    LEAF,
    MULTIWAY,
    SUBSET,
    TEST_NAMES,
    THRESHOLD,
    DecisionTree,
    NodeModels,
    NodeNumbers,
    PrunedView,
    Term,
)
from modelsel.tree.rules import number_words, own_counts
from modelsel.tree.softening import Widths


def to_dict(cut: PrunedView, widths: Widths | None = None) -> dict[str, object]:
    """Classes, features and the nodes that stand, in preorder (the shape in the documentation, `classifier.to_dict()`).

    A tree of numbers has no classes, one weight per node, a number as `prediction`, and in `squared_error` the mean one of the
    node's training rows. `weights` are the training weights that reached the node; `scores` stands beside them where class
    scores come from other rows (those held back by reduced-error pruning); `softened` stands in a test whose threshold is a
    ramp: from where to where, half each way at the threshold; `missing` is the child that takes a missing value, where that is
    not the one with most training weight. A `threshold` of None parts known values from missing ones. Weights count rows, or
    where they are relative (`dataset.weights_are`) rows of mean weight. A model tree has `terms`, and at its leaves the `model`
    that answers in place of `prediction`: an intercept, a coefficient per term, and the mean squared error on their rows.
    """
    number = _renumber(reached(cut))
    models = {} if cut.models is None else {"terms": [_term(term, cut.tree.features) for term in cut.models.terms]}
    return {
        "classes": list(cut.tree.classes),
        "features": [{"name": f.name, "kind": f.kind, "levels": list(f.levels)} for f in cut.tree.features],
        **models,
        "nodes": [_node(cut, node, number, widths) for node in number],
    }


def from_dict(data: Mapping[str, Any]) -> PrunedView:
    """Read `to_dict` back. ValueError when parents, children or levels do not fit together."""
    nodes, classes = data["nodes"], tuple(data["classes"])
    features = tuple(Feature(f["name"], f["kind"], tuple(f["levels"])) for f in data["features"])
    _check(nodes, features, len(classes))
    tests = [node["test"] for node in nodes]
    position = {feature.name: index for index, feature in enumerate(features)}
    children = [child for node in nodes for child in node["children"]]
    kinds = np.array([TEST_NAMES.index(test["kind"]) if test else LEAF for test in tests], np.int8)
    counts = np.array([node["weights"] for node in nodes], np.float64)
    numbers = None if classes else _numbers(nodes, counts[:, 0])
    tree = DecisionTree(
        features=features,
        classes=classes,
        parent=np.array([-1 if node["parent"] is None else node["parent"] for node in nodes], np.int32),
        test=kinds,
        feature=np.array([position[test["feature"]] if test else -1 for test in tests], np.int32),
        threshold=np.array([_threshold(test, features, position) for test in tests], np.float64),
        first=np.cumsum([0, *(len(node["children"]) for node in nodes)]).astype(np.int32),
        child=np.array(children, np.int32),
        counts=counts,
        goodness=np.array([node.get("goodness", np.nan) for node in nodes], np.float64),
        numbers=numbers,
        subset={i: _mark(test, features, position) for i, test in enumerate(tests) if test and test["kind"] == "subset"},
    )
    told = [-1 if test is None else test.get("missing", -1) for test in tests]
    tree = replace(tree, missing_to=np.where(np.array(told) < 0, tree.majority, told).astype(np.int32))
    prediction = np.array([node["prediction"] for node in nodes], np.int32 if classes else np.float64)
    scores = np.array([node.get("scores", node["weights"]) for node in nodes], np.float64)
    models = _models(data["terms"], nodes, features, counts[:, 0]) if "terms" in data else None
    return PrunedView(tree, kinds == LEAF, prediction, scores, models)


def _numbers(nodes: list[dict[str, Any]], weight: Floats) -> NodeNumbers:
    """What the nodes of a tree of numbers know; means of training rows are what they answer."""
    mean = np.array([node["prediction"] for node in nodes], np.float64)
    return NodeNumbers(mean, np.array([node.get("squared_error", 0.0) for node in nodes], np.float64) * weight)


def _term(term: Term, features: tuple[Feature, ...]) -> dict[str, object]:
    """Write a term as plain data: `levels` are those that count as 1, and a missing value counts as `missing`."""
    feature = features[term.feature]
    named = None if term.levels is None else [feature.levels[level] for level in np.flatnonzero(term.levels)]
    return {"feature": feature.name, "levels": named, "missing": term.fill}


def _models(
    terms: list[dict[str, Any]], nodes: list[dict[str, Any]], features: tuple[Feature, ...], weight: Floats
) -> NodeModels:
    """Read the models of the leaves; 0 at other nodes."""
    places = {feature.name: place for place, feature in enumerate(features)}
    read = []
    for one in terms:
        feature = features[places[one["feature"]]]
        marks = None if one["levels"] is None else np.array([level in one["levels"] for level in feature.levels])
        ranks = len(feature.levels) if feature.is_ranked else 0
        read.append(Term(places[one["feature"]], float(one["missing"]), marks, ranks))
    none = {"intercept": 0.0, "coefficients": [0.0] * len(read), "squared_error": 0.0}
    told = [node.get("model", none) for node in nodes]
    if any(len(one["coefficients"]) != len(read) for one in told):
        raise ValueError("the models of the tree do not fit its terms")
    coefficients = np.array([one["coefficients"] for one in told], np.float64).reshape(len(nodes), len(read))
    intercept, squares = (np.array([one[name] for one in told], np.float64) for name in ("intercept", "squared_error"))
    return NodeModels(tuple(read), intercept, coefficients, squares * weight)


def to_dot(cut: PrunedView) -> str:
    """Graphviz: class and weights (of the rows that class scores come from) in the nodes, the test along the branch."""
    tree, counts = cut.tree, own_counts(cut)
    labels = dict[int, str]()
    for node in np.flatnonzero(reached(cut)).tolist():
        said = tree.classes[cut.prediction[node]] if tree.numbers is None else f"{cut.prediction[node]:.6g}"
        if cut.models is not None and cut.leaf[node]:
            said = number_words(cut, node)
        labels[node] = f"{said}\\n{_weights_words(counts[node])}"
    return digraph("tree", dot_lines(tree, cut.leaf, labels, "n"))


def digraph(name: str, lines: Iterable[str]) -> str:
    """A graph of some lines of Graphviz."""
    style = '  node [shape=box, style=rounded, fontname="sans-serif"];', '  edge [fontname="sans-serif"];'
    return "\n".join([f"digraph {name} {{", *style, *lines, "}"]) + "\n"


def dot_lines(tree: DecisionTree, leaf: Booleans, labels: Mapping[int, str], prefix: str) -> Iterator[str]:
    """Nodes and branches of a tree as lines of Graphviz: nodes that have labels, named by a prefix and their number."""
    number = {node: place for place, node in enumerate(labels)}
    for node, name in number.items():
        yield f'  {prefix}{name} [label="{_escape(labels[node])}"{", style=bold" if leaf[node] else ""}];'
        for position, child in enumerate([] if leaf[node] else tree.children(node).tolist()):
            words = _escape(branch_words(tree, node, position))
            yield f'  {prefix}{name} -> {prefix}{number[child]} [label="{words}"];'


def _renumber(stands: Booleans) -> dict[int, int]:
    """Nodes that stand -> their number among them."""
    return {int(node): number for number, node in enumerate(np.flatnonzero(stands))}


def _node(cut: PrunedView, node: int, number: Mapping[int, int], widths: Widths | None) -> dict[str, object]:
    """Write a node as plain data."""
    tree, is_leaf = cut.tree, bool(cut.leaf[node])
    parent = int(tree.parent[node])
    record: dict[str, object] = {
        "id": number[node],
        "parent": None if parent < 0 else number[parent],
        "depth": int(tree.depth[node]),
        "weights": tree.counts[node].tolist(),
        "prediction": int(cut.prediction[node]) if tree.numbers is None else float(cut.prediction[node]),
        "test": None if is_leaf else _test(tree, node, widths),
        "children": [] if is_leaf else [number[int(child)] for child in tree.children(node)],
    }
    if tree.numbers is not None:
        record["squared_error"] = float(tree.numbers.squares[node] / max(tree.weight[node], 1e-300))
    if cut.models is not None and is_leaf:
        record["model"] = {
            "intercept": float(cut.models.intercept[node]),
            "coefficients": cut.models.coefficients[node].tolist(),
            "squared_error": float(cut.models.squares[node] / max(tree.weight[node], 1e-300)),
        }
    if not np.array_equal(tree.counts[node], cut.counts[node]):
        record["scores"] = cut.counts[node].tolist()
    if not is_leaf and np.isfinite(tree.goodness[node]):
        record["goodness"] = float(tree.goodness[node])
    return record


def _test(tree: DecisionTree, node: int, widths: Widths | None) -> dict[str, object]:
    """Write a node's test as plain data."""
    feature, kind = tree.features[tree.feature[node]], int(tree.test[node])
    levels: list[str] | None = None
    if kind == MULTIWAY:
        levels = list(feature.levels)
    elif kind == SUBSET:
        levels = [feature.levels[level] for level in np.flatnonzero(tree.subset[node])]
    test = {
        "feature": feature.name,
        "kind": TEST_NAMES[kind],
        "threshold": float(tree.threshold[node]) if kind == THRESHOLD and np.isfinite(tree.threshold[node]) else None,
        "level": feature.levels[int(tree.threshold[node])] if kind == EQUALITY else None,
        "levels": levels,
    }
    assert tree.missing_to is not None
    parts_missing = kind == THRESHOLD and test["threshold"] is None
    if (to := int(tree.missing_to[node])) >= 0 and (parts_missing or to != tree.majority[node]):
        test["missing"] = to
    if widths is not None and widths.below[node] + widths.above[node] > 0:
        threshold = float(tree.threshold[node])
        test["softened"] = [threshold - float(widths.below[node]), threshold + float(widths.above[node])]
    return test


def _threshold(test: Mapping[str, Any] | None, features: tuple[Feature, ...], position: Mapping[str, int]) -> float:
    """Read a threshold, or the code of a tested level; NaN for other tests."""
    if test and test["kind"] == "threshold":
        if test["threshold"] is None:
            return np.inf if test["missing"] else -np.inf
        return float(test["threshold"])
    if test and test["kind"] == "equality":
        return float(features[position[test["feature"]]].levels.index(test["level"]))
    return np.nan


def _mark(test: Mapping[str, Any], features: tuple[Feature, ...], position: Mapping[str, int]) -> Booleans:
    return np.array([level in test["levels"] for level in features[position[test["feature"]]].levels])


def _check(nodes: list[dict[str, Any]], features: tuple[Feature, ...], classes: int) -> None:
    """Nodes in preorder, children that know their parent, names that exist."""
    names = {feature.name for feature in features}
    for index, node in enumerate(nodes):
        known = 0 <= node["prediction"] < classes if classes else bool(np.isfinite(node["prediction"]))
        whole = node["id"] == index and len(node["weights"]) == max(classes, 1) and known
        if not (whole and _hangs_together(nodes, index) and _tests_something(node, names)):
            raise ValueError(f"node {index} of the tree does not fit: {node}")


def _hangs_together(nodes: list[dict[str, Any]], index: int) -> bool:
    parent, children = nodes[index]["parent"], nodes[index]["children"]
    held = parent is None if index == 0 else parent in range(index) and index in nodes[parent]["children"]
    return held and all(child in range(index + 1, len(nodes)) and nodes[child]["parent"] == index for child in children)


def _tests_something(node: Mapping[str, Any], names: set[str]) -> bool:
    test, branches = node["test"], len(node["children"])
    return branches == 0 if test is None else branches > 1 and test.get("feature") in names


def _weights_words(weights: Floats) -> str:
    return " · ".join(f"{weight:.6g}" for weight in weights)


def _escape(text: str) -> str:
    return text.replace('"', '\\"')
