"""`optimal_tree` beside three programs that prove the same: pycontree, pystreed, gosdt, on 100 tables each."""

import numpy as np
import pytest

from modelsel.kernels.compiler import load
from modelsel.learner.optimal_tree import OptimalTree
from tests.extras import needs
from tests.learner.test_optimal_tree import RNG, drawn, table

pytestmark = pytest.mark.skipif(load("optimal") is None, reason="the kernel is not compiled here")


def front(task, depth: int, least: float = 1):
    """Least errors by number of leaves, as numbers of rows, proven."""
    path = OptimalTree(max_depth=depth, min_leaf=least, limit=None).fit_path(task, np.arange(len(task)), RNG(0))
    errors, bound = path.front(depth)
    assert (errors == bound).all()
    return np.rint(errors * len(task)).astype(int)


def binary(seed: int):
    """Columns of noughts and ones, all of which both have."""
    rng = RNG(seed)
    n, columns, classes = int(rng.integers(12, 80)), int(rng.integers(2, 7)), int(rng.integers(2, 4))
    values, target = rng.integers(0, 2, (n, columns)), rng.integers(0, classes, n)
    values[0], values[1], target[:classes] = 0, 1, np.arange(classes)
    return table(values, target)


def test_errors_are_those_of_pycontree():
    pycontree = needs("pycontree")
    for seed in range(100):
        if seed % 2:
            task = drawn(seed)
        else:
            rng = RNG(seed)
            n = int(rng.integers(40, 200))
            task = table(rng.normal(size=(n, 4)).round(1), rng.permutation(np.arange(n) % 3))
        for depth in (2, 3):
            peer = pycontree.ConTree(max_depth=depth)
            peer.fit(task.values, task.target)
            wrong = int((np.ravel(peer.predict(task.values)) != task.target).sum())
            assert front(task, depth)[-1] == wrong, (seed, depth)


def test_errors_of_every_number_of_leaves_and_least_leaf_are_those_of_pystreed():
    pystreed = needs("pystreed")  # its solver of two levels forgets `min_leaf_node_size`: brute force finds better trees
    for seed in range(100):
        task = binary(seed)
        for least in (1, 4):
            ours = front(task, 3, least)
            for leaves in (2, 3, 5, 8):
                peer = pystreed.STreeDClassifier(
                    max_depth=3, max_num_nodes=leaves - 1, min_leaf_node_size=least, use_terminal_solver=least == 1
                )  # fmt: skip
                peer.fit(task.values.astype(int), task.target)
                wrong = int((peer.predict(task.values.astype(int)) != task.target).sum())
                assert ours[leaves - 1] == wrong, (seed, least, leaves)


def test_costs_with_a_price_per_leaf_are_those_of_gosdt():
    gosdt = needs("gosdt")
    for seed in range(100):
        task = binary(seed)
        price = (0.01, 0.03, 0.1)[seed % 3]
        ours = front(task, 3) / len(task) + price * np.arange(1, 9)
        peer = gosdt.GOSDTClassifier(regularization=price, depth_budget=3, allow_small_reg=True, worker_limit=1)
        peer.fit(task.values.astype(bool), task.target)
        assert peer.result_.upperbound == pytest.approx(ours.min(), abs=1e-6), seed
