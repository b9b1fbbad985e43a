"""Grow the trees of a forest, one by one: by the compiled kernel, or by its interpreted source."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Booleans, Integers
from modelsel.forest.forest_tree import ForestTree, LeafWeights, NodeLists
from modelsel.forest.growth import ForestData, ForestGrowth
from modelsel.kernels import stop
from modelsel.kernels.compiler import function_of, load, load_compiled


def grow_tree(ground: ForestData, growth: ForestGrowth, number: int) -> ForestTree:
    """Tree `number` of a forest. Raises `stop.Stopped` when the stop flag is set meanwhile."""
    if ground.second is not None:
        return _of_two_classes(grow_tree(ground.as_numbers, growth, number))
    times, honest = drawn_rows(ground, growth, number)
    growing = np.where(honest, 0, times) if honest is not None else times
    if not growing.any():  # all rows fill leaves: of one, which any of them grows
        growing = np.where(np.arange(len(times)) == np.argmax(times > 0), 1, 0)
    used = np.asarray(np.bincount(ground.rows, growing, len(ground.task)), np.float64)
    rows = np.flatnonzero(used > 0).astype(np.int32)
    tree = _grow(ground, growth, number, rows, used)
    if not len(tree):
        raise stop.Stopped
    if ground.numbers is None:
        return tree
    with np.errstate(over="ignore"):  # squares of numbers of 1e200 are infinite
        return replace(tree, gains=tree.gains / ground.numbers.unit / ground.numbers.unit)


def _of_two_classes(tree: ForestTree) -> ForestTree:
    """Class weights in the place of sums of the second class; the Gini index is twice the variance of its share."""
    first, kind, weight = tree.leaves
    sums = np.zeros((len(first) - 1, 2))
    sums[np.repeat(np.arange(len(sums)), np.diff(first)), kind] = weight
    second, whole = sums.T
    lists = NodeLists.from_dense(np.column_stack([whole - second, second]))
    first = np.r_[lists.start, len(lists.classes)].astype(np.int32)
    return replace(tree, gains=2.0 * tree.gains, leaves=LeafWeights(first, lists.classes, lists.weights))


def drawn_rows(ground: ForestData, growth: ForestGrowth, number: int) -> tuple[Integers, Booleans | None]:
    """Draw a tree's rows: how often each position is used, and which of them only fill its leaves."""
    n, kernel = len(ground.rows), load("draws")
    times = kernel.draw(np.uint64(ground.seed), number, n, growth.how, growth.size)
    if not growth.honest:
        return times, None
    return times, kernel.honest(np.uint64(ground.seed), number, n, growth.honest).astype(bool)


def _grow(
    ground: ForestData, growth: ForestGrowth, number: int, rows: NDArray[np.int32], used: NDArray[np.float64]
) -> ForestTree:
    """Grow a tree. `used`: how often each row of the task was drawn."""
    from modelsel.kernels import types

    compiled, rows_kernel = load_compiled("grow_forest"), load("draws")
    kernel, loop = compiled or load("grow_forest"), growth.criterion.loop or _no_goodness
    goodness: Any = function_of(loop, types.goodness.signature) if compiled else loop
    values, first = ground.values
    nodes, thresholds, gains, first_of, held, weights, marks = kernel.grow(
        ground.ranked.codes, ground.ranked.levels, ground.nominal, values, first, ground.target, used * ground.weights, rows,
        ground.two_valued, ground.slots, int(ground.ranked.known), ground.table, ground.fused, ground.scale, goodness,
        rows_kernel.root(np.uint64(ground.seed), number), growth.features, growth.min_leaf, growth.nominal, int(growth.apart),
        int(growth.random), ground.width, NOTHING if ground.numbers is None else used * ground.numbers.v,
        np.array(growth.signs, np.int64), stop.FLAG,
    )  # fmt: skip
    return ForestTree(nodes, thresholds, gains, LeafWeights(first_of, held, weights), marks, ground.width)


NOTHING = np.zeros(0)


def _no_goodness(table: Any) -> float:
    """Stand in for a criterion's own function where the kernel knows the formula."""
    return table[0, 0] * 0.0  # type: ignore[no-any-return]
