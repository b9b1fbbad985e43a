"""No softening: a row goes whole to one side of a threshold."""

from dataclasses import dataclass

from modelsel.core.types import Integers, Task
from modelsel.tree.node import PrunedView
from modelsel.tree.softening import Widths


@dataclass(frozen=True)
class Hard:
    """Widths of zero."""

    def widths(self, cut: PrunedView, task: Task, rows: Integers) -> Widths:
        return Widths.none(cut.tree)
