"""No calibrator: scores as the learner gives them, and no inner fits."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from modelsel.calibrator.base import BaseCalibrator
from modelsel.core.types import Codes, Floats


@dataclass(frozen=True)
class None_(BaseCalibrator):  # noqa: N801
    """No calibration: a learner with it answers as the learner alone."""

    def fitted(self, scores: Floats, truth: Codes, weights: Floats) -> tuple[Floats, ...]:
        return (np.zeros(0),)

    def applied(self, learnt: Sequence[Floats], scores: Floats) -> Floats:
        return scores
