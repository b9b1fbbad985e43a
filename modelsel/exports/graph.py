"""The parts that graphs of trees and of forests share: their inputs, the table that is tested, and the file."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.reading import ColumnReading, TableReading
from modelsel.core.types import Feature
from modelsel.dataset.reading import code_of_others, codes_of_spellings, missing_numbers
from modelsel.exports.shipped import Shipped
from modelsel.exports.trees import NodeInput
from modelsel.learner.trees.model import NumberTreeModel, TreeModel
from modelsel.tree.node import EQUALITY, MULTIWAY, SUBSET, THRESHOLD, DecisionTree

# A tree in the form that tree ensembles of other systems have: two children a node, every test `column <= threshold`.


@dataclass
class Ensemble:
    """A list entry for each node: `column` (-1: a leaf) at most `threshold` -> node `below`, else `above`."""

    columns: dict[NodeInput, int] = field(default_factory=dict)  # to its number
    column: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    below: list[int] = field(default_factory=list)
    above: list[int] = field(default_factory=list)
    missing_below: list[int] = field(default_factory=list)
    leaf: list[int] = field(default_factory=list)
    origin: list[int] = field(default_factory=list)  # of each leaf: its node in the model

    def add(self, column: int, threshold: float = 0.0, missing_below: bool = False) -> int:
        """Add a node and return its index."""
        self.column.append(column)
        self.threshold.append(threshold)
        self.below.append(0)
        self.above.append(0)
        self.missing_below.append(int(missing_below))
        return len(self.column) - 1

    def number(self, column: NodeInput) -> int:
        return self.columns.setdefault(column, len(self.columns))


def ensemble(model: TreeModel | NumberTreeModel) -> Ensemble:
    """Copy the tree; a test with k children becomes k - 1 tests that halve their positions."""
    made, tree = Ensemble(), model.cut.tree
    waiting = [(0, 0, _last(tree, 0), made.below, -1)]  # node, its children from, to; the list and place that point here
    while waiting:
        node, low, high, pointer, place = waiting.pop()
        if model.cut.leaf[node]:
            here = made.add(-1)
            made.leaf.append(here)
            made.origin.append(node)
        else:
            middle = (low + high) // 2
            here = made.add(made.number(_column(tree, node)), *_test(tree, node, middle))
            for side, start, end in ((made.above, middle + 1, high), (made.below, low, middle)):
                child = int(tree.children(node)[start])
                waiting.append((child, 0, _last(tree, child), side, here) if start == end else (node, start, end, side, here))
        if place >= 0:
            pointer[place] = here
    if not made.columns:  # a leaf alone still answers as many rows as it is given
        made.number(NodeInput(0, None if tree.features[0].is_number else (0,) * len(tree.features[0].levels)))
    return made


def _last(tree: DecisionTree, node: int) -> int:
    return len(tree.children(node)) - 1


def _test(tree: DecisionTree, node: int, middle: int) -> tuple[float, bool]:
    """Threshold, and whether a missing number goes below it."""
    if tree.features[tree.feature[node]].has_levels:
        return middle + 0.5, False
    assert tree.missing_to is not None
    return float(tree.threshold[node]), int(tree.missing_to[node]) == 0


def _column(tree: DecisionTree, node: int) -> NodeInput:
    """Describe which input a node reads, and its branches for missing and other levels."""
    feature = int(tree.feature[node])
    if tree.features[feature].is_number:
        return NodeInput(feature)
    assert tree.missing_to is not None
    rest = int(tree.threshold[node] < np.inf) if tree.test[node] == THRESHOLD else int(tree.majority[node])
    return NodeInput(feature, _children(tree, node), int(tree.missing_to[node]), rest)


def _children(tree: DecisionTree, node: int) -> tuple[int, ...]:
    """Position of the child that takes each declared level."""
    levels, test, threshold = np.arange(len(tree.features[tree.feature[node]].levels)), tree.test[node], tree.threshold[node]
    if test == MULTIWAY:
        return tuple(levels.tolist())
    first = tree.subset[node] if test == SUBSET else levels == threshold if test == EQUALITY else levels <= threshold
    return tuple(np.where(first, 0, 1).tolist())


CORE, ML, FORMAT = 17, 3, 8  # operators, those for models (3: ensembles of doubles), file format: read since 2021


def serialise(
    package: ModuleType, predictor: Shipped, name: str, nodes: Iterable[object], constants: Iterable[object]
) -> bytes:
    """A graph of these nodes, from one input per feature to `prediction` (and of classes `scores`), checked and as bytes."""
    helper, kinds, classes = package.helper, package.TensorProto, predictor.classes
    said = [helper.make_tensor_value_info("prediction", kinds.STRING if classes else kinds.DOUBLE, ["rows"])]
    if classes:
        said.append(helper.make_tensor_value_info("scores", kinds.FLOAT, ["rows", len(classes)]))
        constants = [helper.make_tensor("classes", kinds.STRING, [len(classes)], classes), *constants]
    graph = helper.make_graph(
        list(nodes),
        name,
        [helper.make_tensor_value_info(f.name, _kind(package, f), ["rows", 1]) for f in predictor.features],
        said,
        [package.numpy_helper.from_array(np.array([1]), "axis"), *constants],
    )
    opsets = [helper.make_opsetid("", CORE), helper.make_opsetid("ai.onnx.ml", ML)]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=FORMAT, producer_name="modelsel")
    package.checker.check_model(made)
    return bytes(made.SerializeToString())


def doubles(package: ModuleType, name: str, values: object) -> object:
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


def _kind(package: ModuleType, feature: Feature) -> object:
    return package.TensorProto.DOUBLE if feature.is_number else package.TensorProto.STRING


def number_input(package: ModuleType, told: ColumnReading, out: str) -> Iterator[object]:
    """The numbers of a feature as they are read: those that are codes for a missing value are missing."""
    node, source, codes = package.helper.make_node, told.name, missing_numbers(told)
    if not codes:
        yield node("Identity", [source], [out])
        return
    yield node("Constant", [], [f"{out}, none"], value=package.numpy_helper.from_array(np.array([[np.nan]])))
    for place, code in enumerate(codes):
        made = out if place + 1 == len(codes) else f"{out}, without {place}"
        yield node("Constant", [], [f"{out}, code {place}"], value=package.numpy_helper.from_array(np.array([[code]])))
        yield node("Equal", [source, f"{out}, code {place}"], [f"{out}, is {place}"])
        yield node("Where", [f"{out}, is {place}", f"{out}, none", source], [made])
        source = made


def columns(package: ModuleType, reading: TableReading, read: Collection[NodeInput]) -> Iterator[object]:
    """The table that the ensemble reads, a column per number or lookup."""
    node, made = package.helper.make_node, [f"column {number}" for number in range(len(read))]
    for column, out in zip(read, made, strict=True):
        told = reading.columns[column.feature]
        if column.child is None:
            yield from number_input(package, told, out)
            continue
        child = [*column.child, column.rest]
        position = {text: column.missing if code < 0 else child[code] for text, code in codes_of_spellings(told).items()}
        yield node(
            "LabelEncoder", [told.name], [f"{out}, position"], domain="ai.onnx.ml", keys_strings=list(position),
            values_floats=[float(child) for child in position.values()], default_float=float(child[code_of_others(told)]),
        )  # fmt: skip
        yield node("Cast", [f"{out}, position"], [out], to=package.TensorProto.DOUBLE)
    yield node("Concat", made, ["table"], axis=1)
