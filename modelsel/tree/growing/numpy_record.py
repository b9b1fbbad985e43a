"""Records of the NumPy grower: rows on their way, and nodes in the order in which they were made."""

from dataclasses import dataclass, field

import numpy as np

from modelsel.core.types import Floats, Integers
from modelsel.kernels.layout import DEPTH, PARENT, RECORD
from modelsel.tree.growing.assemble import GrowerOutput
from modelsel.tree.growing.numpy_surrogates import SurrogateSplit


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
        """Everything as arrays."""
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
