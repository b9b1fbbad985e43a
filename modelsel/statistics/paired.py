"""Paired comparison of two classifiers on the same folds or rows; every function works on whole arrays of comparisons.

Resampled folds share training rows, so that the naive variance of their differences is too small. The corrected one is

    Var(d̄) = (1/J + n_test / n_train) s²,   t = d̄ / sqrt(Var(d̄)),   J − 1 degrees of freedom

with J the number of folds over all repeats and s² the sample variance of the J differences (Nadeau & Bengio 2003).
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtrc, ndtr, stdtr, stdtrit

from modelsel.core.types import Floats, Integers


@dataclass(frozen=True, eq=False)
class Paired:
    """Mean difference with its interval, the statistic, the two-sided p-value and the standard error of the mean difference.

    One entry per comparison.
    """

    mean: Floats
    low: Floats
    high: Floats
    statistic: Floats
    p: Floats
    error: Floats


def corrected_t(differences: ArrayLike, ratio: float, level: float = 0.95) -> Paired:
    """Corrected resampled t of differences (… × folds); `ratio` is n_test / n_train. ValueError for fewer than two folds.

    Differences that are all equal leave nothing to doubt: p is 1 when they are zero and 0 when they are not.

    >>> test = corrected_t([0.02, 0.01, 0.03, 0.02], ratio=1 / 3)
    >>> round(float(test.statistic), 4), round(float(test.p), 4)  # 0.02 / sqrt((1/4 + 1/3) * 0.0000667)
    (3.2071, 0.0491)
    """
    d = np.asarray(differences, np.float64)
    folds = d.shape[-1]
    if folds < 2:
        raise ValueError("a corrected resampled t needs at least two folds")
    return _t(d.mean(axis=-1), np.sqrt((1 / folds + ratio) * d.var(axis=-1, ddof=1)), folds - 1, level)


def paired_t(differences: ArrayLike, level: float = 0.95) -> Paired:
    """Student's paired t over independent pairs (rows of one held-out set), … × pairs."""
    d = np.asarray(differences, np.float64)
    return _t(d.mean(axis=-1), d.std(axis=-1, ddof=1) / np.sqrt(d.shape[-1]), d.shape[-1] - 1, level)


def unit_t(differences: ArrayLike, units: ArrayLike, level: float = 0.95) -> Paired:
    """t-test of row differences, … × rows, whose rows stand in units: of sums over units, U − 1 degrees of freedom.

    The mean is that over rows; its error² is U / (U − 1) · Σ_u (Σ d − n_u mean)² / n². Units of one row: `paired_t`.
    ValueError for a single unit. Source: Liang & Zeger (1986).

    >>> test = unit_t([1.0, 1.0, 0.0, 0.0, 1.0, 0.0], [7, 7, 8, 8, 9, 9])
    >>> round(float(test.mean), 4), round(float(test.error), 4)  # sums 2, 0, 1 less 1: sqrt(3 / 2 · (1 + 1)) / 6
    (0.5, 0.2887)
    """
    d, unit = np.atleast_2d(np.asarray(differences, np.float64)), np.unique(np.asarray(units), return_inverse=True)[1]
    many = int(unit.max()) + 1
    if many < 2:
        raise ValueError("one unit tells nothing of others")
    mean = d.mean(axis=1)
    sums = np.stack([np.bincount(unit, one - own, many) for one, own in zip(d, mean)])
    error = np.sqrt(many / (many - 1) * (sums**2).sum(axis=1)) / d.shape[1]
    shape = np.shape(differences)[:-1]
    return _t(mean.reshape(shape), error.reshape(shape), many - 1, level)


def mcnemar(first_only: ArrayLike, second_only: ArrayLike, mid: bool = False) -> Floats:
    """Two-sided p-value of McNemar's test from the rows that just one of the two gets right.

    Exact: twice the lower binomial tail, at most 1. `mid`: less the probability of the observed count (half of it where
    both counts are equal), nearer to its level and no longer guaranteed. No discordant row: 1. Source: McNemar (1947);
    Fagerland, Lydersen & Laake (2013).

    >>> float(mcnemar(1, 5)), round(float(mcnemar(1, 5, mid=True)), 12)
    (0.21875, 0.125)
    """
    from scipy.stats import binom

    b, c = np.asarray(first_only), np.asarray(second_only)
    n, least = b + c, np.minimum(b, c)
    p = np.asarray(np.minimum(2 * binom.cdf(least, n, 0.5), 1.0))
    if mid:
        at = np.where(n > 0, binom.pmf(least, n, 0.5), 0.0)
        p = np.where(b == c, 1.0 - at / 2, p - at)
    return p


def five_by_two_f(differences: ArrayLike) -> tuple[float, float]:
    """Alpaydin's combined 5 × 2 cv F = Σ d_ij² / (2 Σ s_i²) and its p-value (10 and 5 degrees of freedom).

    Does not hang on which of the ten differences comes first. Source: Alpaydin (1999).
    """
    d = _five_by_two(differences)
    f = _ratio(float((d**2).sum()), 2 * float(_variances(d).sum()))
    return f, float(fdtrc(10, 5, f))


def holm(p: ArrayLike) -> Floats:
    """Holm's adjusted p-values: the i-th smallest times (m − i + 1), made monotone, at most 1. Source: Holm (1979).

    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, np.float64)
    order = np.argsort(values, kind="stable")
    raised = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted


def _t(mean: Floats, error: Floats, freedom: int, level: float) -> Paired:
    """Make a t-test of means and their standard errors."""
    mean, error = np.asarray(mean), np.asarray(error)
    error = np.where(error <= 1e-14 * np.abs(mean), 0.0, error)  # rounding of equal differences is no variance
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(error > 0, mean / error, np.where(mean == 0, 0.0, np.copysign(np.inf, mean)))
    half = stdtrit(freedom, (1 + level) / 2) * error
    return Paired(mean, mean - half, mean + half, t, np.asarray(2 * stdtr(freedom, -np.abs(t))), error)


def _five_by_two(differences: ArrayLike) -> Floats:
    """Check that there are five by two differences."""
    d = np.asarray(differences, np.float64)
    if d.shape != (5, 2):
        raise ValueError(f"a 5 × 2 comparison has 5 × 2 differences, not {' × '.join(map(str, d.shape))}")
    return d


def _variances(d: Floats) -> Floats:
    return np.asarray(((d - d.mean(axis=1, keepdims=True)) ** 2).sum(axis=1))


def _ratio(above: float, below: float) -> float:
    if below == 0:
        return 0.0 if above == 0 else float(np.copysign(np.inf, above))
    return float(above / below)


# Is one model better than another on the same rows by more than chance: the mean of paired differences, and its error.
#
#     d_i = loss of the one before − loss of the one after,   gain = Σ w_i d_i / Σ w_i
#     SE² = G/(G−1) Σ_g (Σ_{i in g} w_i (d_i − gain))² / (Σ w_i)²        g: units, of which there are G; else each row is one
#
# The one after is kept where gain > c SE and gain > 0. Between equals gain / SE is about normal, so that with c = 1 one in six
# is kept by luck. Source: Breiman et al. (1984), 3.4.3, for the rule of one standard error; Liang & Zeger (1986) for units.


@dataclass(frozen=True)
class Improvement:
    """A mean gain and its standard error.

    Parameters
    ----------
    gain : float
        How much lower the mean loss is.
    se : float
        Its standard error; 0 where no row differs.

    Examples
    --------
    >>> Improvement(0.02, 0.01).exceeds(1.0), Improvement(0.02, 0.01).exceeds(2.5)
    (True, False)
    """

    gain: float
    se: float

    def exceeds(self, errors: float) -> bool:
        """Say whether the gain is positive, and more than so many standard errors.

        Parameters
        ----------
        errors : float
            How many, 0 or more.

        Returns
        -------
        bool
            Whether the one after is kept.
        """
        return self.gain > 0 and self.gain > errors * self.se


def improvement(before: Floats, after: Floats, units: Integers | None = None, weights: Floats | None = None) -> Improvement:
    """The mean gain of one model over another on the same rows, and its standard error.

    Parameters
    ----------
    before, after : array of shape (n_rows,)
        Losses of the two on each row.
    units : array of shape (n_rows,), optional
        What is independent of each other; each row, without it.
    weights : array of shape (n_rows,), optional
        Weights of the rows.

    Returns
    -------
    Improvement
        Gain and standard error. With a single unit the error is infinite.

    Examples
    --------
    >>> found = improvement(np.array([1.0, 1.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0, 0.0]))
    >>> found.gain, round(found.se, 4)  # differences 1, 0, 0, 1
    (0.5, 0.2887)
    """
    own = np.ones(len(before)) if weights is None else np.asarray(weights, np.float64)
    difference = np.asarray(before, np.float64) - np.asarray(after, np.float64)
    total = float(own.sum())
    gain = float((own * difference).sum() / total)
    parts: Floats = own * (difference - gain)
    if units is not None:
        parts = np.bincount(np.unique(units, return_inverse=True)[1], weights=parts).astype(np.float64)
    count = len(parts)
    se = sqrt(count / (count - 1) * float((parts**2).sum())) / total if count > 1 else float("inf")
    return Improvement(gain, se)


def kept_by_luck(errors: float) -> float:
    """The share of proposals that are kept although they are as good as the best so far.

    Parameters
    ----------
    errors : float
        Standard errors that a gain has to exceed.

    Returns
    -------
    float
        P(Z > errors), Z standard normal.

    Examples
    --------
    >>> round(kept_by_luck(1.0), 3), round(kept_by_luck(2.0), 3)
    (0.159, 0.023)
    """
    return float(ndtr(-errors))
