"""The soft walk in NumPy, a node at a time: the twin of the compiled one."""

import numpy as np

from modelsel.core.types import Codes, Floats, Integers
from modelsel.tree.softening.widths import Widths, ramps
from modelsel.tree.structure.node import LEAF, DecisionTree


def walk(tree: DecisionTree, widths: Widths, x: Floats, root: int = 0) -> tuple[Integers, Codes, Floats]:
    """Fragments of rows, row after row and leaves in preorder: row, leaf, part of its weight."""
    weight = {root: np.ones(len(x))}
    slot = np.cumsum(tree.test != LEAF) - 1
    soft = ramps(tree)
    for node in range(root, root + int(tree.size[root])):
        if tree.test[node] != LEAF:
            children = tree.children(node)
            shares = left_share(x[:, slot[node]], tree, widths, node) if soft[node] else _whole(x[:, slot[node]], len(children))
            divided = np.isnan(x[:, slot[node]])
            shares[:, divided] = tree.share[children][:, None]
            own = weight.pop(node)
            weight.update({int(child): own * share for child, share in zip(children, shares, strict=True)})
    reached = np.array([weight[leaf] for leaf in sorted(weight)])
    owner, which = np.nonzero(reached.T > 0)
    return owner.astype(np.int64), np.array(sorted(weight), np.int32)[which], reached[which, owner]


def left_share(value: Floats, tree: DecisionTree, widths: Widths, node: int) -> Floats:
    """Shares of both children of a ramp, 2 × rows."""
    c, a, b = tree.threshold[node], widths.below[node], widths.above[node]
    with np.errstate(divide="ignore", invalid="ignore"):
        below = np.where(c - value >= a, 1.0, 0.5 + 0.5 * (c - value) / a)
        above = np.where(value - c >= b, 0.0, 0.5 - 0.5 * (value - c) / b)
    left = np.where(value <= c, below, above)
    return np.array([left, 1.0 - left])


def _whole(position: Floats, branches: int) -> Floats:
    shares: Floats = (position == np.arange(branches)[:, None]).astype(np.float64)
    return shares
