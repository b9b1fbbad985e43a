"""Stopping limits as truncations: the tree grown under a limit is the full tree, cut where the limit holds.

A test is not made at a node of less weight than `min_split`, at `max_depth`, of goodness below `min_gain`, with a class share
of at least `purity`, or where Pearson's chi-square of the test is not significant at `significance` (Quinlan 1986). `collapse`
then makes a leaf of each subtree that does not lower the training error (C4.5 does so even unpruned; Quinlan 1993).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from modelsel.core.types import Booleans, Codes, Floats, Integers
from modelsel.kernels.layout import TIE
from modelsel.tree.cutting import cheaper_as_leaf, errors_as_leaf, reached
from modelsel.tree.growing.late_surrogates import LateTree, later
from modelsel.tree.node import LEAF, DecisionTree, PrunedView, Surrogates

BLOCK = 1 << 22  # marks compared at a time
_SIGNIFICANCE: WeakKeyDictionary[DecisionTree, Floats] = WeakKeyDictionary()
_LABELS: WeakKeyDictionary[DecisionTree, Codes] = WeakKeyDictionary()


class StoppingLimits(NamedTuple):
    """Stopping limits that are read off the fully grown tree."""

    max_depth: int | None = None
    min_split: float = 2.0
    min_gain: float = 0.0
    purity: float = 1.0
    significance: float | None = None
    collapse: bool = False


NONE = StoppingLimits(min_split=0.0)
STOPS: Mapping[str, Callable[[DecisionTree, float], Booleans]] = {
    "max_depth": lambda tree, most: tree.depth >= most,
    "min_split": lambda tree, least: tree.weight < least - 1e-9,
    "min_gain": lambda tree, least: ~(tree.goodness >= least - TIE),
    "purity": lambda tree, most: tree.purest >= most * tree.weight - 1e-9,
    "significance": lambda tree, most: ~(p_values(tree) <= most),
}


def truncate(tree: DecisionTree, limits: StoppingLimits, costs: Floats | None = None) -> PrunedView:
    """The tree under the limits; leaves predict the class of largest weight or, with `costs`, of least expected cost."""
    return truncations(tree, [limits], costs)[0]


def truncations(tree: DecisionTree, limits: Sequence[StoppingLimits], costs: Floats | None = None) -> list[PrunedView]:
    """The tree under each of some limits; those that leave the same tree share one answer."""
    labels, cuts, different = _labels(tree, costs), [], dict[Any, PrunedView]()
    for some in _blocks(limits, len(tree)):
        for own, leaf in zip(some, _marks(tree, some), strict=True):
            key = own.collapse, leaf.tobytes()
            if key not in different:
                cut = PrunedView(tree, leaf, labels, tree.filled)
                different[key] = collapse(cut, costs) if own.collapse else cut
            cuts.append(different[key])
    return cuts


def _blocks(limits: Sequence[StoppingLimits], nodes: int) -> Iterator[Sequence[StoppingLimits]]:
    size = max(1, BLOCK // nodes)
    return (limits[start : start + size] for start in range(0, len(limits), size))


def _marks(tree: DecisionTree, limits: Sequence[StoppingLimits]) -> Booleans:
    """Mask where paths end, limits × nodes; each bound is evaluated once, however many limits share it."""
    leaf = np.repeat(tree.terminal[None], len(limits), axis=0)
    for name, stop in STOPS.items():
        places: dict[Any, int] = {}
        which = [places.setdefault(getattr(own, name), len(places)) for own in limits]
        held = [tree.terminal if bound == getattr(NONE, name) else stop(tree, bound) for bound in places]
        leaf |= np.array(held)[which]
    return leaf


def _labels(tree: DecisionTree, costs: Floats | None) -> NDArray[np.generic]:
    """The class (or number) of each node; without costs the same for every truncation, and found once."""
    if tree.numbers is not None:
        return tree.numbers.mean
    if costs is not None:
        return best_class(tree.filled, costs)
    labels = _LABELS.get(tree)
    if labels is None:
        labels = _LABELS[tree] = best_class(tree.filled, None)
    return labels


def best_class(counts: Floats, costs: Floats | None) -> Codes:
    """Class of largest weight or least expected cost, the smaller index where they tie (within 1e-12 of the weight)."""
    merit = counts if costs is None else -(counts @ costs)
    total = counts.sum(axis=1, keepdims=True)
    share = np.divide(merit, total, out=np.zeros_like(merit), where=total > 0)
    best: Codes = np.argmax(np.round(share, 12), axis=1).astype(np.int32)
    return best


def collapse(cut: PrunedView, costs: Floats | None) -> PrunedView:
    """Leaves in place of subtrees that misclassify no less, within the 1e-3 of C4.5."""
    if cut.tree.numbers is not None:
        return replace(cut, leaf=cheaper_as_leaf(cut, cut.tree.spared))
    errors = errors_as_leaf(cut.tree.counts, cut.prediction, costs)
    return replace(cut, leaf=cheaper_as_leaf(cut, errors, slack=1e-3))


def p_values(tree: DecisionTree) -> Floats:
    """Chi-square p-value of each node's test against independence of branch and class; NaN at leaves."""
    if tree not in _SIGNIFICANCE:
        _SIGNIFICANCE[tree] = _p_values(tree)
    return _SIGNIFICANCE[tree]


def _p_values(tree: DecisionTree) -> Floats:
    """Compute the χ² p-value of each test; 1 without degrees of freedom."""
    inner = tree.test != LEAF
    square = np.zeros(len(tree))
    share = np.divide(tree.counts, tree.weight[:, None], out=np.zeros_like(tree.counts), where=tree.weight[:, None] > 0)
    above = tree.parent[1:]
    expected = tree.weight[1:, None] * share[above]
    parts = np.divide(np.square(tree.counts[1:] - expected), expected, out=np.zeros_like(expected), where=expected > 0)
    np.add.at(square, above, parts.sum(axis=1))
    branches = np.bincount(above[tree.weight[1:] > 0], minlength=len(tree))
    freedom = (branches - 1) * ((tree.counts > 0).sum(axis=1) - 1)
    p = np.full(len(tree), np.nan)
    p[inner] = np.where(freedom[inner] > 0, chdtrc(np.maximum(freedom[inner], 1), square[inner]), 1.0)
    return p


# A cut tree without the nodes that no row reaches any more: what a final model keeps.


def compact(cut: PrunedView) -> PrunedView:
    """Cut the arrays of the tree at its leaves; return the tree itself where nothing lies below them."""
    if np.array_equal(cut.leaf, cut.tree.terminal):
        return cut
    kept = np.flatnonzero(reached(cut))
    number = np.full(len(cut.tree), -1, np.int32)
    number[kept] = np.arange(len(kept), dtype=np.int32)
    above = cut.tree.parent[kept]
    tree, parent = cut.tree, np.where(above < 0, -1, number[above])
    if isinstance(tree, LateTree) and tree.waiting:
        moved = rearrange(tree.bare, kept, parent, tree.counts[kept])
        moved = replace(moved, tree=later(moved.tree, tree.finder))
    else:
        moved = rearrange(tree, kept, parent, tree.counts[kept])
    models = None if cut.models is None else cut.models.take(kept)
    return replace(moved, prediction=cut.prediction[kept], counts=cut.counts[kept], models=models)


# A tree with its nodes in other places: what subtree raising leaves behind.


def rearrange(
    tree: DecisionTree, origin: Sequence[int] | Integers, parent: Sequence[int] | Integers, counts: Floats
) -> PrunedView:
    """The tree whose i-th place (in preorder) holds the test of grown node `origin[i]` and training weights `counts[i]`.

    Places without children are leaves. A leaf that no row reaches takes its parent's class.
    """
    of, above = np.asarray(origin, np.int64), np.asarray(parent, np.int32)
    branches = np.bincount(above[1:], minlength=len(of))
    leaf, named = branches == 0, of.tolist() if tree.subset else ()
    moved = replace(
        tree,
        parent=above,
        test=np.where(leaf, LEAF, tree.test[of]).astype(np.int8),
        feature=np.where(leaf, -1, tree.feature[of]).astype(np.int32),
        threshold=np.where(leaf, np.nan, tree.threshold[of]),
        first=np.append(0, np.cumsum(branches)).astype(np.int32),
        child=(1 + np.argsort(above[1:], kind="stable")).astype(np.int32),
        counts=counts,
        goodness=np.where(leaf, np.nan, tree.goodness[of]),
        subset={place: tree.subset[node] for place, node in enumerate(named) if not leaf[place] and node in tree.subset},
        missing_to=None if tree.missing_to is None else tree.missing_to[of],
        surrogates=None if tree.surrogates is None else _move_surrogates(tree.surrogates, np.where(leaf, -1, of)),
        numbers=None if tree.numbers is None else tree.numbers.take(of),
    )
    if moved.numbers is not None:
        return PrunedView(moved, leaf, moved.numbers.mean, counts)
    scores = moved.filled
    return PrunedView(moved, leaf, best_class(scores, None), scores)


def _move_surrogates(surrogates: Surrogates, origin: Integers) -> Surrogates:
    """The surrogates of the nodes that stand, in their new order."""
    spans = [range(surrogates.first[node], surrogates.first[node + 1]) if node >= 0 else range(0) for node in origin]
    kept = np.array([each for span in spans for each in span], np.int64)
    return Surrogates(
        first=np.append(0, np.cumsum([len(span) for span in spans])).astype(np.int32),
        feature=surrogates.feature[kept],
        threshold=surrogates.threshold[kept],
        flipped=surrogates.flipped[kept],
        sides={new: surrogates.sides[int(old)] for new, old in enumerate(kept) if int(old) in surrogates.sides},
        agreement=surrogates.agreement[kept],
    )
