"""What good trees share: every choice of columns against brute force, and against searches with a column left out."""

import numpy as np
import pytest

from modelsel.explanation.alternatives import LEAF, SkeletonSearch, _distance, alternatives, columns_of, without
from modelsel.kernels.compiler import load
from modelsel.learner.optimal_tree import OptimalTree
from modelsel.tree.rules import to_text
from tests.learner.test_optimal_tree import RNG, drawn, sides, table

pytestmark = pytest.mark.skipif(load("skeletons") is None, reason="the kernel is not compiled here")

FEW, MANY = range(20), pytest.param(range(20, 75), marks=pytest.mark.slow)


def searched(task, depth: int, least: float, limit: int | None = None):
    learner = OptimalTree(max_depth=depth, missing="branch", min_leaf=least, limit=limit)
    return learner.fit_path(task, np.arange(len(task)), RNG(0))


def masks(task):
    """Tests by feature, of missing values to either side."""
    for at, feature in enumerate(task.features):
        one = table(task.values[:, [at]], task.target, (feature,), task.weights)
        yield at, list({mask.tobytes(): mask for mask in sides(one, "branch")}.values())


def sorted_sides(side):
    """A skeleton with its sides in a fixed order, at every level; a lone test has two leaves."""
    if not isinstance(side, tuple):
        return side if side is None else (side, None, None)
    return side[0], *sorted(map(sorted_sides, side[1:]), key=str)


def brute(task, least: float, depth: int = 2) -> dict:  # noqa: C901
    """Least wrong weight of each skeleton, its sides in either order, by trying all trees of so many levels."""
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

    def below(rows, levels):
        best: dict = {None: tally(rows).sum() - tally(rows).max()}
        for root in tests if levels else ():
            for one, other in cuts(rows, root):
                left, right = below(one, levels - 1), below(other, levels - 1)
                for i, a in left.items():
                    for k, b in right.items():
                        cost = pair(one, other) if i is None and k is None else a + b
                        key = sorted_sides((root, i, k))
                        best[key] = min(best.get(key, np.inf), cost)
        return best

    return {key: cost for key, cost in below(np.ones(len(task), bool), depth).items() if key is not None}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("variant", [{}, {"named": True}, {"gaps": True, "named": True}, {"weighted": True, "gaps": True}])
@pytest.mark.parametrize("least", [1, 3])
@pytest.mark.parametrize("seeds", [FEW, MANY])
def test_skeletons_and_their_errors_are_those_of_brute_force(variant, least, seeds):
    lists = []
    for seed in seeds:
        task = drawn(seed, **variant)
        path = searched(task, 2, least)
        total = task.row_weights.sum()
        truth = brute(task, least)
        for within in (0.0, 0.1):
            search = SkeletonSearch(path, 2, within)
            good = search.good()
            found = good.skeletons
            assert good.ended
            got: dict = {}
            for one in found:
                key = sorted_sides(one.features)
                got[key] = min(got.get(key, np.inf), one.errors * total)
            most = path.front(2)[0][-1] * total + np.floor(within * total + 1e-9) + 1e-6
            wanted = {key: cost for key, cost in truth.items() if cost <= most}
            assert got.keys() == wanted.keys(), seed
            assert all(got[key] == pytest.approx(cost) for key, cost in wanted.items()), seed
            lists.append(len(found))
        for one in found[:5]:
            cut = search.path.assemble(search.nodes_of(one))
            wrong = (cut.counts.sum(axis=1) - cut.counts.max(axis=1))[cut.leaf].sum()
            assert wrong <= one.errors * total + 1e-9, seed
            assert set(cut.tree.feature[~cut.leaf].tolist()) == one.used
    assert max(lists) > 5


@pytest.mark.parametrize(
    ("variant", "seeds"),
    [({}, range(5)), pytest.param({}, range(5, 16), marks=pytest.mark.slow), ({"gaps": True, "named": True}, range(2)),
     pytest.param({"gaps": True, "named": True}, range(2, 6), marks=pytest.mark.slow)],
)  # fmt: skip
def test_skeletons_of_three_levels_are_those_of_brute_force(variant, seeds):
    lists = []
    for seed in seeds:  # trying all trees is what takes long
        task = drawn(seed, **variant)
        task, least = task.take(np.arange(min(len(task), 13))), 1 + seed % 2
        truth = brute(task, least, 3)
        path = searched(task, 3, least)
        for within in (0.0, 0.1):
            search = SkeletonSearch(path, 3, within)
            good = search.good()
            most = path.front(3)[0][-1] * len(task) + np.floor(within * len(task) + 1e-9) + 1e-6
            wanted = {key: cost for key, cost in truth.items() if cost <= most}
            got: dict = {}
            for one in good.skeletons:
                key = sorted_sides(one.features)
                got[key] = min(got.get(key, np.inf), one.errors * len(task))
            assert good.ended
            assert good.found == len(good.skeletons)
            assert got == pytest.approx(wanted), seed
            used = [columns_of(key) for key in wanted]
            assert good.some == frozenset().union(*used), seed
            assert good.every == (frozenset.intersection(*used) if used else frozenset()), seed
            lists.append(len(wanted))
        for one in good.skeletons[:5]:
            cut = search.path.assemble(search.nodes_of(one))
            wrong = (cut.counts.sum(axis=1) - cut.counts.max(axis=1))[cut.leaf].sum()
            assert wrong <= one.errors * len(task) + 1e-9, seed
            assert set(cut.tree.feature[~cut.leaf].tolist()) == one.used
    assert max(lists) > 10


def test_three_levels_tell_what_is_needed_as_searches_with_a_column_left_out_do():
    told = 0
    for seed in range(30):
        task = drawn(seed)
        found = alternatives(task, within=0.05, min_leaf=2, limit=None, depth=3)
        assert found.ended
        for at, feature in enumerate(task.features):
            rest = without(task, at)
            least = searched(rest, 3, 2).front(3)[0][-1]
            steps = np.floor(0.05 * len(task) + 1e-9) / len(task)
            assert (feature.name in found.needed) == (least > found.best + steps + 1e-9), (seed, feature.name)
            told += feature.name in found.needed
    assert told > 5


def test_a_search_of_three_levels_that_met_its_limit_says_what_it_knows():
    rng = RNG(0)
    values = rng.integers(0, 2, (300, 8)).astype(float)
    values[:, 7] = rng.normal(size=300)
    flipped = rng.random(300) < 0.03
    task = table(values, ((values[:, 0] + values[:, 1] + values[:, 2]) % 2 != flipped).astype(int))  # all three are needed
    whole, part = (alternatives(task, within=0.02, min_leaf=5, limit=limit, depth=3) for limit in (None, 2))
    assert (whole.ended, part.ended) == (True, False)
    assert whole.needed == part.needed == ("x0", "x1", "x2")
    assert part.unused == ()
    assert set(part.unknown) >= set(whole.unused)
    assert "the search met its limit (--limit)" in str(part)
    assert "x0, x1, x2, as searches without it say" in str(part)
    assert "no good tree tests" not in str(part)


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
    assert "what none tests is not known" in str(part)
    assert "no good tree" not in str(part)


def test_a_lone_leaf_that_is_good_needs_no_column():
    task = table(RNG(0).normal(size=(100, 3)), (np.arange(100) < 2).astype(int))
    found = alternatives(task, within=0.05)
    assert (found.needed, found.ended) == ((), True)
    assert "no column in common" in str(found)


def test_trees_that_differ_most_share_the_fewest_columns(tables):
    task = tables["cancer"]
    search = SkeletonSearch(searched(task, 2, 5), 2, 0.01)
    found = search.good().skeletons
    told = alternatives(task, within=0.01)
    assert len(told.skeletons) == len(found) == 104
    assert told.best * 569 == pytest.approx(22)
    assert len(told.different) == 3
    second = next(one for one in found if _distance(one, found[0]) == max(_distance(other, found[0]) for other in found))
    assert told.different[1] == to_text(search.path.assemble(search.nodes_of(second)))
    assert str(told).count("(then") == 10
    assert all(LEAF in one.columns or None not in one.columns for one in told.skeletons)
