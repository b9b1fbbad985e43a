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

from modelsel.learner.estimators.model import EstimatorModel
from modelsel.learner.forests.model import ForestModel
from modelsel.record.export.ensemble import Ensemble, ensemble
from modelsel.record.export.graph import columns, doubles, onnx_package, serialised
from modelsel.record.export.one_path import one_path, unprepared_forest
from modelsel.record.export.onnx_estimator import estimator_graph
from modelsel.record.export.onnx_forest import forest_nodes
from modelsel.record.model.model import Predictor


def onnx(predictor: Predictor) -> bytes:
    """The serialised graph. Raises ConfigurationError for what no such graph can say, and without the package."""
    if isinstance(predictor.model, ForestModel):
        model = unprepared_forest(predictor, "onnx")
        package = onnx_package()
        return serialised(package, predictor, "forest", forest_nodes(package, model), ())
    if isinstance(predictor.model, EstimatorModel):
        return estimator_graph(predictor)
    tree, package = one_path(predictor, "onnx"), onnx_package()
    trees = ensemble(tree)
    nodes = [*columns(package, predictor.features, trees.columns), *_answers(package, trees, tree.node_scores.shape[1])]
    sizes = package.numpy_helper.from_array(np.array([1, len(predictor.classes)]), "sizes")
    return serialised(package, predictor, "tree", nodes, [sizes])


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
