"""Settings that growing a forest depends on, and none that can be read off a grown one."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import AnyTask, ClassTask, Codes, Floats, Integers, NumberTask
from modelsel.kernels.forests.forest_layout import SQUARES
from modelsel.kernels.layout import ENTROPY, EQUALITY, SUBSET
from modelsel.tree.growing.columns import RankedColumns, columns
from modelsel.tree.growing.whole_target import WholeTarget

ALL, BOOTSTRAP, SUBSAMPLE = range(3)  # as in kernels.forests.draws
LISTED = 1e7  # terms that are listed
NOMINAL = {"subset": SUBSET, "equality": EQUALITY}


@dataclass(frozen=True)
class ForestGrowth:
    """Settings in numbers: `features` looked at per node, rows per tree (`how`, `size`), share of honest rows."""

    criterion: Any
    features: int
    how: int
    size: int
    honest: float
    random: bool
    min_leaf: float
    nominal: int
    apart: bool  # rows of missing value follow the larger branch; else the better one
    signs: tuple[int, ...] = ()  # per feature: answers may only rise (1) or fall (−1) with it, or both (0); none: all both


SUMS, FEWEST = 52, 6  # binary digits of sums, which floats hold exactly, and of rows at least
MOST_TREES = 1 << 16  # of a forest of numbers


@dataclass(frozen=True, eq=False)
class NumberTarget:
    """A target that is a number: of each row v, what it adds to a sum each time that it is drawn, and the rank of its number.

    v is its whole number q where weights are whole, times the weight; else q·w in whole `parts`. Sums of v and of weights are
    exact in any order.
    """

    whole: WholeTarget
    v: Floats
    rank: Codes
    weights: Floats  # rounded so that sums of them are exact
    parts: float
    largest: float  # of |q|

    @classmethod
    def of(cls, task: NumberTask, rows: Integers) -> "NumberTarget":
        """The numeric target of the rows that a forest grows on; other rows of the task have 0."""
        weights, known = np.zeros(len(task)), np.unique(rows)
        weights[known] = task.row_weights[known]
        most = max(float(len(rows) * weights.max()), 2.0)
        target = WholeTarget.of(task.target[known], most, SUMS, FEWEST)
        v, rank = np.zeros(len(task)), np.zeros(len(task), np.int32)
        largest = float(np.abs(target.whole).max())
        rank[known] = np.unique(target.whole, return_inverse=True)[1]
        v[known] = target.whole
        v *= weights
        if (weights == np.floor(weights)).all():
            return cls(target, v, rank, weights, 1.0, largest)
        parts = 2.0 ** math.floor(SUMS - math.log2(len(rows) * max(float(np.abs(v).max()), 2.0**-FEWEST)))
        return cls(target, np.rint(v * parts), rank, _round_weights(weights, most), parts, largest)

    @classmethod
    def of_second_class(cls, task: ClassTask, rows: Integers) -> "NumberTarget":
        """1 for rows of the second class, 0 for others: sums are weights of that class."""
        weights, known = np.zeros(len(task)), np.unique(rows)
        weights[known] = task.row_weights[known]
        weights, second = _round_weights(weights, max(float(len(rows) * weights.max()), 2.0)), task.target == 1
        target = WholeTarget(second[known].astype(np.int64), 0.0, 0.0, 1.0)
        return cls(target, weights * second, second.astype(np.int32), weights, 1.0, 1.0)

    @property
    def unit(self) -> float:
        """Parts of a whole number in the unit of the target."""
        return self.parts * self.whole.scale

    def means(self, counts: Floats) -> Floats:
        """Means of nodes in the unit of the target, from their sums and weights (nodes × 2)."""
        return self.whole.value(counts[:, 0] / counts[:, 1] / self.parts)

    def above(self, counts: Floats, middle: float) -> Floats:
        """Sums of how far numbers lie above one of the target's unit, of nodes that may have no rows."""
        centre = (middle - self.whole.base) * self.whole.scale - self.whole.centre
        return np.asarray((counts[:, 0] / self.parts - counts[:, 1] * centre) / self.whole.scale)

    def votes(self, counts: Floats) -> Integers:
        """Means as whole numbers, of which a sum over trees is exact."""
        return np.asarray(np.rint(counts[:, 0] / counts[:, 1] / self.parts * self.fine).astype(np.int64))

    @property
    def fine(self) -> float:
        """Votes of a whole number: as many as leave room for the sum over `MOST_TREES`."""
        return 2.0 ** max(0, 61 - math.frexp(MOST_TREES)[1] - math.frexp(self.largest)[1])

    @property
    def ballot(self) -> "NumberBallot":
        """How votes are read."""
        return NumberBallot(self.whole.base, self.whole.centre, self.whole.scale, self.fine)


def _round_weights(weights: Floats, most: float) -> Floats:
    """Weights whose sums, `most` at most, are exact."""
    if (weights == np.floor(weights)).all():
        return weights
    steps = 2.0 ** (SUMS - math.ceil(math.log2(most)))
    return np.asarray(np.rint(weights * steps) / steps)


@dataclass(frozen=True)
class NumberBallot:
    """How votes for a number are read: y = base + (votes / (voters · fine) + centre) / scale."""

    base: float
    centre: float
    scale: float
    fine: float

    def read(self, votes: Integers, voters: int | Integers) -> Floats:
        """The mean of what the trees say, in the unit of the target."""
        return np.asarray(self.base + (votes / (np.asarray(voters) * self.fine) + self.centre) / self.scale)


@dataclass(frozen=True, eq=False)
class ForestData:
    """The rows that a forest grows on, ranked: the same for all its trees.

    `rows` are positions in the task, repeats allowed; `table` holds n·log2 n in whole numbers of 1/`scale` where weights are
    whole, so that sums are exact.
    """

    task: AnyTask
    rows: Integers
    ranked: RankedColumns
    nominal: NDArray[np.uint8]
    weights: Floats
    table: Floats
    scale: float
    fused: int
    seed: int
    two_valued: NDArray[np.uint64]  # rows × words: bit `slot` tells whether the lower of a feature's two values is there
    slots: Integers  # per feature; −1 where it has more values, or missing ones
    numbers: NumberTarget | None = None  # where the target is a number
    second: NumberTarget | None = None  # of two classes whose trees are held to directions, which grow by the second's share

    @classmethod
    def of(cls, task: ClassTask | NumberTask, rows: Integers, growth: ForestGrowth, seed: int) -> "ForestData":
        """Rank the rows that have weight, and look up the terms of the criterion."""
        rows = rows[task.row_weights[rows] > 0]
        weights, numbers, second = task.row_weights, None, None
        if isinstance(task, NumberTask):
            numbers = NumberTarget.of(task, rows)
        elif growth.signs:
            second = NumberTarget.of_second_class(task, rows)
        exact = numbers or second
        if exact is not None:
            weights = exact.weights
            rows = rows[weights[rows] > 0]
        fused = int(growth.criterion.fused) if numbers is None else SQUARES
        table, scale = _terms(fused, weights[rows])
        nominal = np.array([not feature.has_order for feature in task.features], np.uint8)
        ranked = columns(task)
        return cls(task, rows, ranked, nominal, weights, table, scale, fused, seed, *_bits(ranked, nominal), numbers, second)

    @cached_property
    def as_numbers(self) -> "ForestData":
        """The data of two classes as numbers, the second's share being the target."""
        assert self.second is not None
        return replace(self, numbers=self.second, second=None, fused=SQUARES, table=np.zeros(1), scale=1.0)

    @property
    def width(self) -> int:
        """Numbers that a node is described by: a weight per class; or a sum and a weight."""
        return 2 if self.numbers is not None else len(self.task.classes)

    @property
    def target(self) -> Codes:
        """The class of each row of the task, or the rank of its number."""
        codes: Codes = self.task.target if self.numbers is None else self.numbers.rank
        return codes

    def tally(self, place: Codes | Integers, rows: Integers, times: Integers, many: int) -> Floats:
        """Describe `many` places by the rows (of the task, each so many `times`) that lie in them, places × width."""
        counts = np.zeros((many, self.width))
        if self.numbers is None:
            np.add.at(counts, (place, self.task.target[rows]), times * self.weights[rows])
        else:
            np.add.at(counts[:, 0], place, times * self.numbers.v[rows])
            np.add.at(counts[:, 1], place, times * self.weights[rows])
        return counts

    @property
    def values(self) -> tuple[Floats, Integers]:
        """Values of the threshold features one after the other, and where those of a feature begin."""
        return self.ranked.flat, self.ranked.start


def _bits(ranked: RankedColumns, nominal: NDArray[np.uint8]) -> tuple[NDArray[np.uint64], Integers]:
    """Threshold features of two values and none missing, a bit each."""
    two = np.flatnonzero((ranked.levels == 2) & (nominal == 0))
    two = np.array([feature for feature in two if (ranked.codes[feature] >= 0).all()], np.int64)
    slots, bits = np.full(len(nominal), -1, np.int64), np.zeros((ranked.codes.shape[1], len(two) // 64 + 1), np.uint64)
    slots[two] = np.arange(len(two))
    for slot, feature in enumerate(two):
        bits[:, slot // 64] |= (ranked.codes[feature] == 0).astype(np.uint64) << np.uint64(slot % 64)
    return bits, slots


def _terms(fused: int, weights: Floats) -> tuple[Floats, float]:
    """n·log2 n for n = 0 … the weight that a tree may hold, in whole numbers that a float holds exactly.

    Without it (weights are not whole, or too large to be listed) logarithms are taken one by one.
    """
    most = float(len(weights) * weights.max(initial=1.0))
    if fused != ENTROPY or most > LISTED or (weights != np.floor(weights)).any():
        return np.zeros(1), 1.0
    n = np.arange(int(most) + 1, dtype=np.float64)
    n[0] = 1.0
    terms = n * np.log2(n)
    scale = 2.0 ** np.floor(51 - np.log2(max(float(terms[-1]), 1.0)))
    return np.asarray(np.rint(terms * scale)), float(scale)
