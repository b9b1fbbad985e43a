"""A tree or a forest as an ONNX graph: one input per feature by name; out come a class as text and class scores, or a number.

    numeric feature    double [rows, 1], missing = NaN        the ensemble tests  x <= threshold
    other feature      string [rows, 1], missing = "" or "?"  a lookup per test:  level -> position of the child

The lookup of a test on levels has a place for missing values and for levels that training had not declared too, so the
ensemble needs nothing but `x <= threshold` in double precision, with a side for NaN. What an ensemble adds up are 32-bit
numbers, as ONNX's are: so are scores, and a number is looked up by the leaf that its ensemble names.
"""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.reading import ColumnReading, TableReading
from modelsel.core.types import Codes, Feature, Floats, Integers
from modelsel.dataset.reading import code_of_others, codes_of_spellings
from modelsel.exports.graph import CORE, ML, Ensemble, columns, doubles, ensemble, number_input, onnx_package, serialise
from modelsel.exports.shipped import Shipped
from modelsel.exports.trees import NodeInput, node_input, one_path, tree_and_place, unprepared_forest
from modelsel.foreign.libraries import CONVERTED
from modelsel.kernels.forests.forest_layout import AT, COLUMN, KIND, LOST, RIGHT, TEST, WHOLE
from modelsel.kernels.layout import LEAF, THRESHOLD
from modelsel.learner.columns import BranchColumns, ColumnEncoding
from modelsel.learner.fitted_estimator import Answering, EstimatorModel
from modelsel.learner.forests.model import ForestModel, NumberForestModel
from modelsel.learner.trees.model import TreeModel

# A winner of other libraries as an ONNX graph: our encoding of the columns, then the library's own converter.

DOUBLE = ("GaussianNB",)  # a constant column has a variance of 1e-9, whose terms cancel in double precision alone
SIDES = "nodes_missing_value_tracks_true"
MATRIX, INSTALL = "model/matrix", "pip install 'modelsel[onnx-learners]'"
FIX = "take --to json, or another entry: `modelsel plan` says which can be exported"


def estimator_graph(predictor: Shipped) -> bytes:
    """Serialise the graph. Raises ConfigurationError with what has no form in ONNX, or names the package that is missing."""
    model: EstimatorModel = predictor.model
    answering = model.answering
    reasons = list(_reasons(predictor, answering))
    ConfigurationError.raise_if(Problem("MSEL-255", reason, "--to onnx", FIX) for reason in reasons)
    package = onnx_package()
    assert isinstance(answering.columns, ColumnEncoding)
    made = list(_matrix(package, predictor.read_as, answering.columns, _precise(answering)))
    inner = package.compose.add_prefix(_convert_estimator(package, answering), "model/", rename_inputs=False)
    label, shares = [one.name for one in inner.graph.output][:2]
    renamed = package.helper.make_node("Identity", [MATRIX], [inner.graph.input[0].name])
    single = package.helper.make_node("Cast", [shares], ["model/single"], to=package.TensorProto.FLOAT)
    nodes = [*made, renamed, *inner.graph.node, single, *_answers(package, answering, label, "model/single")]
    return serialise(package, predictor, "estimator", nodes, inner.graph.initializer)


def _precise(answering: Answering) -> bool:
    """Say whether the converted estimator reads numbers of double precision."""
    return type(answering.estimator).__name__ in DOUBLE


def _reasons(predictor: Shipped, answering: Answering) -> Iterator[str]:
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


def _convert_estimator(package: ModuleType, answering: Answering) -> object:
    """The estimator alone, from a matrix of numbers to classes and scores, by its converter."""
    assert isinstance(answering.columns, ColumnEncoding)
    made, width = answering.estimator, sum(answering.columns.widths)
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


def _matrix(package: ModuleType, reading: TableReading, columns: ColumnEncoding, precise: bool) -> Iterator[object]:
    """The nodes from the features to the matrix, column by column as `ColumnEncoding` makes it."""
    made = []
    for index, place in enumerate(columns.places):
        block = f"block {index}"
        told = reading.columns[place]
        if not told.feature.has_order:
            yield from _levels(package, told, columns.encoding == "one_hot", block)
        else:
            yield from _numbers(package, told, columns, index, block)
        made.append(block)
    node = package.helper.make_node
    yield node("Concat", made, ["doubles"], axis=1)
    yield node("Cast", ["doubles"], [MATRIX], to=package.TensorProto.DOUBLE if precise else package.TensorProto.FLOAT)


def _numbers(package: ModuleType, told: ColumnReading, columns: ColumnEncoding, index: int, block: str) -> Iterator[object]:
    """A number or a rank: the median where it is missing, centred and scaled."""
    feature = told.feature
    node, source = package.helper.make_node, feature.name
    if feature.is_ranked:
        codes = {text: np.nan if code < 0 else float(code) for text, code in codes_of_spellings(told).items()}
        yield from _looked_up(package, feature, codes, float(code_of_others(told)), f"{block} rank")
        source = f"{block} rank"
    else:
        yield from number_input(package, told, f"{block} number")
        source = f"{block} number"
    for name, value in (("middle", columns.middle), ("center", columns.center), ("scale", columns.scale)):
        yield node("Constant", [], [f"{block} {name}"], value=_one(package, value[index]))
    yield node("IsNaN", [source], [f"{block} absent"])
    yield node("Where", [f"{block} absent", f"{block} middle", source], [f"{block} filled"])
    yield node("Sub", [f"{block} filled", f"{block} center"], [f"{block} centred"])
    yield node("Div", [f"{block} centred", f"{block} scale"], [block])


def _levels(package: ModuleType, told: ColumnReading, one_hot: bool, block: str) -> Iterator[object]:
    """A level: its index, or a column per level and one for a missing value."""
    feature, node, count = told.feature, package.helper.make_node, len(told.feature.levels)
    absent, other = (float(count), -2.0) if one_hot else (-1.0, float(count))
    if (others := code_of_others(told)) < count:
        other = float(others)
    codes = {text: absent if code < 0 else float(code) for text, code in codes_of_spellings(told).items()}
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


def onnx(predictor: Shipped) -> bytes:
    """The serialised graph. Raises ConfigurationError for what no such graph can say, and without the package."""
    model = predictor.model
    if isinstance(model, EstimatorModel):
        return estimator_graph(predictor)
    if isinstance(model, ForestModel | NumberForestModel):
        forest, package = unprepared_forest(predictor, "onnx"), onnx_package()
        if isinstance(model, NumberForestModel):
            return serialise(package, predictor, "forest", *_number_forest(package, predictor.read_as, model))
        return serialise(package, predictor, "forest", forest_nodes(package, predictor.read_as, forest), ())
    tree, package = one_path(predictor, "onnx"), onnx_package()
    trees = ensemble(tree)
    if isinstance(tree, TreeModel):
        answers = np.column_stack([tree.cut.prediction, tree.node_scores])[trees.origin]
        nodes, constants = _class_answers(package, trees, answers), [_whole(package, "sizes", [1, len(predictor.classes)])]
    else:
        answers = np.arange(len(trees.leaf), dtype=np.float64)[:, None]
        nodes = _number_answers(package, trees, answers)
        constants = [doubles(package, "numbers", tree.cut.prediction[trees.origin])]
    return serialise(package, predictor, "tree", [*columns(package, predictor.read_as, trees.columns), *nodes], constants)


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


def forest_nodes(package: ModuleType, reading: TableReading, model: ForestModel) -> Iterator[object]:
    """The nodes of the graph of a forest of classes."""
    voting = np.repeat(np.arange(len(model.nodes)), np.diff(model.first))
    yield from _forest(package, reading, model, voting, model.voted, model.classes, model.shares / WHOLE)
    node = package.helper.make_node
    yield node("ReduceSum", ["votes", "axis"], ["all"], keepdims=1)
    yield node("Div", ["votes", "all"], ["scores"])
    yield node("ArgMax", ["votes"], ["index"], axis=1, keepdims=0)
    yield node("Gather", ["classes", "index"], ["prediction"])


def _number_forest(package: ModuleType, reading: TableReading, forest: NumberForestModel) -> tuple[list[object], list[object]]:
    """The nodes of the graph of a forest of numbers, and their constants."""
    model, ballot, trees = forest.votes, forest.ballot, len(forest.votes.trees) - 1
    leaves = np.flatnonzero(model.nodes[:, TEST] == LEAF)
    tree, place = tree_and_place(model)
    votes = np.zeros(len(model.nodes), np.int64)
    votes[leaves] = model.shares[model.first[leaves]]
    node, kinds = package.helper.make_node, package.TensorProto
    nodes = [
        *_forest(package, reading, model, leaves, tree[leaves], trees, place[leaves].astype(np.float64)),
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
    package: ModuleType,
    reading: TableReading,
    model: ForestModel,
    voting: Integers,
    voted: Integers | Codes,
    many: int,
    votes: Floats,
) -> Iterator[object]:
    """The table that is tested, and all trees of a forest: nodes `voting` add `votes` to the sums `voted` of so `many`."""
    read: dict[NodeInput, int] = {}
    tests = [_test(model, node, read) for node in range(len(model.nodes))]
    if not read:  # leaves alone still answer as many rows as they are given
        feature = model.features[0]
        read[NodeInput(0, None if feature.is_number else (0,) * len(feature.levels))] = 0
    yield from columns(package, reading, read)
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
    return [index for index, feature in enumerate(model.features) if feature.is_number]


def _test(model: ForestModel, node: int, read: dict[NodeInput, int]) -> tuple[int, float]:
    """The column that a node tests, and its threshold; columns are numbered as they come."""
    if model.nodes[node, TEST] == LEAF:
        return 0, 0.0
    asked = node_input(model, node)
    threshold = 0.5 if asked.child is not None else float(model.cuts[asked.feature][model.nodes[node, AT]])
    return read.setdefault(asked, len(read)), threshold
