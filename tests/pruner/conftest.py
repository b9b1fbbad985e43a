"""Small trees of every shape, and all their prunings."""

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
import pytest

from modelsel.core.types import Feature
from modelsel.tree.node import LEAF, MULTIWAY, THRESHOLD, DecisionTree, PrunedView

Grow = Callable[..., PrunedView]


def _structure(rng: np.random.Generator, inner: int) -> list[int]:
    """Parents in preorder of a random tree with `inner` tests of two to four branches."""
    parents = [-1]

    def sprout(node: int, budget: int) -> None:
        branches = int(rng.choice([2, 2, 2, 3, 4]))
        shares = rng.multinomial(budget - 1, [1 / branches] * branches)
        for share in shares:
            parents.append(node)
            if share:
                sprout(len(parents) - 1, int(share))

    if inner:
        sprout(0, inner)
    return parents


def _weights(rng: np.random.Generator, classes: int, amounts: str) -> np.ndarray:
    if rng.random() < 0.15:
        return np.zeros(classes)
    if amounts == "whole":
        return rng.integers(0, 4, classes).astype(float)
    return rng.integers(0, 12, classes) / 4 if amounts == "quarters" else np.round(rng.exponential(1, classes), 3)


def _cut(rng: np.random.Generator, inner: int = 5, classes: int = 3, amounts: str = "whole") -> PrunedView:
    parents = np.array(_structure(rng, inner), np.int32)
    n = len(parents)
    children = [[int(c) for c in np.flatnonzero(parents == node)] for node in range(n)]
    counts = np.array([_weights(rng, classes, amounts) for _ in range(n)])
    for node in reversed(range(n)):
        if children[node]:
            counts[node] = counts[children[node]].sum(axis=0)
    scores = counts.copy()
    for node in range(1, n):
        if counts[node].sum() == 0:
            scores[node] = scores[parents[node]]
    kinds = [LEAF if not c else THRESHOLD if len(c) == 2 else MULTIWAY for c in children]
    features = (Feature("x", "numeric"), *(Feature(f"n{k}", "nominal", tuple("abcd"[:k])) for k in (3, 4)))
    tree = DecisionTree(
        features=features,
        classes=tuple(f"c{k}" for k in range(classes)),
        parent=parents,
        test=np.array(kinds, np.int8),
        feature=np.array([max(len(c) - 2, 0) if c else -1 for c in children], np.int32),
        threshold=np.array([float(i) if len(c) == 2 else np.nan for i, c in enumerate(children)]),
        first=np.cumsum([0, *map(len, children)]).astype(np.int32),
        child=np.array([c for group in children for c in group], np.int32),
        counts=counts,
        goodness=np.where([bool(c) for c in children], np.round(rng.random(n), 1), np.nan),
        subset={},
    )
    return PrunedView(tree, np.array([not c for c in children]), scores.argmax(axis=1).astype(np.int32), scores)


@pytest.fixture(scope="session")
def grow() -> Grow:
    """A random tree: grow(rng, inner=5, classes=3, amounts="whole" | "quarters" | "fractions")."""
    return _cut


def _prunings(cut: PrunedView, node: int = 0) -> Iterator[frozenset[int]]:
    yield frozenset({node})
    if not cut.leaf[node]:
        for below in product(*(list(_prunings(cut, int(child))) for child in cut.tree.children(node))):
            yield frozenset().union(*below)


@pytest.fixture(scope="session")
def prunings() -> Callable[[PrunedView], Iterator[frozenset[int]]]:
    """Every pruning of a cut tree with the same root, as the set of its leaves."""
    return _prunings


@pytest.fixture(scope="session")
def leaf_set() -> Callable[[PrunedView], frozenset[int]]:
    """The leaves that stand, found by walking (an independent twin of `reached`)."""

    def walk(cut: PrunedView) -> frozenset[int]:
        found, waiting = set(), [0]
        while waiting:
            node = waiting.pop()
            if cut.leaf[node]:
                found.add(node)
            else:
                waiting.extend(int(child) for child in cut.tree.children(node))
        return frozenset(found)

    return walk


@pytest.fixture(scope="session")
def nodes_of() -> Callable[[PrunedView, frozenset[int]], int]:
    """How many nodes the pruning with these leaves has."""

    def count(cut: PrunedView, leaves: frozenset[int]) -> int:
        nodes = set(leaves)
        for leaf in leaves:
            node = leaf
            while (node := int(cut.tree.parent[node])) >= 0:
                nodes.add(node)
        return len(nodes)

    return count
