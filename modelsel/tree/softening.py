"""A tree whose thresholds are ramps: how rows meet its tests, and the leaves they reach with which part of their weight.

At x ≤ c with widths a and b all weight goes left up to c − a and right from c + b on, half each way at c, linear in between;
a width of zero makes its side a step, so that widths of zero are the hard tree.

Dvořák 2019, *Softening splits in classification trees*; Quinlan 1993, section 8 (C4.5's soft thresholds).
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Booleans, ClassTask, Codes, Floats, Integers, Table
from modelsel.kernels.compiler import load
from modelsel.tree.node import BY_SURROGATES, DIVIDED, LEAF, THRESHOLD, DecisionTree, PrunedView
from modelsel.tree.pruning import best_class
from modelsel.tree.routing import Routed, by_surrogates, position

# The widths of a tree's ramps, and the tests that can be softened.


@dataclass(frozen=True, eq=False)
class Widths:
    """Per node: how far the ramp reaches below and above the threshold; 0 where the test is hard."""

    below: Floats
    above: Floats

    @classmethod
    def none(cls, tree: DecisionTree) -> "Widths":
        return cls(np.zeros(len(tree)), np.zeros(len(tree)))


def ramps(tree: DecisionTree) -> Booleans:
    """Mask the tests that can be softened: thresholds between numbers (an ordered level is not a distance)."""
    numeric = np.array([feature.is_number for feature in tree.features] + [False])
    soft: Booleans = (tree.test == THRESHOLD) & numeric[tree.feature] & np.isfinite(tree.threshold)
    return soft


BLOCK = 8192  # rows whose values at all tests are held at once


class Softener(Protocol):
    """A method that sets how wide the ramps of a pruned tree are; a frozen dataclass.

    Examples
    --------
    >>> from modelsel.softener.hard import Hard
    >>> callable(Hard().widths)
    True
    """

    def widths(self, cut: PrunedView, task: ClassTask, rows: Integers) -> Widths:
        """Set the widths of a tree's ramps.

        Parameters
        ----------
        cut : PrunedView
            A tree that holds only nodes that stand.
        task : ClassTask
            The task.
        rows : Integers
            Positions of the training rows, repeats allowed.

        Returns
        -------
        Widths
            The width below and above each threshold; 0 is a step.
        """
        ...


def values_at_tests(tree: DecisionTree, table: Table, rows: Integers) -> Floats:
    """Rows × tests: what each row brings to each test, as the walk reads it.

    At a ramp the value, −∞ or ∞ where a missing value goes to a certain side; elsewhere the position of the child; NaN
    where the row is divided by the children's shares. Tests stand in the order of their nodes.
    """
    tests = np.flatnonzero(tree.test != LEAF)
    soft = ramps(tree)
    x = np.empty((len(rows), len(tests)))
    for slot, node in enumerate(tests):
        value = table.values[rows, tree.feature[node]]
        side = _sides(tree, int(node), value, table, rows)
        if soft[node]:
            missing = np.isnan(value)
            x[:, slot] = value
            x[missing, slot] = np.where(np.isnan(side[missing]), np.nan, np.where(side[missing] == 0, -np.inf, np.inf))
        else:
            x[:, slot] = side
    return x


def layout(tree: DecisionTree, widths: Widths) -> tuple[NDArray[np.generic], ...]:
    """The tree as the compiled walk reads it."""
    slot = np.full(len(tree), -1, np.int32)
    tests = tree.test != LEAF
    slot[tests] = np.arange(np.count_nonzero(tests))
    return (slot, ramps(tree).astype(np.uint8), tree.threshold, widths.below, widths.above, tree.first, tree.child, tree.share)


def walk(tree: DecisionTree, widths: Widths, x: Floats, root: int = 0) -> tuple[Integers, Codes, Floats]:
    """Fragments of rows that start at `root`: row, leaf, part of its weight."""
    found: tuple[Integers, Codes, Floats] = load("soft").walk(root, np.ascontiguousarray(x), layout(tree, widths))
    return found


def soft_route(tree: DecisionTree, widths: Widths, table: Table, rows: Integers) -> Routed:
    """Route rows as `route` does, with ramps: the leaves that each row reaches and with which part."""
    parts = []
    for start in range(0, len(rows), BLOCK):
        owner, leaf, part = walk(tree, widths, values_at_tests(tree, table, rows[start : start + BLOCK]))
        parts.append((owner + start, leaf, part))
    owner, leaf, part = (np.concatenate(column) for column in zip(*parts, strict=True)) if parts else _nobody()
    return Routed(owner, leaf, part, len(rows), _unseen(tree, table, rows))


def soft_classes(cut: PrunedView, routed: Routed, costs: Floats | None = None) -> Codes:
    """Class per row: its leaf's, or where a row was divided the best of the mean of its leaves."""
    if routed.whole:
        return cut.prediction[routed.leaf]
    weight = cut.counts.sum(axis=1, keepdims=True)
    even = np.full_like(cut.counts, 1.0 / cut.counts.shape[1])
    shares = np.divide(cut.counts, weight, out=even, where=weight > 0)
    classes = best_class(routed.per_row(shares), costs)
    alone = np.bincount(routed.owner, minlength=routed.rows)[routed.owner] == 1
    classes[routed.owner[alone]] = cut.prediction[routed.leaf[alone]]
    return classes


def _sides(tree: DecisionTree, node: int, value: Floats, table: Table, rows: Integers) -> Floats:
    """Position of the child per row, NaN where the row is divided."""
    levels = len(tree.features[tree.feature[node]].levels)
    missing = np.isnan(value)
    unseen = (value >= levels) & (tree.test[node] != THRESHOLD)
    side = position(tree, node, np.where(missing | unseen, 0.0, value)).astype(np.float64)
    to = int(tree.majority[node] if tree.missing_to is None else tree.missing_to[node])
    if to <= BY_SURROGATES:
        side[missing] = by_surrogates(tree, node, table.values, rows[missing])
    else:
        side[missing] = np.nan if to == DIVIDED else to
    side[unseen] = tree.majority[node]
    return side


def _unseen(tree: DecisionTree, table: Table, rows: Integers) -> int:
    """Rows that bring a level which training had not declared to a feature that the tree tests by level."""
    met_it = np.zeros(len(rows), bool)
    for feature in np.unique(tree.feature[(tree.test != LEAF) & (tree.test != THRESHOLD)]):
        met_it |= table.values[rows, feature] >= len(tree.features[feature].levels)
    return int(np.count_nonzero(met_it))


def _nobody() -> tuple[Integers, Codes, Floats]:
    return np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0)


# Training rows that reach each test of a tree, hard; a row whose value is missing and divided goes no further.


def known_values(tree: DecisionTree, x: Floats) -> dict[int, tuple[Integers, Floats]]:
    """Per ramp: the rows (of `x`, as `values_at_tests` gives it) that reach it with a known value, and these values."""
    soft, slot = ramps(tree), np.cumsum(tree.test != LEAF) - 1
    at, known = {0: np.arange(len(x))}, {}
    for node in np.flatnonzero(tree.test != LEAF):
        rows = at.pop(int(node))
        value = x[rows, slot[node]]
        side = np.where(value <= tree.threshold[node], 0.0, 1.0) if soft[node] else value
        for place, child in enumerate(tree.children(int(node))):
            at[int(child)] = rows[(side == place) & ~np.isnan(value)]
        if soft[node]:
            finite = np.isfinite(value)
            known[int(node)] = (rows[finite], value[finite])
    return known
