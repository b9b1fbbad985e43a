"""A tree or a forest as an ONNX graph: one input per feature by name; out come a class as text and class scores, or a number.

    numeric feature    double [rows, 1], missing = NaN        the ensemble tests  x <= threshold
    other feature      string [rows, 1], missing = "" or "?"  a lookup per test:  level -> position of the child

The lookup of a test on levels has a place for missing values and for levels that training had not declared too, so the
ensemble needs nothing but `x <= threshold` in double precision, with a side for NaN. What an ensemble adds up are 32-bit
numbers, as ONNX's are: so are scores, and a number is looked up by the leaf that its ensemble names.
"""

from collections.abc import Iterator
from types import ModuleType

import numpy as np

from modelsel.core.types import Codes, Floats, Integers
from modelsel.kernels.forests.forest_layout import AT, COLUMN, KIND, LOST, RIGHT, TEST, WHOLE
from modelsel.kernels.layout import LEAF, THRESHOLD
from modelsel.learner.fitted_estimator import EstimatorModel
from modelsel.learner.forests.model import ForestModel
from modelsel.learner.forests.number_model import NumberForestModel
from modelsel.learner.trees.model import TreeModel
from modelsel.record.export.forest_trees import NodeInput, node_input, tree_and_place
from modelsel.record.export.graph import Ensemble, columns, doubles, ensemble, onnx_package, serialise
from modelsel.record.export.one_path import one_path, unprepared_forest
from modelsel.record.export.onnx_estimator import estimator_graph
from modelsel.record.model import Predictor


def onnx(predictor: Predictor) -> bytes:
    """The serialised graph. Raises ConfigurationError for what no such graph can say, and without the package."""
    model = predictor.model
    if isinstance(model, EstimatorModel):
        return estimator_graph(predictor)
    if isinstance(model, ForestModel | NumberForestModel):
        forest, package = unprepared_forest(predictor, "onnx"), onnx_package()
        if isinstance(model, NumberForestModel):
            return serialise(package, predictor, "forest", *_number_forest(package, model))
        return serialise(package, predictor, "forest", forest_nodes(package, forest), ())
    tree, package = one_path(predictor, "onnx"), onnx_package()
    trees = ensemble(tree)
    if isinstance(tree, TreeModel):
        answers = np.column_stack([tree.cut.prediction, tree.node_scores])[trees.origin]
        nodes, constants = _class_answers(package, trees, answers), [_whole(package, "sizes", [1, len(predictor.classes)])]
    else:
        answers = np.arange(len(trees.leaf), dtype=np.float64)[:, None]
        nodes = _number_answers(package, trees, answers)
        constants = [doubles(package, "numbers", tree.cut.prediction[trees.origin])]
    return serialise(package, predictor, "tree", [*columns(package, predictor.features, trees.columns), *nodes], constants)


def _ensemble(package: ModuleType, trees: Ensemble, answers: Floats) -> object:
    """The node that says the `answers` (leaves × numbers) of the leaf that a row reaches."""
    size, (leaves, many) = len(trees.column), answers.shape
    return package.helper.make_node(
        "TreeEnsembleRegressor", ["table"], ["answers"], domain="ai.onnx.ml", n_targets=many,
        nodes_treeids=[0] * size, nodes_nodeids=list(range(size)), nodes_featureids=[max(column, 0) for column in trees.column],
        nodes_modes=["LEAF" if column < 0 else "BRANCH_LEQ" for column in trees.column],
        nodes_values_as_tensor=doubles(package, "thresholds", trees.threshold), nodes_truenodeids=trees.below,
        nodes_falsenodeids=trees.above, nodes_missing_value_tracks_true=trees.missing_below,
        target_treeids=[0] * leaves * many, target_nodeids=np.repeat(trees.leaf, many).tolist(),
        target_ids=list(range(many)) * leaves, target_weights_as_tensor=doubles(package, "answers of leaves", answers),
    )  # fmt: skip


def _class_answers(package: ModuleType, trees: Ensemble, answers: Floats) -> Iterator[object]:
    """Number of the class and scores from the ensemble's leaves, then the class by name."""
    node = package.helper.make_node
    yield _ensemble(package, trees, answers)
    yield node("Split", ["answers", "sizes"], ["number", "scores"], axis=1)
    yield node("Squeeze", ["number", "axis"], ["numbers"])
    yield node("Cast", ["numbers"], ["index"], to=package.TensorProto.INT64)
    yield node("Gather", ["classes", "index"], ["prediction"])


def _number_answers(package: ModuleType, trees: Ensemble, answers: Floats) -> Iterator[object]:
    """The place of a leaf from the ensemble, then its number."""
    node = package.helper.make_node
    yield _ensemble(package, trees, answers)
    yield node("Squeeze", ["answers", "axis"], ["places"])
    yield node("Cast", ["places"], ["index"], to=package.TensorProto.INT64)
    yield node("Gather", ["numbers", "index"], ["prediction"])


def _whole(package: ModuleType, name: str, values: object) -> object:
    """Whole numbers, as a constant of a graph."""
    return package.numpy_helper.from_array(np.asarray(values, np.int64), name)


# A forest as a tree ensemble of ONNX: votes of its leaves are summed, the largest sum is the class, shares are the scores.
#
# Votes are whole numbers of 1/2⁴⁰ and summed in double precision by runtimes that add as the format's doubles do, so that
# classes differ from the model's only where sums agree to the seven digits of the 32-bit scores. Of numbers the ensemble names
# the leaf of each tree, whose votes are looked up and summed as whole numbers: predictions are the model's to the last bit.


def forest_nodes(package: ModuleType, model: ForestModel) -> Iterator[object]:
    """The nodes of the graph of a forest of classes."""
    voting = np.repeat(np.arange(len(model.nodes)), np.diff(model.first))
    yield from _forest(package, model, voting, model.voted, model.classes, model.shares / WHOLE)
    node = package.helper.make_node
    yield node("ReduceSum", ["votes", "axis"], ["all"], keepdims=1)
    yield node("Div", ["votes", "all"], ["scores"])
    yield node("ArgMax", ["votes"], ["index"], axis=1, keepdims=0)
    yield node("Gather", ["classes", "index"], ["prediction"])


def _number_forest(package: ModuleType, forest: NumberForestModel) -> tuple[list[object], list[object]]:
    """The nodes of the graph of a forest of numbers, and their constants."""
    model, ballot, trees = forest.votes, forest.ballot, len(forest.votes.trees) - 1
    leaves = np.flatnonzero(model.nodes[:, TEST] == LEAF)
    tree, place = tree_and_place(model)
    votes = np.zeros(len(model.nodes), np.int64)
    votes[leaves] = model.shares[model.first[leaves]]
    node, kinds = package.helper.make_node, package.TensorProto
    nodes = [
        *_forest(package, model, leaves, tree[leaves], trees, place[leaves].astype(np.float64)),
        node("Cast", ["votes"], ["places"], to=kinds.INT64),
        node("Add", ["places", "starts"], ["leaves"]),
        node("Gather", ["votes of nodes", "leaves"], ["votes of trees"]),
        node("ReduceSum", ["votes of trees", "axis"], ["sum"], keepdims=0),
        node("Cast", ["sum"], ["as a number"], to=kinds.DOUBLE),
        node("Div", ["as a number", "voters"], ["mean"]),
        node("Add", ["mean", "centre"], ["about 0"]),
        node("Div", ["about 0", "scale"], ["from base"]),
        node("Add", ["from base", "base"], ["prediction"]),
    ]
    own = {"voters": trees * ballot.fine, "centre": ballot.centre, "scale": ballot.scale, "base": ballot.base}
    whole = [_whole(package, "starts", model.trees[:-1]), _whole(package, "votes of nodes", votes)]
    return nodes, [*whole, *(doubles(package, name, value) for name, value in own.items())]


def _forest(
    package: ModuleType, model: ForestModel, voting: Integers, voted: Integers | Codes, many: int, votes: Floats
) -> Iterator[object]:
    """The table that is tested, and all trees of a forest: nodes `voting` add `votes` to the sums `voted` of so `many`."""
    read: dict[NodeInput, int] = {}
    tests = [_test(model, node, read) for node in range(len(model.nodes))]
    if not read:  # leaves alone still answer as many rows as they are given
        feature = model.features[0]
        read[NodeInput(0, None if feature.kind == "numeric" else (0,) * len(feature.levels))] = 0
    yield from columns(package, model.features, read)
    nodes, inner, (tree, place) = model.nodes, model.nodes[:, TEST] != LEAF, tree_and_place(model)
    numbers = inner & (nodes[:, TEST] & KIND == THRESHOLD) & np.isin(nodes[:, COLUMN], _numeric(model))
    yield package.helper.make_node(
        "TreeEnsembleRegressor", ["table"], ["votes"], domain="ai.onnx.ml", n_targets=many,
        nodes_treeids=tree.tolist(), nodes_nodeids=place.tolist(), nodes_featureids=[column for column, _ in tests],
        nodes_modes=["BRANCH_LEQ" if own else "LEAF" for own in inner],
        nodes_values_as_tensor=doubles(package, "thresholds", [threshold for _, threshold in tests]),
        nodes_truenodeids=np.where(inner, place + 1, 0).tolist(),
        nodes_falsenodeids=np.where(inner, nodes[:, RIGHT], 0).tolist(),
        nodes_missing_value_tracks_true=(numbers & (nodes[:, TEST] & LOST == 0)).astype(int).tolist(),
        target_treeids=tree[voting].tolist(), target_nodeids=place[voting].tolist(), target_ids=voted.tolist(),
        target_weights_as_tensor=doubles(package, "votes of leaves", votes),
    )  # fmt: skip


def _numeric(model: ForestModel) -> list[int]:
    return [index for index, feature in enumerate(model.features) if feature.kind == "numeric"]


def _test(model: ForestModel, node: int, read: dict[NodeInput, int]) -> tuple[int, float]:
    """The column that a node tests, and its threshold; columns are numbered as they come."""
    if model.nodes[node, TEST] == LEAF:
        return 0, 0.0
    asked = node_input(model, node)
    threshold = 0.5 if asked.child is not None else float(model.cuts[asked.feature][model.nodes[node, AT]])
    return read.setdefault(asked, len(read)), threshold
