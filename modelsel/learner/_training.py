"""Training error: the weighted share of the analysis rows that a path's own answers miss.

e_T = Σ w_i [predicted_i ≠ class_i] / Σ w_i over the rows of the fit, exactly 0 where every row is answered rightly.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from modelsel.core.protocols import Path
from modelsel.core.types import Floats, Integers, Task
from modelsel.learner._chunks import chunks


def training_error(path: Path, learners: Sequence[Any], task: Task, rows: Integers) -> Floats:
    """One number per learner; the rows are asked for in parts. NaN where they weigh nothing."""
    weights, wrong = task.row_weights[rows], np.zeros(len(learners))
    for block in chunks(len(rows), len(learners) * len(task.classes)):
        predicted = path.outputs(learners, task, rows[block], scores=False).predicted
        wrong += (predicted != task.target[rows[block]]) @ weights[block]
    total = weights.sum()
    return wrong / total if total > 0 else np.full(len(learners), np.nan)
