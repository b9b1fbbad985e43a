"""From the records of a grower, in the order in which nodes were made, to a `DecisionTree` in preorder."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Booleans, ClassTask, Floats, Integers
from modelsel.kernels.compiler import load
from modelsel.kernels.layout import (
    BRANCHES,
    FEATURE,
    FIRST,
    LEFT,
    LEVELS,
    MISSING_TO,
    PARENT,
    RIGHT,
    TEST,
)
from modelsel.tree.growing.columns import RankedColumns
from modelsel.tree.node import EQUALITY, LEAF, SUBSET, THRESHOLD, DecisionTree, Surrogates


class GrowerOutput(NamedTuple):
    """The output of a grower: a record per node, goodness of its test, class weights, marks of the levels of subsets."""

    nodes: Integers
    goodness: Floats
    counts: Floats
    marks: NDArray[np.uint8]
    mimics: Integers  # surrogates × 6, node after node
    agreement: Floats
    sides: Integers


def assemble(grown: GrowerOutput, task: ClassTask, columns: RankedColumns, present: Integers | None) -> DecisionTree:
    """The tree; `present` are the data rows whose values an `observed` threshold may take, None asks for midpoints."""
    position = _preorder(grown.nodes)
    made = np.empty_like(position)
    made[position] = np.arange(len(position))
    nodes = grown.nodes.take(made, axis=0)
    parent = position.take(nodes[:, PARENT]).astype(np.int32)
    parent[0] = -1
    test = nodes[:, TEST].astype(np.int8)
    inner = test != LEAF
    first = np.zeros(len(nodes) + 1, np.int32)
    nodes[:, BRANCHES].cumsum(out=first[1:])
    siblings = np.repeat(nodes[:, FIRST] - first[:-1], nodes[:, BRANCHES])  # they were made in a row
    return DecisionTree(
        features=task.features,
        classes=task.classes,
        parent=parent,
        test=test,
        feature=np.where(inner, nodes[:, FEATURE], -1).astype(np.int32),
        threshold=_thresholds(nodes, columns, present),
        first=first,
        child=position.take(siblings + np.arange(len(siblings))).astype(np.int32),
        counts=grown.counts.take(made, axis=0),
        goodness=np.where(inner, grown.goodness.take(made), np.nan),
        subset=_subsets(nodes, grown.marks, columns),
        missing_to=np.where(inner, nodes[:, MISSING_TO], 0).astype(np.int32),
        surrogates=surrogates_of(grown.mimics, grown.agreement, grown.sides, position, columns),
    )


def _preorder(nodes: Integers) -> Integers:
    """Place of each node when a parent stands before its children and a subtree is a slice."""
    places: Integers = load("preorder").preorder(nodes)
    return places


def _thresholds(nodes: Integers, columns: RankedColumns, present: Integers | None) -> Floats:
    """Midpoints between neighbouring values (or the largest value of the present rows below them); indices of levels.

    What parts known values from missing ones is infinite.
    """
    threshold, test = np.full(len(nodes), np.nan), nodes[:, TEST]
    threshold[test == EQUALITY] = nodes[test == EQUALITY, LEFT]
    cuts = np.flatnonzero(test == THRESHOLD)
    feature, low, high = (nodes[:, place].take(cuts) for place in (FEATURE, LEFT, RIGHT))
    start = columns.start.take(feature)
    between = high < columns.levels.take(feature)
    threshold[cuts] = np.inf
    cuts, feature, start, low, high = (each[between] for each in (cuts, feature, start, low, high))
    threshold[cuts] = midpoint(columns.flat.take(start + low), columns.flat.take(start + high))
    if present is not None:
        for each in np.unique(feature):
            own = cuts[feature == each]
            seen = _values_of_codes(columns.values[each], columns.codes[each].take(present))
            threshold[own] = seen[np.searchsorted(seen, threshold[own], "right") - 1]
    return threshold


def _values_of_codes(values: Floats, codes: Integers) -> Floats:
    """The values that these codes name, ascending."""
    marks = np.zeros(len(values) + 1, bool)
    marks[codes] = True  # −1, a missing value, is the last mark
    return values[marks[:-1]]


def midpoint(low: Floats, high: Floats) -> Floats:
    """Halfway, or the lower value where no number lies between (neighbouring floats, infinities)."""
    with np.errstate(over="ignore", invalid="ignore"):
        middle = low / 2 + high / 2
    between: Floats = np.where((low <= middle) & (middle < high), middle, low)
    return between


def surrogates_of(
    mimics: Integers, agreement: Floats, sides_of: Integers, position: Integers, columns: RankedColumns
) -> Surrogates | None:
    """Surrogates by the node's new place, None where no node has any."""
    if len(mimics) == 0:
        return None
    order = np.argsort(position[mimics[:, 0]], kind="stable")
    node, feature, low, high, flipped, start = mimics[order].T
    cuts = start < 0
    threshold = np.full(len(order), np.nan)
    at = columns.start[feature[cuts]]
    threshold[cuts] = midpoint(columns.flat[at + low[cuts]], columns.flat[at + high[cuts]])
    nominal, end, sides = np.flatnonzero(~cuts), start + columns.levels[feature], sides_of.astype(np.int8)
    stretches = zip(nominal.tolist(), start[nominal].tolist(), end[nominal].tolist())
    return Surrogates(
        first=np.searchsorted(position[node], np.arange(len(position) + 1)).astype(np.int32),
        feature=feature.astype(np.int32),
        threshold=threshold,
        flipped=flipped.astype(bool),
        sides={each: sides[first:last].copy() for each, first, last in stretches},
        agreement=agreement[order],
    )


def _subsets(nodes: Integers, marks: NDArray[np.uint8], columns: RankedColumns) -> dict[int, Booleans]:
    """Read the levels of each subset test."""
    subsets: dict[int, Booleans] = {}
    for node in np.flatnonzero(nodes[:, TEST] == SUBSET):
        start = nodes[node, LEVELS]
        subsets[int(node)] = marks[start : start + len(columns.values[nodes[node, FEATURE]])].astype(bool)
    return subsets
