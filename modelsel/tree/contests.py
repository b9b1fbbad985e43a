"""The contest at each node of a tree: the best test of every feature, and what it would gain there.

The tree is grown once more in NumPy along the tests that still stand; below a subtree that was raised into another place the
rows are others than those that grew it, and nothing is said.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Floats, Integers, Task
from modelsel.kernels.layout import EQUALITY, THRESHOLD
from modelsel.tree.assemble import midpoint
from modelsel.tree.columns import columns
from modelsel.tree.conditions import value_words
from modelsel.tree.growth import Criterion, Growth
from modelsel.tree.node import Cut
from modelsel.tree.numpy_column import Test
from modelsel.tree.numpy_grower import Grower
from modelsel.tree.numpy_record import Node
from modelsel.tree.rows import Rows


@dataclass(frozen=True)
class Rival:
    """A feature's best test, in words, and its goodness as features compare it."""

    feature: int
    test: str
    goodness: float


@dataclass(frozen=True)
class Contest:
    """All features that had an admissible test at `node` of the tree."""

    node: int
    rivals: tuple[Rival, ...]


def contests(cut: Cut, task: Task, rows: Integers, criterion: Criterion, growth: Growth) -> Iterator[Contest]:
    """The contests at the inner nodes of a tree that was grown on `rows`, in preorder."""
    grower = Grower(Rows.of(task, rows), columns(task), criterion, growth, None)
    grower.record.add(-1, 0, grower.chosen.counts)
    every = frozenset(range(len(task.features)))
    waiting = [(Node(0, grower.chosen.rows, grower.chosen.weight, 0, every), 0)]
    while waiting:
        node, place = waiting.pop()
        if cut.leaf[place]:
            continue
        rivals = tuple(_rival(grower, *one) for one in grower.contenders(node))
        children, below = grower.split(node), cut.tree.children(place).tolist()
        if not _same([grower.record.counts[child.number] for child in children], cut.tree.counts[below]):
            continue
        yield Contest(place, rivals)
        waiting.extend(reversed(list(zip(children, below, strict=True))))


def _same(grown: list[Floats], kept: Floats) -> bool:
    """Did the test send the same weights of classes into the same branches."""
    return len(grown) == len(kept) and bool(np.allclose(grown, kept))


def _rival(grower: Grower, feature: int, test: Test, goodness: float) -> Rival:
    """Thresholds and single levels are named; a test of all levels, or of a set of them, is the feature's name."""
    own = grower.chosen.task.features[feature]
    words = own.name
    if test.kind == THRESHOLD:
        words = f"{own.name} <= {value_words(own, _threshold(grower, feature, test))}"
    elif test.kind == EQUALITY:
        words = f"{own.name} = {own.levels[test.code]}"
    return Rival(feature, words, goodness)


def _threshold(grower: Grower, feature: int, test: Test) -> float:
    """As in the assembled tree: halfway, or the largest value below that any row has."""
    values, codes = grower.columns.values[feature], grower.columns.codes[feature, grower.chosen.rows]
    middle = midpoint(values[test.code], values[test.next])
    if grower.growth.threshold == "midpoint":
        return float(middle)
    seen = values[np.unique(codes[codes >= 0])]
    return float(seen[np.searchsorted(seen, middle, "right") - 1])
