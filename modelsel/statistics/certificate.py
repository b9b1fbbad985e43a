"""An interval that stays true after any number of looks, whatever was done with the answers.

Released answers form a tree of histories; a history's weight is w_t · Π p(answer), below one in sum over all histories
when the index t is assigned at the moment the model is fixed. Each is tested at level δ · weight, so all looks hold
together with probability 1 − δ (Occam / Kraft; Dwork et al. 2015; Rogers et al. 2020):

    w_1 = 4/5,  w_t = 1 / (5 t (t − 1))
    ln(1/α) = ln(2/δ) − ln w_t + spent          spent = nats of all answers released before this model was fixed
    interval = the rates that exact binomial tails of level α do not exclude

Where a finite space H was declared at sealing, half of δ goes to the union over H and half to the tree: every look pays
ln 2, and a member pays at most ln|H| besides. Two-sided: δ/2 a side. n test rows, e errors.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import exp, inf, isfinite, isqrt, log, log1p, sqrt

import numpy as np
from scipy.special import betaincinv, gammaln, logsumexp

DEEP = 300.0  # nats up to which SciPy's inverse is taken
FLOAT_RANGE = 650.0  # e^-650 is still a number; beyond, the Chernoff bound (a little wider)
NO_INFORMATION = 0.4  # half width from which nothing worth knowing is left


@dataclass(frozen=True)
class SpendingState:
    """The state of spending at a look: its index, the nats spent before its model was fixed, and the declared space.

    `space` is |H| of the space that was declared before the first answer, None where nothing was declared; `member` says
    whether this model is in it: a function that was fixed then, at the measure and on the rows that were declared.

    >>> round(SpendingState(1, 0.0).nats(0.05), 4)
    3.912
    """

    look: int
    spent: float
    space: int | None = None
    member: bool = False

    def nats(self, delta: float) -> float:
        """ln(1/α) of one side."""
        tree = -log(index_weight(self.look)) + self.spent
        if self.space is None:
            return log(2 / delta) + tree
        union = log(self.space) if self.member else inf
        return log(2 / delta) + log(2) + min(tree, union)


def index_weight(look: int) -> float:
    """w_t: 4/5 for the first index, 1 / (5 t (t − 1)) for the others; they sum to one.

    >>> index_weight(1), index_weight(2)
    (0.8, 0.1)
    """
    return 0.8 if look == 1 else 1 / (5 * look * (look - 1))


def interval(low: int, high: int, n: int, nats: float) -> tuple[float, float]:
    """Rates not excluded at level e^-nats a side, when the count is known to lie in low … high of n.

    >>> [round(limit, 6) for limit in interval(200, 200, 2000, SpendingState(1, 0.0).nats(0.05))]
    [0.086618, 0.11467]
    """
    return lower_limit(low, n, nats), upper_limit(high, n, nats)


def lower_limit(errors: int, n: int, nats: float) -> float:
    """The smallest rate for which `errors` or more have probability e^-nats."""
    if errors == 0:
        return 0.0
    if nats > FLOAT_RANGE:
        return _chernoff(errors / n, 0.0, nats / n)
    return _quantile(errors, n - errors + 1, nats)


def upper_limit(errors: int, n: int, nats: float) -> float:
    """The largest rate for which `errors` or fewer have probability e^-nats."""
    if errors == n:
        return 1.0
    if nats > FLOAT_RANGE:
        return _chernoff(errors / n, 1.0, nats / n)
    return 1 - _quantile(n - errors, errors + 1, nats)


@lru_cache(maxsize=1 << 12)  # forecasts of further looks ask for the same ones again
def _quantile(a: int, b: int, nats: float) -> float:
    """The p with ln I_p(a, b) = −nats: SciPy's inverse; deep in the tail, where that loses digits, a root of the logarithm."""
    found = float(betaincinv(a, b, exp(-nats))) if nats <= DEEP else inf
    if isfinite(found):
        return found
    from scipy.optimize import brentq  # a tenth of a second, which few looks need

    return float(brentq(lambda p: _log_tail(p, a, b) + nats, 1e-300, a / (a + b), xtol=1e-15))


def _log_tail(p: float, a: int, b: int) -> float:
    """ln I_p(a, b) = ln P(X ≥ a), X binomial with a + b − 1 draws, for p below a / (a + b); 80 standard deviations of terms."""
    n = a + b - 1
    k = np.arange(a, min(n, a + 40 * (isqrt(n) + 1)) + 1)
    return float(logsumexp(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + k * log(p) + (n - k) * log1p(-p)))


def hoeffding(nats: float, n: float) -> float:
    """Half width for a mean of n values in [0, 1] at level e^-nats a side: √(nats / 2n)."""
    return sqrt(nats / (2 * n))


def _chernoff(rate: float, end: float, divergence: float) -> float:
    """The p between rate and end with KL(rate || p) = divergence, the end itself where none is that far."""
    from scipy.optimize import brentq

    def excess(p: float) -> float:
        return _kl(rate, p) - divergence

    edge = end + (1e-12 if end == 0 else -1e-12)
    return end if excess(edge) <= 0 else float(brentq(excess, edge, rate, xtol=1e-13))


def _kl(q: float, p: float) -> float:
    return (q * log(q / p) if q else 0.0) + ((1 - q) * log((1 - q) / (1 - p)) if q < 1 else 0.0)
