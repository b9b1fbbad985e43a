"""A winner of other libraries as an ONNX graph: our encoding of the columns, then the library's own converter.

    scikit-learn    skl2onnx            LightGBM, XGBoost    onnxmltools

The matrix that the estimator reads is made in double precision and handed over in single precision, as converters want it (in
double precision to those in DOUBLE): a value that lies within seven digits of a threshold may fall on its other side. Missing
values go where scikit-learn's trees send them, which its converter does not say. What was not compared with onnxruntime is
refused by name.
"""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.types import Feature
from modelsel.foreign.libraries import CONVERTED
from modelsel.learner.encoding import ColumnEncoding
from modelsel.learner.fitted_estimator import Answering, EstimatorModel
from modelsel.learner.step_columns import BranchColumns
from modelsel.record.export.graph import CORE, ML, onnx_package, serialise
from modelsel.record.model import Predictor
from modelsel.record.new_rows import MISSING

DOUBLE = ("GaussianNB",)  # a constant column has a variance of 1e-9, whose terms cancel in double precision alone
SIDES = "nodes_missing_value_tracks_true"
MATRIX, INSTALL = "model/matrix", "pip install 'modelsel[onnx-learners]'"
FIX = "take --to json, or another entry: `modelsel plan` says which can be exported"


def estimator_graph(predictor: Predictor) -> bytes:
    """Serialise the graph. Raises ConfigurationError with what has no form in ONNX, or names the package that is missing."""
    model: EstimatorModel = predictor.model  # type: ignore[assignment]
    answering = model.answering
    reasons = list(_reasons(predictor, answering))
    ConfigurationError.raise_if(Problem("MSEL-255", reason, "--to onnx", FIX) for reason in reasons)
    package = onnx_package()
    assert isinstance(answering.columns, ColumnEncoding)
    made = list(_matrix(package, predictor.features, answering.columns, _precise(answering)))
    inner = package.compose.add_prefix(_converted(package, answering), "model/", rename_inputs=False)
    label, shares = [one.name for one in inner.graph.output][:2]
    renamed = package.helper.make_node("Identity", [MATRIX], [inner.graph.input[0].name])
    single = package.helper.make_node("Cast", [shares], ["model/single"], to=package.TensorProto.FLOAT)
    nodes = [*made, renamed, *inner.graph.node, single, *_answers(package, answering, label, "model/single")]
    return serialise(package, predictor, "estimator", nodes, inner.graph.initializer)


def _precise(answering: Answering) -> bool:
    """Say whether the converted estimator reads numbers of double precision."""
    return type(answering.estimator).__name__ in DOUBLE


def _reasons(predictor: Predictor, answering: Answering) -> Iterator[str]:
    """Yield why an estimator has no form in ONNX."""
    made = answering.estimator
    name = type(made).__name__
    if f"{type(made).__module__.partition('.')[0]}.{name}" not in (*CONVERTED, "modelsel.Boosted"):
        yield f"{name} has no form in ONNX that was compared with the estimator"
    if predictor.steps:
        yield "the features are prepared before the estimator sees them (steps, preparer)"
    if isinstance(answering.columns, BranchColumns):
        yield "steps by columns make what it reads"
    elif not isinstance(answering.columns, ColumnEncoding):
        yield "levels are replaced by means of the classes (encoding=target)"
    if answering.nominal:
        yield f"{name} reads categories itself (encoding=native)"


def _converted(package: ModuleType, answering: Answering) -> object:
    """The estimator alone, from a matrix of numbers to classes and scores, by its converter."""
    made, width = answering.estimator, _width(answering.columns)
    library = type(getattr(made, "booster_", made)).__module__.partition(".")[0]
    try:
        return _convert(package, library, made, width, _precise(answering))
    except ModuleNotFoundError as error:
        what = f"{library} estimators need {error.name}, which is not installed"
        raise ConfigurationError(Problem("MSEL-256", what, "--to onnx", INSTALL)) from error
    except Exception as error:
        said = (str(error).strip().splitlines() or [type(error).__name__])[0]
        what = f"{type(made).__name__} has no form in ONNX: {said}"
        raise ConfigurationError(Problem("MSEL-255", what, "--to onnx", FIX)) from error


def _convert(package: ModuleType, library: str, made: Any, width: int, precise: bool) -> object:
    """Convert an estimator by its library's converter."""
    if library == "lightgbm":
        from onnxmltools import convert_lightgbm
        from onnxmltools.convert.common.data_types import FloatTensorType

        return convert_lightgbm(made.booster_, initial_types=_input(FloatTensorType, width), target_opset=15, zipmap=False)
    if library == "xgboost":
        from onnxmltools import convert_xgboost
        from onnxmltools.convert.common.data_types import FloatTensorType

        return convert_xgboost(made, initial_types=_input(FloatTensorType, width), target_opset=15)
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    versions = {"": CORE, "ai.onnx.ml": ML}
    graph = convert_sklearn(
        made, initial_types=_input(DoubleTensorType if precise else FloatTensorType, width), target_opset=versions,
        options={id(made): {"zipmap": False}},
    )  # fmt: skip
    return _with_sides(package, graph, made)


def _with_sides(package: ModuleType, graph: Any, made: Any) -> object:
    """Add to the tests of trees the side to which each sends a missing value."""
    trees = [one.tree_ for one in np.ravel(getattr(made, "estimators_", made)) if hasattr(one, "tree_")]
    for node in graph.graph.node:
        told = {one.name: one for one in node.attribute}
        if "nodes_nodeids" in told:
            places = zip(told["nodes_treeids"].ints, told["nodes_nodeids"].ints, strict=True)
            sides = [int(trees[tree].missing_go_to_left[at]) for tree, at in places]
            if SIDES in told:
                node.attribute.remove(told[SIDES])
            node.attribute.append(package.helper.make_attribute(SIDES, sides))
    return graph


def _input(kind: Any, width: int) -> list[tuple[str, object]]:
    return [("matrix", kind([None, width]))]


def _width(columns: Any) -> int:
    """Columns of the matrix."""
    one_hot = columns.encoding == "one_hot"
    return sum(len(one.levels) + 1 if one_hot and one.kind == "nominal" else 1 for one in columns.features)


def _matrix(package: ModuleType, features: tuple[Feature, ...], columns: ColumnEncoding, precise: bool) -> Iterator[object]:
    """The nodes from the features to the matrix, column by column as `ColumnEncoding` makes it."""
    made = []
    for index, place in enumerate(columns.places):
        block = f"block {index}"
        if features[place].kind == "nominal":
            yield from _levels(package, features[place], columns.encoding == "one_hot", block)
        else:
            yield from _numbers(package, features[place], columns, index, block)
        made.append(block)
    node = package.helper.make_node
    yield node("Concat", made, ["doubles"], axis=1)
    yield node("Cast", ["doubles"], [MATRIX], to=package.TensorProto.DOUBLE if precise else package.TensorProto.FLOAT)


def _numbers(package: ModuleType, feature: Feature, columns: ColumnEncoding, index: int, block: str) -> Iterator[object]:
    """A number or a rank: the median where it is missing, centred and scaled."""
    node, source = package.helper.make_node, feature.name
    if feature.kind == "ordered":
        codes = {level: float(code) for code, level in enumerate(feature.levels)} | dict.fromkeys(MISSING, np.nan)
        yield from _looked_up(package, feature, codes, float(len(feature.levels)), f"{block} rank")
        source = f"{block} rank"
    for name, value in (("middle", columns.middle), ("center", columns.center), ("scale", columns.scale)):
        yield node("Constant", [], [f"{block} {name}"], value=_one(package, value[index]))
    yield node("IsNaN", [source], [f"{block} absent"])
    yield node("Where", [f"{block} absent", f"{block} middle", source], [f"{block} filled"])
    yield node("Sub", [f"{block} filled", f"{block} center"], [f"{block} centred"])
    yield node("Div", [f"{block} centred", f"{block} scale"], [block])


def _levels(package: ModuleType, feature: Feature, one_hot: bool, block: str) -> Iterator[object]:
    """A level: its index, or a column per level and one for a missing value."""
    node, count = package.helper.make_node, len(feature.levels)
    absent, other = (float(count), -2.0) if one_hot else (-1.0, float(count))
    codes = {level: float(code) for code, level in enumerate(feature.levels)} | dict.fromkeys(MISSING, absent)
    found = f"{block} index" if one_hot else block
    yield from _looked_up(package, feature, codes, other, found)
    if one_hot:
        every = package.numpy_helper.from_array(np.arange(count + 1, dtype=np.float64)[None, :])
        yield node("Constant", [], [f"{block} every"], value=every)
        yield node("Equal", [found, f"{block} every"], [f"{block} is"])
        yield node("Cast", [f"{block} is"], [block], to=package.TensorProto.DOUBLE)


def _looked_up(package: ModuleType, feature: Feature, codes: dict[str, float], other: float, out: str) -> Iterator[object]:
    """Yield nodes that look levels up as numbers."""
    node = package.helper.make_node
    yield node(
        "LabelEncoder", [feature.name], [f"{out} single"], domain="ai.onnx.ml", keys_strings=list(codes),
        values_floats=list(codes.values()), default_float=other,
    )  # fmt: skip
    yield node("Cast", [f"{out} single"], [out], to=package.TensorProto.DOUBLE)


def _one(package: ModuleType, value: float) -> object:
    return package.numpy_helper.from_array(np.array([[value]], np.float64))


def _answers(package: ModuleType, answering: Answering, label: str, shares: str) -> Iterator[object]:
    """The class by name, and scores of all classes, also of those that the estimator has never met."""
    node, own = package.helper.make_node, answering.own
    yield node("Constant", [], ["own"], value=package.numpy_helper.from_array(own.astype(np.int64)))
    yield node("Constant", [], ["flat"], value=package.numpy_helper.from_array(np.array([-1])))
    yield node("Reshape", [label, "flat"], ["labels"])
    yield node("Gather", ["own", "labels"], ["index"])
    yield node("Gather", ["classes", "index"], ["prediction"])
    spread = np.zeros((len(own), answering.classes), np.float32)
    spread[np.arange(len(own)), own] = 1
    yield node("Constant", [], ["spread"], value=package.numpy_helper.from_array(spread))
    yield node("MatMul", [shares, "spread"], ["shares"])
    yield node("ReduceSum", ["shares", "axis"], ["total"], keepdims=1)
    yield node("Div", ["shares", "total"], ["scores"])
