"""Conditions that branches put on a row, as values that can be intersected along a path and put into words."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf

import numpy as np

from modelsel.core.types import Feature
from modelsel.tree.node import EQUALITY, MULTIWAY, SUBSET, THRESHOLD, DecisionTree


@dataclass(frozen=True)
class Condition:
    """low < x ≤ high for numbers and ordered levels, x ∈ levels for nominal ones, or x is missing."""

    feature: int
    low: float = -inf
    high: float = inf
    levels: frozenset[int] | None = None
    missing: bool = False

    def and_also(self, other: "Condition") -> "Condition":
        """The conjunction of two conditions on one feature, without what is implied."""
        known = [c.levels for c in (self, other) if c.levels is not None]
        levels = frozenset.intersection(*known) if known else None
        return Condition(
            self.feature, max(self.low, other.low), min(self.high, other.high), levels, self.missing or other.missing
        )

    def words(self, feature: Feature) -> str:
        """The condition as people write it.

        >>> Condition(0, low=1.5, high=4).words(Feature("age", "numeric"))
        '1.5 < age <= 4'
        >>> Condition(0, levels=frozenset({0, 2})).words(Feature("sky", "nominal", ("sunny", "dull", "rainy")))
        'sky != dull'
        """
        if self.missing:
            return f"{feature.name} is missing"
        if self.levels is not None:
            return f"{feature.name} {_among(self.levels, feature.levels)}"
        if self.low == -inf and self.high == inf:
            return f"{feature.name} is known"
        if self.low == -inf:
            return f"{feature.name} <= {value_words(feature, self.high)}"
        if self.high == inf:
            return f"{feature.name} > {value_words(feature, self.low)}"
        return f"{value_words(feature, self.low)} < {feature.name} <= {value_words(feature, self.high)}"


def branch(tree: DecisionTree, node: int, position: int) -> Condition:
    """The condition of the branch to the `position`-th child."""
    feature, test = int(tree.feature[node]), int(tree.test[node])
    if position >= _known_branches(tree, node):
        return Condition(feature, missing=True)
    if test == THRESHOLD:
        limit = float(tree.threshold[node])
        if abs(limit) == inf:  # known values from missing ones
            return Condition(feature, missing=(position == 1) == (limit > 0))
        return Condition(feature, high=limit) if position == 0 else Condition(feature, low=limit)
    levels = _levels(tree, node, position)
    if not levels or not _levels(tree, node, 1 - position):  # all that are known go to one side
        return Condition(feature, missing=not levels)
    return Condition(feature, levels=levels)


def branch_words(tree: DecisionTree, node: int, position: int) -> str:
    """The branch to the `position`-th child in words: `humidity <= 75`, `outlook = sunny`."""
    condition = branch(tree, node, position)
    return condition.words(tree.features[condition.feature])


def path_conditions(tree: DecisionTree, node: int) -> tuple[Condition, ...]:
    """Return the conditions of a row at `node`: one per feature, in the order in which the path first asks for it."""
    path = [node]
    while (parent := int(tree.parent[path[-1]])) >= 0:
        path.append(parent)
    return tuple(list(paths(tree, path[::-1]))[-1].values())


def paths(tree: DecisionTree, nodes: Iterable[int]) -> Iterator[dict[int, Condition]]:
    """The conditions by feature at each of `nodes`: in preorder, with all that lie above them."""
    above: list[dict[int, Condition]] = []
    place = np.zeros(len(tree), np.int64)
    place[tree.child] = np.arange(len(tree.child)) - tree.first[tree.parent[tree.child]]
    for node in nodes:
        parent, depth = int(tree.parent[node]), int(tree.depth[node])
        del above[depth:]
        merged = dict(above[-1]) if above else {}
        if parent >= 0:
            step = branch(tree, parent, int(place[node]))
            known = merged.get(step.feature)
            merged[step.feature] = step if known is None else known.and_also(step)
        above.append(merged)
        yield merged


def value_words(feature: Feature, value: float) -> str:
    """A threshold as printed: the last level it lets through where levels are ordered, else a date or twelve digits."""
    if feature.is_ranked and feature.levels:
        return feature.levels[max(0, min(int(np.floor(value)), len(feature.levels) - 1))]
    return feature.number(value)


def _known_branches(tree: DecisionTree, node: int) -> int:
    """Branches for known values; a further one takes missing values."""
    return len(tree.features[tree.feature[node]].levels) if tree.test[node] == MULTIWAY else 2


def _levels(tree: DecisionTree, node: int, position: int) -> frozenset[int]:
    """Levels that the branch takes."""
    test, count = int(tree.test[node]), len(tree.features[tree.feature[node]].levels)
    if test == MULTIWAY:
        return frozenset({position})
    first = {int(tree.threshold[node])} if test == EQUALITY else set(np.flatnonzero(tree.subset[node]).tolist())
    assert test in (EQUALITY, SUBSET)
    return frozenset(first) if position == 0 else frozenset(range(count)) - first


def _among(levels: frozenset[int], names: tuple[str, ...]) -> str:
    """`= a`, `!= b`, `in {a, c}`, or, where that is shorter, `not in {b, d}`."""
    if len(levels) == 1:
        return f"= {names[min(levels)]}"
    left_out = set(range(len(names))) - levels
    if len(left_out) == 1:
        return f"!= {names[left_out.pop()]}"
    word, named = ("not in", left_out) if 0 < len(left_out) < len(levels) else ("in", levels)
    return f"{word} {{{', '.join(names[level] for level in sorted(named))}}}"
