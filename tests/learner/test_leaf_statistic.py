"""What leaves of a tree of numbers say: each statistic is NumPy's of the leaf's rows, and trees are pruned by its loss."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from modelsel.config.build import build
from modelsel.core.errors import ConfigurationError
from modelsel.core.types import Candidate, positions
from modelsel.learner.tree import Tree
from modelsel.learner.trees.leaf import Leaf
from modelsel.tree.cutting import reached
from modelsel.tree.routing import route
from tests.tree.number_tables import drawn, friedman, number_task

RNG = np.random.default_rng(0)
LEAVES = (
    Leaf(), Leaf(statistic="mean"),
    Leaf(statistic="median"), Leaf(statistic="quantile", q=0.1), Leaf(statistic="quantile", q=0.9),
    Leaf(statistic="m_estimate", m=3.0, prior="parent"), Leaf(statistic="m_estimate"),
)  # fmt: skip


def cart(**settings: object) -> Tree:
    spec, _ = build("cart", settings)
    return spec


def quantile(y: np.ndarray, weight: np.ndarray, q: float) -> float:
    """By its definition in exact fractions, every row as often as its weight says."""
    rows, share = np.sort(np.repeat(y, weight.astype(int))).tolist(), Fraction(str(q))
    at = share * len(rows)
    place = -(-at.numerator // at.denominator)
    return (rows[place - 1] + rows[place]) / 2 if at == place else rows[place - 1]


@pytest.mark.parametrize("weighted", [False, True])
def test_leaves_say_the_statistics_of_their_rows(weighted: bool) -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = friedman(60, seed)
        weights = rng.integers(0, 4, 60).astype(float) + (np.arange(60) < 3) if weighted else None
        task = number_task(X, np.round(y), weights)
        base = cart(min_leaf=4, max_depth=3, pruner="unpruned")  # at strength 0 a loss prunes what it does not lower
        tree = base.fit(task, positions(task), RNG).cut.tree
        leaf, w = route(tree, task, positions(task)).leaf, task.row_weights
        for asked in LEAVES[2:]:
            said = replace(base, leaf=asked).fit(task, positions(task), RNG).predict(task)
            for node in np.unique(leaf):
                own = np.flatnonzero(leaf == node)
                if asked.quantile is not None:
                    expected = quantile(task.target[own], w[own], asked.quantile)
                else:
                    above = leaf >= 0 if asked.prior == "root" else np.isin(leaf, under(tree, int(tree.parent[node])))
                    prior = np.average(task.target[above], weights=w[above])
                    expected = (w[own] @ task.target[own] + asked.m * prior) / (w[own].sum() + asked.m)
                np.testing.assert_allclose(said[own], expected, rtol=1e-12)


def under(tree: object, node: int) -> list[int]:
    """A node of a tree in preorder, and all below it."""
    return list(range(node, node + int(tree.size[node])))


@pytest.mark.parametrize("missing", ["node_mode", "fractional", "branch", "surrogate"])
def test_each_statistic_of_one_tree_equals_itself_alone_bit_for_bit(missing: str) -> None:
    for seed in range(4):
        task = drawn(seed).task
        base = cart(missing=missing)
        grid = [
            replace(base, leaf=leaf, max_depth=depth, pruner=replace(base.pruner, alpha=alpha))
            for leaf in LEAVES for depth in (None, 2) for alpha in (0.0, 0.05)
        ]  # fmt: skip
        path = base.fit_path(task, positions(task), RNG)
        together, sizes = path.outputs(grid, task, positions(task), scores=False).predicted, path.complexity(grid)
        for candidate, said, size, error in zip(grid, together, sizes, path.training_error(grid), strict=True):
            alone = candidate.fit(task, positions(task), RNG)
            assert np.array_equal(alone.predict(task), said)
            assert np.array_equal(Tree.restore(alone.describe()).predict(task), said)
            assert alone.n_leaves == size
            off = np.sqrt(np.average(np.square(said - task.target), weights=task.row_weights))
            assert error == pytest.approx(off, rel=1e-6, abs=1e-6 * np.ptp(task.target))


@pytest.mark.parametrize("leaf", [Leaf(statistic="median"), Leaf(statistic="quantile", q=0.8)])
def test_the_sequence_of_a_loss_is_the_best_of_all_prunings(leaf: Leaf) -> None:
    """Of all subtrees of a small tree, each strength leaves one of least loss and price together."""
    X, y = friedman(40, 3)
    task = number_task(X, y)
    family = replace(cart(min_leaf=4, max_depth=3, **{"pruner.alpha": "path"}), leaf=leaf)
    path = family.fit_path(task, positions(task), RNG)
    members = path.members(family)
    assert len(members) > 3
    cut = path.standing(replace(family, pruner=replace(family.pruner, alpha=0.0))).cut
    losses, inner = path._statistics.losses(leaf.loss), np.flatnonzero(~cut.tree.terminal & (cut.tree.depth < 3))

    def price(marked: np.ndarray, alpha: float) -> float:
        own = replace(cut, leaf=marked)
        ends = reached(own) & marked
        return losses[ends].sum() / 40 + alpha * ends.sum()

    full = cut.tree.terminal | (cut.tree.depth >= 3)
    all_ = [full | np.isin(np.arange(len(full)), some) for k in range(len(inner) + 1) for some in combinations(inner, k)]
    for member in members:
        alpha = float(member.pruner.alpha)
        own = price(path.standing(member).cut.leaf, alpha)
        assert own == pytest.approx(min(price(marked, alpha) for marked in all_), abs=1e-12)


def loss_of(leaf: Leaf, off: np.ndarray) -> float:
    q = leaf.quantile
    return float(np.mean(np.square(off) if q is None else np.where(off > 0, q * off, (q - 1) * off)))


def test_a_statistic_serves_its_own_loss_better_than_the_mean_does() -> None:
    """Skewed noise, 400 rows to fit and 2,000 to judge: each loss is below that of means, and as many rows lie below."""
    rng = np.random.default_rng(1)
    X = rng.random((2400, 3))
    task = number_task(X, 3 * X[:, 0] + rng.exponential(1 + X[:, 1]))
    base = cart(min_leaf=20)
    asked = [Leaf(statistic="median"), Leaf(statistic="quantile", q=0.1), Leaf(statistic="quantile", q=0.9)]
    path = base.fit_path(task, np.arange(400), RNG)
    said = path.outputs([replace(base, leaf=leaf) for leaf in (Leaf(), *asked)], task, np.arange(400, 2400), False).predicted
    y = task.target[400:]
    for leaf, own in zip(asked, said[1:], strict=True):
        assert loss_of(leaf, y - own) < loss_of(leaf, y - said[0])
        assert abs(np.mean(y <= own) - leaf.quantile) < 0.07


def test_what_cannot_be_is_said() -> None:
    task = number_task(*friedman(20))
    for said, settings in {
        "leaf.score and leaf.l are about classes": {"leaf.score": "laplace"},
        "leaf.prior of numbers is root or parent": {"leaf.statistic": "m_estimate", "leaf.prior": "uniform"},
        "leaf.m and leaf.prior of numbers belong": {"leaf.m": 5},
        "leaf.q is the share": {"leaf.statistic": "quantile"},
        "leaf.statistic=median is pruned by its own loss": {"leaf.statistic": "median", "pruner": "reduced_error"},
    }.items():
        assert any(one.startswith(said) for one in cart(**settings).problems(task)), said
    with pytest.raises(ConfigurationError, match=r"'linear' is not allowed, learner\.leaf\.statistic; .* are learner=m5p"):
        cart(**{"leaf.statistic": "linear"})
    assert list(cart(**{"leaf.statistic": "quantile", "leaf.q": 0.5}).problems(task)) == []
    assert any("are about numbers" in one for one in Leaf(statistic="median").problems(2))


def test_candidates_of_other_statistics_are_told_apart_and_ids_are_those_of_before() -> None:
    grid = [cart(**{"leaf.statistic": name}) for name in ("mean", "median")]
    assert grid[0].mattering({"numeric"}, scores=False) != grid[1].mattering({"numeric"}, scores=False)
    assert not {"leaf.statistic", "leaf.q"} & set(Candidate(cart()).parameters)
