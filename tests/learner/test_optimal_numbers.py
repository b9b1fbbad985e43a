"""`optimal_tree` of numbers against brute force, against streed, and against itself."""

import warnings
from itertools import pairwise

import numpy as np
import pytest

from modelsel.core.types import Feature, NumberTask
from modelsel.kernels.compiler import load
from modelsel.learner.optimal_tree import OptimalTree
from modelsel.learner.tree import Tree
from tests.extras import needs
from tests.learner.test_optimal_tree import FEW, MANY, RNG, drawn, groupings, least_of_all_trees, sides
from tests.learner.test_optimal_tree import VARIANTS as BY_CLASSES

pytestmark = pytest.mark.skipif(load("optimal_numbers") is None, reason="the kernel is not compiled here")


def numbers(values, target, features=None, weights=None) -> NumberTask:
    features = features or tuple(Feature(f"x{i}", "numeric") for i in range(values.shape[1]))
    rows = np.arange(len(values))
    return NumberTask(
        name="drawn",
        features=features,
        values=values.astype(float),
        rows=rows,
        target=np.asarray(target, float),
        weights=weights,
    )


def drawn_numbers(seed: int, **settings: bool) -> NumberTask:
    """The tables of classes with numbers in their place: whole ones, hundredths or reals far from 0."""
    of, rng = drawn(seed, **settings), RNG(1_000 + seed)
    signal = 3 * of.target + np.nan_to_num(of.values[:, 0]) + rng.normal(size=len(of))
    target = (signal.round(), signal.round(2), 1e4 + 100 * signal)[seed % 3]
    return numbers(of.values, target, of.features, of.weights)


def squared(target, weights) -> float:
    return float(weights @ np.square(target - np.average(target, weights=weights)))


def brute(task: NumberTask, depth: int, missing: str = "impute", least: float = 1.0, tests=sides) -> list[float]:
    """Least squared error for at most 1 … 2^depth leaves."""
    return least_of_all_trees(
        task, depth, missing, least, tests, lambda rows: squared(task.target[rows], task.row_weights[rows])
    )


VARIANTS = {**BY_CLASSES, "groups": {"gaps": True, "named": True, "nominal": "subset"}}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seeds", [FEW, MANY])
@pytest.mark.parametrize("variant", VARIANTS)
def test_squared_errors_equal_brute_force_on_300_small_tables(variant, seeds):
    settings = dict(VARIANTS[variant])
    least, nominal = settings.pop("min_leaf", 1), settings.pop("nominal", None)
    missing = variant if variant in ("impute", "level", "branch") else "impute"
    for seed in seeds:
        task = drawn_numbers(seed, **settings)
        if nominal and seed % 20:  # few levels: trying all trees is what takes long
            task = numbers(np.minimum(task.values, 3), task.target, task.features, task.weights)
        depth = 3 if seed % 20 == 1 else 2
        learner = OptimalTree(max_depth=depth, missing=missing, min_leaf=least, nominal=nominal, limit=None)
        path = learner.fit_path(task, np.arange(len(task)), RNG(0))
        errors, bound = path.front(depth)
        total, worst = task.row_weights.sum(), squared(task.target, task.row_weights)
        truth = brute(task, depth, missing, least, groupings if nominal else sides)
        assert np.abs(errors * total - truth).max() <= 1e-9 * worst, seed
        assert (errors == bound).all()
        model = path.model(learner)
        said = model.predict(task)
        assert abs(task.row_weights @ np.square(task.target - said) - truth[-1]) <= 1e-9 * worst, seed
        weight = model.cut.tree.weight
        assert len(weight) == 1 or weight.min() >= least
        means = [np.average(task.target[said == each], weights=task.row_weights[said == each]) for each in np.unique(said)]
        assert np.allclose(np.unique(said), means, rtol=1e-12), seed
        one = path.front(1)[0]
        assert np.abs(one * total - brute(task, 1, missing, least, groupings if nominal else sides)).max() <= 1e-9 * worst


def test_a_front_answers_every_price_of_a_leaf():
    task = drawn_numbers(4)
    path = OptimalTree().fit_path(task, np.arange(len(task)), RNG(0))
    errors = path.front(3)[0]
    assert all(a >= b for a, b in pairwise(errors))
    for price in (0.0, 0.01, 0.05, 0.2):
        learner = OptimalTree(leaf_price=price)
        share = np.square(path.training_error([learner])[0]) / errors[0]
        cost = share + price * path.complexity([learner])[0]
        assert cost == pytest.approx((errors / errors[0] + price * np.arange(1, 9)).min())
    assert path.complexity([OptimalTree(leaf_price=1.0)])[0] == 1


def test_one_search_answers_depths_and_prices_as_each_alone():
    task = drawn_numbers(7, gaps=True, named=True)
    rows = RNG(0).integers(0, len(task), len(task))  # a row may repeat
    learners = [OptimalTree(max_depth=d, leaf_price=price) for d in range(4) for price in (0.0, 0.02, 0.1)]
    path = learners[0].fit_path(task, rows, RNG(0))
    together = path.outputs(learners, task, np.arange(len(task)), scores=False)
    for i, learner in enumerate(learners):
        model = learner.fit(task, rows, RNG(1))
        assert (model.predict(task) == together.predicted[i]).all()
        assert path.complexity([learner])[0] == learner.complexity(model)
        assert (OptimalTree.restore(model.describe()).predict(task) == model.predict(task)).all()


def test_order_of_rows_and_columns_does_not_matter():
    for seed in range(20):
        rng, task = RNG(seed), drawn_numbers(seed, weighted=True)
        rows, columns = rng.permutation(len(task)), rng.permutation(task.values.shape[1])
        features = tuple(task.features[at] for at in columns)
        other = numbers(task.values[rows][:, columns], task.target[rows], features, task.weights[rows])
        first = OptimalTree().fit(task, np.arange(len(task)), RNG(0)).predict(task)
        again = OptimalTree().fit(other, np.arange(len(task)), RNG(0)).predict(other)
        assert (first[rows] == again).all(), seed


def test_no_grown_tree_of_the_depth_has_less_squared_error():
    better = 0
    for seed in range(20):
        rng = RNG(seed)
        values = rng.normal(size=(60, 3)).round(1)
        task = numbers(values, values[:, 0] * values[:, 1] + 0.3 * rng.normal(size=60))
        rows = np.arange(60)
        grown = Tree(max_depth=2).fit(task, rows, RNG(0)).predict(task)
        best = OptimalTree(max_depth=2).fit(task, rows, RNG(0)).predict(task)
        ours, theirs = (np.square(task.target - said).sum() for said in (best, grown))
        assert ours <= theirs * (1 + 1e-9), seed
        better += ours < theirs * (1 - 1e-6)
    assert better > 10


def test_a_bound_at_the_limit_is_never_above_the_truth_and_rises_with_work():
    rng = RNG(0)
    values = rng.normal(size=(200, 6))
    task = numbers(values, values[:, 0] * values[:, 1] + values[:, 2] + rng.normal(size=200))
    bounds, found = [], []
    for limit in (1, 5, 20, 80):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that it was not searched to the end
            errors, bound = OptimalTree(limit=limit).fit_path(task, np.arange(200), RNG(0)).front(3)
        bounds.append(bound)
        found.append(errors)
    truth, proven = OptimalTree(limit=None).fit_path(task, np.arange(200), RNG(0)).front(3)
    assert (truth == proven).all()
    for low, high in zip(bounds, found, strict=True):
        assert (low <= truth * (1 + 1e-9)).all()
        assert (truth <= high * (1 + 1e-9)).all()
    assert all((a <= b + 1e-12).all() for a, b in pairwise(bounds))
    assert bounds[0][-1] < truth[-1] * 0.99
    with pytest.warns(UserWarning, match=r"limit=1 million steps\): the best found has .* mean squared training error"):
        OptimalTree(limit=1).fit_path(task, np.arange(200), RNG(0)).front(3)


@pytest.mark.parametrize("target", [np.full(9, 2.5), np.r_[np.zeros(8), 1e9], np.arange(9) * 1e-7])
def test_targets_of_one_value_or_far_apart(target):
    task = numbers(np.arange(9.0)[:, None], target)
    path = OptimalTree(limit=None).fit_path(task, np.arange(9), RNG(0))
    assert np.allclose(path.front(3)[0] * 9, brute(task, 3), rtol=1e-9, atol=1e-9 * squared(target, np.ones(9)))


def test_what_speaks_of_classes_is_refused():
    task = numbers(np.arange(4.0)[:, None], np.arange(4.0))
    assert not list(OptimalTree().problems(task))
    said = " ".join(OptimalTree(costs=[[0, 1], [1, 0]]).problems(task))
    assert "costs reads classes, and this target is a number" in said


def test_squared_errors_are_those_of_streed():
    pystreed = needs("pystreed")
    for seed in range(100):
        rng = RNG(seed)
        n, columns = int(rng.integers(12, 80)), int(rng.integers(2, 7))
        values = rng.integers(0, 2, (n, columns))
        values[0], values[1] = 0, 1
        target = (values @ rng.normal(size=columns) + rng.normal(size=n)).round(2)
        errors = OptimalTree(limit=None).fit_path(numbers(values, target), np.arange(n), RNG(0)).front(3)[0]
        for leaves in (2, 4, 8):
            peer = pystreed.STreeDRegressor("regression", max_depth=3, max_num_nodes=leaves - 1)
            peer.fit(values, target)
            wrong = np.square(np.ravel(peer.predict(values)) - target).mean()
            assert errors[leaves - 1] == pytest.approx(wrong, rel=1e-6, abs=1e-9), (seed, leaves)
