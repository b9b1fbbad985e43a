"""Class scores that no measure of a run reads, kept from the first computation for the measures beside the one that chooses.

They stay in memory for one study: where the classes of a cell are on record and its class scores are asked for later, a second
record is made of both, and nothing is fitted again. The journal then holds what a second fit would have left there.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from modelsel.core.types import Floats
from modelsel.runner.evaluation.cell_result import CellKey, CellResult
from modelsel.runner.evaluation.context import RunContext

ROOM = 1 << 27  # bytes of class scores that are kept; of batches that would need more, none are, and a fit is repeated


@dataclass(frozen=True, eq=False)
class SpareScores:
    """Class scores by cell, then by candidate: rows × classes."""

    room: int = ROOM
    _kept: dict[str, dict[int, Floats]] = field(default_factory=dict)

    def serves(self, work: RunContext) -> frozenset[int]:
        """Return the batches whose class scores are kept: the smallest, as many as there is room for.

        None where measures read them anyway, or where cells have limits, which are those of what the measure needs.
        """
        if not work.rows or work.needs_scores or work.limits.any or not work.task.class_count:
            return frozenset()
        each = 8 * sum(len(fold.assessment) for fold in work.resampling.folds) * work.task.class_count
        sizes = np.array([len(batch.members) for batch in work.plan.batches], np.int64)
        order = np.argsort(sizes, kind="stable")
        return frozenset(order[np.cumsum(sizes[order]) * each <= self.room].tolist())

    def keep(self, key: CellKey, result: CellResult) -> None:
        """Take in what a finished cell knows beside its record; class scores that are not finite are left out."""
        if result.spare is not None:
            whole = np.asarray(np.isfinite(result.spare).all(axis=(1, 2)))
            own = self._kept.setdefault(key.text, {})
            own.update((int(result.ids[place]), result.spare[place]) for place in result.ok.tolist() if whole[place])

    def complete(self, key: CellKey, result: CellResult) -> CellResult | None:
        """The results of the candidates whose class scores are kept; None where there are none."""
        own = self._kept.get(key.text, {})
        there = np.array([place for place in result.ok.tolist() if int(result.ids[place]) in own], np.int64)
        if not len(there):
            return None
        some = result.take(there)
        return replace(some, scores=np.stack([own[int(identity)] for identity in some.ids]), traceback="")
