"""Rows routed to leaves: whole, or as fragments of their weight."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Floats, Integers


@dataclass(frozen=True, eq=False)
class Routed:
    """Fragments of rows, row after row: `owner` (position among the routed rows), `leaf` and `part` of its weight."""

    owner: Integers
    leaf: NDArray[np.int32]
    part: Floats
    rows: int
    unseen: int  # rows that met a level never seen in training, and went with the majority

    @property
    def whole(self) -> bool:
        """No row is divided: fragment i is row i."""
        return len(self.leaf) == self.rows

    def per_row(self, of_node: Floats) -> Floats:
        """Mean over each row's fragments of a node × … array."""
        if self.whole:
            return of_node.take(self.leaf, axis=0)
        starts = np.flatnonzero(np.diff(self.owner, prepend=-1))
        part = self.part.reshape(-1, *[1] * (of_node.ndim - 1))
        mean: Floats = np.add.reduceat(part * of_node[self.leaf], starts, axis=0)
        return mean


class Undivided(Routed):
    """No row is divided: owners and parts are written down when somebody asks for them."""

    def __init__(self, leaf: NDArray[np.int32], unseen: int) -> None:
        vars(self).update(leaf=leaf, rows=len(leaf), unseen=unseen)

    @cached_property
    def owner(self) -> Integers:
        return np.arange(self.rows)

    @cached_property
    def part(self) -> Floats:
        return np.ones(self.rows)
