"""A forest of thresholds in nodes of eight bytes, for many rows (`kernels.forests.forest_predict`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Codes, Floats, Integers
from modelsel.kernels.forests.forest_layout import AT, COLUMN, KIND, LOST, RIGHT, TEST, WHOLE
from modelsel.kernels.layout import LEAF, THRESHOLD

MOST_CELLS = 1 << 16
LANES = 8  # as in the kernel: blocks hold a multiple of it
WIDE, LONG = 1 << 15, 1 << 24  # columns, and codes or nodes of a tree, that packed nodes can tell


def packable(model: Any) -> bool:
    """Every test asks for a threshold, and numbers are not too large for packed nodes."""
    tests = model.nodes[:, TEST] & KIND
    longest = max([int(np.diff(model.trees).max()), model.classes + 1, *(len(cuts) + 1 for cuts in model.cuts)])
    return bool(np.isin(tests, (LEAF, THRESHOLD)).all()) and len(model.features) < WIDE and longest < LONG


@dataclass(frozen=True, eq=False)
class PackedForest:
    """A forest in the kernel's form: `plain` nodes, and, for blocks with missing values, nodes that ask for either half."""

    plain: NDArray[np.uint64]
    halves: NDArray[np.uint64]
    trees: Integers
    grid: "CutGrid"
    first: Integers
    voted: Codes
    shares: Integers

    @classmethod
    def of(cls, kernel: Any, model: Any) -> "PackedForest":
        """Pack the nodes of a model into eight bytes each."""
        nodes, inner = model.nodes, model.nodes[:, TEST] != LEAF
        place = np.arange(len(nodes)) - np.repeat(model.trees[:-1], np.diff(model.trees))
        step = np.where(inner, nodes[:, RIGHT] - place, 0)
        code = np.where(inner, nodes[:, AT], _whole_votes(model) + 1)
        column = np.where(inner, nodes[:, COLUMN], 0)
        other = column + len(model.features) * (inner & (nodes[:, TEST] & LOST == 0))
        plain, halves = ((code << 40 | own.astype(np.int64) << 24 | step).astype(np.uint64) for own in (column, other))
        return cls(plain, halves, model.trees, CutGrid.of(kernel, model.cuts), model.first, model.voted, model.shares)


@dataclass(frozen=True, eq=False)
class CutGrid:
    """Cuts per feature, and cells of equal width in which a value is looked for."""

    cuts: Floats
    first: Integers
    ranges: Floats  # features × low, high, cells per unit
    starts: Codes
    first_start: Integers

    @classmethod
    def of(cls, kernel: Any, cuts: Sequence[Floats]) -> "CutGrid":
        """Lay a grid of cells over the cuts of each feature."""
        ranges, starts = np.zeros((len(cuts), 3)), [np.zeros(0, np.int32)]
        for index, own in enumerate(cuts):
            finite = own[np.isfinite(own)]
            cells = min(2 * len(finite) + 1, MOST_CELLS)
            if len(finite):
                with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                    scale = cells / (finite[-1] - finite[0])
                ranges[index] = finite[0], finite[-1], scale if np.isfinite(scale) else 0.0
            starts.append(np.zeros(cells + 1, np.int32))
            kernel.grid(own, *ranges[index], starts[-1])
        ends = (np.r_[0, np.cumsum([len(own) for own in arrays])].astype(np.int64) for arrays in (cuts, starts[1:]))
        first, first_start = ends
        return cls(np.concatenate([np.zeros(0), *cuts]), first, ranges, np.concatenate(starts), first_start)


def _whole_votes(model: Any) -> Integers:
    """The class that has the whole vote of a node, or −1."""
    first, found = model.first, np.full(len(model.nodes), -1, np.int64)
    single = np.flatnonzero(np.diff(first) == 1)
    single = single[model.shares[first[single]] == WHOLE]
    found[single] = model.voted[first[single]]
    return found


def poll_packed(kernel: Any, packed: PackedForest, values: Floats, votes: Integers) -> None:
    """Add the votes of all trees for a block of rows."""
    rows, width = values.shape
    lost, own = bool(np.isnan(values).any()), packed.grid
    codes = np.zeros((-(-rows // LANES) * LANES, width * (1 + lost)), np.int32)
    kernel.code(np.ascontiguousarray(values), own.cuts, own.first, own.ranges, own.starts, own.first_start, codes)
    kernel.poll(
        codes, packed.halves if lost else packed.plain, packed.trees, packed.first, packed.voted, packed.shares, WHOLE, votes
    )
