"""Error-based pruning, with and without raising, against Quinlan's recursion over rows."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from modelsel.pruner.error_based import ErrorBased
from modelsel.tree.cutting import PruningData, leaves, reached
from modelsel.tree.nested import from_dict, to_dict

FEATURES = [
    {"name": "x", "kind": "numeric", "levels": []},
    {"name": "y", "kind": "numeric", "levels": []},
    {"name": "z", "kind": "nominal", "levels": ["p", "q", "r"]},
]


@dataclass(frozen=True)
class Rows:
    """Rows that divide where a value is missing, by the known ones that come along."""

    cut: object
    values: np.ndarray
    target: np.ndarray
    weights: np.ndarray

    def divide(self, node, rows, weights):
        tree = self.cut.tree
        value = self.values[rows, tree.feature[node]]
        known, many = ~np.isnan(value), len(tree.children(node))
        side = np.where(value > tree.threshold[node], 1, 0) if many == 2 else np.where(known, value, 0).astype(int)
        shares = np.bincount(side[known], weights[known], many)
        shares = shares / shares.sum() if shares.sum() else np.full(many, 1 / many)
        for branch in range(many):
            here = known & (side == branch)
            there = ~known if shares[branch] > 0 else np.zeros(len(rows), bool)
            part = np.concatenate([rows[here], rows[there]])
            yield part, np.concatenate([weights[here], weights[there] * shares[branch]])


def problem(rng, rows=60, classes=2, missing=0.1):
    """Random rows and a tree grown on them by random tests."""
    values = np.column_stack([rng.integers(0, 9, rows), rng.integers(0, 9, rows), rng.integers(0, 3, rows)]).astype(float)
    target = np.where(rng.random(rows) < 0.5, (values[:, 0] > 4).astype(int), rng.integers(0, classes, rows)).astype(np.int32)
    values[rng.random(values.shape) < missing] = np.nan
    nodes = []

    def sprout(parent, depth, some, weights):
        me = len(nodes)
        counts = np.bincount(target[some], weights, classes).tolist()
        best = int(np.argmax(counts)) if sum(counts) else nodes[parent]["prediction"]
        node = {"id": me, "parent": parent, "depth": depth, "weights": counts, "prediction": best, "test": None, "children": []}
        nodes.append(node)
        if len(some) > 4 and depth < 5 and rng.random() < 0.9:
            feature = int(rng.integers(3))
            kind = "multiway" if feature == 2 else "threshold"
            threshold = float(rng.integers(1, 8)) + 0.5
            node["test"] = {
                "feature": "xyz"[feature],
                "kind": kind,
                "threshold": threshold,
                "level": None,
                "levels": ["p", "q", "r"],
            }
            probe = Rows(_one_test(feature, threshold, classes), values, target, np.ones(rows))
            for part, shares in list(probe.divide(0, some, weights)):
                node["children"].append(sprout(me, depth + 1, part, shares))
        return me

    sprout(None, 0, np.arange(rows), np.ones(rows))
    cut = from_dict({"classes": [str(c) for c in range(classes)], "features": FEATURES, "nodes": nodes})
    return cut, Rows(cut, values, target, np.ones(rows))


def _one_test(feature, threshold, classes):
    many = 3 if feature == 2 else 2
    test = {"feature": "xyz"[feature], "kind": "multiway" if many == 3 else "threshold", "threshold": threshold}
    root = {"id": 0, "parent": None, "depth": 0, "weights": [0.0] * classes, "prediction": 0, "test": test}
    ends = [
        {"id": k + 1, "parent": 0, "depth": 1, "weights": [0.0] * classes, "prediction": 0, "test": None, "children": []}
        for k in range(many)
    ]
    nodes = [{**root, "children": list(range(1, many + 1))}, *ends]
    return from_dict({"classes": [str(c) for c in range(classes)], "features": FEATURES, "nodes": nodes})


class Twin:
    """Quinlan's procedure, by recursion, on nested dicts."""

    def __init__(self, cut, rows, pruner):
        self.cut, self.rows, self.pruner = cut, rows, pruner
        self.classes = len(cut.tree.classes)
        self.raises = 0

    def grown(self, node=0):
        below = [] if self.cut.leaf[node] else [self.grown(int(c)) for c in self.cut.tree.children(node)]
        return {"node": node, "below": below}

    def counts(self, some, weights):
        return np.bincount(self.rows.target[some], weights, self.classes)

    def leaf(self, some, weights):
        counts = self.counts(some, weights)
        n = np.array([counts.sum()])
        return float(self.pruner.estimate(n, np.maximum(n - counts.max(), 0))[0])

    def branches(self, t, some, weights):
        return list(self.rows.divide(t["node"], some, weights))

    def estimate(self, t, some, weights):
        if not len(some):
            return 0.0
        if not t["below"]:
            return self.leaf(some, weights)
        return sum(self.estimate(b, *part) for b, part in zip(t["below"], self.branches(t, some, weights), strict=True))

    def prune(self, t, some, weights):
        """Prune `t` in place for these rows; returns its estimated errors."""
        alone = self.leaf(some, weights)
        if not t["below"]:
            return alone
        parts = self.branches(t, some, weights)
        kept = sum(self.prune(b, *part) for b, part in zip(t["below"], parts, strict=True))
        sizes = [round(float(w.sum()), 9) for _, w in parts]
        largest = max(k for k, size in enumerate(sizes) if size == max(sizes))
        if self.pruner.raising:
            branch = self.estimate(t["below"][largest], some, weights)
        else:
            branch = np.inf
        if alone <= kept + 0.1 + 1e-12 and alone <= branch + 0.1 + 1e-12:
            t["below"] = []
            return alone
        if branch <= kept + 0.1 + 1e-12:
            self.raises += 1
            up = t["below"][largest]
            t["node"], t["below"] = up["node"], up["below"]
            return self.prune(t, some, weights)
        return kept

    def shape(self, t, some, weights):
        counts = self.counts(some, weights).round(6).tolist()
        if not t["below"]:
            return (None, counts)
        below = (self.shape(b, *part) for b, part in zip(t["below"], self.branches(t, some, weights), strict=True))
        return (self._test(t["node"]), counts, *below)

    def _test(self, node):
        feature = int(self.cut.tree.feature[node])
        return ("xyz"[feature], None if feature == 2 else float(self.cut.tree.threshold[node]))


def shape(cut, node=0):
    tree, counts = cut.tree, cut.tree.counts[node].round(6).tolist()
    if cut.leaf[node]:
        return (None, counts)
    feature = int(tree.feature[node])
    test = ("xyz"[feature], None if feature == 2 else float(tree.threshold[node]))
    return (test, counts, *(shape(cut, int(child)) for child in tree.children(node)))


@pytest.mark.slow
@pytest.mark.parametrize("bound", ["normal", "c45_table", "exact"])
@pytest.mark.parametrize("raising", [True, False])
def test_every_confidence_equals_the_recursion_over_rows(bound, raising):
    rng = np.random.default_rng([len(bound), raising])
    raises = 0
    for _ in range(60):
        cut, rows = problem(rng, rows=int(rng.integers(10, 90)), classes=int(rng.integers(2, 4)))
        path = ErrorBased(raising=raising, bound=bound).path(cut, PruningData(float(len(rows.target)), reroute=rows))
        for confidence in (0.5, 0.25, 0.1, 0.01):
            pruner = ErrorBased(confidence, raising, bound)
            twin = Twin(cut, rows, pruner)
            t = twin.grown()
            twin.prune(t, np.arange(len(rows.target)), rows.weights)
            raises += twin.raises
            assert shape(path.cut(pruner)) == twin.shape(t, np.arange(len(rows.target)), rows.weights)
    assert raises > 20 if raising else raises == 0


def test_a_raised_tree_is_whole(leaf_set):
    """Preorder, children that know their parent, an empty leaf with its parent's class, counts that add up."""
    rng = np.random.default_rng(5)
    other_trees = 0
    for _ in range(80):
        cut, rows = problem(rng)
        pruned = ErrorBased(0.1).path(cut, PruningData(60.0, reroute=rows)).cut(ErrorBased(0.1))
        assert to_dict(from_dict(to_dict(pruned))) == to_dict(pruned)
        assert reached(pruned)[list(leaf_set(pruned))].all()
        inner = np.flatnonzero(reached(pruned) & ~pruned.leaf)
        for node in inner:
            below = pruned.tree.counts[pruned.tree.children(int(node))].sum(axis=0)
            assert below == pytest.approx(pruned.tree.counts[node])
        other_trees += pruned.tree is not cut.tree
    assert other_trees > 10


def test_truncated_trees_are_pruned_on_their_own(leaf_set):
    rng = np.random.default_rng(6)
    for _ in range(40):
        cut, rows = problem(rng)
        short = replace(cut, leaf=cut.leaf | (cut.tree.depth >= 2))
        pruner = ErrorBased(0.25)
        twin = Twin(short, rows, pruner)
        t = twin.grown()
        twin.prune(t, np.arange(60), rows.weights)
        pruned = pruner.path(short, PruningData(60.0, reroute=rows)).cut(pruner)
        assert shape(pruned) == twin.shape(t, np.arange(60), rows.weights)
        assert leaves(pruned) <= leaves(short)


def test_raising_asks_for_the_rows(grow):
    with pytest.raises(ValueError, match="raising=false"):
        ErrorBased().path(grow(np.random.default_rng(0)), PruningData(1.0))


def test_leaves_may_rise_as_the_confidence_falls():
    """A leaf (1, 1) beside one (40, 0): one leaf at CF = .1, two at .01, so strengths are pruned afresh."""

    def node(id, parent, weights, children=()):
        test = {"feature": "x", "kind": "threshold", "threshold": 0.5} if children else None
        return {"id": id, "parent": parent, "depth": min(id, 1), "weights": weights, "prediction": 0, "test": test,
                "children": list(children)}  # fmt: skip

    nodes = [node(0, None, [41, 1], (1, 2)), node(1, 0, [1, 1]), node(2, 0, [40, 0])]
    cut = from_dict({"classes": ["a", "b"], "features": FEATURES, "nodes": nodes})
    path = ErrorBased(raising=False).path(cut, PruningData(42.0))
    assert [leaves(path.cut(ErrorBased(cf, raising=False))) for cf in (0.5, 0.1, 0.01)] == [1, 1, 2]
