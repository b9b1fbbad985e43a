"""A cut tree without the nodes that no row reaches any more: what a final model keeps."""

from dataclasses import replace

import numpy as np

from modelsel.tree.growing.late_surrogates import LateTree, later
from modelsel.tree.pruning.regrow import regrown
from modelsel.tree.structure.cutting import reached
from modelsel.tree.structure.node import PrunedView


def compact(cut: PrunedView) -> PrunedView:
    """The same tree, its leaves now leaves of the arrays too; itself where they are."""
    if np.array_equal(cut.leaf, cut.tree.terminal):
        return cut
    kept = np.flatnonzero(reached(cut))
    number = np.full(len(cut.tree), -1, np.int32)
    number[kept] = np.arange(len(kept), dtype=np.int32)
    above = cut.tree.parent[kept]
    tree, parent = cut.tree, np.where(above < 0, -1, number[above])
    if isinstance(tree, LateTree) and tree.waiting:
        moved = regrown(tree.bare, kept, parent, tree.counts[kept])
        moved = replace(moved, tree=later(moved.tree, tree.finder))
    else:
        moved = regrown(tree, kept, parent, tree.counts[kept])
    return replace(moved, prediction=cut.prediction[kept], counts=cut.counts[kept])
