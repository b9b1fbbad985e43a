"""Area under the ROC curve; for more than two classes one against rest, weighted by class share.

How well the scores *rank*, whatever the threshold; says nothing of calibration. Not defined on one class: NaN there.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Codes, Floats, Outputs, Resampling, Task
from modelsel.measure.base import class_scores
from modelsel.statistics.auc import multiclass_area, rankings


@dataclass(frozen=True)
class Auc:
    """Higher is better; ½ is chance."""

    higher_is_better = True
    needs_scores = True
    over_rows = False

    def problems(self, task: Task, resampling: Resampling) -> Iterator[str]:
        single = [fold.index for fold in resampling.folds if not np.ptp(task.target[fold.assessment])]
        if single:
            yield f"auc is not defined on {len(single)} folds that assess one class only (fold {single[0]}): use fewer folds"

    def score(self, truth: Codes, outputs: Outputs, weights: Floats | None, classes: int) -> Floats:
        return self.reweighted(truth, outputs, classes)(weights)

    def reweighted(self, truth: Codes, outputs: Outputs, classes: int) -> Callable[[Floats | None], Floats]:
        """The score as a function of the weights, the scores sorted once: what a bootstrap asks a thousand times."""
        ranked = rankings(class_scores(outputs))
        return lambda weights: multiclass_area(truth, ranked, weights)

    def losses(self, truth: Codes, outputs: Outputs, classes: int) -> Floats:
        raise TypeError("Auc is no mean over rows")
