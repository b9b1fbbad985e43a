"""Subtree raising by the compiled kernel, where every training row goes whole; `_raising` does the same row by row."""

from functools import cache
from typing import Any

import numpy as np

from modelsel.kernels.compiler import load
from modelsel.tree.pruning.regrow import regrown
from modelsel.tree.routing.reroute import RerouteState
from modelsel.tree.routing.route import flat_subsets
from modelsel.tree.structure.cutting import TIE, reached
from modelsel.tree.structure.node import PrunedView


def raised(
    cut: PrunedView, rows: RerouteState, how: int, charge: tuple[float, float, float], slack: float
) -> PrunedView | None:
    """The pruned tree; None where the kernel cannot tell: a row is divided, or goes by surrogates.

    how, charge: the limit (`kernels.trees.raising`), and its share of almost all, confidence and deviate.
    """
    kernel = load("raising")
    if kernel is None:
        return None
    tree, rule = cut.tree, np.array([*charge, slack, TIE])
    stands, leaf, above, counts, moved = kernel.prune(
        rows.task.values.T, rows.rows, rows.target, rows.weights, _walked(cut), tree.child, tree.parent, reached(cut), cut.leaf,
        tree.counts, how, rule, _upper(),
    )  # fmt: skip
    if not len(stands):
        return None
    left = np.flatnonzero(stands)
    if not moved:
        marked = cut.leaf.copy()
        marked[left[leaf[left]]] = True
        return PrunedView(tree, marked, cut.prediction, cut.counts)
    place = np.full(len(tree) + 1, -1)
    place[left] = np.arange(len(left))
    return regrown(tree, left.tolist(), place[above[left]].tolist(), counts[left])


def _walked(cut: PrunedView) -> tuple[Any, ...]:
    """Return the arrays by which rows walk the tree."""
    tree = cut.tree
    at, marks = flat_subsets(tree)
    levels = np.array([len(feature.levels) for feature in tree.features], np.int32)
    return (
        tree.test, tree.feature, tree.threshold, tree.first, tree.missing_to, tree.majority, at, marks, levels, tree.size,
    )  # fmt: skip


@cache
def _upper() -> Any:
    """The inverse of SciPy's regularised incomplete beta function, as Numba takes functions that it has not compiled."""
    from numba.core.types import WrapperAddressProtocol
    from numba.extending import get_cython_function_address

    from modelsel.kernels.types import upper

    class Address(WrapperAddressProtocol):
        def __wrapper_address__(self) -> int:
            return int(get_cython_function_address("scipy.special.cython_special", "__pyx_fuse_0betaincinv"))

        def signature(self) -> Any:
            return upper.signature

    return Address()
