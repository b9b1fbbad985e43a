"""Bounds on the true error rate of a hypothesis, and the number of rows that such a claim takes.

H is the set of hypotheses chosen from, m the rows, δ the chance that the bound fails, e_T the error rate on those rows, ε the
error rate allowed. All assume independent rows from one distribution. A bound of 1 or more says nothing. Each function names
its further assumption; none promises that the algorithm finds the best hypothesis.

Sources: Valiant (1984); Haussler (1992) for the agnostic case; Vapnik & Chervonenkis (1971); Blumer, Ehrenfeucht, Haussler &
Warmuth (1987, 1989) for Occam and the consistent VC bound. Exact limits without H: `clopper_pearson`.
"""

import math
from collections.abc import Callable, Sequence
from math import pi, sqrt

import numpy as np
from scipy.special import betainccinv, betaincinv, ndtr

from modelsel.core.types import Feature

Count = int | float


def consistent_error(hypotheses: Count, rows: int, delta: float) -> float:
    """(ln |H| + ln 1/δ) / m: every hypothesis of a finite H without an error on the rows has at most this error rate.

    >>> round(consistent_error(1000, 200, 0.05), 5)
    0.04952
    """
    return _capacity(hypotheses, delta) / _positive(rows)


def consistent_rows(hypotheses: Count, epsilon: float, delta: float) -> int:
    """Rows from which on `consistent_error` is at most ε.

    >>> consistent_rows(3**10, 0.1, 0.05)  # conjunctions of ten truth values (Mitchell 1997, 7.3)
    140
    """
    return _ceiling(_capacity(hypotheses, delta) / _share(epsilon))


def agnostic_excess(hypotheses: Count, rows: int, delta: float) -> float:
    """sqrt((ln |H| + ln 1/δ) / 2m): for all of a finite H at once, true error ≤ e_T + this (Hoeffding, union bound).

    >>> round(agnostic_excess(10, 200, 0.05), 5)
    0.11509
    """
    return math.sqrt(_capacity(hypotheses, delta) / (2 * _positive(rows)))


def agnostic_rows(hypotheses: Count, epsilon: float, delta: float) -> int:
    """Rows from which on `agnostic_excess` is at most ε."""
    return _ceiling(_capacity(hypotheses, delta) / (2 * _share(epsilon) ** 2))


def vc_consistent_rows(dimension: int, epsilon: float, delta: float) -> int:
    """(4 log₂ 2/δ + 8 VC log₂ 13/ε) / ε rows: enough for every hypothesis without an error on them to have at most ε.

    >>> vc_consistent_rows(3, 0.1, 0.05)
    1899
    """
    capacity = 4 * math.log2(2 / _share(delta)) + 8 * _whole(dimension) * math.log2(13 / _share(epsilon))
    return _ceiling(capacity / epsilon)


def vc_consistent_error(dimension: int, rows: int, delta: float) -> float:
    """The smallest ε that `vc_consistent_rows` grants to these rows; 1 where it grants none."""
    _whole(dimension), _positive(rows), _share(delta)

    def enough(epsilon: float) -> bool:
        return vc_consistent_rows(dimension, epsilon, delta) <= rows

    return 1.0 if not enough(1 - 1e-12) else _first_true(enough)


def vc_excess(dimension: int, rows: int, delta: float) -> float:
    """sqrt((VC (ln(2m / VC) + 1) + ln 4/δ) / m): for all of H at once, true error ≤ e_T + this. Needs m ≥ VC.

    >>> round(vc_excess(11, 1000, 0.05), 5), round(vc_excess(11, 10_000, 0.05), 5)
    (0.26947, 0.09897)
    """
    if _positive(rows) < _whole(dimension):
        return math.inf
    capacity = dimension * (math.log(2 * rows / dimension) + 1) if dimension else 0.0
    return math.sqrt((capacity + math.log(4 / _share(delta))) / rows)


def vc_rows(dimension: int, epsilon: float, delta: float) -> int:
    """Rows from which on `vc_excess` is at most ε."""
    _share(epsilon)
    high = max(1, 2 * dimension)
    while vc_excess(dimension, high, delta) > epsilon:
        high *= 2
    low = max(1, dimension) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if vc_excess(dimension, middle, delta) <= epsilon else (middle, high)
    return high


def occam_error(code_bits: float, rows: int, delta: float) -> float:
    """(L ln 2 + ln 1/δ) / m: a hypothesis without an error, written in L bits of a prefix code that was fixed beforehand."""
    return (_bits(code_bits) + math.log(1 / _share(delta))) / _positive(rows)


def occam_excess(code_bits: float, rows: int, delta: float) -> float:
    """sqrt((L ln 2 + ln 1/δ) / 2m): the same for a hypothesis with errors, true error ≤ e_T + this.

    >>> occam_excess(0, 200, 0.05) == agnostic_excess(1, 200, 0.05)
    True
    """
    return math.sqrt((_bits(code_bits) + math.log(1 / _share(delta))) / (2 * _positive(rows)))


def occam_rows(code_bits: float, epsilon: float, delta: float) -> int:
    """Rows from which on `occam_excess` is at most ε."""
    return _ceiling((_bits(code_bits) + math.log(1 / _share(delta))) / (2 * _share(epsilon) ** 2))


def vc_dimension_of_trees(features: Sequence[Feature]) -> float:
    """VC dimension of unrestricted decision trees: the number of combinations of values, infinite with a numeric feature.

    Stopping and pruning lower the dimension of what is really chosen from; by how much is not known.

    >>> vc_dimension_of_trees([Feature("sky", "nominal", ("clear", "grey", "rain")), Feature("wind", "nominal", ("no", "yes"))])
    6
    """
    if any(feature.is_number for feature in features):
        return math.inf
    return math.prod(len(feature.levels) for feature in features)


def _capacity(hypotheses: Count, delta: float) -> float:
    if not hypotheses >= 1:
        raise ValueError(f"|H| = {hypotheses}: at least one hypothesis is needed")
    return math.log(hypotheses) + math.log(1 / _share(delta))


def _bits(code_bits: float) -> float:
    if not code_bits >= 0:
        raise ValueError(f"a code of {code_bits} bits: at least 0 are needed")
    return code_bits * math.log(2)


def _share(probability: float) -> float:
    if not 0 < probability < 1:
        raise ValueError(f"a number strictly between 0 and 1 is needed, not {probability}")
    return probability


def _positive(rows: int) -> int:
    if not rows >= 1:
        raise ValueError(f"{rows} rows: at least one is needed")
    return rows


def _whole(dimension: int) -> int:
    """Check that a VC dimension is finite and at least 0."""
    if not (dimension >= 0 and math.isfinite(dimension)):
        raise ValueError(
            f"VC dimension {dimension}: a finite number of at least 0 is needed (no VC bound with an infinite one)"
        )
    return dimension


def _ceiling(rows: float) -> int:
    """Whole rows; a result that is whole but for rounding stays."""
    return max(1, math.ceil(rows - 1e-9 * max(1.0, rows)))


def _first_true(enough: Callable[[float], bool]) -> float:
    """The least ε in (0, 1) that is enough, to 1e-12, for a condition that stays true once it is."""
    low, high = 0.0, 1 - 1e-12
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


# Exact limits for the rate behind e errors in n independent trials.
#
# Lower limit p with P(X ≥ e | n, p) = α, upper limit p with P(X ≤ e | n, p) = α, X binomial: quantiles of the Beta
# distribution. Both stay true to their level for every n and p, at the price of being a little too wide.
# Source: Clopper & Pearson (1934), Biometrika 26.


def clopper_pearson(errors: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """The two-sided interval: at least `level` of all samples cover the true rate. ValueError unless 0 ≤ errors ≤ n, n > 0.

    >>> low, high = clopper_pearson(0, 10)
    >>> low, round(high, 6)  # 1 - 0.025 ** (1 / 10)
    (0.0, 0.308497)
    """
    tail = (1 - _share(level)) / 2
    return lower_limit(errors, n, tail), upper_limit(errors, n, tail)


def lower_limit(errors: int, n: int, tail: float) -> float:
    """The smallest rate under which `errors` or more have at least probability `tail`; 0 for no error."""
    _check_counts(errors, n)
    return 0.0 if errors == 0 else float(betaincinv(errors, n - errors + 1, _share(tail)))


def upper_limit(errors: int, n: int, tail: float) -> float:
    """The largest rate under which `errors` or fewer have at least probability `tail`; 1 when all are errors.

    >>> upper_limit(0, 1, 0.25)
    0.75
    """
    _check_counts(errors, n)
    return 1.0 if errors == n else float(betainccinv(errors + 1, n - errors, _share(tail)))


def _check_counts(errors: int, n: int) -> None:
    if n < 1 or not 0 <= errors <= n:
        raise ValueError(f"errors = {errors} of n = {n}: needs 0 ≤ errors ≤ n and n ≥ 1")


# The optimism of the best of K equally good candidates: how much better it looks than it is.
#
#     E max(Z_1 … Z_K) = K ∫ z φ(z) Φ(z)^(K − 1) dz       in standard errors of one candidate's score, were they independent
#
# Correlated candidates, as candidates on the same rows are, owe less to luck. Source: Tippett (1925).


LOW, HIGH, STEPS = -10.0, 12.0, 4400  # the rule of trapezes on an even grid is exact to rounding: the density is smooth


def best_of(candidates: int) -> float:
    """The expected largest of K independent standard normal values.

    >>> [round(best_of(count), 4) for count in (1, 2, 10)]
    [0.0, 0.5642, 1.5388]
    """
    if candidates < 2:
        return 0.0

    z = np.linspace(LOW, HIGH, STEPS + 1)
    density = candidates * np.exp(-z * z / 2) / sqrt(2 * pi) * ndtr(z) ** (candidates - 1)
    return float((z * density).sum() * (HIGH - LOW) / STEPS)
