"""Coefficient of determination: 1 − Σ w_i (y_i − ŷ_i)² / Σ w_i (y_i − ȳ)², ȳ the weighted mean of the same rows.

1 is a perfect prediction, 0 what the mean of the rows that are judged would have, negative what is worse. As scikit-learn has
it, rows of one value give 1 where they are predicted exactly and else 0. Source: Wright (1921).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Floats, Resampling, Task
from modelsel.measure.base import OfNumbers, weighted_mean


@dataclass(frozen=True)
class R2(OfNumbers):
    """Higher is better; up to 1.

    >>> R2().of(np.array([1.0, 3.0]), np.array([[1.0, 2.0]]), np.ones(2)).tolist()
    [0.5]
    """

    between = (-np.inf, 1.0)
    higher_is_better = True

    def why_undefined(self, resampling: Resampling) -> Iterator[str]:
        """Yield why it says nothing on these folds whatever the target is; of one value scikit-learn takes 1 or 0."""
        if alone := sum(len(fold.assessment) < 2 for fold in resampling.folds):
            yield f"r2 is not defined on {alone} folds that assess a single row: use fewer folds, or measure=mse"

    def problems(self, task: Task, resampling: Resampling) -> Iterator[str]:
        yield from self.why_undefined(resampling)
        same = [
            fold.index for fold in resampling.folds if len(fold.assessment) > 1 and not np.ptp(task.target[fold.assessment])
        ]
        if same:
            which = f"fold {same[0]}" + (f" and {len(same) - 1} more" if same[1:] else "")
            yield f"r2 divides by the variance of the target, and all rows of {which} have one value: use fewer folds, or mse"

    def of(self, truth: Floats, predicted: Floats, weights: Floats) -> Floats:
        if len(truth) < 2:
            return np.full(len(predicted), np.nan)
        left = weighted_mean(np.square(predicted - truth), weights)
        whole = weighted_mean(np.square(truth - weights @ truth / weights.sum()), weights)
        return 1.0 - left / whole if whole > 0 else np.where(left == 0, 1.0, 0.0)
