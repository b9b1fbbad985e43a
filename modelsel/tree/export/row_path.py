"""The path of a row down a tree in words: what it was asked, and the leaf that answers; of a divided row, all its leaves."""

import numpy as np

from modelsel.tree.export.text import leaf_words, own_counts
from modelsel.tree.routing.routed import Routed
from modelsel.tree.structure.conditions import path_conditions
from modelsel.tree.structure.node import PrunedView


def row_paths(cut: PrunedView, routed: Routed) -> list[str]:
    """One text per row: `age <= 40 and job = b: yes (9/2)`; shares of a divided row stand before each of its leaves.

    In brackets, as in the tree's text, the training weight of the leaf and how much of it is of other classes.
    """
    words = {int(leaf): _leaf(cut, int(leaf)) for leaf in np.unique(routed.leaf)}
    if routed.whole:
        return [words[leaf] for leaf in routed.leaf.tolist()]
    told: list[list[str]] = [[] for _ in range(routed.rows)]
    fragments = np.bincount(routed.owner, minlength=routed.rows)
    for owner, leaf, part in zip(routed.owner.tolist(), routed.leaf.tolist(), routed.part.tolist(), strict=True):
        share = "" if fragments[owner] == 1 else f"{part:.3g} of it: "
        told[owner].append(share + words[leaf])
    return ["; ".join(one) for one in told]


def _leaf(cut: PrunedView, leaf: int) -> str:
    tree = cut.tree
    asked = " and ".join(condition.words(tree.features[condition.feature]) for condition in path_conditions(tree, leaf))
    return f"{asked or 'any row'}: {leaf_words(cut, own_counts(cut), leaf)}"
