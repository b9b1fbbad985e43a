"""The contest at each node of a tree: the best test of every feature, and what it would gain there.

The tree is grown once more in NumPy along the tests that still stand; below a subtree that was raised into another place the
rows are others than those that grew it, and nothing is said.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modelsel.core.types import ClassTask, Floats, Integers
from modelsel.kernels.layout import EQUALITY, THRESHOLD
from modelsel.tree.conditions import value_words
from modelsel.tree.growing.assemble import midpoint
from modelsel.tree.growing.columns import WeightedRows, columns
from modelsel.tree.growing.growth import BaseCriterion, GrowthParams
from modelsel.tree.growing.numpy_grower import Grower
from modelsel.tree.growing.numpy_tests import Test
from modelsel.tree.node import PrunedView


@dataclass(frozen=True)
class SplitCandidate:
    """A feature's best test, in words, and its goodness as features compare it."""

    feature: int
    test: str
    goodness: float


@dataclass(frozen=True)
class NodeSplits:
    """All features that had an admissible test at `node` of the tree."""

    node: int
    rivals: tuple[SplitCandidate, ...]


def contests(
    cut: PrunedView, task: ClassTask, rows: Integers, criterion: BaseCriterion, growth: GrowthParams
) -> Iterator[NodeSplits]:
    """The contests at the inner nodes of a tree that was grown on `rows`, in preorder."""
    grower = Grower(WeightedRows.of(task, rows), columns(task), criterion, growth, None)
    waiting = [(grower.root(), 0)]
    while waiting:
        node, place = waiting.pop()
        if cut.leaf[place]:
            continue
        rivals = tuple(_rival(grower, at, test, value) for at, test, value in grower.contenders(node))
        children, below = grower.split(node), cut.tree.children(place).tolist()
        if not _same([grower.record.counts[child.number] for child in children], cut.tree.counts[below]):
            continue
        yield NodeSplits(place, rivals)
        waiting.extend(reversed(list(zip(children, below, strict=True))))


def _same(grown: list[Floats], kept: Floats) -> bool:
    """Say whether the test sent the same class weights into the same branches."""
    return len(grown) == len(kept) and bool(np.allclose(grown, kept))


def _rival(grower: Grower, feature: int, test: Test, goodness: float) -> SplitCandidate:
    """Thresholds and single levels are named; a test of all levels, or of a set of them, is the feature's name."""
    own = grower.chosen.task.features[feature]
    words = own.name
    if test.kind == THRESHOLD and test.next == len(grower.columns.values[feature]):
        words = f"{own.name} is known"
    elif test.kind == THRESHOLD:
        words = f"{own.name} <= {value_words(own, _threshold(grower, feature, test))}"
    elif test.kind == EQUALITY:
        words = f"{own.name} = {own.levels[test.code]}"
    return SplitCandidate(feature, words, goodness)


def _threshold(grower: Grower, feature: int, test: Test) -> float:
    """Place a threshold as the assembled tree does: halfway, or at the largest value below that any row has."""
    values, codes = grower.columns.values[feature], grower.columns.codes[feature, grower.chosen.rows]
    middle = midpoint(values[test.code], values[test.next])
    if grower.growth.threshold == "midpoint":
        return float(middle)
    seen = values[np.unique(codes[codes >= 0])]
    return float(seen[np.searchsorted(seen, middle, "right") - 1])
