"""What an estimator says beside classes: probabilities, or a decision value for each class, or nothing.

Decision values rank rows (a margin, a distance from the plane) and are no probabilities. Of two classes they are −d and d.
"""

import numpy as np

from modelsel.core.types import CLASSES, DECISIONS, PROBABILITIES, Floats, Integers
from modelsel.foreign.interface import SklearnDecider

NEVER_SEEN = -1e3  # the decision value of a class without analysis rows


def decides(made: object) -> bool:
    """Say whether an estimator has a decision value for each class; those of pairs of classes are none."""
    return hasattr(made, "decision_function") and getattr(made, "decision_function_shape", None) != "ovo"


def scores_of(made: object) -> str:
    """Say what the class scores of an estimator are."""
    if hasattr(made, "predict_proba"):
        return PROBABILITIES
    return DECISIONS if decides(made) else CLASSES


def decisions(estimator: SklearnDecider, matrix: object, own: Integers, classes: int) -> Floats:
    """Decision values, rows × classes; `own` are the classes that the estimator knows. ValueError where they are others."""
    said = np.asarray(estimator.decision_function(matrix), np.float64)
    said = np.column_stack([-said, said]) if said.ndim == 1 or said.shape[1] == 1 else said
    if said.shape[1] != len(own):
        raise ValueError(f"{type(estimator).__name__} has {said.shape[1]} decision values for {len(own)} classes")
    found = np.full((len(said), classes), NEVER_SEEN)
    found[:, own] = said
    return found
