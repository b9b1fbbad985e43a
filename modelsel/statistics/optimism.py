"""How much the best of K equally good candidates looks better than it is.

    E max(Z_1 … Z_K) = K ∫ z φ(z) Φ(z)^(K − 1) dz       in standard errors of one candidate's score, were they independent

Correlated candidates, as candidates on the same rows are, owe less to luck. Source: Tippett (1925).
"""

from scipy.integrate import quad
from scipy.stats import norm


def best_of(candidates: int) -> float:
    """The expected largest of K independent standard normal values.

    >>> [round(best_of(count), 4) for count in (1, 2, 10)]
    [0.0, 0.5642, 1.5388]
    """
    if candidates < 2:
        return 0.0

    def density(z: float) -> float:
        return float(z * candidates * norm.pdf(z) * norm.cdf(z) ** (candidates - 1))

    return float(quad(density, -10, 12, points=[0.0, float(norm.isf(1 / (candidates + 1)))], limit=200)[0])
