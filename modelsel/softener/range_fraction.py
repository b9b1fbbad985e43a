"""Ramps as wide as a fraction of the range of the training rows at the node: DR(q).

a = 2^−q (c − min), b = 2^−q (max − c); min and max over the known values of the training rows that reach the node.

Dvořák 2019, *Softening splits in classification trees*.
"""

from dataclasses import dataclass

from modelsel.core.spec import number
from modelsel.core.types import Integers, Task
from modelsel.tree.node import PrunedView
from modelsel.tree.softening import Widths, known_values, values_at_tests


@dataclass(frozen=True)
class RangeFraction:
    """Needs no optimisation, so that every q is read off one tree."""

    q: float = number(1.0, least=0.0, help="halvings of the range: 0 softens over all of it, 4 hardly")

    def widths(self, cut: PrunedView, task: Task, rows: Integers) -> Widths:
        """Compute the ramps at each threshold from the range of the rows that meet it."""
        found, share = Widths.none(cut.tree), 2.0**-self.q
        for node, (_, values) in known_values(cut.tree, values_at_tests(cut.tree, task, rows)).items():
            if len(values):
                found.below[node] = share * max(cut.tree.threshold[node] - values.min(), 0.0)
                found.above[node] = share * max(values.max() - cut.tree.threshold[node], 0.0)
        return found
