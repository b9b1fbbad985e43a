"""No decision of its own: the class that the learner predicts, mostly that of the largest score."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Codes, Floats
from modelsel.decision.base import BaseDecision, Held


@dataclass(frozen=True)
class None_(BaseDecision):  # noqa: N801
    """No decision: a learner with it answers as the learner alone."""

    @property
    def inner(self) -> int:
        return 0

    def learnt(self, held: Sequence[Held]) -> Floats:
        return np.zeros(0)

    def predicted(self, learnt: Floats, scores: Floats) -> Codes:
        return np.asarray(np.argmax(scores, axis=1)).astype(np.int32)
