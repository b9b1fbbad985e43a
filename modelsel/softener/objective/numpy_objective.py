"""The objective in NumPy: the twin of the compiled one."""

import numpy as np

from modelsel.core.types import Floats
from modelsel.softener.objective.contrasts import ClassContrast, ObjectiveRows
from modelsel.statistics.auc import auc
from modelsel.tree.softening.numpy_soft import walk
from modelsel.tree.softening.widths import Widths


def evaluate(objective: ObjectiveRows, widths: Widths) -> float:
    """The same number as calling the objective."""
    owner, leaf, part = walk(objective.tree, widths, objective.x)
    values = []
    for each in objective.classes:
        r = np.asarray(np.bincount(owner, part * each.of_leaf[leaf], len(objective.x)), np.float64)
        values.append(_of_class(objective, each, r))
    return objective.mean(values)


def _of_class(objective: ObjectiveRows, each: ClassContrast, r: Floats) -> float:
    """Compute the objective of one class from scores r."""
    if objective.kind == "auc":
        return -float(auc(each.positive.astype(bool), r, objective.weights))
    d = np.abs(r - each.positive)
    loss = {"diff": d, "square": d**2, "exptr": np.exp(4 * (d - 1))}[objective.kind]
    return float(np.average(loss, weights=objective.weights))
