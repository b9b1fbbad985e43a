"""Area under the ROC curve; for more than two classes one against rest, weighted by class share.

How well the scores *rank*, whatever the threshold; says nothing of calibration. Not defined on one class: NaN there.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from modelsel.core.types import Booleans, Codes, Floats, Outputs, Resampling, Task
from modelsel.kernels.compiler import load
from modelsel.measure.base import class_scores
from modelsel.statistics.auc import SortedScores, multiclass_area, rankings


@dataclass(frozen=True, eq=False)
class SweptScores(SortedScores):
    """Scores of candidates (candidates × rows) whose areas the kernel adds up, one pass per weighting."""

    @cached_property
    def _sorted(self) -> tuple[Codes, Booleans]:
        """Rows in order of their scores, and whether each is the last of its score."""
        return self.order.astype(np.int32), self.last == np.arange(self.last.shape[1])

    def area(self, positive: Booleans, weights: Floats | None = None) -> Floats:
        kernel = load("areas")
        if kernel is None:
            return super().area(positive, weights)
        weight = np.ones(len(positive)) if weights is None else weights
        found = kernel.areas(*self._sorted, np.where(positive, weight, 0.0), np.where(positive, 0.0, weight))
        return np.where(self.undefined, np.nan, found)


def swept(scores: SortedScores) -> SortedScores:
    """The same, to be weighted many times."""
    if scores.order.ndim != 2:
        return scores
    return SweptScores(scores.order, scores.first, scores.last, scores.undefined)


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
        return multiclass_area(truth, rankings(class_scores(outputs)), weights)

    def reweighted(self, truth: Codes, outputs: Outputs, classes: int) -> Callable[[Floats | None], Floats]:
        """The score as a function of the weights, the scores sorted once: what a bootstrap asks a thousand times."""
        ranked = tuple(map(swept, rankings(class_scores(outputs))))
        return lambda weights: multiclass_area(truth, ranked, weights)

    def losses(self, truth: Codes, outputs: Outputs, classes: int) -> Floats:
        raise TypeError("Auc is no mean over rows")
