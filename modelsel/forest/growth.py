"""Settings that growing a forest depends on, and none that can be read off a grown one."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import ClassTask, Floats, Integers
from modelsel.kernels.layout import ENTROPY, EQUALITY, SUBSET
from modelsel.tree.growing.columns import RankedColumns, columns

ALL, BOOTSTRAP, SUBSAMPLE = range(3)  # as in kernels.forest_rows
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


@dataclass(frozen=True, eq=False)
class ForestData:
    """The rows that a forest grows on, ranked: the same for all its trees.

    `rows` are positions in the task, repeats allowed; `table` holds n·log2 n in whole numbers of 1/`scale` where weights are
    whole, so that sums are exact.
    """

    task: ClassTask
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

    @classmethod
    def of(cls, task: ClassTask, rows: Integers, growth: ForestGrowth, seed: int) -> "ForestData":
        """Rank the rows that have weight, and look up the terms of the criterion."""
        rows = rows[task.row_weights[rows] > 0]
        weights = task.row_weights
        table, scale = _terms(int(growth.criterion.fused), weights[rows])
        nominal = np.array([feature.kind == "nominal" for feature in task.features], np.uint8)
        ranked = columns(task)
        return cls(
            task, rows, ranked, nominal, weights, table, scale, int(growth.criterion.fused), seed, *_bits(ranked, nominal)
        )

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
