"""Exact limits for the rate behind e errors in n independent trials.

Lower limit p with P(X ≥ e | n, p) = α, upper limit p with P(X ≤ e | n, p) = α, X binomial: quantiles of the Beta
distribution. Both stay true to their level for every n and p, at the price of being a little too wide.
Source: Clopper & Pearson (1934), Biometrika 26.
"""

from scipy.special import betainccinv, betaincinv


def clopper_pearson(errors: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """The two-sided interval: at least `level` of all samples cover the true rate. ValueError unless 0 ≤ errors ≤ n, n > 0.

    >>> low, high = clopper_pearson(0, 10)
    >>> low, round(high, 6)  # 1 - 0.025 ** (1 / 10)
    (0.0, 0.308497)
    """
    tail = (1 - _checked(level)) / 2
    return lower_limit(errors, n, tail), upper_limit(errors, n, tail)


def lower_limit(errors: int, n: int, tail: float) -> float:
    """The smallest rate under which `errors` or more have at least probability `tail`; 0 for no error."""
    _check_counts(errors, n)
    return 0.0 if errors == 0 else float(betaincinv(errors, n - errors + 1, _checked(tail)))


def upper_limit(errors: int, n: int, tail: float) -> float:
    """The largest rate under which `errors` or fewer have at least probability `tail`; 1 when all are errors.

    >>> upper_limit(0, 1, 0.25)
    0.75
    """
    _check_counts(errors, n)
    return 1.0 if errors == n else float(betainccinv(errors + 1, n - errors, _checked(tail)))


def _check_counts(errors: int, n: int) -> None:
    if n < 1 or not 0 <= errors <= n:
        raise ValueError(f"errors = {errors} of n = {n}: needs 0 ≤ errors ≤ n and n ≥ 1")


def _checked(probability: float) -> float:
    if not 0 < probability < 1:
        raise ValueError(f"a probability strictly between 0 and 1 is needed, not {probability}")
    return probability
