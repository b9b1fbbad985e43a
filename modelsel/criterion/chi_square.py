"""Pearson's chi-square test of branch and class; goodness is −ln of its p-value, so that strong tests stay ordered.

    X² = Σ (observed − expected)² / expected,   p = Q(ν/2, X²/2),   ν = (branches − 1)(classes − 1)

Q is the regularised upper incomplete gamma function. Its logarithm is computed as such: p itself is 0 beyond X² ≈ 1,420.
For a whole number of degrees of freedom Q is a finite sum (Abramowitz and Stegun 1964, 26.4.4 and 26.4.5), summed here on the
scale of its largest term. Kass 1980, *An exploratory technique for investigating large quantities of categorical data*.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modelsel.core.types import Floats
from modelsel.criterion.base import BaseCriterion


def statistic(table: Floats) -> tuple[float, int]:
    """X² and its degrees of freedom, over the branches and classes that have weight.

    >>> statistic(np.array([[30.0, 10.0], [10.0, 30.0]]))
    (20.0, 1)
    """
    own = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    expected = np.outer(own.sum(axis=1), own.sum(axis=0)) / own.sum()
    square = float((np.square(own - expected) / expected).sum())
    return (square if square > 1e-14 * own.sum() else 0.0), (own.shape[0] - 1) * (own.shape[1] - 1)


def minus_log_p(square: float, freedom: int) -> float:
    """−ln Q(ν/2, X²/2).

    >>> round(minus_log_p(3.841458820694124, 1), 6) == round(-math.log(0.05), 6)
    True
    >>> round(minus_log_p(4000.0, 2), 6)
    2000.0
    """
    if freedom <= 0 or square <= 0:
        return 0.0
    half = square / 2
    if freedom % 2 == 0:
        return -(math.log(_series(half, 0.0, freedom // 2)) - half + _top(half, 0.0, freedom // 2))
    tail = _log_erfc(math.sqrt(half))
    if freedom == 1:
        return -tail
    many = (freedom - 1) // 2
    rest = math.log(_series(half, 0.5, many)) - half + _top(half, 0.5, many)
    return -(max(tail, rest) + math.log1p(math.exp(-abs(tail - rest))))


def _top(half: float, shift: float, terms: int) -> float:
    """Compute the logarithm of the largest of half^(j + shift) / Γ(j + shift + 1), j = 0 … terms − 1."""
    j = min(max(math.floor(half - shift), 0), terms - 1)
    return (j + shift) * math.log(half) - math.lgamma(j + shift + 1)


def _series(half: float, shift: float, terms: int) -> float:
    """Sum the terms of the series, relative to the largest term."""
    top = min(max(math.floor(half - shift), 0), terms - 1)
    total, term = 1.0, 1.0
    for j in range(top, 0, -1):
        term *= (j + shift) / half
        total += term
    term = 1.0
    for j in range(top + 1, terms):
        term *= half / (j + shift)
        total += term
    return total


def _log_erfc(x: float) -> float:
    """ln erfc(x), by its continued fraction where erfc itself underflows (Abramowitz and Stegun 7.1.14)."""
    if x < 5:
        return math.log(math.erfc(x))
    fraction = 0.0
    for k in range(60, 0, -1):
        fraction = k / 2 / (x + fraction)
    return -x * x - math.log(x + fraction) - 0.5 * math.log(math.pi)


def goodness(table: Floats) -> float:  # noqa: C901 (compiled as one function)
    """−ln p of one branches × classes table, in loops: by the series of P or the continued fraction of Q (6.5.29, 6.5.31)."""
    branches, classes = table.shape
    total, square, rows, columns = 0.0, 0.0, -1, -1
    for b in range(branches):
        for c in range(classes):
            total += table[b, c]
    for b in range(branches):
        n = 0.0
        for c in range(classes):
            n += table[b, c]
        rows += n > 0
        columns = -1
        for c in range(classes):
            m = 0.0
            for k in range(branches):
                m += table[k, c]
            columns += m > 0
            expected = n * m / total
            if expected > 0:
                square += (table[b, c] - expected) ** 2 / expected
    a, x = rows * columns / 2, square / 2
    if a <= 0 or square <= 1e-14 * total:
        return 0.0
    front = a * math.log(x) - x - math.lgamma(a)
    if x < a + 1:
        term, series, index = 1 / a, 1 / a, a
        while term > series * 1e-17:
            index += 1
            term *= x / index
            series += term
        return -math.log1p(-math.exp(front) * series)
    b0, c0 = x + 1 - a, 1e300
    d0 = 1 / b0
    fraction = d0
    for i in range(1, 500):
        step = -i * (i - a)
        b0 += 2
        d0 = 1 / (step * d0 + b0)
        c0 = b0 + step / c0
        fraction *= d0 * c0
        if abs(d0 * c0 - 1) < 1e-16:
            break
    return -front - math.log(fraction)


@dataclass(frozen=True)
class ChiSquare(BaseCriterion):
    """(30, 10) against (10, 30) has X² = 20, p = 7.7e-6.

    >>> round(float(ChiSquare().goodness(np.array([[30.0, 10.0], [10.0, 30.0]]))), 4)
    11.7686
    """

    convex: ClassVar[bool] = True
    loop = staticmethod(goodness)

    def goodness(self, tables: Floats) -> Floats:
        flat = tables.reshape(-1, *tables.shape[-2:])
        scores = [minus_log_p(*statistic(table)) for table in flat]
        return np.array(scores, np.float64).reshape(tables.shape[:-2])
