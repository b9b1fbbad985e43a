"""No softening: a row goes whole to one side of a threshold."""

from dataclasses import dataclass

from modelsel.core.types import Integers, Task
from modelsel.tree.softening import Widths
from modelsel.tree.structure.node import PrunedView


@dataclass(frozen=True)
class Hard:
    """Widths of zero."""

    def widths(self, cut: PrunedView, task: Task, rows: Integers) -> Widths:
        return Widths.none(cut.tree)
