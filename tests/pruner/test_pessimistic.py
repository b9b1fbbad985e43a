"""Pessimistic pruning against Quinlan's rule applied top down."""

import math
from dataclasses import replace

import numpy as np
import pytest

from modelsel.pruner.pessimistic import Pessimistic
from modelsel.tree.cutting import PruningData, leaves


def top_down(cut, s, node=0):
    """The rule as Quinlan states it, a node at a time; returns the leaves that are kept."""
    if cut.leaf[node]:
        return {node}
    below = _leaves_below(cut, node)
    n = cut.tree.counts[node].sum()
    e = n - cut.tree.counts[node, cut.prediction[node]]
    e_below = sum(cut.tree.counts[leaf].sum() - cut.tree.counts[leaf, cut.prediction[leaf]] for leaf in below)
    seen = min(n, e_below + len(below) / 2)
    se = math.sqrt(seen * (n - seen) / n) if n else 0.0
    if e + 0.5 <= e_below + len(below) / 2 + s * se:
        return {node}
    return set().union(*(top_down(cut, s, int(child)) for child in cut.tree.children(node)))


def _leaves_below(cut, node):
    if cut.leaf[node]:
        return [node]
    return [leaf for child in cut.tree.children(node) for leaf in _leaves_below(cut, int(child))]


@pytest.mark.parametrize("amounts", ["whole", "fractions"])
def test_every_strength_is_quinlans_rule(grow, leaf_set, amounts):
    rng = np.random.default_rng(len(amounts))
    for _ in range(300):
        cut = grow(rng, inner=int(rng.integers(0, 9)), amounts=amounts)
        path = Pessimistic().path(cut, PruningData(float(cut.tree.counts[0].sum())))
        for s in (0.0, 0.3, 1.0, 2.5):
            assert leaf_set(path.cut(Pessimistic(s))) == top_down(cut, s)


def test_a_subtree_that_is_no_better_than_a_leaf_goes_at_any_strength_where_its_errors_do_not_vary(grow, leaf_set):
    """As a leaf a weight of 1 has ½ + ½ errors, in two pure leaves 2 · ½: as many, and all of its weight, which is certain."""
    cut = next(
        cut for cut in (grow(np.random.default_rng(seed), inner=1, classes=2) for seed in range(9)) if len(cut.leaf) == 3
    )
    counts = np.array([[0.5, 0.5], [0.5, 0.0], [0.0, 0.5]])
    even = replace(cut, tree=replace(cut.tree, counts=counts), prediction=np.array([0, 0, 1], np.int32))
    assert top_down(even, 0.0) == {0}
    assert leaf_set(Pessimistic().path(even, PruningData(1.0)).cut(Pessimistic(0.0))) == {0}


def test_leaves_never_rise_with_the_strength(grow):
    rng = np.random.default_rng(0)
    for _ in range(100):
        path = Pessimistic().path(grow(rng, inner=9), PruningData(1.0))
        sizes = [leaves(path.cut(Pessimistic(s))) for s in np.linspace(0, 4, 30)]
        assert sizes == sorted(sizes, reverse=True)


def test_costs_are_refused_with_what_to_use_instead():
    assert "reduced_error" in next(iter(Pessimistic().problems(costs=True)))
    assert not list(Pessimistic().problems())
