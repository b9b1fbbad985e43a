"""Training rows that reach each test of a tree, hard; a row whose value is missing and divided goes no further."""

import numpy as np

from modelsel.core.types import Floats, Integers
from modelsel.tree.softening import ramps
from modelsel.tree.structure.node import LEAF, DecisionTree


def known_values(tree: DecisionTree, x: Floats) -> dict[int, tuple[Integers, Floats]]:
    """Per ramp: the rows (of `x`, as `tree.softening.met` gives it) that reach it with a known value, and these values."""
    soft, slot = ramps(tree), np.cumsum(tree.test != LEAF) - 1
    at, known = {0: np.arange(len(x))}, {}
    for node in np.flatnonzero(tree.test != LEAF):
        rows = at.pop(int(node))
        value = x[rows, slot[node]]
        side = np.where(value <= tree.threshold[node], 0.0, 1.0) if soft[node] else value
        for position, child in enumerate(tree.children(int(node))):
            at[int(child)] = rows[(side == position) & ~np.isnan(value)]
        if soft[node]:
            finite = np.isfinite(value)
            known[int(node)] = (rows[finite], value[finite])
    return known
