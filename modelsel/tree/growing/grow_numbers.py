"""Grow a tree by squared error, Poisson deviance or the loss of a quantile: by a compiled kernel, or by its interpreted source.

Growers of classes are shared as far as they go: rows have one class, so that a table of class weights is a weight.
"""

from dataclasses import replace
from types import ModuleType

import numpy as np

from modelsel.core.types import ClassTask, Floats, Integers, NumberTask
from modelsel.kernels import stop
from modelsel.kernels.compiler import is_wanted, load, load_compiled
from modelsel.tree.growing.assemble import GrowerOutput, assemble
from modelsel.tree.growing.columns import RankedColumns, WeightedRows, columns
from modelsel.tree.growing.grow import check_word
from modelsel.tree.growing.growth import SQUARED_ERROR, GrowthParams, NumberLoss, bits_for
from modelsel.tree.growing.late_surrogates import Finder, by_surrogates, later
from modelsel.tree.growing.whole_target import WeightedWholes, WholeTarget
from modelsel.tree.node import DecisionTree, NodeNumbers

NO_MIMICS = np.zeros((0, 6), np.int64), np.zeros(0), np.zeros(0, np.int64)


def grow_numbers(
    task: NumberTask,
    rows: Integers,
    growth: GrowthParams,
    loss: NumberLoss = SQUARED_ERROR,
    signs: tuple[int, ...] = (),
) -> DecisionTree:
    """The fully grown tree on `rows` (repeats allowed). Raises `stop.Stopped` when the stop flag is set meanwhile.

    signs: per feature 1 where the answer may only rise with it, −1 where it may only fall, 0 where anything goes.
    """
    ranked = columns(task)
    chosen, wholes = whole_rows(task, rows, growth, ranked)
    late = growth.missing == "surrogate" and ranked.known and chosen.unit and is_wanted() and not signs
    tree = _grow(chosen, wholes, ranked, replace(growth, missing="node_mode") if late else growth, loss, signs)
    return later(by_surrogates(tree), Finder(chosen, ranked, bits_for(len(chosen.rows)))) if late else tree


def _one_class(task: NumberTask) -> ClassTask:
    """Return the rows as a task of one class."""
    return ClassTask(
        name=task.name, features=task.features, values=task.values, rows=task.rows, weights=task.weights, classes=("",),
        target=np.zeros(len(task), np.int32),
    )  # fmt: skip


def whole_rows(
    task: NumberTask, rows: Integers, growth: GrowthParams, ranked: RankedColumns
) -> tuple[WeightedRows, WeightedWholes]:
    """The fitted rows with weights whose sums are exact, and their whole numbers."""
    chosen = WeightedRows.of(_one_class(task), rows)
    target = WholeTarget.of(task.target[chosen.rows], float(chosen.weight.sum()))
    divided = growth.missing == "fractional" and not ranked.complete
    wholes = WeightedWholes.of(target, chosen.rows, len(task), chosen.weight, divided)
    weight = wholes.rounded(chosen.weight)
    return replace(chosen, rows=chosen.rows[weight > 0], weight=weight[weight > 0]), wholes


def grow_two_classes(task: ClassTask, rows: Integers, growth: GrowthParams, signs: tuple[int, ...]) -> DecisionTree:
    """A tree of two classes by the Gini index, twice the variance of 0 and 1: signs are those of the second's share."""
    numbers = NumberTask(
        name=task.name, features=task.features, values=task.values, rows=task.rows, weights=task.weights,
        target=(task.target == 1).astype(np.float64),
    )  # fmt: skip
    tree = grow_numbers(numbers, rows, growth, signs=signs)
    assert tree.numbers is not None
    second = tree.weight * tree.numbers.mean
    if (tree.weight == np.floor(tree.weight)).all():
        second = np.rint(second)
    return replace(
        tree, classes=task.classes, counts=np.stack([tree.weight - second, second], axis=1), goodness=2.0 * tree.goodness,
        missing_to=tree.missing_to, numbers=None,
    )  # fmt: skip


def _grow(
    chosen: WeightedRows, wholes: WeightedWholes, ranked: RankedColumns, growth: GrowthParams, loss: NumberLoss,
    signs: tuple[int, ...],
) -> DecisionTree:  # fmt: skip
    """Grow by the kernel that is enough."""
    if (
        ranked.known
        and chosen.unit
        and not signs
        and loss == SQUARED_ERROR
        and (kernel := load_compiled("grow_numbers_complete"))
    ):
        output = _complete(kernel, chosen, wholes, ranked, growth)
    else:
        kernel = load("grow_numbers")
        output = _general(kernel, chosen, wholes, ranked, growth, loss, signs)
    if len(output.nodes) == 0:
        raise stop.Stopped
    return number_tree(output, chosen, ranked, growth)


def number_tree(output: GrowerOutput, chosen: WeightedRows, ranked: RankedColumns, growth: GrowthParams) -> DecisionTree:
    """The tree of what a grower put out."""
    tree = assemble(output, chosen.task, ranked, chosen.rows if growth.threshold == "observed" else None)
    weight, mean, squares = tree.counts.T.copy()
    return replace(
        tree, classes=(), counts=weight[:, None].copy(), missing_to=tree.missing_to,
        numbers=NodeNumbers(_inherit_means(tree, mean), squares),
    )  # fmt: skip


def _inherit_means(tree: DecisionTree, mean: Floats) -> Floats:
    """Means; that of the parent where no row arrived."""
    for node in np.flatnonzero(np.isnan(mean)):
        mean[node] = mean[tree.parent[node]]
    return mean


def _complete(
    kernel: ModuleType, chosen: WeightedRows, wholes: WeightedWholes, ranked: RankedColumns, growth: GrowthParams
) -> GrowerOutput:
    """Grow by the kernel for complete columns and rows of weight one."""
    nodes, worth, sums, squares = kernel.grow(
        ranked.order,
        ranked.codes,
        wholes.target.whole,
        chosen.rows,
        growth.rules(len(chosen.rows), chosen.unit, convex=1),
        growth.limits(len(chosen.rows)),
        stop.FLAG,
    )
    weight = sums[:, -1].astype(np.float64)
    return _output(nodes, worth, weight, sums[:, 0] / np.maximum(weight, 1.0), squares, wholes)


def _general(
    kernel: ModuleType,
    chosen: WeightedRows,
    wholes: WeightedWholes,
    ranked: RankedColumns,
    growth: GrowthParams,
    loss: NumberLoss,
    signs: tuple[int, ...],
) -> GrowerOutput:
    """Grow by the general kernel."""
    surrogates, presort = (load(name) for name in ("surrogates", "presort"))
    if loss.by_quantile:
        order = np.lexsort((chosen.weight, wholes.whole[chosen.rows]))
        chosen = replace(chosen, rows=chosen.rows[order], weight=chosen.weight[order])
    task, limits = chosen.task, growth.limits(len(chosen.rows))
    rules = growth.rules(len(chosen.rows), chosen.unit, convex=1, formula=loss.formula)
    if loss != SQUARED_ERROR:
        limits = limits._replace(exponent=loss.quantile if loss.by_quantile else wholes.target.zero)
    check_word(ranked, rules.id_bits)
    entries = presort.pack(
        ranked.order, ranked.codes, ranked.sorted_features, ranked.levels, task.target, chosen.number, len(chosen.rows),
        rules.id_bits, 0,
    )  # fmt: skip
    steps = 0.0 if wholes.integral else wholes.steps
    nodes, worth, moments, *records = kernel.grow(
        entries, chosen.rows.astype(np.int32), chosen.weight.copy(), ranked.slot, ranked.codes, ranked.levels,
        wholes.whole, steps, wholes.parts, rules, limits, surrogates.mimics,
        np.array(signs, np.int64), stop.FLAG,
    )  # fmt: skip
    weight, mean, squares = moments.T
    own = _output(nodes, worth, weight, mean, squares, wholes, loss)
    return GrowerOutput(nodes, own.goodness, own.counts, *records)


def _output(
    nodes: Integers,
    worth: Floats,
    weight: Floats,
    mean: Floats,
    squares: Floats,
    wholes: WeightedWholes,
    loss: NumberLoss = SQUARED_ERROR,
) -> GrowerOutput:
    """Records without marks and surrogates, numbers in the target's unit; `counts` are weight, mean, squares."""
    counts = np.stack([weight, wholes.target.value(mean), squares / np.square(wholes.target.scale)], axis=1)
    return GrowerOutput(nodes, wholes.goodness(worth, weight, loss), counts, np.zeros(0, np.uint8), *NO_MIMICS)
