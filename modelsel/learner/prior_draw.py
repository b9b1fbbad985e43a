"""A class drawn from the class shares: what guessing without looking at the features costs.

Each row draws class c with probability N_c / N, by a hash of its values and of a number drawn when fitting: the draw of a row
depends neither on its place nor on the rows beside it. Expected error 1 − Σ p_c², against 1 − max p_c of the majority.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import ClassTask, Codes, Description, Floats, Integers, Outputs, Table, positions
from modelsel.learner.base import BaseFloor, FloorModel

TOGETHER = 1 << 16  # values: columns are read together where they are short
STEP, FACTORS = np.uint64(0x9E3779B97F4A7C15), (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))


@dataclass(frozen=True)
class PriorDraw(BaseFloor):
    """A class drawn from the class shares; there is nothing to set, and equal rows draw equal classes."""

    def fit(self, task: ClassTask, rows: Integers, rng: np.random.Generator) -> "PriorDrawModel":
        """Keep the class shares and a random key, and measure the error on the analysis rows."""
        target, weights = task.target[rows], task.row_weights[rows]
        weight = np.bincount(target, weights, len(task.classes))
        model = PriorDrawModel(np.asarray(weight / weight.sum()), int(rng.integers(2**62)))
        wrong = model.outputs([self], task, rows, False).predicted[0] != target
        return replace(model, missed=float(weights @ wrong / weight.sum()))

    @staticmethod
    def restore(description: Description) -> "PriorDrawModel":
        """Rebuild the model; the shares must be at least 0 and sum to 1."""
        shares = np.asarray(description.arrays["shares"], np.float64)
        if shares.ndim != 1 or not len(shares) or (shares < 0).any() or not np.isclose(shares.sum(), 1.0):
            raise ValueError("not a whole prior_draw model: class shares must be at least 0 and sum to 1")
        return PriorDrawModel(shares, int(description.facts["key"]))


@dataclass(frozen=True, eq=False)
class PriorDrawModel(FloorModel):
    """Class shares of the analysis rows, and the key of the draws; model and path in one."""

    shares: Floats
    key: int
    missed: float = np.nan  # weighted share of the analysis rows that draw another class than theirs; NaN when read back

    def predict(self, table: Table) -> Codes:
        return self._draw(table, positions(table))

    def scores(self, table: Table) -> Floats:
        return np.tile(self.shares, (len(table), 1))

    def describe(self) -> Description:
        return Description("prior_draw", {"key": self.key}, {"shares": self.shares})

    def outputs(self, learners: Sequence[object], table: Table, rows: Integers, scores: bool) -> Outputs:
        classes = np.tile(self._draw(table, rows), (len(learners), 1))
        shares = np.broadcast_to(self.shares, (*classes.shape, len(self.shares))).copy() if scores else None
        return Outputs(classes, shares)

    def training_error(self, learners: Sequence[object]) -> Floats:
        return np.full(len(learners), self.missed)

    def _draw(self, table: Table, rows: Integers) -> Codes:
        """Draw a class for each row from a hash of its values."""
        uniform = _hash_rows(table.values, rows, self.key) / 2.0**64
        limits = np.cumsum(self.shares)
        drawn: Codes = np.minimum(np.searchsorted(limits, uniform, "right"), np.flatnonzero(self.shares)[-1]).astype(np.int32)
        return drawn


def _hash_rows(values: Floats, rows: Integers, key: int) -> NDArray[np.uint64]:
    """A 64-bit hash of some rows (the mixing of SplitMix64; Steele, Lea and Flood 2014), read column by column."""
    state = np.full(len(rows), key, np.uint64)
    many = max(1, TOGETHER // max(1, len(rows)))
    for first in range(0, values.shape[1], many):
        cells = np.ascontiguousarray(values[:, first : first + many].T)[:, rows] + 0.0  # −0.0 becomes 0.0
        cells[np.isnan(cells)] = 1.0e308
        for bits in cells.view(np.uint64):
            state ^= bits
            _mix(state)
    return _mix(state)


def _mix(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix bits by the steps of SplitMix64, in place."""
    state += STEP
    state ^= state >> SHIFTS[0]
    state *= FACTORS[0]
    state ^= state >> SHIFTS[1]
    state *= FACTORS[1]
    state ^= state >> SHIFTS[2]
    return state
