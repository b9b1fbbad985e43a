"""A tree as an ONNX graph: one input per feature by name; the class as text and the class scores come out.

    numeric feature    double [rows, 1], missing = NaN        the ensemble tests  x <= threshold
    other feature      string [rows, 1], missing = "" or "?"  a lookup per test:  level -> position of the child

The lookup of a test on levels has a place for missing values and for levels that training had not declared too, so the
ensemble needs nothing but `x <= threshold` in double precision, with a side for NaN. Scores are 32-bit numbers, as ONNX's are.
"""

from collections.abc import Collection, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.types import Feature
from modelsel.record.export.ensemble import Ensemble, NodeInput, ensemble
from modelsel.record.export.one_path import one_path
from modelsel.record.model.columns import MISSING
from modelsel.record.model.model import Predictor

CORE, ML, FORMAT = 17, 3, 8  # operators, those for models (3: ensembles of doubles), file format: read since 2021


def onnx(predictor: Predictor) -> bytes:
    """The serialised graph. Raises ConfigurationError for what no such graph can say, and without the package."""
    model, package = one_path(predictor, "onnx"), _package()
    helper, trees = package.helper, ensemble(model)
    graph = helper.make_graph(
        [*_columns(package, predictor.features, trees.columns), *_answers(package, trees, model.node_scores.shape[1])],
        "tree",
        [helper.make_tensor_value_info(f.name, _kind(package, f), ["rows", 1]) for f in predictor.features],
        [
            helper.make_tensor_value_info("prediction", package.TensorProto.STRING, ["rows"]),
            helper.make_tensor_value_info("scores", package.TensorProto.FLOAT, ["rows", len(predictor.classes)]),
        ],
        [
            package.numpy_helper.from_array(np.array([1, len(predictor.classes)]), "sizes"),
            package.numpy_helper.from_array(np.array([1]), "axis"),
            helper.make_tensor("classes", package.TensorProto.STRING, [len(predictor.classes)], predictor.classes),
        ],
    )
    opsets = [helper.make_opsetid("", CORE), helper.make_opsetid("ai.onnx.ml", ML)]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=FORMAT, producer_name="modelsel")
    package.checker.check_model(made)
    return bytes(made.SerializeToString())


def _package() -> Any:
    try:
        import onnx
    except ModuleNotFoundError as error:
        what = "needs a package that is not installed"
        raise ConfigurationError(Problem("MSEL-256", what, "--to onnx", "pip install 'modelsel[onnx]'")) from error
    return onnx


def _kind(package: ModuleType, feature: Feature) -> Any:
    return package.TensorProto.DOUBLE if feature.kind == "numeric" else package.TensorProto.STRING


def _columns(package: ModuleType, features: tuple[Feature, ...], columns: Collection[NodeInput]) -> Iterator[Any]:
    """The table that the ensemble reads, a column per number or lookup."""
    node, made = package.helper.make_node, [f"column {number}" for number in range(len(columns))]
    for column, out in zip(columns, made, strict=True):
        feature = features[column.feature]
        if column.child is None:
            yield node("Identity", [feature.name], [out])
            continue
        position = dict(zip(feature.levels, column.child, strict=True)) | dict.fromkeys(MISSING, column.missing)
        yield node(
            "LabelEncoder", [feature.name], [f"{out}, position"], domain="ai.onnx.ml", keys_strings=list(position),
            values_floats=[float(child) for child in position.values()], default_float=float(column.rest),
        )  # fmt: skip
        yield node("Cast", [f"{out}, position"], [out], to=package.TensorProto.DOUBLE)
    yield node("Concat", made, ["table"], axis=1)


def _answers(package: ModuleType, trees: Ensemble, classes: int) -> Iterator[Any]:
    """Number of the class and scores from the ensemble's leaves, then the class by name."""
    node, size, leaves = package.helper.make_node, len(trees.column), len(trees.leaf)

    def doubles(name: str, values: Any) -> Any:
        return package.numpy_helper.from_array(np.asarray(values, np.float64).ravel(), name)

    yield node(
        "TreeEnsembleRegressor", ["table"], ["answers"], domain="ai.onnx.ml", n_targets=1 + classes,
        nodes_treeids=[0] * size, nodes_nodeids=list(range(size)), nodes_featureids=[max(column, 0) for column in trees.column],
        nodes_modes=["LEAF" if column < 0 else "BRANCH_LEQ" for column in trees.column],
        nodes_values_as_tensor=doubles("thresholds", trees.threshold), nodes_truenodeids=trees.below,
        nodes_falsenodeids=trees.above, nodes_missing_value_tracks_true=trees.missing_below,
        target_treeids=[0] * leaves * (1 + classes), target_nodeids=np.repeat(trees.leaf, 1 + classes).tolist(),
        target_ids=list(range(1 + classes)) * leaves, target_weights_as_tensor=doubles("answers of leaves", trees.answer),
    )  # fmt: skip
    yield node("Split", ["answers", "sizes"], ["number", "scores"], axis=1)
    yield node("Squeeze", ["number", "axis"], ["numbers"])
    yield node("Cast", ["numbers"], ["index"], to=package.TensorProto.INT64)
    yield node("Gather", ["classes", "index"], ["prediction"])
