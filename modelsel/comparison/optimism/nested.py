"""Nested cross-validation: the whole selection inside each outer fold, so that what is scored is the selecting itself.

The interval is Student's t with the corrected resampled variance over the J outer folds, sd sqrt(1/J + n_test / n_train):
approximate, because no unbiased estimate of that variance exists (Bengio & Grandvalet 2004). Source: Stone (1974);
Varma & Simon (2006); Nadeau & Bengio (2003).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from modelsel.statistics.tests.paired import corrected_t

LABEL = "approximate: corrected resampled variance over outer folds"


@dataclass(frozen=True, eq=False)
class NestedResult:
    """Outer scores with their mean and interval; `agreement` is the share of outer folds won by the most frequent winner."""

    mean: float
    low: float
    high: float
    scores: tuple[float, ...]
    winners: tuple[str, ...]
    agreement: float
    label: str = LABEL
    method: str = "nested"

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values for study.json."""
        return {
            "method": self.method, "mean": self.mean, "low": self.low, "high": self.high, "label": self.label,
            "scores": list(self.scores), "winners": list(self.winners), "agreement": self.agreement,
        }  # fmt: skip


def nested(scores: ArrayLike, ratio: float, winners: Sequence[str], level: float = 0.95) -> NestedResult:
    """Sum up outer folds: the score of each fold's own winner on its assessment rows, and who it was.

    `ratio` is n_test / n_train of the outer scheme. `winners` are names that mean the same in every fold: for a family
    whose members depend on the rows (pruning strengths), the number of leaves or the entry, not the candidate id.
    """
    each = np.asarray(scores, np.float64)
    interval = corrected_t(each, ratio, level)
    most = Counter(winners).most_common(1)[0][1]
    return NestedResult(
        mean=float(interval.mean), low=float(interval.low), high=float(interval.high),
        scores=tuple(each.tolist()), winners=tuple(winners), agreement=most / len(winners),
    )  # fmt: skip
