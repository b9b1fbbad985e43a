"""The grown tree as it is."""

import numpy as np

from modelsel.pruner.unpruned import Unpruned
from modelsel.tree.evidence import Evidence


def test_nothing_is_cut(grow):
    cut = grow(np.random.default_rng(0))
    assert Unpruned().path(cut, Evidence(1.0)).cut(Unpruned()) is cut
    assert Unpruned().growing() == {}
