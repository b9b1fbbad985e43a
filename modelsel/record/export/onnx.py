"""A tree or a forest as an ONNX graph: one input per feature by name; the class as text and the class scores come out.

    numeric feature    double [rows, 1], missing = NaN        the ensemble tests  x <= threshold
    other feature      string [rows, 1], missing = "" or "?"  a lookup per test:  level -> position of the child

The lookup of a test on levels has a place for missing values and for levels that training had not declared too, so the
ensemble needs nothing but `x <= threshold` in double precision, with a side for NaN. Scores are 32-bit numbers, as ONNX's are.
"""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from modelsel.core.types import Booleans
from modelsel.kernels.forests.forest_layout import AT, COLUMN, KIND, LOST, OTHERS, RIGHT, TEST, WHOLE
from modelsel.kernels.layout import EQUALITY, LEAF, SUBSET, THRESHOLD
from modelsel.learner.fitted_estimator import EstimatorModel
from modelsel.learner.forests.model import ForestModel
from modelsel.record.export.graph import Ensemble, NodeInput, columns, doubles, ensemble, onnx_package, serialise
from modelsel.record.export.one_path import one_path, unprepared_forest
from modelsel.record.export.onnx_estimator import estimator_graph
from modelsel.record.model import Predictor


def onnx(predictor: Predictor) -> bytes:
    """The serialised graph. Raises ConfigurationError for what no such graph can say, and without the package."""
    if isinstance(predictor.model, ForestModel):
        model = unprepared_forest(predictor, "onnx")
        package = onnx_package()
        return serialise(package, predictor, "forest", forest_nodes(package, model), ())
    if isinstance(predictor.model, EstimatorModel):
        return estimator_graph(predictor)
    tree, package = one_path(predictor, "onnx"), onnx_package()
    trees = ensemble(tree)
    nodes = [*columns(package, predictor.features, trees.columns), *_answers(package, trees, tree.node_scores.shape[1])]
    sizes = package.numpy_helper.from_array(np.array([1, len(predictor.classes)]), "sizes")
    return serialise(package, predictor, "tree", nodes, [sizes])


def _answers(package: ModuleType, trees: Ensemble, classes: int) -> Iterator[Any]:
    """Number of the class and scores from the ensemble's leaves, then the class by name."""
    node, size, leaves = package.helper.make_node, len(trees.column), len(trees.leaf)
    yield node(
        "TreeEnsembleRegressor", ["table"], ["answers"], domain="ai.onnx.ml", n_targets=1 + classes,
        nodes_treeids=[0] * size, nodes_nodeids=list(range(size)), nodes_featureids=[max(column, 0) for column in trees.column],
        nodes_modes=["LEAF" if column < 0 else "BRANCH_LEQ" for column in trees.column],
        nodes_values_as_tensor=doubles(package, "thresholds", trees.threshold), nodes_truenodeids=trees.below,
        nodes_falsenodeids=trees.above, nodes_missing_value_tracks_true=trees.missing_below,
        target_treeids=[0] * leaves * (1 + classes), target_nodeids=np.repeat(trees.leaf, 1 + classes).tolist(),
        target_ids=list(range(1 + classes)) * leaves,
        target_weights_as_tensor=doubles(package, "answers of leaves", trees.answer),
    )  # fmt: skip
    yield node("Split", ["answers", "sizes"], ["number", "scores"], axis=1)
    yield node("Squeeze", ["number", "axis"], ["numbers"])
    yield node("Cast", ["numbers"], ["index"], to=package.TensorProto.INT64)
    yield node("Gather", ["classes", "index"], ["prediction"])


# A forest as a tree ensemble of ONNX: votes of its leaves are summed, the largest sum is the class, shares are the scores.
#
# Votes are whole numbers of 1/2⁴⁰ and summed in double precision by runtimes that add as the format's doubles do, so that
# classes differ from the model's only where sums agree to the seven digits of the 32-bit scores.


def forest_nodes(package: ModuleType, model: ForestModel) -> Iterator[Any]:
    """The nodes of the graph."""
    read: dict[NodeInput, int] = {}
    tests = [_test(model, node, read) for node in range(len(model.nodes))]
    if not read:  # leaves alone still answer as many rows as they are given
        feature = model.features[0]
        read[NodeInput(0, None if feature.kind == "numeric" else (0,) * len(feature.levels))] = 0
    yield from columns(package, model.features, read)
    yield _ensemble(package, model, tests)
    node = package.helper.make_node
    yield node("ReduceSum", ["votes", "axis"], ["all"], keepdims=1)
    yield node("Div", ["votes", "all"], ["scores"])
    yield node("ArgMax", ["votes"], ["index"], axis=1, keepdims=0)
    yield node("Gather", ["classes", "index"], ["prediction"])


def _ensemble(package: ModuleType, model: ForestModel, tests: list[tuple[int, float]]) -> object:
    """Make the node that holds all trees of a forest."""
    nodes, sizes = model.nodes, np.diff(model.trees)
    tree = np.repeat(np.arange(len(sizes)), sizes)
    place, inner = np.arange(len(nodes)) - np.repeat(model.trees[:-1], sizes), nodes[:, TEST] != LEAF
    voting = np.repeat(np.arange(len(nodes)), np.diff(model.first))
    numbers = inner & (nodes[:, TEST] & KIND == THRESHOLD) & np.isin(nodes[:, COLUMN], _numeric(model))
    return package.helper.make_node(
        "TreeEnsembleRegressor", ["table"], ["votes"], domain="ai.onnx.ml", n_targets=model.classes,
        nodes_treeids=tree.tolist(), nodes_nodeids=place.tolist(), nodes_featureids=[column for column, _ in tests],
        nodes_modes=["BRANCH_LEQ" if own else "LEAF" for own in inner],
        nodes_values_as_tensor=doubles(package, "thresholds", [threshold for _, threshold in tests]),
        nodes_truenodeids=np.where(inner, place + 1, 0).tolist(),
        nodes_falsenodeids=np.where(inner, nodes[:, RIGHT], 0).tolist(),
        nodes_missing_value_tracks_true=(numbers & (nodes[:, TEST] & LOST == 0)).astype(int).tolist(),
        target_treeids=tree[voting].tolist(), target_nodeids=place[voting].tolist(), target_ids=model.voted.tolist(),
        target_weights_as_tensor=doubles(package, "votes of leaves", model.shares / WHOLE),
    )  # fmt: skip


def _numeric(model: ForestModel) -> list[int]:
    return [index for index, feature in enumerate(model.features) if feature.kind == "numeric"]


def _test(model: ForestModel, node: int, read: dict[NodeInput, int]) -> tuple[int, float]:
    """The column that a node tests, and its threshold; columns are numbered as they come."""
    own = model.nodes[node]
    if own[TEST] == LEAF:
        return 0, 0.0
    index = int(own[COLUMN])
    if model.features[index].kind == "numeric":
        return read.setdefault(NodeInput(index), len(read)), float(model.cuts[index][own[AT]])
    if (
        own[TEST] & KIND == THRESHOLD
    ):  # undeclared levels stand above all declared ones; missing ones alone may stand above them
        rest = int(len(model.features[index].levels) > model.cuts[index][own[AT]])
    else:
        rest = int(own[TEST] & OTHERS != 0)
    children = tuple(np.where(_first(model, node, index), 0, 1).tolist())
    return read.setdefault(NodeInput(index, children, int(own[TEST] & LOST != 0), rest), len(read)), 0.5


def _first(model: ForestModel, node: int, index: int) -> Booleans:
    """Mask the levels that take the first branch."""
    levels, at, test = np.arange(len(model.features[index].levels)), int(model.nodes[node, AT]), model.nodes[node, TEST] & KIND
    if test == SUBSET:
        return np.asarray(model.marks[at : at + len(levels)] != 0)
    return np.asarray(levels == at if test == EQUALITY else levels <= model.cuts[index][at])
