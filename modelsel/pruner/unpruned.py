"""The grown tree as it is."""

from dataclasses import dataclass

from modelsel.core.types import BOTH_TASKS
from modelsel.pruner.base import ConstantPath, Pruning
from modelsel.tree.cutting import PruningData
from modelsel.tree.node import PrunedView


@dataclass(frozen=True)
class Unpruned(Pruning):
    """No pruning; the stopping limits alone decide the size."""

    reads = BOTH_TASKS

    def path(self, cut: PrunedView, evidence: PruningData) -> ConstantPath:
        return ConstantPath(cut)
