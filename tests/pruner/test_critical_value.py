"""Critical value against the sentence that defines it."""

import numpy as np

from modelsel.pruner.critical_value import CriticalValue
from modelsel.tree.cutting import PruningData, leaves


def neither_node_nor_descendant_reaches(cut, node, threshold):
    if cut.leaf[node]:
        return True
    below = (neither_node_nor_descendant_reaches(cut, int(c), threshold) for c in cut.tree.children(node))
    return cut.tree.goodness[node] < threshold and all(below)


def test_a_node_goes_when_neither_it_nor_a_descendant_reaches_the_goodness(grow, leaf_set):
    rng = np.random.default_rng(4)
    for _ in range(300):
        cut = grow(rng, inner=int(rng.integers(0, 9)))
        path = CriticalValue().path(cut, PruningData(1.0))
        for threshold in (0.0, 0.3, 0.5, 0.95, 2.0):
            kept = leaf_set(path.cut(CriticalValue(threshold)))
            grown = leaf_set(cut)
            for node in kept - grown:
                assert neither_node_nor_descendant_reaches(cut, node, threshold)
            for node in _above(cut, kept):
                assert not neither_node_nor_descendant_reaches(cut, node, threshold)


def _above(cut, ends):
    found = set()
    for leaf in ends:
        node = int(cut.tree.parent[leaf])
        while node >= 0:
            found.add(node)
            node = int(cut.tree.parent[node])
    return found


def test_a_goodness_equal_to_the_threshold_reaches_it(grow):
    cut = grow(np.random.default_rng(2), inner=1)
    goodness = float(cut.tree.goodness[0])
    path = CriticalValue().path(cut, PruningData(1.0))
    assert leaves(path.cut(CriticalValue(goodness))) == leaves(cut)
    assert leaves(path.cut(CriticalValue(goodness + 1e-9))) == 1


def test_costs_are_of_no_concern_to_it():
    assert not list(CriticalValue().problems(costs=True))
