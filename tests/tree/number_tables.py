"""Small tables with numbers as targets: every kind of feature, missing values, weights, targets with ties and without."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Booleans, Feature, Floats, Integers, NumberTask
from modelsel.tree.growing.growth import GrowthParams
from modelsel.tree.node import EQUALITY, LEAF, DecisionTree


def number_task(X: Floats, y: Floats, weights: Floats | None = None, features: tuple[Feature, ...] | None = None) -> NumberTask:
    """A task of numbers; features are numeric unless said."""
    own = features or tuple(Feature(f"x{i}", "numeric") for i in range(X.shape[1]))
    return NumberTask(
        name="t", features=own, values=np.asfortranarray(X), rows=np.arange(len(X)), target=y.copy(), weights=weights
    )


@dataclass(frozen=True)
class Drawn:
    """A table and settings of growing, drawn from a seed."""

    X: Floats
    y: Floats
    weights: Floats | None
    features: tuple[Feature, ...]
    growth: GrowthParams

    @property
    def task(self) -> NumberTask:
        return number_task(self.X, self.y, self.weights, self.features)

    def rows(self, order: np.ndarray) -> NumberTask:
        """The same table with its rows in another order."""
        weights = None if self.weights is None else self.weights[order]
        return number_task(self.X[order], self.y[order], weights, self.features)


def drawn(seed: int) -> Drawn:
    """Rows, levels, gaps, weights and policies of every kind."""
    rng = np.random.default_rng(seed)
    n, levels = int(rng.integers(5, 150)), int(rng.integers(2, 9))
    X = np.column_stack([
        np.round(rng.normal(size=n), 1) + 0.0, rng.integers(0, levels, n), rng.normal(size=n), rng.integers(0, 3, n),
    ]).astype(float)  # fmt: skip
    if seed % 3:
        X[rng.random(X.shape) < 0.15] = np.nan
    y = (rng.normal(size=n), np.round(rng.normal(size=n), 1), rng.integers(0, 4, n) * 1.0, np.exp(3 * rng.normal(size=n)))[
        seed % 4
    ]
    weights = (None, rng.integers(0, 4, n).astype(float) + (np.arange(n) < 3), rng.random(n))[int(rng.integers(3))]
    missing = ("node_mode", "fractional", "branch", "surrogate")[int(rng.integers(4))]
    nominal = ("equality", "multiway", "subset")[int(rng.integers(3))]
    if missing == "surrogate" and nominal == "multiway":
        nominal = "subset"
    growth = GrowthParams(missing=missing, nominal=nominal, min_leaf=float(rng.integers(1, 4)), min_split=2.0)
    features = (
        Feature("a", "numeric"), Feature("b", "nominal", tuple("abcdefghi"[:levels])), Feature("c", "numeric"),
        Feature("d", "nominal", ("x", "y", "z")),
    )  # fmt: skip
    return Drawn(X, y, weights, features, growth)


def friedman(n: int, seed: int = 34) -> tuple[Floats, Floats]:
    """Friedman 1991, rounded: 10 sin(π a b) + 20 (c − ½)² + 10 d + 5 e + noise of deviation one."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.random((n, 5)), 3)
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, np.round(y + rng.standard_normal(n), 2)


def rows_of_nodes(tree: DecisionTree, X: Floats) -> Iterator[tuple[int, Integers]]:
    """Each node of a tree of two branches with the rows that come by, found by its tests."""
    here = {0: np.arange(len(X))}
    for node in range(len(tree)):
        rows = here[node]
        yield node, rows
        if tree.test[node] != LEAF:
            first = first_branch(tree, node, X[rows, tree.feature[node]])
            one, other = tree.children(node).tolist()
            here[one], here[other] = rows[first], rows[~first]


def first_branch(tree: DecisionTree, node: int, column: Floats) -> Booleans:
    """Which values the first branch takes, none being missing."""
    if node in tree.subset:
        return tree.subset[node][column.astype(int)]
    return column == tree.threshold[node] if tree.test[node] == EQUALITY else column <= tree.threshold[node]
