"""Brier score: Σ_c (p_c − [c is true])², the squared distance of the class scores from the truth.

0 … 2; with two classes twice the (p − y)² that is often quoted. Source: Brier (1950).
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Codes, Floats, Outputs
from modelsel.measure.base import OverRows, probabilities


@dataclass(frozen=True)
class Brier(OverRows):
    """Lower is better."""

    between = (0.0, 2.0)
    needs_scores = True
    needs_probabilities = True

    def losses(self, truth: Codes, outputs: Outputs, classes: int) -> Floats:
        away = probabilities(outputs) - np.eye(classes)[truth]
        return np.asarray(np.einsum("crk,crk->cr", away, away))
