"""The ROC curve: the share of either class that scores at least a threshold, for every distinct threshold.

false positive rate = share of negatives with s ≥ t, true positive rate = share of positives with s ≥ t, from (0, 0) at a
threshold above all scores to (1, 1) at the least. Rows of equal score move together, so that the area counts ties half.
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Booleans, Floats


@dataclass(frozen=True, eq=False)
class Curve:
    """Points of the curve, thresholds descending from infinity."""

    false_positive: Floats
    true_positive: Floats
    threshold: Floats

    @property
    def area(self) -> float:
        """Area under the straight lines between the points."""
        return float(np.trapezoid(self.true_positive, self.false_positive))


def curve(positive: Booleans, scores: Floats, weights: Floats | None = None) -> Curve:
    """One point per distinct score. NaN rates where a class has no weight.

    >>> found = curve(np.array([True, False, True, False]), np.array([0.9, 0.5, 0.5, 0.1]))
    >>> found.false_positive.tolist(), found.true_positive.tolist(), found.area
    ([0.0, 0.0, 0.5, 1.0], [0.0, 0.5, 1.0, 1.0], 0.875)
    """
    weight = np.ones(len(scores)) if weights is None else weights
    distinct, place = np.unique(-scores, return_inverse=True)
    up = np.cumsum(np.bincount(place, np.where(positive, weight, 0.0), len(distinct)))
    down = np.cumsum(np.bincount(place, np.where(positive, 0.0, weight), len(distinct)))
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = [np.append(0.0, each / each[-1]) for each in (down, up)]
    return Curve(rates[0], rates[1], np.append(np.inf, -distinct))
