"""One feature at one node, as the NumPy searches see it: class weights per code, what stands in for a missing value, a test.

Codes are ranks of values or indices of levels; −1 is a missing value.
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Booleans, Codes, Floats, Integers
from modelsel.kernels.layout import DIVIDED, MULTIWAY, THRESHOLD
from modelsel.tree.growing.growth import GrowthParams

SLACK = 1e-9  # of sums of weights


@dataclass(frozen=True, eq=False)
class NodeColumn:
    """One feature at one node: codes (−1 missing), classes and weights of its rows."""

    codes: Codes
    target: Codes
    weight: Floats
    levels: int
    classes: int

    @property
    def known(self) -> Booleans:
        return self.codes >= 0

    def table(self, codes: Integers, rows: Booleans) -> Floats:
        """Weights per code and class of some rows."""
        flat = codes[rows] * self.classes + self.target[rows]
        counts = np.bincount(flat, self.weight[rows], self.levels * self.classes)
        return np.asarray(counts.reshape(self.levels, self.classes))


@dataclass(frozen=True, eq=False)
class Test:
    """A test, its goodness before features compete, and what the contest asks about it."""

    kind: int
    value: float
    information: float
    code: int = 0
    next: int = 0
    cuts: int = 0
    inside: Booleans | None = None
    to: int = DIVIDED  # child that takes missing values
    fill: Integers | None = None  # code that stands in for a missing value, per class


def branch_of(test: Test, codes: Integers) -> Integers:
    """Position of the child per known code."""
    if test.kind == MULTIWAY:
        return codes
    if test.inside is not None:
        return np.where(test.inside[codes], 0, 1)
    return np.where(codes <= test.code if test.kind == THRESHOLD else codes == test.code, 0, 1)


@dataclass(frozen=True, eq=False)
class Filled:
    """Class weights per code, missing values filled in where the policy says so; `needed`: weight of a branch."""

    table: Floats
    present: Integers
    needed: float


def filled(column: NodeColumn, kind: int, growth: GrowthParams) -> Filled:
    """Return the input of a search, under the policy and the rule for the least weight of a branch."""
    table = column.table(column.codes.astype(np.int64), column.known)
    present = np.flatnonzero(table.sum(axis=1) > 0)
    needed = growth.min_leaf - SLACK
    if kind == THRESHOLD and growth.min_leaf_rule == "c45":
        needed = max(growth.min_leaf, min(25.0, 0.1 * float(table.sum()) / column.classes)) - SLACK
    fill = stand_ins(column, kind, growth)
    if fill is not None:
        table = table + column.table(fill[column.target], ~column.known)
    return Filled(table, present, needed)


def stand_ins(column: NodeColumn, kind: int, growth: GrowthParams) -> Integers | None:
    """Per class and (last) for the node, the most common level or the lower median of the known values."""
    if growth.missing not in ("node_mode", "class_mode"):
        return None
    table = column.table(column.codes.astype(np.int64), column.known)
    typical = _median if kind == THRESHOLD else _mode
    node = typical(table.sum(axis=1))
    own = [
        typical(table[:, c]) if growth.missing == "class_mode" and table[:, c].sum() > 0 else node
        for c in range(column.classes)
    ]
    return np.array([*own, node], np.int64)


def _median(weight: Floats) -> int:
    return int(np.argmax(np.cumsum(weight) >= weight.sum() / 2))


def _mode(weight: Floats) -> int:
    return int(np.argmax(weight > weight.max() - SLACK))


def absent(column: NodeColumn, growth: GrowthParams) -> Floats:
    """Class weights of the missing values that are neither filled in nor left out: those that join or form a branch."""
    lost = ~column.known
    counts = np.bincount(column.target[lost], column.weight[lost], column.classes)
    return np.asarray(counts, np.float64) if growth.missing in ("branch", "fractional") else np.zeros(column.classes)
