"""Pruning by description length: the tree that takes the fewest bits to send, together with the classes given the tree.

bits(T) = Σ over leaves of class bits + weight · Σ over tests of test bits

class bits of a leaf = log2 (n! / Π n_c!) + log2 C(n + K − 1, K − 1): which row has which class, after how many have each
(for K = 2 Quinlan and Rivest's log2 C(n, e) + log2 (n + 1)). Test bits = log2 (features) for the one tested + bits for its
value + a bit per branch that says whether it ends. Value bits: log2 of the cuts there can be (n − 1, at most levels − 1
for ordered features; one more where a tree parts known values from missing ones), of the levels (equality) or of the
2^(levels − 1) − 1 divisions (subset); none for multiway.

Quinlan and Rivest 1989, *Inferring decision trees using the minimum description length principle*; Mehta, Rissanen and
Agrawal 1995, *MDL-based decision tree pruning*; the leaf code: Kononenko 1995.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from modelsel.core.spec import number
from modelsel.core.types import Floats
from modelsel.pruner.base import CountsErrors, NestedSequence
from modelsel.tree.cutting import PruningData, reached, weakest_links
from modelsel.tree.node import EQUALITY, MULTIWAY, SUBSET, DecisionTree, PrunedView


@dataclass(frozen=True)
class Mdl(CountsErrors):
    """Tests are priced, classes are not: the trees of rising weight are nested, as those of cost complexity are."""

    weight: float = number(1.0, least=0.0, help="price of a bit of the tree in bits of class; more prunes more")

    @property
    def strength(self) -> float:
        return float(self.weight) * (1.0 + 1e-12)

    def path(self, cut: PrunedView, evidence: PruningData) -> NestedSequence:
        return NestedSequence(cut, weakest_links(cut, class_bits(cut.tree.counts), structure_bits(cut.tree)))


def class_bits(counts: Floats) -> Floats:
    """Bits to send the classes of each node's rows.

    >>> class_bits(np.array([[9.0, 5.0], [4.0, 0.0]])).round(6)
    array([14.874117,  2.321928])
    """
    n: Floats = counts.sum(axis=1)
    classes = counts.shape[1]
    which = gammaln(n + 1) - gammaln(counts + 1).sum(axis=1)
    how_many = gammaln(n + classes) - gammaln(n + 1) - gammaln(classes)
    bits: Floats = np.maximum((which + how_many) / np.log(2), 0.0)
    return bits


def structure_bits(tree: DecisionTree) -> Floats:
    """Bits to send the test of each node: which feature, which value, which branches end.

    Where some test parts known values from missing ones, that is a value more of every test, and a bit says so at the root.
    """
    branches = np.diff(tree.first)
    bits: Floats = np.log2(len(tree.features)) + branches.astype(np.float64)
    more = _parts_missing(tree)
    bits[0] += more
    for node in np.flatnonzero(branches):
        bits[node] += _value_bits(tree, int(node), more)
    return bits


def _parts_missing(tree: DecisionTree) -> bool:
    """Say whether a test has all that is known on one side."""
    return bool(np.isinf(tree.threshold).any() or any(inside.all() for inside in tree.subset.values()))


def _value_bits(tree: DecisionTree, node: int, more: bool) -> float:
    """Compute the bits that a node's value takes: a threshold among the cuts, a level, a subset; `more`: or none of these."""
    feature, test = tree.features[tree.feature[node]], int(tree.test[node])
    levels = len(feature.levels)
    if test == MULTIWAY:
        return 0.0
    if test == EQUALITY:
        return float(np.log2(levels))
    if test == SUBSET:
        return levels - 1.0 if more else levels - 1 + float(np.log1p(-(2.0 ** (1 - levels))) / np.log(2))
    cuts = float(tree.weight[node]) - 1.0
    return float(np.log2(max((min(cuts, levels - 1) if feature.is_ranked else cuts) + more, 1.0)))


def description_length(cut: PrunedView) -> tuple[float, float, float]:
    """Bits of a whole tree, the weight of wrong rows and of all rows that its leaves count.

    A bit for the root, the bits of every test, log2 classes for every leaf; errors among the rows that the leaves count.
    """
    there, classes = reached(cut), len(cut.tree.classes)
    leaves, tests = there & cut.leaf, there & ~cut.leaf
    held = leaves & (cut.tree.counts.sum(axis=1) > 0)  # an empty branch has its parent's counts
    counts = cut.counts[held]
    wrong = float((counts.sum(axis=1) - np.take_along_axis(counts, cut.prediction[held][:, None], axis=1)[:, 0]).sum())
    bits = 1 + float(structure_bits(cut.tree)[tests].sum()) + float(leaves.sum()) * math.log2(classes)
    return bits, wrong, float(counts.sum())
