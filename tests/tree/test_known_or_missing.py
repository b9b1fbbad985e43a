"""`missing=branch` asks whether a value is known: the best of all tests, counted one by one, where missing rows take a side."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest

import modelsel
from modelsel.core.types import Feature, Task, positions
from modelsel.criterion.entropy import Entropy
from modelsel.criterion.gini import Gini
from modelsel.tree.growing.grow import grow
from modelsel.tree.growing.grow_numbers import grow_numbers
from modelsel.tree.growing.growth import ABSOLUTE_ERROR, POISSON_DEVIANCE, SQUARED_ERROR, GrowthParams
from modelsel.tree.nested import from_dict, to_dict
from modelsel.tree.node import LEAF, PrunedView
from modelsel.tree.routing import route

WEIGHTS = ("one", "whole", "real")


def drawn(seed: int, few: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
    """A number and a name of few values, a third of them missing; classes, numbers and weights."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 40))
    X = np.column_stack([rng.integers(0, few, n), rng.integers(0, few, n)]).astype(float)
    classes = rng.integers(0, 2 + seed % 2, n)
    X[(rng.random(X.shape) < 0.3) | ((classes == 1) & (rng.random(n) < 0.5))[:, None]] = np.nan
    kind = WEIGHTS[seed % 3]
    weights = {"one": None, "whole": rng.integers(1, 4, n).astype(float), "real": rng.uniform(0.2, 3, n)}[kind]
    return X, classes, weights


def table(X: np.ndarray, target: np.ndarray, weights: np.ndarray | None, **more: object) -> Task:
    features = (Feature("x", "numeric"), Feature("c", "nominal", tuple("abcd")))
    return Task(name="t", features=features, values=X, rows=np.arange(len(X)), target=target, weights=weights, **more)


def parted(X: np.ndarray) -> Iterator[np.ndarray]:
    """Every way to part the rows by one test: a cut or a set of levels, the missing ones on either side or alone."""
    for column, cut in ((X[:, 0], True), (X[:, 1], False)):
        lost, values = np.isnan(column), np.unique(column[~np.isnan(column)])
        sets = [values[: k + 1] for k in range(len(values))] if cut else [
            np.array(some) for many in range(1, len(values) + 1) for some in combinations(values, many)
        ]  # fmt: skip
        for some in sets:
            inside = np.isin(column, some)
            yield from (inside, inside | lost)


def impurity(target: np.ndarray, weights: np.ndarray, how: str) -> float:
    """Summed over the rows of a branch."""
    if how == "squares":
        return float(weights @ np.square(target - np.average(target, weights=weights)))
    if how == "poisson":
        mean = np.average(target, weights=weights)
        return float(-weights.sum() * mean * np.log(mean)) if mean > 0 else 0.0
    share = np.bincount(target, weights) / weights.sum()
    share = share[share > 0]
    return float(weights.sum() * (1 - share @ share if how == "gini" else -(share * np.log2(share)).sum()))


def best(X: np.ndarray, target: np.ndarray, weights: np.ndarray, how: str, least: float) -> float | None:
    """The least impurity that one test leaves."""
    left = [
        impurity(target[side], weights[side], how) + impurity(target[~side], weights[~side], how)
        for side in parted(X)
        if min(weights[side].sum(), weights[~side].sum()) >= least and side.any() and not side.all()
    ]
    return min(left, default=None)


@pytest.mark.parametrize("which", ["kernels", "plain"])
@pytest.mark.parametrize("how", ["gini", "entropy", "squares", "poisson"])
def test_the_first_test_is_the_best_of_all(how: str, which: str, code) -> None:
    told = alone = 0
    for seed in range(45):
        X, classes, weights = drawn(seed, 1 + seed % 3)
        growth = GrowthParams(missing="branch", nominal="subset", min_leaf=1.0, min_split=2.0, max_depth=1)
        numbers = how in ("squares", "poisson")
        target = classes.astype(float) + np.round(np.random.default_rng(seed).random(len(X)), 1) if numbers else classes
        names = {} if numbers else {"classes": tuple("abc")[: classes.max() + 1]}
        task = table(X, target if numbers else target.astype(np.int32), weights, **names)
        with code(which):
            if numbers:
                loss = SQUARED_ERROR if how == "squares" else POISSON_DEVIANCE
                tree = grow_numbers(task, positions(task), growth, loss)
            else:
                tree = grow(task, positions(task), Gini() if how == "gini" else Entropy(), growth)
        own = np.ones(len(X)) if weights is None else weights
        wanted, whole = best(X, target, own, how, 1.0), impurity(target, own, how)
        if tree.test[0] == LEAF:
            assert wanted is None or wanted > whole - 1e-9, seed
            continue
        leaf = route(tree, task, positions(task)).leaf
        found = sum(impurity(target[leaf == end], own[leaf == end], how) for end in np.unique(leaf))
        assert found == pytest.approx(wanted, rel=1e-6, abs=1e-6), seed
        told += 1
        alone += bool(np.isinf(tree.threshold[0]))
        said = tree.numbers.mean if numbers else tree.counts.argmax(axis=1)
        again = from_dict(to_dict(PrunedView(tree, tree.test == LEAF, said, tree.counts)))
        assert np.array_equal(route(again.tree, task, positions(task)).leaf, leaf), seed
    assert told > 30
    assert alone > 2


@pytest.mark.parametrize("which", ["kernels", "plain"])
def test_quantiles_ask_it_too(which: str, code) -> None:
    y = np.array([1.0, 2.0, 1.0, 9.0, 9.0, 8.0, 9.0])
    X = np.column_stack([np.where(y > 5, np.nan, 3.0), np.zeros(7)])
    growth = GrowthParams(missing="branch", nominal="equality", min_leaf=1.0, min_split=2.0, max_depth=1)
    for weights in (None, np.linspace(0.5, 2, 7)):
        with code(which):
            tree = grow_numbers(table(X, y, weights), np.arange(7), growth, ABSOLUTE_ERROR)
        assert tree.threshold[0] == np.inf
        assert tree.numbers.mean[1:].tolist() != []


LEARNERS = ("cart", "c45", "id3", "rep_tree", "stump", "tree", "forest", "optimal_tree")


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("known", [1, 2])
def test_a_class_that_is_whether_a_value_is_there_is_learnt(learner: str, known: int) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    x = np.where(y == 1, np.nan, rng.integers(0, known, 200).astype(float))
    model = modelsel.classifier(learner, missing="branch").fit(x[:, None], y)
    assert (model.predict(x[:, None]) == y).all()
    assert model.predict([[1e9], [-1e9], [np.nan]]).tolist() == [0, 0, 1]
    if hasattr(model, "to_text"):
        words = model.to_text()
        assert "is missing" in words
        assert "{}" not in words


def test_levels_that_are_known_are_named_and_no_empty_set() -> None:
    import pandas as pd

    y = np.random.default_rng(0).integers(0, 2, 60)
    for levels in (["a"], ["a", "b"]):
        held = [None if one else levels[place % len(levels)] for place, one in enumerate(y)]
        model = modelsel.classifier("cart", missing="branch").fit(pd.DataFrame({"x": pd.Categorical(held)}), y)
        assert model.to_text().splitlines()[:2] == [f"x is known: 0 ({(y == 0).sum()})", f"x is missing: 1 ({y.sum()})"]
