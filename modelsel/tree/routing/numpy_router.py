"""Send rows down a tree in NumPy, a node at a time: the twin of the compiled walk."""

import numpy as np

from modelsel.core.types import Booleans, Floats, Integers, Table
from modelsel.tree.routing.reroute import by_surrogates, position
from modelsel.tree.routing.routed import Routed
from modelsel.tree.structure.node import BY_SURROGATES, LEAF, THRESHOLD, DecisionTree


def walk(tree: DecisionTree, table: Table, rows: Integers) -> Routed:
    """Fragments of rows, row after row, and how many rows met an unseen level."""
    stack = [(0, np.arange(len(rows)), np.ones(len(rows)))]
    ended: list[tuple[Integers, int, Floats]] = []
    met = np.zeros(len(rows), bool)
    while stack:
        node, owner, part = stack.pop()
        if tree.test[node] == LEAF:
            ended.append((owner, node, part))
            continue
        branch, unseen = _branches(tree, node, table.values, rows[owner])
        met[owner[unseen]] = True
        for place, child in enumerate(tree.children(node)):
            own = (branch == place) | ((branch < 0) & (tree.share[child] > 0))
            if own.any():
                stack.append((int(child), owner[own], np.where(branch[own] < 0, part[own] * tree.share[child], part[own])))
    owner = np.concatenate([np.zeros(0, np.int64), *(each[0] for each in ended)])
    leaf = np.concatenate([np.zeros(0, np.int32), *(np.full(len(each[0]), each[1], np.int32) for each in ended)])
    part = np.concatenate([np.zeros(0), *(each[2] for each in ended)])
    order = np.lexsort((leaf, owner))
    return Routed(owner[order], leaf[order], part[order], len(rows), int(met.sum()))


def _branches(tree: DecisionTree, node: int, values: Floats, rows: Integers) -> tuple[Integers, Booleans]:
    """Position of the child per row, −1 where the row is divided; and which rows met an unseen level."""
    feature = int(tree.feature[node])
    value = values[rows, feature]
    missing = np.isnan(value)
    unseen = (value >= len(tree.features[feature].levels)) & (tree.test[node] != THRESHOLD)
    branch = position(tree, node, np.where(missing | unseen, 0.0, value))
    branch[unseen] = tree.majority[node]
    assert tree.missing_to is not None
    to = int(tree.missing_to[node])
    branch[missing] = by_surrogates(tree, node, values, rows[missing]) if to <= BY_SURROGATES else to
    return branch, unseen
