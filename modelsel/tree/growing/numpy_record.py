"""Records of the NumPy grower: rows on their way, and nodes in the order in which they were made."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from modelsel.core.types import Codes, Floats, Integers
from modelsel.kernels.layout import DEPTH, PARENT, RECORD, SURROGATES, TIE
from modelsel.tree.growing.assemble import GrowerOutput
from modelsel.tree.growing.numpy_tests import NodeColumn

# Surrogates of a two-branch test: tests on other features that send the largest share of the weight the same way.
#
#     agreement = weight sent the same way / weight of the rows known in both features
#
# or, with `by_count`, / weight of the rows known in the test's own. A surrogate is kept when it agrees on more than sending all
# those rows to the larger side would. Breiman, Friedman, Olshen and
# Stone 1984, section 5.3.


@dataclass(frozen=True, eq=False)
class SurrogateSplit:
    """A test that stands in for another: x ≤ code for the first child (the second where `flipped`), or a side per level."""

    feature: int
    agreement: float
    code: int = 0
    next: int = 0
    flipped: bool = False
    side: Integers | None = None

    def sides(self, codes: Codes) -> Integers:
        """Child per row, −1 where this feature says nothing."""
        if self.side is not None:
            return np.where(codes >= 0, self.side[np.maximum(codes, 0)], -1)
        return np.where(codes < 0, -1, np.where((codes <= self.code) != self.flipped, 0, 1))

    def record(self, node: int) -> tuple[list[int], float, list[int]]:
        sides = [] if self.side is None else self.side.tolist()
        return [node, self.feature, self.code, self.next, int(self.flipped), -1], self.agreement, sides


def mimics(
    others: Iterable[tuple[int, NodeColumn, bool]], branch: Integers, weight: Floats, by_count: bool = False
) -> list[SurrogateSplit]:
    """The best surrogates, best first; `others`: feature, its column, whether it is cut by thresholds."""
    found = [_mimic(feature, column, cut, branch, weight, by_count) for feature, column, cut in others]
    kept = [mimic for mimic in found if mimic is not None]
    ranked: list[SurrogateSplit] = []
    for mimic in kept:  # insertion, so that equals within rounding keep the order of features
        place = len(ranked)
        while place > 0 and mimic.agreement > ranked[place - 1].agreement + TIE:
            place -= 1
        ranked.insert(place, mimic)
    return ranked[:SURROGATES]


def _mimic(
    feature: int, column: NodeColumn, cut: bool, branch: Integers, weight: Floats, by_count: bool
) -> SurrogateSplit | None:
    """Find a feature's surrogate that agrees with the test more often than its larger branch does."""
    known = column.known & (branch >= 0)
    flat = column.codes[known].astype(np.int64) * 2 + branch[known]
    table: Floats = np.bincount(flat, weight[known], 2 * column.levels).reshape(-1, 2).astype(np.float64)
    whole = float(table.sum())
    mimic = _cut(feature, table, whole, np.unique(column.codes[column.known])) if cut else _sides(feature, table, whole)
    sides = table.sum(axis=0)
    if mimic is not None and by_count:
        sides = np.bincount(branch[branch >= 0], weight[branch >= 0], 2)
        mimic = replace(mimic, agreement=mimic.agreement * whole / float(sides.sum()))
    return mimic if mimic is not None and mimic.agreement > sides.max() / sides.sum() + TIE else None


def _cut(feature: int, table: Floats, whole: float, met: Codes) -> SurrogateSplit | None:
    """The cut lies between a value known to both features and the next of all values `met` at the node."""
    present = np.flatnonzero(table.sum(axis=1) > 0)
    if len(present) < 2:
        return None
    left = np.cumsum(table[present], axis=0)[:-1]
    straight = left[:, 0] + table.sum(axis=0)[1] - left[:, 1]
    agreed = np.stack([straight, whole - straight], axis=1).ravel()
    best = int(np.argmax(agreed >= agreed.max() - TIE * whole))
    code = int(present[best // 2])
    after = int(met[np.searchsorted(met, code) + 1])
    return SurrogateSplit(feature, float(agreed[best]) / whole, code, after, best % 2 == 1)


def _sides(feature: int, table: Floats, whole: float) -> SurrogateSplit | None:
    """Send each level to the side of its larger weight."""
    present = table.sum(axis=1) > 0
    if not present.any():
        return None
    side = np.where(present, np.where(table[:, 0] >= table[:, 1] - TIE * whole, 0, 1), -1)
    return SurrogateSplit(feature, float(table.max(axis=1).sum()) / whole, side=side)


@dataclass(frozen=True, eq=False)
class Node:
    """Rows on their way down, and the features still worth a look."""

    number: int
    rows: Integers
    weight: Floats
    depth: int
    features: frozenset[int]


@dataclass(eq=False)
class NodeRecords:
    """Records of the nodes made so far, in the order in which they were made."""

    nodes: list[list[int]] = field(default_factory=list)
    goodness: list[float] = field(default_factory=list)
    counts: list[Floats] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    mimics: list[tuple[int, SurrogateSplit]] = field(default_factory=list)

    def add(self, parent: int, depth: int, counts: Floats) -> int:
        """Add a node; return its number."""
        row = [0] * RECORD
        row[PARENT], row[DEPTH] = parent, depth
        self.nodes.append(row)
        self.goodness.append(np.nan)
        self.counts.append(counts)
        return len(self.nodes) - 1

    def grown(self) -> GrowerOutput:
        """Return the grown nodes as arrays."""
        return GrowerOutput(
            np.array(self.nodes, np.int64),
            np.array(self.goodness),
            np.array(self.counts),
            np.array(self.marks, np.uint8),
            *flat([mimic.record(node) for node, mimic in self.mimics]),
        )


def divided(node: Node, branch: Integers, many: int) -> list[tuple[Integers, Floats]]:
    """Rows and weights of the children; rows without a branch go into all of them by the share of the known ones."""
    lost = branch < 0
    known = np.bincount(branch[~lost], node.weight[~lost], many)
    share = known / known.sum()
    parts = []
    for each in range(many):
        own = (branch == each) | (lost & (share[each] > 0))
        parts.append((node.rows[own], np.where(lost[own], node.weight[own] * share[each], node.weight[own])))
    return parts


def flat(records: list[tuple[list[int], float, list[int]]]) -> tuple[Integers, Floats, Integers]:
    """Surrogates as arrays: records, agreements, sides of levels one after the other."""
    sides: list[int] = []
    for record, _, own in records:
        record[-1] = len(sides) if own else -1
        sides.extend(own)
    rows = np.array([record for record, _, _ in records], np.int64).reshape(-1, 6)
    return rows, np.array([agreement for _, agreement, _ in records], np.float64), np.array(sides, np.int64)
