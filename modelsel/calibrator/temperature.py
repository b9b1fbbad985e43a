"""Temperature scaling: p_c ∝ s_c^t, one exponent for all classes, of largest likelihood.

t below 1 softens scores that are too sure, above 1 it sharpens; the class of the largest score stays the same. 1 / t is the
temperature of the literature. Source: Guo, Pleiss, Sun & Weinberger (2017).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from modelsel.calibrator.base import BaseCalibrator
from modelsel.core.types import Codes, Floats

LEAST = 1e-12  # added to every score, so that its logarithm is finite
REACH = 10.0  # of ln t


@dataclass(frozen=True)
class Temperature(BaseCalibrator):
    """Learnt is t; reads all scores of a row at once.

    >>> scores = np.array([[0.9, 0.1], [0.9, 0.1], [0.9, 0.1], [0.1, 0.9]])
    >>> found = Temperature().fit(scores, np.array([0, 1, 0, 1], np.int32), np.ones(4))
    >>> found(scores)[0].round(3).tolist()  # three of four were right
    [0.75, 0.25]
    """

    def fitted(self, scores: Floats, truth: Codes, weights: Floats) -> tuple[Floats, ...]:
        logs, rows = np.log(scores + LEAST), np.arange(len(truth))
        if not weights.sum() > 0:
            return (np.ones(1),)

        def loss(log_of_t: float) -> float:
            return float(-weights @ log_softmax(np.exp(log_of_t) * logs, axis=1)[rows, truth])

        found = minimize_scalar(loss, bounds=(-REACH, REACH), method="bounded", options={"xatol": 1e-10})
        return (np.array([float(np.exp(found.x))]),)

    def applied(self, learnt: Sequence[Floats], scores: Floats) -> Floats:
        return np.asarray(softmax(learnt[0][0] * np.log(scores + LEAST), axis=1))
