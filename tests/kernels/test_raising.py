"""Compiled subtree raising against the same done with the rows themselves, and where it hands over to that."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modelsel.core.spec import make
from modelsel.core.types import Feature, Task
from modelsel.kernels.compiler import load
from modelsel.pruner import error_based as raising
from modelsel.pruner.error_based import SLACK, ErrorBased, charge
from modelsel.pruner.error_based import raise_by_kernel as raised
from modelsel.tree.growing.grow import grow
from modelsel.tree.growing.growth import GrowthParams
from modelsel.tree.pruning import NONE, truncate
from modelsel.tree.routing import RerouteState

pytestmark = pytest.mark.skipif(load("raising") is None, reason="only the twin is there")
SETTINGS = [
    ("fractional", "multiway", 0.0),
    ("node_mode", "subset", 0.2),
    ("branch", "equality", 0.2),
    ("node_mode", "multiway", 0.2),
]


def noisy(rng: np.random.Generator, holes: float, weighted: bool) -> Task:
    """A task whose trees overfit: numbers and levels that say a little, one level that no row has."""
    n = int(rng.integers(30, 200))
    features = (Feature("x", "numeric"), Feature("y", "numeric"), Feature("z", "nominal", ("a", "b", "c", "never")))
    values = np.column_stack([rng.integers(0, 9, n), rng.normal(size=n).round(1), rng.integers(0, 3, n)]).astype(float)
    target = np.where(rng.random(n) < 0.5, values[:, 0] > 4, rng.integers(0, rng.integers(2, 4), n)).astype(np.int32)
    values[rng.random(values.shape) < holes] = np.nan
    weights = rng.integers(1, 4, n) / 2 if weighted else None
    return Task(name="t", features=features, values=np.asfortranarray(values), rows=np.arange(n), classes=tuple("pqr"),
                target=target, weights=weights)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1), policy=st.sampled_from(SETTINGS), weighted=st.booleans(),
    bound=st.sampled_from(("normal", "c45_table", "exact")), confidence=st.sampled_from((0.01, 0.1, 0.25, 0.5, 0.8)),
    depth=st.sampled_from((None, 4)),
)  # fmt: skip
def test_whole_rows_are_raised_as_by_hand(seed, policy, weighted, bound, confidence, depth):
    (missing, nominal, holes), rng = policy, np.random.default_rng(seed)
    task = noisy(rng, holes, weighted)
    rows = rng.integers(0, len(task), len(task))  # some more than once
    tree = grow(task, rows, make("criterion", "gini"), GrowthParams(missing=missing, nominal=nominal))
    cut, pruner = truncate(tree, NONE._replace(max_depth=depth)), ErrorBased(confidence, True, bound)
    by_hand = raising.raise_subtrees(cut, RerouteState(tree, task, rows), pruner.estimate, SLACK)
    compiled = raised(cut, RerouteState(tree, task, rows), *charge(bound, confidence), SLACK)
    assert (compiled.tree is tree) == (by_hand.tree is tree)
    for name in ("parent", "test", "feature", "threshold"):
        np.testing.assert_array_equal(getattr(compiled.tree, name), getattr(by_hand.tree, name))
    np.testing.assert_array_equal(compiled.leaf, by_hand.leaf)
    np.testing.assert_array_equal(compiled.prediction, by_hand.prediction)
    np.testing.assert_allclose(compiled.tree.counts, by_hand.tree.counts, rtol=0, atol=1e-9)


@pytest.mark.parametrize("missing", ["fractional", "surrogate"])
def test_rows_that_are_divided_or_go_by_surrogates_are_left_to_the_other(missing):
    task = noisy(np.random.default_rng(3), 0.3, weighted=False)
    rows = np.arange(len(task))
    tree = grow(task, rows, make("criterion", "gini"), GrowthParams(missing=missing, nominal="equality"))
    assert raised(truncate(tree, NONE), RerouteState(tree, task, rows), *charge("normal", 0.25), SLACK) is None


def test_most_of_the_trees_above_have_a_branch_raised():
    """So that the comparison is not of trees that nobody moved."""
    moved = 0
    for seed in range(20):
        task = noisy(np.random.default_rng(seed), 0.0, weighted=False)
        tree = grow(task, np.arange(len(task)), make("criterion", "gini"), GrowthParams())
        cut = truncate(tree, NONE)
        moved += raised(cut, RerouteState(tree, task, np.arange(len(task))), *charge("normal", 0.25), SLACK).tree is not tree
    assert moved >= 8
