"""Minimum error against the recursion in exact fractions, and that its sequence is not nested."""

from fractions import Fraction

import numpy as np
import pytest

from modelsel.core.types import Feature
from modelsel.pruner.minimum_error import MinimumError
from modelsel.tree.cutting import PruningData, leaves
from modelsel.tree.nested import from_dict


def recursion(cut, m, prior, costs, node=0):
    """(expected cost, leaves) of the pruned subtree, in fractions."""
    counts = [Fraction(float(c)) for c in cut.tree.counts[node]]
    weight, classes = sum(counts), range(len(counts))
    if weight == 0:
        return Fraction(0), {node}
    shares = [(c + m * p) / (weight + m) for c, p in zip(counts, prior, strict=True)]
    static = min(sum(shares[true] * costs[true][said] for true in classes) for said in classes)
    if cut.leaf[node]:
        return static, {node}
    backed_up, kept = Fraction(0), set()
    for child in cut.tree.children(node):
        error, ends = recursion(cut, m, prior, costs, int(child))
        backed_up += error * Fraction(float(cut.tree.counts[child].sum())) / weight
        kept |= ends
    return (static, {node}) if static <= backed_up else (backed_up, kept)


@pytest.mark.slow
@pytest.mark.parametrize("with_costs", [False, True])
@pytest.mark.parametrize("prior", ["root", "uniform"])
def test_every_m_equals_the_exact_recursion(grow, leaf_set, prior, with_costs):
    rng = np.random.default_rng([len(prior), with_costs])
    costs = [[0, 1, 3], [2, 0, 1], [5, 1, 0]] if with_costs else [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    for _ in range(200):
        cut = grow(rng, inner=int(rng.integers(0, 8)), amounts="quarters")
        root = [Fraction(float(c)) for c in cut.tree.counts[0]]
        total = sum(root)
        if not total:
            continue
        p = [c / total for c in root] if prior == "root" else [Fraction(1, 3)] * 3
        evidence = PruningData(float(total), cost_matrix=np.array(costs, float) if with_costs else None)
        path = MinimumError(prior=prior).path(cut, evidence)
        for m in (0, 0.5, 1, 2, 8, 64):
            pruned = leaf_set(path.cut(MinimumError(m, prior)))
            expected = recursion(cut, Fraction(m), p, costs)[1]
            assert _weighty(cut, pruned) == _weighty(cut, expected)


def _weighty(cut, ends):
    """Leaves that weigh anything: an empty subtree is as good as an empty leaf."""
    return {leaf for leaf in ends if cut.tree.counts[leaf].sum() > 0}


def test_laplace_is_m_of_as_many_as_classes_with_a_uniform_prior(grow, leaf_set):
    rng = np.random.default_rng(9)
    for _ in range(50):
        cut = grow(rng, inner=6)
        path = MinimumError("laplace").path(cut, PruningData(float(cut.tree.counts[0].sum())))
        assert leaf_set(path.cut(MinimumError("laplace"))) == leaf_set(path.cut(MinimumError(3.0, "uniform")))


def test_a_larger_m_may_keep_more_leaves():
    """A leaf (0, 2) beside a node of {(1, 0), (1, 1)}: two leaves at m = 1, three at m = 2."""

    def node(id, parent, depth, weights, children=()):
        test = {"feature": "x", "kind": "threshold", "threshold": float(id)} if children else None
        return {"id": id, "parent": parent, "depth": depth, "weights": weights, "test": test,
                "children": list(children), "prediction": int(np.argmax(weights))}  # fmt: skip

    nodes = [
        node(0, None, 0, [2, 3], (1, 2)),
        node(1, 0, 1, [0, 2]),
        node(2, 0, 1, [2, 1], (3, 4)),
        node(3, 2, 2, [1, 0]),
        node(4, 2, 2, [1, 1]),
    ]
    x = Feature("x", "numeric")
    cut = from_dict({"classes": ["a", "b"], "features": [{"name": x.name, "kind": x.kind, "levels": []}], "nodes": nodes})
    path = MinimumError().path(cut, PruningData(5.0))
    assert [leaves(path.cut(MinimumError(m))) for m in (1.0, 2.0)] == [2, 3]


def test_a_node_without_weight_expects_no_error_whatever_m():
    counts = np.array([[1.0, 3.0], [0.0, 0.0], [1.0, 3.0]])
    assert MinimumError(m=0.0)._expected_error(counts, None).tolist() == [1.0, 0.0, 1.0]
