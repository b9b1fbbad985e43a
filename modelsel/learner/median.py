"""The median of the target: what least absolute errors predict without any feature.

Where a median lies between two values it is their middle.
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Integers, NumberTask
from modelsel.learner.base import BaseConstant, ConstantModel
from modelsel.statistics.sampling import weighted_median


@dataclass(frozen=True)
class Median(BaseConstant):
    """Says the median of the analysis rows of every row; there is nothing to set."""

    def fit(self, task: NumberTask, rows: Integers, rng: np.random.Generator) -> ConstantModel:
        target, weights = task.target[rows], task.row_weights[rows]
        return ConstantModel(float(weighted_median(target, weights)), task, rows)
