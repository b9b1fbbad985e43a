"""The grown tree as it is."""

import numpy as np

from modelsel.pruner.unpruned import Unpruned
from modelsel.tree.structure.evidence import PruningData


def test_nothing_is_cut(grow):
    cut = grow(np.random.default_rng(0))
    assert Unpruned().path(cut, PruningData(1.0)).cut(Unpruned()) is cut
    assert Unpruned().fit_key() == {}
