"""A tree with its nodes in other places: what subtree raising leaves behind."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from modelsel.core.types import Floats, Integers
from modelsel.tree.pruning.truncate import best_class
from modelsel.tree.structure.node import LEAF, DecisionTree, PrunedView, Surrogates


def regrown(
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
        surrogates=None if tree.surrogates is None else _moved(tree.surrogates, np.where(leaf, -1, of)),
    )
    scores = moved.filled
    return PrunedView(moved, leaf, best_class(scores, None), scores)


def _moved(surrogates: Surrogates, origin: Integers) -> Surrogates:
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
