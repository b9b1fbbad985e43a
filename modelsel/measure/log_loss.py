"""Logarithmic loss: −ln p of the true class, p its score, at least `floor`.

A single score of 0 on a true class would make the mean infinite; the floor bounds what one row can do. Source: Good (1952).
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.spec import number
from modelsel.core.types import Codes, Floats, Outputs
from modelsel.measure.base import FROM_0, OverRows, probabilities


@dataclass(frozen=True)
class LogLoss(OverRows):
    """In nats; lower is better; at most −ln floor."""

    between = FROM_0
    floor: float = number(
        1e-15, above=0, most=0.5, help="least score that counts: the floor decides how dear a sure mistake is"
    )

    needs_scores = True
    needs_probabilities = True

    def losses(self, truth: Codes, outputs: Outputs, classes: int) -> Floats:
        true = probabilities(outputs)[:, np.arange(len(truth)), truth]
        return -np.log(np.maximum(true, self.floor))
