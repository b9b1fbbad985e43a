"""The grown tree as it is."""

import numpy as np

from modelsel.pruner.unpruned import Unpruned
from modelsel.tree.cutting import PruningData
from modelsel.tree.node import PrunedView
from modelsel.tree.pruning import compact


def test_nothing_is_cut(grow):
    cut = grow(np.random.default_rng(0))
    assert Unpruned().path(cut, PruningData(1.0)).cut(Unpruned()) is cut
    assert Unpruned().fit_key() == {}


def test_a_tree_that_stands_whole_is_not_written_again(grow):
    cut = grow(np.random.default_rng(0))
    assert compact(cut) is cut
    stump = compact(PrunedView(cut.tree, cut.leaf | (np.arange(len(cut.tree)) > 0), cut.prediction, cut.counts))
    assert len(stump.tree) == 1 + len(cut.tree.children(0))
    assert stump.tree.terminal.tolist() == [False] + [True] * (len(stump.tree) - 1)
