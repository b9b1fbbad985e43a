"""Area under the ROC curve; for more than two classes one against rest, weighted by class share.

How well the scores *rank*, whatever the threshold; says nothing of calibration. Not defined on one class: NaN there.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from modelsel.core.types import Booleans, Codes, Floats, Outputs, Resampling, Task
from modelsel.kernels.compiler import load_compiled
from modelsel.measure.base import SHARE, BaseMeasure, class_scores
from modelsel.statistics.auc import SortedScores, mean_by_share, multiclass_area, rankings


@dataclass(frozen=True, eq=False)
class SweptAreas:
    """Areas as a function of the rows' weights: scores of candidates, sorted once, and a pass of the kernel per weighting."""

    truth: Codes
    ranked: tuple[SortedScores, ...]

    def __call__(self, weights: Floats | None) -> Floats:
        """Area per candidate."""
        return np.asarray(self.many(np.ones((1, len(self.truth))) if weights is None else weights[None])[0])

    def many(self, weights: Floats) -> Floats:
        """Areas under many weightings of the rows (weightings × rows): weightings × candidates."""
        kernel, classes = load_compiled("areas"), len(self.ranked)
        if kernel is None:
            return np.array([multiclass_area(self.truth, self.ranked, own) for own in weights])
        first = 1 if classes == 1 else 0
        found = kernel.areas(*self._sorted, self.truth, np.ascontiguousarray(weights, np.float64), first, classes)
        found = np.where(self._undefined, np.nan, found)
        if classes == 1:
            return np.asarray(found[:, 0])
        share = np.array([np.bincount(self.truth, own, minlength=classes) for own in weights])
        return mean_by_share(np.moveaxis(found, 1, -1), share[:, None])

    @cached_property
    def _sorted(self) -> tuple[Codes, Booleans]:
        """Rows in order of their scores, and whether each is the last of its score; class after class."""
        ends = [each.last == np.arange(len(self.truth)) for each in self.ranked]
        return np.concatenate([each.order for each in self.ranked]).astype(np.int32), np.concatenate(ends)

    @cached_property
    def _undefined(self) -> Booleans:
        return np.stack([each.undefined for each in self.ranked])


@dataclass(frozen=True)
class Auc(BaseMeasure):
    """Higher is better; ½ is chance."""

    between = SHARE
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
        return SweptAreas(truth, rankings(class_scores(outputs)))

    def losses(self, truth: Codes, outputs: Outputs, classes: int) -> Floats:
        raise TypeError("Auc is not a mean over rows")
