"""Area under the ROC curve: the chance that a positive row scores above a negative one, ties counting half.

AUC = Σ_{i positive, j negative} w_i w_j ([s_i > s_j] + ½ [s_i = s_j]) / (Σ w_i Σ w_j), from one sort (Hanley & McNeil 1982).
More classes: the mean of the one-against-rest areas, weighted by class share (Provost & Domingos 2001).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from modelsel.core.types import Booleans, Codes, Floats


@dataclass(frozen=True, eq=False)
class SortedScores:
    """Scores (… × rows) once sorted: each further weighting costs O(n). `first` and `last` bound the places of equal score."""

    order: NDArray[np.intp]
    first: NDArray[np.intp]
    last: NDArray[np.intp]
    undefined: Booleans

    @classmethod
    def of(cls, scores: Floats) -> "SortedScores":
        order = np.argsort(scores, axis=-1)
        first, last = _ties(np.take_along_axis(scores, order, axis=-1))
        return cls(order, first, last, np.asarray(np.isnan(scores).any(axis=-1)))

    def area(self, positive: Booleans, weights: Floats | None = None) -> Floats:
        """AUC per row of the scores; NaN where a score is NaN or one side has no weight."""
        weight = np.ones(len(positive)) if weights is None else weights
        plus = np.where(positive, weight, 0.0)[self.order]
        minus = np.where(positive, 0.0, weight)[self.order]
        below = np.cumsum(minus, axis=-1)
        before = np.take_along_axis(below - minus, self.first, axis=-1)
        upto = np.take_along_axis(below, self.last, axis=-1)
        pairs = plus.sum(axis=-1) * minus.sum(axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(self.undefined, np.nan, (plus * (before + upto)).sum(axis=-1) / (2.0 * pairs)))


def auc(positive: Booleans, scores: Floats, weights: Floats | None = None) -> Floats:
    """AUC per row of `scores` (… × rows); NaN where a score is NaN or one side is empty. O(n log n).

    >>> auc(np.array([True, True, False, True, False, False]), np.array([.9, .8, .7, .6, .55, .4])).round(4).tolist()
    0.8889
    """
    return SortedScores.of(scores).area(positive, weights)


def rankings(scores: Floats) -> tuple[SortedScores, ...]:
    """Sort scores (… × rows × classes) for `multiclass_area`: those of the second class for two, else of every class."""
    classes = scores.shape[-1]
    return tuple(SortedScores.of(scores[..., c]) for c in ([1] if classes == 2 else range(classes)))


def multiclass_area(truth: Codes, ranked: tuple[SortedScores, ...], weights: Floats | None = None) -> Floats:
    """AUC of the second class for two classes, else one against rest by class share.

    Classes without weight count nothing; NaN when only one class has any.
    """
    if len(ranked) == 1:
        return ranked[0].area(truth == 1, weights)
    share = np.bincount(truth, weights, minlength=len(ranked)).astype(np.float64)
    nothing = np.full(ranked[0].undefined.shape, np.nan)
    areas = [each.area(truth == c, weights) if share[c] else nothing for c, each in enumerate(ranked)]
    return mean_by_share(np.stack(areas, axis=-1), share)


def mean_by_share(areas: Floats, share: Floats) -> Floats:
    """Mean of the areas of classes (… × classes) by their weight (… × classes); those without any count nothing."""
    total, mean = share.sum(axis=-1), np.zeros(areas.shape[:-1])
    with np.errstate(divide="ignore", invalid="ignore"):
        for c in range(areas.shape[-1]):  # a class after the other: the same sum for one weighting and for many
            own = share[..., c]
            mean = mean + np.where(own > 0, areas[..., c] * (own / total), 0.0)
    return np.asarray(np.where(total > 0, mean, np.nan))


def multiclass_auc(truth: Codes, scores: Floats, weights: Floats | None = None) -> Floats:
    """AUC per candidate (`scores`: … × rows × classes)."""
    return multiclass_area(truth, rankings(scores), weights)


def _ties(ordered: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Per place, the first and the last place of equal score."""
    n = ordered.shape[-1]
    place = np.broadcast_to(np.arange(n), ordered.shape)
    change = ordered[..., 1:] != ordered[..., :-1]
    edge = np.ones((*ordered.shape[:-1], 1), np.bool_)
    first = np.maximum.accumulate(np.where(np.concatenate([edge, change], axis=-1), place, 0), axis=-1)
    ends = np.where(np.concatenate([change, edge], axis=-1), place, n - 1)
    last = np.minimum.accumulate(ends[..., ::-1], axis=-1)[..., ::-1]
    return first, last


# The ROC curve: the share of either class that scores at least a threshold, for every distinct threshold.
#
# false positive rate = share of negatives with s ≥ t, true positive rate = share of positives with s ≥ t, from (0, 0) at a
# threshold above all scores to (1, 1) at the least. Rows of equal score move together, so that the area counts ties half.


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
    """Return a point of the ROC curve per distinct score. NaN rates where a class has no weight.

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


# DeLong's standard error of an area under the ROC curve, and test of two areas on the same rows, without a distribution.
#
# V10_i = share of negatives that positive i beats (ties half), V01_j = share of positives that beat negative j;
# AUC = mean V10 = mean V01, var(AUC) = var(V10)/m + var(V01)/n with the sample variances over m positives and n negatives.
#
# DeLong, DeLong and Clarke-Pearson 1988; in O(n log n) by midranks: Sun and Xu 2014.


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
