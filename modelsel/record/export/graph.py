"""The parts that graphs of trees and of forests share: their inputs, the table that is tested, and the file."""

from collections.abc import Collection, Iterable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.types import Feature
from modelsel.record.export.ensemble import NodeInput
from modelsel.record.model.columns import MISSING
from modelsel.record.model.model import Predictor

CORE, ML, FORMAT = 17, 3, 8  # operators, those for models (3: ensembles of doubles), file format: read since 2021


def serialised(package: ModuleType, predictor: Predictor, name: str, nodes: Iterable[Any], constants: Iterable[Any]) -> bytes:
    """A graph of these nodes, from one input per feature to `prediction` and `scores`, checked and as bytes."""
    helper = package.helper
    graph = helper.make_graph(
        list(nodes),
        name,
        [helper.make_tensor_value_info(f.name, _kind(package, f), ["rows", 1]) for f in predictor.features],
        [
            helper.make_tensor_value_info("prediction", package.TensorProto.STRING, ["rows"]),
            helper.make_tensor_value_info("scores", package.TensorProto.FLOAT, ["rows", len(predictor.classes)]),
        ],
        [
            package.numpy_helper.from_array(np.array([1]), "axis"),
            helper.make_tensor("classes", package.TensorProto.STRING, [len(predictor.classes)], predictor.classes),
            *constants,
        ],
    )
    opsets = [helper.make_opsetid("", CORE), helper.make_opsetid("ai.onnx.ml", ML)]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=FORMAT, producer_name="modelsel")
    package.checker.check_model(made)
    return bytes(made.SerializeToString())


def doubles(package: ModuleType, name: str, values: Any) -> Any:
    """Numbers in double precision, as an attribute of a node."""
    return package.numpy_helper.from_array(np.asarray(values, np.float64).ravel(), name)


def onnx_package() -> Any:
    """The package `onnx`. Raises ConfigurationError where it is not installed."""
    try:
        import onnx
    except ModuleNotFoundError as error:
        what = "needs a package that is not installed"
        raise ConfigurationError(Problem("MSEL-256", what, "--to onnx", "pip install 'modelsel[onnx]'")) from error
    return onnx


def _kind(package: ModuleType, feature: Feature) -> Any:
    return package.TensorProto.DOUBLE if feature.kind == "numeric" else package.TensorProto.STRING


def columns(package: ModuleType, features: tuple[Feature, ...], read: Collection[NodeInput]) -> Iterator[Any]:
    """The table that the ensemble reads, a column per number or lookup."""
    node, made = package.helper.make_node, [f"column {number}" for number in range(len(read))]
    for column, out in zip(read, made, strict=True):
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
