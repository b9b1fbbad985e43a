"""What good trees share: every choice of columns against brute force, and against searches with a column left out."""

import numpy as np
import pytest

from modelsel.explanation.alternatives import LEAF, _distance, alternatives, without
from modelsel.kernels.compiler import load
from modelsel.learner.optimal_tree import OptimalTree
from modelsel.tree.export.rules import to_text
from tests.learner.test_optimal_tree import RNG, drawn, sides, table

pytestmark = pytest.mark.skipif(load("skeletons") is None, reason="the kernel is not compiled here")


def masks(task):
    """Tests by feature, of missing values to either side."""
    for at, feature in enumerate(task.features):
        one = table(task.values[:, [at]], task.target, (feature,), task.weights)
        yield at, list({mask.tobytes(): mask for mask in sides(one, "branch")}.values())


def brute(task, least: float) -> dict:  # noqa: C901
    """Least wrong weight of each skeleton, its sides in either order, by trying all trees of two levels."""
    weights, tests = task.row_weights, dict(masks(task))

    def tally(rows):
        return np.bincount(task.target[rows], weights[rows], len(task.classes))

    def pair(one, other):
        """Wrong weight of two leaves of different classes."""
        a, b = tally(one), tally(other)
        right = max(a[u] + b[v] for u in range(len(a)) for v in range(len(a)) if u != v)
        return a.sum() + b.sum() - right

    def cuts(rows, feature):
        for mask in tests[feature]:
            one, other = rows & mask, rows & ~mask
            if one.any() and other.any() and min(weights[one].sum(), weights[other].sum()) >= least:
                yield one, other

    def below(rows):
        costs = {feature: [pair(*parts) for parts in cuts(rows, feature)] for feature in tests}
        return {None: tally(rows).sum() - tally(rows).max()} | {feature: min(own) for feature, own in costs.items() if own}

    best: dict = {}
    for root in tests:
        for one, other in cuts(np.ones(len(task), bool), root):
            left, right = below(one), below(other)
            for i, a in left.items():
                for k, b in right.items():
                    cost = pair(one, other) if i is None and k is None else a + b
                    key = root, tuple(sorted((i, k), key=str))
                    best[key] = min(best.get(key, np.inf), cost)
    return best


@pytest.mark.parametrize("variant", [{}, {"named": True}, {"gaps": True, "named": True}, {"weighted": True, "gaps": True}])
@pytest.mark.parametrize("least", [1, 3])
def test_skeletons_and_their_errors_are_those_of_brute_force(variant, least):
    lists = []
    for seed in range(75):
        task = drawn(seed, **variant)
        path = OptimalTree(max_depth=2, missing="branch", min_leaf=least, limit=None).fit_path(
            task, np.arange(len(task)), RNG(0)
        )
        total = task.row_weights.sum()
        truth = brute(task, least)
        for within in (0.0, 0.1):
            found, ended = path.skeletons(within)
            assert ended
            got: dict = {}
            for one in found:
                key = one.features[0], tuple(sorted(one.features[1:], key=str))
                got[key] = min(got.get(key, np.inf), one.errors * total)
            most = path.front(2)[0][-1] * total + np.floor(within * total + 1e-9) + 1e-6
            wanted = {key: cost for key, cost in truth.items() if cost <= most}
            assert got.keys() == wanted.keys(), seed
            assert all(got[key] == pytest.approx(cost) for key, cost in wanted.items()), seed
            lists.append(len(found))
        for one in found[:5]:
            cut = path.tree_of(one)
            wrong = (cut.counts.sum(axis=1) - cut.counts.max(axis=1))[cut.leaf].sum()
            assert wrong <= one.errors * total + 1e-9, seed
            assert set(cut.tree.feature[~cut.leaf].tolist()) == one.used
    assert max(lists) > 5


def test_columns_that_all_need_are_those_without_which_the_best_tree_is_not_good():
    told = 0
    for seed in range(60):
        task = drawn(seed)
        found = alternatives(task, within=0.05, min_leaf=2, limit=None)
        for at, feature in enumerate(task.features):
            rest = without(task, at)
            search = OptimalTree(max_depth=2, missing="branch", min_leaf=2, limit=None)
            least = search.fit_path(rest, np.arange(len(rest)), RNG(0)).front(2)[0][-1]
            steps = np.floor(0.05 * len(task) + 1e-9) / len(task)
            assert (feature.name in found.needed) == (least > found.best + steps + 1e-9), (seed, feature.name)
            told += feature.name in found.needed
    assert told > 10


def test_columns_of_no_use_are_in_no_good_tree():
    rng = RNG(1)
    values = rng.integers(0, 2, (200, 5)).astype(float)
    values[:, 4] = rng.random(200).round(2)
    target = (values[:, 0] != values[:, 1]).astype(int)
    task = table(values, target)  # parity of two columns: the others say nothing, and both are needed
    found = alternatives(task, within=0.01)
    assert found.best == 0.0
    assert found.needed == ("x0", "x1")
    assert found.unused == ("x2", "x3", "x4")
    assert {one.columns for one in found.skeletons} == {("x0", "x1", "x1"), ("x1", "x0", "x0")}
    assert len(found.different) == 1  # the other one tests the same columns
    assert "every good tree tests    x0, x1" in str(found)


def test_a_search_that_met_its_limit_claims_nothing():
    values = RNG(0).normal(size=(400, 40))
    task = table(values, (values[:, 0] * values[:, 1] + RNG(1).normal(size=400) > 0).astype(int))
    whole = alternatives(task, within=0.03, limit=None)
    with pytest.warns(UserWarning, match="were not searched to the end"):
        part = alternatives(task, within=0.03, limit=1)
    assert whole.ended
    assert not part.ended
    assert (part.needed, part.unused) == ((), ())
    assert "what all need is not known" in str(part)
    assert "no good tree" not in str(part)


def test_a_lone_leaf_that_is_good_needs_no_column():
    task = table(RNG(0).normal(size=(100, 3)), (np.arange(100) < 2).astype(int))
    found = alternatives(task, within=0.05)
    assert (found.needed, found.ended) == ((), True)
    assert "no column in common" in str(found)


def test_trees_that_differ_most_share_the_fewest_columns(tables):
    task = tables["cancer"]
    path = OptimalTree(max_depth=2, missing="branch", min_leaf=5, limit=None).fit_path(task, np.arange(len(task)), RNG(0))
    found, _ = path.skeletons(0.01)
    told = alternatives(task, within=0.01)
    assert len(told.skeletons) == len(found) == 104
    assert told.best * 569 == pytest.approx(22)
    assert len(told.different) == 3
    second = next(one for one in found if _distance(one, found[0]) == max(_distance(other, found[0]) for other in found))
    assert told.different[1] == to_text(path.tree_of(second))
    assert str(told).count("(then") == 10
    assert all(LEAF in one.columns or None not in one.columns for one in told.skeletons)
