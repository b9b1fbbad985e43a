"""`optimal_tree` against brute force, against what others have proven, and against itself."""

import warnings
from itertools import combinations, pairwise

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.core.types import Feature, Task
from modelsel.kernels.compiler import load
from modelsel.learner.optimal_tree import OptimalTree
from modelsel.learner.trees.optimal_problem import nested_groups

pytestmark = pytest.mark.skipif(load("optimal") is None, reason="the kernel is not compiled here")
RNG = np.random.default_rng


def table(values, target, features=None, weights=None) -> Task:
    features = features or tuple(Feature(f"x{i}", "numeric") for i in range(values.shape[1]))
    names = tuple(f"c{i}" for i in range(int(target.max()) + 1))
    rows = np.arange(len(values))
    return Task(
        name="drawn", features=features, values=values.astype(float), rows=rows, classes=names,
        target=target.astype(np.int32), weights=weights,
    )  # fmt: skip


def drawn(seed: int, gaps: bool = False, weighted: bool = False, named: bool = False) -> Task:
    rng = RNG(seed)
    n, columns, classes = int(rng.integers(8, 28)), int(rng.integers(1, 4)), int(rng.integers(2, 5))
    values = rng.integers(0, int(rng.integers(2, 8)), (n, columns)).astype(float)
    target = rng.integers(0, classes, n)
    target[:classes] = np.arange(classes)
    features = None
    if named:
        levels = tuple("abcdefgh")
        features = tuple(Feature(f"x{i}", "nominal" if i == 0 else "numeric", levels if i == 0 else ()) for i in range(columns))
    if gaps:
        values[rng.random(values.shape) < 0.2] = np.nan
        values[0] = 1.0  # a column has some value
    return table(values, target, features, rng.integers(1, 5, n).astype(float) if weighted else None)


def sides(task: Task, missing: str):  # noqa: C901
    """Every mask that a test of the specification can make."""
    for at, feature in enumerate(task.features):
        x = task.values[:, at].copy()
        absent = np.isnan(x)
        weights = task.row_weights
        values = np.unique(x[~absent])
        heavy = np.array([weights[x == value].sum() for value in values])
        if feature.kind == "nominal":
            usual = values[heavy.argmax()]
        else:
            usual = values[np.flatnonzero(heavy.cumsum() >= heavy.sum() / 2)[0]]
        if missing in ("level", "branch") and absent.any() and (missing == "level" or feature.kind != "nominal"):
            yield absent
        if feature.kind == "nominal":
            filled = np.where(absent, usual, x) if missing == "impute" else x
            for value in values:
                yield filled == value
                if missing == "branch":
                    yield (filled == value) | absent
            continue
        for cut in (values[:-1] + values[1:]) / 2:
            if missing == "branch":
                yield (x <= cut) | absent
                yield (x <= cut) & ~absent
            else:
                yield np.where(absent, usual, x) <= cut


def groupings(task: Task, missing: str):
    """Every mask of levels against the others, missing values a level unless they are imputed; of numbers as before."""
    for at, feature in enumerate(task.features):
        one = table(task.values[:, [at]], task.target, (feature,), task.weights)
        if feature.kind != "nominal":
            yield from sides(one, missing)
            continue
        x = task.values[:, at]
        if missing == "impute":
            values = np.unique(x[~np.isnan(x)])
            heavy = [task.row_weights[x == value].sum() for value in values]
            x = np.where(np.isnan(x), values[int(np.argmax(heavy))], x)
        codes = np.where(np.isnan(x), -1, x)
        levels = np.unique(codes)
        for size in range(1, len(levels)):
            yield from (np.isin(codes, group) for group in combinations(levels, size))


def brute(task: Task, depth: int, missing: str = "impute", least: float = 1.0, costs=None, tests=sides) -> list[float]:
    """Least wrong weight, or cost, for at most 1 … 2^depth leaves."""
    costs = 1 - np.eye(len(task.classes)) if costs is None else costs

    def cost(rows) -> float:
        return (np.bincount(task.target[rows], task.row_weights[rows], len(task.classes)) @ costs).min()

    return least_of_all_trees(task, depth, missing, least, tests, cost)


def least_of_all_trees(task, depth: int, missing: str, least: float, tests, cost) -> list[float]:
    """Least sum of `cost(rows of a leaf)` for at most 1 … 2^depth leaves, by trying all trees."""
    masks = list({mask.tobytes(): mask for mask in tests(task, missing)}.values())
    weights, known = task.row_weights, {}

    def best(rows, d):
        key = rows.tobytes(), d
        if key not in known:
            found = [cost(rows)] * (1 << d)
            for mask in masks if d else ():
                left, right = rows & mask, rows & ~mask
                if min(weights[left].sum(), weights[right].sum()) < least or not left.any() or not right.any():
                    continue
                one, two = best(left, d - 1), best(right, d - 1)
                for i, a in enumerate(one):
                    for j, b in enumerate(two):
                        found[i + j + 1] = min(found[i + j + 1], a + b)
            known[key] = list(np.minimum.accumulate(found))
        return known[key]

    return best(np.ones(len(task), bool), depth)


VARIANTS = {
    "numbers": {},
    "names": {"named": True},
    "weights": {"weighted": True},
    "impute": {"gaps": True, "named": True},
    "level": {"gaps": True, "named": True},
    "branch": {"gaps": True, "named": True},
    "min_leaf": {"min_leaf": 3},
    "min_weight": {"weighted": True, "min_leaf": 5},
}


FEW, MANY = range(60), pytest.param(range(60, 300), marks=pytest.mark.slow)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seeds", [FEW, MANY])
@pytest.mark.parametrize("variant", VARIANTS)
def test_it_equals_brute_force_on_300_small_tables(variant, seeds):
    settings = dict(VARIANTS[variant])
    least = settings.pop("min_leaf", 1)
    missing = variant if variant in ("impute", "level", "branch") else "impute"
    for seed in seeds:
        task = drawn(seed, **settings)
        depth = 3 if seed % 10 == 0 else 2
        learner = OptimalTree(max_depth=depth, missing=missing, min_leaf=least, limit=None)
        path = learner.fit_path(task, np.arange(len(task)), RNG(0))
        errors, bound = path.front(depth)
        total = task.row_weights.sum()
        assert np.allclose(errors * total, brute(task, depth, missing, least)), seed
        assert (errors == bound).all()
        model = path.model(learner)
        wrong = task.row_weights[model.predict(task) != task.target].sum()
        assert wrong == pytest.approx(errors[-1] * total), seed
        weight = model.cut.tree.counts.sum(axis=1)
        assert len(weight) == 1 or weight.min() >= least
        assert path.training_error([learner])[0] == pytest.approx(errors[-1])


@pytest.mark.parametrize("seeds", [FEW, MANY])
@pytest.mark.parametrize("weighted", [False, True])
def test_least_costs_are_those_of_brute_force_on_300_small_tables(weighted, seeds):
    other = 0
    for seed in seeds:
        task, rng = drawn(seed, weighted=weighted, named=seed % 2 == 0), RNG(seed)
        classes = len(task.classes)
        costs = rng.integers(0, 12, (classes, classes)) / (1 if seed % 3 else 4)
        if seed % 5:
            np.fill_diagonal(costs, 0)
        least, depth = 3 if seed % 4 == 0 else 1, 3 if seed % 10 == 0 else 2
        learner = OptimalTree(max_depth=depth, costs=costs.tolist(), min_leaf=least, limit=None)
        path = learner.fit_path(task, np.arange(len(task)), RNG(0))
        total, truth = task.row_weights.sum(), brute(task, depth, least=least, costs=costs)
        for levels in (1, depth):
            found, bound = path.front(levels)
            assert np.allclose(found * total, truth if levels == depth else brute(task, 1, least=least, costs=costs)), seed
            assert (found == bound).all()
        said = path.model(learner).predict(task)
        assert (task.row_weights * costs[task.target, said]).sum() == pytest.approx(truth[-1]), seed
        other += (OptimalTree(max_depth=depth, min_leaf=least).fit(task, path.rows, RNG(0)).predict(task) != said).any()
    assert other > len(seeds) / 3  # costs that change nothing test nothing


def test_costs_of_errors_search_the_tree_of_least_errors():
    for seed in range(20):
        task = drawn(seed, weighted=True)
        rows, matrix = np.arange(len(task)), 2.5 * (1 - np.eye(len(task.classes)))
        plain, costly = OptimalTree(), OptimalTree(costs=matrix.tolist())
        ours, theirs = plain.fit(task, rows, RNG(0)), costly.fit(task, rows, RNG(0))
        assert (ours.cut.tree.feature == theirs.cut.tree.feature).all(), seed
        assert np.array_equal(ours.cut.tree.threshold, theirs.cut.tree.threshold, equal_nan=True), seed
        least = costly.fit_path(task, rows, RNG(0)).front(3)[0]
        assert np.allclose(least, 2.5 * plain.fit_path(task, rows, RNG(0)).front(3)[0])


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        ([[0, 1]], "as many columns as rows"),
        ([[0, 1, 2]] * 3, "3 rows for 2 classes"),
        ([[0, 0.0001], [1, 0]], "three decimals"),
        ([[0, np.inf], [1, 0]], "finite"),
        ([[0, 1], [10_001, 0]], "10,000 of their common steps"),
    ],
)
def test_costs_that_cannot_be_counted_are_refused(costs, said):
    task = table(np.arange(4.0)[:, None], np.array([0, 1, 0, 1]))
    assert said in " ".join(OptimalTree(costs=costs).problems(task))


def test_costs_of_too_many_rows_are_refused_before_the_search():
    task = table(np.arange(4.0)[:, None], np.array([0, 1, 0, 1]))
    learner = OptimalTree(costs=[[0, 1], [10_000, 0]])
    assert not list(learner.problems(task))
    assert learner.refusal(task, np.arange(4)) is None
    assert "too many steps" in str(learner.refusal(task, np.zeros(200_000, np.int64)))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seeds", [FEW, MANY])
@pytest.mark.parametrize("missing", ["none", "impute", "level", "branch"])
def test_grouped_levels_equal_brute_force_on_300_small_tables(missing, seeds):
    better = 0
    for seed in seeds:
        gaps = missing != "none"
        policy = missing if gaps else "impute"
        task = drawn(seed, gaps=gaps, named=True, weighted=seed % 2 == 1)
        if seed % 20:  # few levels: trying all trees is what takes long
            task = table(np.minimum(task.values, 3), task.target, task.features, task.weights)
        depth, least = 3 if seed % 20 == 1 else 2, 3 if seed % 4 == 0 else 1
        learner = OptimalTree(max_depth=depth, missing=policy, nominal="subset", min_leaf=least, limit=None)
        path = learner.fit_path(task, np.arange(len(task)), RNG(0))
        errors, bound = path.front(depth)
        truth = brute(task, depth, policy, least, tests=groupings)
        assert np.allclose(errors * task.row_weights.sum(), truth), seed
        assert (errors == bound).all()
        model = path.model(learner)
        assert (task.row_weights[model.predict(task) != task.target]).sum() == pytest.approx(truth[-1]), seed
        assert (OptimalTree.restore(model.describe()).predict(task) == model.predict(task)).all()
        better += truth[-1] < brute(task, depth, policy, least)[-1] - 1e-9
    assert better > len(seeds) / 30


def test_chains_of_groups_hold_every_division_once():
    for levels in range(2, 9):
        seen = []
        for chain in nested_groups(levels):
            for cut in sorted(set(chain))[:-1]:
                group = frozenset(level for level, rank in enumerate(chain) if rank <= cut)
                seen.append(min(group, frozenset(range(levels)) - group, key=sorted))
        assert len(seen) == len(set(seen)) == 2 ** (levels - 1) - 1


def test_more_levels_than_are_grouped_are_refused_by_name():
    levels = tuple("abcdefghi")
    task = table(np.arange(9.0)[:, None], np.arange(9) % 2, (Feature("colour", "nominal", levels),))
    assert not list(OptimalTree().problems(task))
    said = " ".join(OptimalTree(nominal="subset").problems(task))
    assert "colour has 9 levels, and at most 8 are grouped" in said


def test_levels_that_no_row_of_a_node_has_go_with_the_heavier_side():
    values = np.array([0, 0, 0, 1, 2, 3, 3, np.nan])[:, None]
    task = table(values, np.array([0, 0, 0, 0, 1, 1, 1, 0]), (Feature("colour", "nominal", tuple("abcde")),))
    model = OptimalTree(max_depth=1, nominal="subset", missing="level").fit(task, np.arange(8), RNG(0))
    assert model.cut.tree.subset[0].tolist() in ([True, True, False, False, True], [False, False, True, True, False])
    assert model.predict(task).tolist() == task.target.tolist()


@pytest.mark.parametrize(("name", "errors"), [("iris", (6, 1)), pytest.param("breast_cancer", (22, 9), marks=pytest.mark.slow)])
def test_errors_are_those_that_others_have_proven(name, errors):
    from sklearn import datasets

    values, target = getattr(datasets, f"load_{name}")(return_X_y=True)
    task = table(values, target)
    path = OptimalTree(limit=None).fit_path(task, np.arange(len(task)), RNG(0))
    assert [round(path.front(depth)[0][-1] * len(task)) for depth in (2, 3)] == list(errors)


def test_errors_by_number_of_leaves_are_those_that_others_have_proven_of_tic_tac_toe():
    task = make("dataset", "tic_tac_toe").read()
    path = OptimalTree(limit=None).fit_path(task, np.arange(len(task)), RNG(0))
    assert np.rint(path.front(3)[0] * len(task)).astype(int)[2:7].tolist() == [282, 240, 231, 221, 216]


def test_four_levels_equal_brute_force_on_small_tables():
    better = 0
    for seed in range(40):
        task = drawn(seed)
        task = task.take(np.arange(min(len(task), 14)))
        learner = OptimalTree(max_depth=4, limit=None)
        path = learner.fit_path(task, np.arange(len(task)), RNG(0))
        errors, bound = path.front(4)
        truth = brute(task, 4)
        assert np.allclose(errors * len(task), truth), seed
        assert (errors == bound).all()
        assert (path.model(learner).predict(task) != task.target).sum() == round(truth[-1]), seed
        better += truth[-1] < brute(task, 3)[-1]
    assert better > 0  # a fourth level is worth something somewhere


@pytest.mark.slow
def test_more_work_raises_the_bound_and_the_same_work_finds_the_same():
    values = RNG(0).normal(size=(300, 8))
    task = table(values, (values[:, 0] * values[:, 1] + values[:, 2] + RNG(1).normal(size=300) > 0).astype(int))
    bounds, found = [], []
    for limit in (1, 2, 5, 20, 80):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that it was not searched to the end
            fronts = [OptimalTree(limit=limit).fit_path(task, np.arange(300), RNG(at)).front(3) for at in range(2)]
        assert all((one == other).all() for one, other in zip(*fronts, strict=True))
        found.append(fronts[0][0][-1])
        bounds.append(fronts[0][1][-1])
    truth = OptimalTree(limit=None).fit_path(task, np.arange(300), RNG(0)).front(3)[0][-1]
    assert all(a <= b for a, b in pairwise(bounds))
    assert bounds[0] < bounds[-2] <= truth
    assert all(a >= b >= truth for a, b in pairwise(found))


def test_a_search_that_came_to_its_end_asks_for_none_of_fewer_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    task = drawn(0)
    path, asked = OptimalTree(limit=None).fit_path(task, np.arange(len(task)), RNG(0)), []
    solve = type(path)._solve
    monkeypatch.setattr(
        type(path), "_solve", lambda own, rows, depth, limit: asked.append(depth) or solve(own, rows, depth, limit)
    )
    errors, bound = path.front(2)
    assert (errors == bound).all()
    assert asked == [2]


@pytest.mark.filterwarnings("ignore:trees of depth")
def test_a_search_cut_short_is_no_worse_than_that_of_a_level_less():
    rng = RNG(3)
    values = rng.normal(size=(300, 12))
    task = table(values, np.digitize(values[:, :3].sum(axis=1) + rng.normal(size=300), [-1, 1]))
    shallower = 0
    for limit in (1, 5, 50):
        path = OptimalTree(limit=limit).fit_path(task, np.arange(300), RNG(0))
        fronts = [path.front(depth)[0] for depth in range(5)]
        for depth, (less, more) in enumerate(pairwise(fronts), 1):
            assert (more[: len(less)] <= less).all()
            learner = OptimalTree(max_depth=depth, limit=limit)
            assert path.training_error([learner])[0] <= more[-1] + 1e-12
            shallower += int(path._front(depth).levels.min()) < depth
    assert shallower > 0


def test_one_search_answers_depths_and_prices_as_each_alone():
    task, rows = drawn(7, gaps=True, named=True), np.arange(0, 27)
    rows = rows[rows < len(task)]
    learners = [OptimalTree(max_depth=d, leaf_price=price) for d in range(4) for price in (0.0, 0.02, 0.1, 1.0)]
    path = learners[0].fit_path(task, rows, RNG(0))
    together = path.outputs(learners, task, np.arange(len(task)), scores=True)
    for i, learner in enumerate(learners):
        model = learner.fit(task, rows, RNG(1))
        assert (model.predict(task) == together.predicted[i]).all()
        assert (model.scores(task) == together.scores[i]).all()
        assert path.complexity([learner])[0] == learner.complexity(model)


def test_a_price_is_worth_its_leaves():
    task = drawn(3)
    path = OptimalTree().fit_path(task, np.arange(len(task)), RNG(0))
    errors, _ = path.front(3)
    for price in (0.0, 0.01, 0.05, 0.2):
        learner = OptimalTree(leaf_price=price)
        cost = path.training_error([learner])[0] + price * path.complexity([learner])[0]
        assert cost == pytest.approx((errors + price * np.arange(1, 9)).min())
    leaves = [path.complexity([OptimalTree(leaf_price=price)])[0] for price in (0.0, 0.01, 0.05, 0.2, 1.0)]
    assert all(a >= b for a, b in pairwise(leaves))
    assert leaves[-1] == 1


def test_order_of_rows_and_columns_does_not_matter():
    for seed in range(20):
        rng, task = RNG(seed), drawn(seed)
        rows, columns = rng.permutation(len(task)), rng.permutation(task.values.shape[1])
        features = tuple(task.features[at] for at in columns)
        other = table(task.values[rows][:, columns], task.target[rows], features)
        first = OptimalTree().fit(task, np.arange(len(task)), RNG(0)).predict(task)
        again = OptimalTree().fit(other, np.arange(len(task)), RNG(0)).predict(other)
        assert (first[rows] == again).all(), seed


@pytest.mark.parametrize("depth", [2, 3])
def test_a_bound_at_the_limit_is_never_above_the_truth(depth):
    from modelsel.kernels.trees import optimal

    seen = set()
    for seed in range(60):
        task = drawn(seed)
        path = OptimalTree(limit=None).fit_path(task, np.arange(len(task)), RNG(0))
        truth = path._front(depth).errors
        order, ranks, labels, weights = path.order, path.ranks, path.costs.labels, path.costs.weights
        for limit in (1, 2_000, 20_000):
            best, low, chosen = (
                np.zeros(1 << depth, np.int64),
                np.zeros(1 << depth, np.int64),
                np.zeros((1 << depth, 3), np.int64),
            )
            work = np.array([0, limit])
            gains = np.eye(len(task.classes), dtype=np.int64)
            optimal.small(depth, order, ranks, labels, weights, gains, 1, work, best, low, chosen)
            assert (low <= truth).all(), (seed, limit)
            assert (truth <= best).all(), (seed, limit)
            seen.add((bool((low < truth).any()), bool((low[1:] > 0).any())))
    assert {True, False} == {one for one, _ in seen}
    assert any(two for _, two in seen)


@pytest.mark.slow
def test_a_search_that_meets_its_limit_says_what_is_proven():
    values = RNG(0).normal(size=(400, 12))
    task = table(values, (values[:, 0] * values[:, 1] + values[:, 2] + RNG(1).normal(size=400) > 0).astype(int))
    short = OptimalTree(limit=1).fit_path(task, np.arange(len(task)), RNG(0))
    with pytest.warns(UserWarning, match=r"depth 3 were not searched to the end \(limit=1 million steps\)"):
        errors, bound = short.front(3)
    truth, proven = OptimalTree(limit=None).fit_path(task, np.arange(len(task)), RNG(0)).front(3)
    assert (truth == proven).all()
    assert (bound <= truth).all()
    assert (truth <= errors).all()
    assert bound[-1] < errors[-1]


def test_fractions_and_surrogates_are_refused_by_name():
    for policy in ("fractional", "surrogate"):
        said = " ".join(OptimalTree(missing=policy).problems())
        assert policy in said
        assert "nested" in said


def test_twins_in_python_are_refused_where_there_are_none(monkeypatch):
    monkeypatch.setenv("MODELSEL_KERNELS", "python")
    assert any("MODELSEL_KERNELS=python" in said for said in OptimalTree().problems())


def test_a_model_is_written_and_read_back():
    task = drawn(5, gaps=True, named=True)
    for policy in ("impute", "level", "branch"):
        model = make("learner", "optimal_tree", missing=policy).fit(task, np.arange(len(task)), RNG(0))
        again = OptimalTree.restore(model.describe())
        assert (again.scores(task) == model.scores(task)).all()
