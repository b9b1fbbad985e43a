"""Comparison of learners over many data sets by ranks.

    χ²_F = 12 N / (k (k + 1)) · (Σ R_j² − k (k + 1)² / 4),    F_F = (N − 1) χ²_F / (N (k − 1) − χ²_F)

N data sets, k learners, R_j the mean rank (1 is best). Two learners differ by Nemenyi's test when their mean ranks are
apart by CD = q_α sqrt(k (k + 1) / (6 N)), q_α the studentized range quantile / √2. Source: Friedman (1937); Iman & Davenport
(1980); Nemenyi (1963); Demšar (2006).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from modelsel.core.types import Floats

FEW = 10  # differences up to which all sign patterns are counted


@dataclass(frozen=True, eq=False)
class Friedman:
    """Mean ranks, Friedman's χ² and Iman–Davenport's F with their p-values.

    `tie_corrected` are χ² and F divided by the share of rank variance that ties leave (SciPy's and R's χ²); Demšar's
    printed figures are without it.
    """

    ranks: Floats
    chi2: float
    chi2_p: float
    f: float
    f_p: float
    tie_corrected: tuple[float, float]


def friedman(scores: ArrayLike, higher_is_better: bool = False) -> Friedman:
    """Friedman's test of scores (data sets × learners). ValueError below two of either.

    >>> test = friedman([[.1, .2, .3], [.2, .3, .4], [.1, .3, .2], [.1, .2, .3]])
    >>> test.ranks.tolist(), round(test.chi2, 4)
    ([1.0, 2.25, 2.75], 6.5)
    """
    table = _table(scores, higher_is_better)
    each = stats.rankdata(table, axis=1)
    sets, k = each.shape
    ranks = each.mean(axis=0)
    chi2 = float(12 * sets / (k * (k + 1)) * (np.sum(ranks**2) - k * (k + 1) ** 2 / 4))
    spread = np.sum((each - (k + 1) / 2) ** 2) / (sets * k * (k * k - 1) / 12)
    corrected = chi2 / float(spread) if spread > 0 else 0.0
    f = _iman_davenport(chi2, sets, k)
    f_p = float(stats.f.sf(f, k - 1, (k - 1) * (sets - 1)))
    return Friedman(ranks, chi2, float(stats.chi2.sf(chi2, k - 1)), f, f_p, (corrected, _iman_davenport(corrected, sets, k)))


def critical_difference(learners: int, sets: int, alpha: float = 0.05) -> float:
    """Nemenyi's critical difference of mean ranks.

    >>> round(critical_difference(4, 14), 4)
    1.2536
    """
    q = stats.studentized_range.ppf(1 - alpha, learners, np.inf) / np.sqrt(2)
    return float(q * _rank_error(learners, sets))


def nemenyi(ranks: ArrayLike, sets: int) -> Floats:
    """Nemenyi's p-value of every pair of mean ranks, learners × learners."""
    r = np.asarray(ranks, np.float64)
    z = np.abs(r[:, None] - r) / _rank_error(len(r), sets)
    return np.array([[float(stats.studentized_range.sf(x, len(r), np.inf)) for x in row] for row in z * np.sqrt(2)])


def cliques(ranks: ArrayLike, difference: float) -> tuple[tuple[int, ...], ...]:
    """The bars of the critical-difference diagram: maximal runs of learners (in order of rank) that are not told apart.

    >>> cliques([1.0, 1.5, 2.2, 4.0], 1.0)
    ((0, 1), (1, 2))
    """
    r = np.asarray(ranks, np.float64)
    order = np.argsort(r, kind="stable")
    bars: list[tuple[int, ...]] = []
    reached = 0
    for start in range(len(order)):
        stop = start + int(np.sum(r[order[start:]] - r[order[start]] <= difference + 1e-12))
        if stop > max(reached, start + 1):
            bars.append(tuple(order[start:stop].tolist()))
        reached = max(reached, stop)
    return tuple(bars)


def wilcoxon(first: ArrayLike, second: ArrayLike) -> float:
    """Two-sided p-value of Wilcoxon's signed-rank test over data sets; 1 when all differences are zero.

    Zeros are dropped. Exact up to ten differences (all sign patterns) and, without ties or zeros, below fifty; else normal
    with continuity correction, as R does it.
    """
    d = np.round(np.asarray(first, np.float64) - np.asarray(second, np.float64), 12)
    kept = d[d != 0]
    if len(kept) <= FEW:
        return _all_signs(kept)
    if len(np.unique(np.abs(kept))) < len(d) or len(d) >= 50:
        return float(stats.wilcoxon(kept, correction=True, method="approx").pvalue)
    return float(stats.wilcoxon(d, method="exact").pvalue)


def _all_signs(d: Floats) -> float:
    """The share of sign patterns at least as far from balance as the observed one, ties at their mean rank."""
    ranks = stats.rankdata(np.abs(d))
    signs = (np.arange(1 << len(d))[:, None] >> np.arange(len(d)) & 1) * 2 - 1
    far = np.abs(signs @ ranks)
    return float(np.mean(far >= abs(float(np.sign(d) @ ranks)) - 1e-9))


def _table(scores: ArrayLike, higher_is_better: bool) -> Floats:
    """Round a table of scores and turn it so that lower is better."""
    table = np.round(np.asarray(scores, np.float64), 12).astype(np.float64)  # equal up to rounding is a tie
    if table.ndim != 2 or min(table.shape) < 2:
        raise ValueError("ranks need at least two data sets and two learners")
    return np.asarray(-table) if higher_is_better else table


def _iman_davenport(chi2: float, sets: int, k: int) -> float:
    below = sets * (k - 1) - chi2
    return float((sets - 1) * chi2 / below) if below > 1e-12 else float("inf")


def _rank_error(learners: int, sets: int) -> float:
    return float(np.sqrt(learners * (learners + 1) / (6 * sets)))
