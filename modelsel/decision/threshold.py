"""A threshold of the second class's score, from which on the class is predicted: one that is said, or the best on inner folds.

Written as `threshold: path` (the best), `threshold: 0.3`, or `decision: {kind: threshold, measure: f1}`. Two classes.
Source: scikit-learn's `TunedThresholdClassifierCV`, whose grid and fold-wise mean it has.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from modelsel.core.parts import ScoringMeasure
from modelsel.core.spec import number, part, whole
from modelsel.core.types import ClassTask, Codes, Floats, Table
from modelsel.decision.base import BaseDecision, Held, best_threshold


@dataclass(frozen=True)
class Threshold(BaseDecision):
    """Learnt is the threshold; what is at least it is the second class."""

    at: float | None = number(None, least=0.0, most=1.0, help="the threshold; none: the best by `measure` on inner folds")
    measure: ScoringMeasure | None = part("measure", "balanced_error", help="which the threshold serves: one of classes")
    grid: int = whole(100, least=2, help="thresholds tried")

    @property
    def inner(self) -> int:
        return 0 if self.at is not None else self.folds

    def problems(self, task: Table | None = None) -> Iterable[str]:
        if self.measure is None and self.at is None:
            yield (
                "threshold: path serves a study's measure, and there is none here that says how good classes are: "
                "say which: decision: {kind: threshold, measure: error}"
            )
        if getattr(self.measure, "needs_scores", False):
            yield "a threshold decides the predicted class, and its measure reads class scores: name one of classes"
        if isinstance(task, ClassTask) and len(task.classes) != 2:
            yield f"a threshold is for two classes, and the task has {len(task.classes)}: use decision.costs"

    def learnt(self, held: Sequence[Held]) -> Floats:
        if self.at is not None:
            return np.array([self.at])
        assert self.measure is not None  # else `problems` refused
        return np.array([best_threshold(held, self.measure, self.grid)])

    def predicted(self, learnt: Floats, scores: Floats) -> Codes:
        return np.asarray(scores[:, 1] >= learnt[0]).astype(np.int32)
