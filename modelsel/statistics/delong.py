"""DeLong's standard error of an area under the ROC curve, and test of two areas on the same rows, without a distribution.

V10_i = share of negatives that positive i beats (ties half), V01_j = share of positives that beat negative j;
AUC = mean V10 = mean V01, var(AUC) = var(V10)/m + var(V01)/n with the sample variances over m positives and n negatives.

DeLong, DeLong and Clarke-Pearson 1988; in O(n log n) by midranks: Sun and Xu 2014.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from modelsel.core.types import Booleans, Floats


@dataclass(frozen=True, eq=False)
class Areas:
    """AUC of each of k scores on the same rows, and their k × k covariance."""

    auc: Floats
    covariance: Floats

    def interval(self, which: int = 0, level: float = 0.95) -> tuple[float, float]:
        """Two-sided normal interval, cut to [0, 1]; a point where the classes are apart or all scores tie."""
        half = float(ndtri(0.5 + level / 2)) * float(np.sqrt(self.covariance[which, which]))
        return max(0.0, float(self.auc[which]) - half), min(1.0, float(self.auc[which]) + half)

    def difference(self, first: int = 0, second: int = 1) -> tuple[float, float]:
        """z and two-sided p of the hypothesis that two areas are equal; p = 1 where they cannot differ."""
        contrast = np.zeros(len(self.auc))
        contrast[first], contrast[second] = 1.0, -1.0
        variance = float(contrast @ self.covariance @ contrast)
        gap = float(self.auc[first] - self.auc[second])
        if variance <= 0:
            return (0.0, 1.0) if gap == 0 else (float(np.copysign(np.inf, gap)), 0.0)
        z = gap / variance**0.5
        return z, float(2 * ndtr(-abs(z)))


def areas(positive: Booleans, scores: Floats) -> Areas:
    """Areas under the curves of `scores` (k × rows, or one row of them); larger scores speak for `positive`.

    Raises ValueError without two rows of each class: there is no variance then.

    >>> found = areas(np.array([True, True, False, True, False, False]), np.array([.9, .8, .7, .6, .55, .4]))
    >>> found.auc.round(4).tolist(), found.covariance.round(6).tolist()
    ([0.8889], [[0.024691]])
    """
    m, n = int(np.count_nonzero(positive)), int(np.count_nonzero(~positive))
    if min(m, n) < 2:
        raise ValueError(f"DeLong's variance needs two rows of each class, not {m} and {n}")
    up, down = placements(positive, np.atleast_2d(scores))
    covariance = np.atleast_2d(np.cov(up)) / m + np.atleast_2d(np.cov(down)) / n
    return Areas(up.mean(axis=1), covariance)


def placements(positive: Booleans, scores: Floats) -> tuple[Floats, Floats]:
    """V10 (k × positives) and V01 (k × negatives)."""
    m, n = int(np.count_nonzero(positive)), int(np.count_nonzero(~positive))
    among_all = midranks(scores)
    up: Floats = (among_all[:, positive] - midranks(scores[:, positive])) / n
    down: Floats = 1.0 - (among_all[:, ~positive] - midranks(scores[:, ~positive])) / m
    return up, down


def midranks(values: Floats) -> Floats:
    """Rank the values of each row from 1; ties share the mean of their ranks.

    SciPy's `rankdata` says the same, and importing it takes a quarter of a second.

    Parameters
    ----------
    values
        k × n numbers.

    Returns
    -------
    Floats
        k × n ranks, in halves.

    Examples
    --------
    >>> midranks(np.array([[0.3, 0.1, 0.3, 0.9]])).tolist()
    [[2.5, 1.0, 2.5, 4.0]]
    """
    found = np.empty(values.shape)
    for row, ranks in zip(values, found, strict=True):
        _, place, count = np.unique(row, return_inverse=True, return_counts=True)
        ranks[:] = (np.cumsum(count) - (count - 1) / 2)[place]
    return found
