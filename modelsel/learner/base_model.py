"""A model that is one learner of a path: what the path says about all rows of a table for this learner alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from modelsel.core.types import ClassTask, Codes, Floats, Integers, Table, positions
from modelsel.learner.base import BaseLearner, FittedModel, Path

# Rows taken in parts, so that what is computed for them at a time stays small.

CELLS = 1 << 22  # numbers held at a time


def chunks(rows: int, each: int) -> list[slice]:
    """Slices of rows such that `each` numbers per row stay within CELLS: a fixed grid, whatever the machine.

    >>> chunks(5, 1 << 21)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 6, None)]
    """
    size = max(1, CELLS // max(1, each))
    return [slice(start, start + size) for start in range(0, rows, size)]


@dataclass(frozen=True, eq=False)
class PathModel(FittedModel):
    """The base of models whose path holds all that they need; `learner` has every path parameter fixed."""

    path: Path
    learner: BaseLearner

    def predict(self, table: Table) -> Codes:
        return np.asarray(self.path.outputs([self.learner], table, positions(table), scores=False).predicted[0], np.int32)

    def scores(self, table: Table) -> Floats:
        """Compute this learner's class scores of all rows by its path."""
        shares = self.path.outputs([self.learner], table, positions(table), scores=True).scores
        assert shares is not None
        own: Floats = shares[0]
        return own


# Training error: the weighted share of the analysis rows that a path's own answers miss.


def training_error(path: Path, learners: Sequence[object], task: ClassTask, rows: Integers) -> Floats:
    """Weighted share of the rows that each learner misses; the rows are asked for in parts. NaN where they weigh nothing."""
    weights, missed = task.row_weights[rows], np.empty((len(learners), len(rows)), bool)
    for block in chunks(len(rows), len(learners) * len(task.classes)):
        missed[:, block] = path.outputs(learners, task, rows[block], scores=False).predicted != task.target[rows[block]]
    total = weights.sum()
    if not total > 0:
        return np.full(len(learners), np.nan)
    wrong = np.array([weights[own].sum() for own in missed])  # each by itself: the same in any company
    return np.asarray(wrong / total)
