"""What compiled loops over trees are held to: the same in NumPy, a node at a time."""

from collections.abc import Iterator

import numpy as np

from modelsel.core.types import Booleans, Codes, Floats, Integers, Table
from modelsel.kernels.layout import DEPTH, FIRST, PARENT
from modelsel.softener.nelder_mead import ClassContrast, ObjectiveRows
from modelsel.statistics.auc import auc
from modelsel.tree.cutting import below, reached, tests_below
from modelsel.tree.growing.late_surrogates import Finder, _second
from modelsel.tree.growing.numpy_grower import SurrogateSplit, flat, mimics
from modelsel.tree.growing.numpy_tests import NodeColumn
from modelsel.tree.node import BY_SURROGATES, LEAF, THRESHOLD, DecisionTree, PrunedView
from modelsel.tree.routing import Routed, by_surrogates, position
from modelsel.tree.softening import Widths, ramps


def route_in_numpy(tree: DecisionTree, table: Table, rows: Integers) -> Routed:
    """Fragments of rows, row after row, and how many rows met an unseen level."""
    stack = [(0, np.arange(len(rows)), np.ones(len(rows)))]
    ended: list[tuple[Integers, int, Floats]] = []
    met = np.zeros(len(rows), bool)
    while stack:
        node, owner, part = stack.pop()
        if tree.test[node] == LEAF:
            ended.append((owner, node, part))
            continue
        branch, unseen = branches(tree, node, table.values, rows[owner])
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


def branches(tree: DecisionTree, node: int, values: Floats, rows: Integers) -> tuple[Integers, Booleans]:
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


def weights_in_numpy(tree: DecisionTree, routed: Routed, target: Codes, weight: Floats) -> Floats:
    """Route rows in NumPy, as the compiled kernel does."""
    counts = np.zeros(tree.counts.shape)
    np.add.at(counts, (routed.leaf, target[routed.owner]), routed.part * weight[routed.owner])
    for node in range(len(tree) - 1, 0, -1):
        counts[tree.parent[node]] += counts[node]
    return counts


def links(cut: PrunedView, risk: Floats, price: Floats) -> tuple[Floats, Floats, Floats]:
    """Compute per node what its leaves save in risk, the price of its tests, and their ratio.

    The ratio is that of standing tests; infinite elsewhere.
    """
    gap, prices, link = risk - below(cut, risk), tests_below(cut, price), np.full(len(risk), np.inf)
    inner = reached(cut) & ~cut.leaf
    link[inner] = gap[inner] / prices[inner]
    return gap, prices, link


def collapse(tree: DecisionTree, gap: Floats, prices: Floats, link: Floats, tie: float) -> Floats:
    """The twin of the compiled `collapse`."""
    critical, strength = np.full(len(link), np.inf), 0.0
    while (least := link[node := int(np.argmin(link))]) < np.inf:
        strength = float(least) if least > strength + tie else strength
        critical[node] = strength
        link[node : node + tree.size[node]] = np.inf
        above = ancestors(tree, node)
        gap[above] -= gap[node]
        prices[above] -= prices[node]
        link[above] = gap[above] / prices[above]
    return critical


def ancestors(tree: DecisionTree, node: int) -> list[int]:
    """List a node's ancestors, nearest first."""
    above = []
    while (node := int(tree.parent[node])) >= 0:
        above.append(node)
    return above


def preorder(nodes: Integers) -> Integers:
    """Number nodes in preorder in NumPy, level by level, as the kernel does."""
    parent, depth = nodes[:, PARENT], nodes[:, DEPTH]
    by_depth = np.argsort(depth, kind="stable")
    levels = np.split(by_depth, np.flatnonzero(np.diff(depth[by_depth])) + 1)
    size = np.ones(len(nodes), np.int64)
    for level in levels[:0:-1]:
        np.add.at(size, parent[level], size[level])
    before = np.cumsum(size) - size  # siblings are made in a row: differences of this are sizes of earlier siblings
    position = np.zeros(len(nodes), np.int64)
    for level in levels[1:]:
        above = parent[level]
        position[level] = position[above] + 1 + before[level] - before[nodes[above, FIRST]]
    return position


def surrogates_in_numpy(late: Finder, tree: DecisionTree) -> tuple[Integers, Floats]:
    """Records of the surrogates of every test, and how often they agree with it."""
    records, agreement, _ = flat([mimic.record(node) for node, mimic in _mimics(late, tree)])
    return records, agreement


def _mimics(late: Finder, tree: DecisionTree) -> Iterator[tuple[int, SurrogateSplit]]:
    here, second, cut = {0: late.chosen.rows}, _second(tree), late._cuts(tree)
    for node in np.flatnonzero(tree.test != LEAF).tolist():
        rows, tested = here.pop(node), int(tree.feature[node])
        branch = np.where(late.columns.codes[tested, rows] <= cut[node], 0, 1)
        here[node + 1], here[int(second[node])] = rows[branch == 0], rows[branch == 1]
        others = ((g, _column(late, g, rows), True) for g in range(len(tree.features)) if g != tested)
        yield from ((node, mimic) for mimic in mimics(others, branch, np.ones(len(rows))))


def _column(late: Finder, feature: int, rows: Integers) -> NodeColumn:
    codes, task = late.columns.codes[feature, rows], late.chosen.task
    return NodeColumn(codes, task.target[rows], np.ones(len(rows)), len(late.columns.values[feature]), len(task.classes))


def walk_in_numpy(tree: DecisionTree, widths: Widths, x: Floats, root: int = 0) -> tuple[Integers, Codes, Floats]:
    """Fragments of rows, row after row and leaves in preorder: row, leaf, part of its weight."""
    weight = {root: np.ones(len(x))}
    slot = np.cumsum(tree.test != LEAF) - 1
    soft = ramps(tree)
    for node in range(root, root + int(tree.size[root])):
        if tree.test[node] != LEAF:
            children = tree.children(node)
            shares = left_share(x[:, slot[node]], tree, widths, node) if soft[node] else whole(x[:, slot[node]], len(children))
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


def whole(position: Floats, branches: int) -> Floats:
    shares: Floats = (position == np.arange(branches)[:, None]).astype(np.float64)
    return shares


def evaluate(objective: ObjectiveRows, widths: Widths) -> float:
    """Evaluate the objective at some widths."""
    owner, leaf, part = walk_in_numpy(objective.tree, widths, objective.x)
    values = []
    for each in objective.classes:
        r = np.asarray(np.bincount(owner, part * each.of_leaf[leaf], len(objective.x)), np.float64)
        values.append(of_class(objective, each, r))
    return objective.mean(values)


def of_class(objective: ObjectiveRows, each: ClassContrast, r: Floats) -> float:
    """Compute the objective of one class from scores r."""
    if objective.kind == "auc":
        return -float(auc(each.positive.astype(bool), r, objective.weights))
    d = np.abs(r - each.positive)
    loss = {"diff": d, "square": d**2, "exptr": np.exp(4 * (d - 1))}[objective.kind]
    return float(np.average(loss, weights=objective.weights))
