"""The mean of the target: what least squares predict without any feature."""

from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Integers, NumberTask
from modelsel.learner.base import BaseConstant, ConstantModel


@dataclass(frozen=True)
class Mean(BaseConstant):
    """Says the mean of the analysis rows of every row; there is nothing to set."""

    def fit(self, task: NumberTask, rows: Integers, rng: np.random.Generator) -> ConstantModel:
        target, weights = task.target[rows], task.row_weights[rows]
        return ConstantModel(float(weights @ target / weights.sum()), task, rows)
