"""Decide by costs: C_ij is paid where class i is predicted as class j.

Two classes: the threshold of least mean cost on inner folds, whatever the scores mean. More: the class of least expected cost,
argmin_j Σ_i s_i C_ij, which is right as far as the scores are chances (so calibrate them). Source: Elkan (2001).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from modelsel.core.spec import make, plain, whole
from modelsel.core.types import ClassTask, Codes, Floats, Table
from modelsel.decision.base import BaseDecision, Held, best_threshold


@dataclass(frozen=True)
class Costs(BaseDecision):
    """Learnt is the threshold for two classes, nothing for more.

    >>> three = Costs(costs=((0, 1, 1), (1, 0, 1), (9, 9, 0)))
    >>> three.predicted(np.zeros(0), np.array([[0.6, 0.3, 0.1], [0.8, 0.19, 0.01]])).tolist()
    [2, 0]
    """

    costs: tuple[tuple[float, ...], ...] = plain((), help="a row per true class, a column per predicted class")
    grid: int = whole(100, least=2, help="thresholds tried")

    @property
    def inner(self) -> int:
        return self.folds if len(self.costs) == 2 else 0

    def problems(self, task: Table | None = None) -> Iterable[str]:
        width = len(task.classes) if isinstance(task, ClassTask) else len(self.costs)
        if len(self.costs) != width or width < 2 or any(len(row) != width for row in self.costs):
            yield f"decision.costs must be square, with a row per true class and a column per predicted one, here {width}"
        elif not np.isfinite(np.asarray(self.costs, np.float64)).all():
            yield "decision.costs must be finite numbers"

    def learnt(self, held: Sequence[Held]) -> Floats:
        if len(self.costs) != 2:
            return np.zeros(0)
        return np.array([best_threshold(held, make("measure", "cost_matrix", costs=self.costs), self.grid)])

    def predicted(self, learnt: Floats, scores: Floats) -> Codes:
        if len(learnt):
            return np.asarray(scores[:, 1] >= learnt[0]).astype(np.int32)
        return np.asarray(np.argmin(scores @ np.asarray(self.costs, np.float64), axis=1)).astype(np.int32)
