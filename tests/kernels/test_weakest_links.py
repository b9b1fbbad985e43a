"""The compiled collapse of weakest links against NumPy."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from modelsel.core.spec import make
from modelsel.core.types import Feature, Task, positions
from modelsel.kernels.compiler import load
from modelsel.tree.growing.grow import grow
from modelsel.tree.growing.growth import GrowthParams
from modelsel.tree.node import LEAF, PrunedView
from tests.tree.in_numpy import collapse, links


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_both_collapse_alike(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, target = rng.integers(0, 4, (60, 3)).astype(float), rng.integers(0, 3, 60).astype(np.int32)
    kind, names = ("numeric", ()) if rng.random() < 0.5 else ("nominal", tuple("wxyz"))
    features = tuple(Feature(f"f{i}", kind, names) for i in range(3))
    task = Task(name="t", features=features, values=values, rows=np.arange(60), classes=tuple("abc"), target=target)
    tree = grow(task, positions(task), make("criterion", "gini"), GrowthParams(nominal="multiway"))
    leaf = (tree.test == LEAF) | (rng.random(len(tree)) < rng.choice([0.0, 0.2]))
    cut = PrunedView(tree, leaf, tree.counts.argmax(axis=1).astype(np.int32), tree.counts)
    price = rng.choice([1.0 + np.arange(len(tree)) % 2, rng.random(len(tree)) + 0.1])
    risk = rng.choice([rng.integers(0, 5, len(tree)) * tree.size.astype(float), rng.random(len(tree)) * tree.weight])
    tie = float(rng.choice([1e-9, 0.5]))  # strengths that are nearer are one
    plain = collapse(tree, *links(cut, risk, price), tie)
    compiled = load("weakest_links").collapse(tree.parent, tree.first, tree.child, cut.leaf, risk, price, tie)
    np.testing.assert_array_equal(compiled, plain)
