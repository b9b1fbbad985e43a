"""The grown tree as it is."""

from dataclasses import dataclass

from modelsel.pruner._paths import Pruning, Single
from modelsel.tree.evidence import Evidence
from modelsel.tree.node import Cut


@dataclass(frozen=True)
class Unpruned(Pruning):
    """No pruning; the stopping limits alone decide the size."""

    def path(self, cut: Cut, evidence: Evidence) -> Single:
        return Single(cut)
