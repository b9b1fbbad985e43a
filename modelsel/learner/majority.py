"""The most common class: the floor that every report shows.

Predicts arg max_c N_c (ties: the first class) with scores N_c / N.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from modelsel.core.types import ClassTask, Codes, Description, Floats, Integers, Outputs, Table
from modelsel.learner.base import BaseFloor, FloorModel


@dataclass(frozen=True)
class Majority(BaseFloor):
    """The most common class of the analysis rows; there is nothing to set."""

    def fit(self, task: ClassTask, rows: Integers, rng: np.random.Generator) -> "MajorityModel":
        weight = np.bincount(task.target[rows], task.row_weights[rows], len(task.classes))
        return MajorityModel(np.asarray(weight / weight.sum()))

    @staticmethod
    def restore(description: Description) -> "MajorityModel":
        """Rebuild the model; the shares must be at least 0 and sum to 1."""
        shares = np.asarray(description.arrays["shares"], np.float64)
        if shares.ndim != 1 or not len(shares) or (shares < 0).any() or not np.isclose(shares.sum(), 1.0):
            raise ValueError("not a whole majority model: class shares must be at least 0 and sum to 1")
        return MajorityModel(shares)


@dataclass(frozen=True, eq=False)
class MajorityModel(FloorModel):
    """Class shares of the analysis rows; model and path in one, as there are no parameters."""

    shares: Floats

    def predict(self, table: Table) -> Codes:
        return np.full(len(table), np.argmax(self.shares), np.int32)

    def scores(self, table: Table) -> Floats:
        return np.tile(self.shares, (len(table), 1))

    def describe(self) -> Description:
        return Description("majority", {}, {"shares": self.shares})

    def outputs(self, learners: Sequence[object], table: Table, rows: Integers, scores: bool) -> Outputs:
        shape = (len(learners), len(rows))
        shares = np.broadcast_to(self.shares, (*shape, len(self.shares))).copy() if scores else None
        return Outputs(np.full(shape, np.argmax(self.shares), np.int32), shares)

    def training_error(self, learners: Sequence[object]) -> Floats:
        return np.full(len(learners), 1.0 - self.shares.max())
