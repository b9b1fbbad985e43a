"""Intervals for a loss in [0, 1] over independent units: groups of rows, of unequal size and weight, that need not be alike.

A row has loss l in [0, 1] and weight w. A unit has num = Σ w·l and den = Σ w over its rows; the score is s = Σnum / Σden, and
what is claimed is μ = ΣE[num] / Σden for units of these sizes. b is the largest den that a unit can have, x = num / b,
d = den / b. The model is fixed before the labels are seen. nats = ln(1/α) of one side.

    score only (den known before labels)   D = Σden / b;  exclude μ where D · KL(s ‖ μ) ≥ nats
                                           or s ± sqrt(nats / 2n), n = (Σden)² / Σden²
    wealth   lower limit: the root μ in (0, s) of  ln Σ_j π_j exp Σ_u ln(1 + c_j (x_u / μ − d_u)) = nats
             upper limit: 1 − the lower limit of den − num
             odds(c_j) = odds(c_0) · 1.6^j, j = −8 … 8;  π_0 = .6, the others ∝ 2^−|j|

Why they hold. E e^{θx} ≤ (1 + q (e^θ − 1))^d for 0 ≤ x ≤ d ≤ 1 with mean qd, and the logarithm is concave in q. For a bet fixed
beforehand Π E(1 + λ m_u) ≤ exp(λ Σ E m_u) = 1 at the true μ: neither order nor likeness of the units matters. A bet that is
learnt from the sealed units loses this, so bets come from development rows. None holds for the population of units whose
sizes have no bound declared before sealing.

Limits of wealth tell more than the score does. They are released as two symbols that are priced, the cell s̃ of the score
and the smallest k with [s̃ − h_lo 1.1^k, s̃ + h_up 1.1^k] around the limits; h comes from development units. Whoever reads the
plan and the two symbols computes prices and interval again, without the losses of units.
Sources: Hoeffding (1963); Waudby-Smith & Ramdas (2024), betting; Cover & Ordentlich (1996), mixtures of bets.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import exp, isfinite, log, sqrt
from typing import Literal

import numpy as np
from scipy.special import betainc

from modelsel.core.types import Floats, Integers
from modelsel.statistics.certificate import interval as binomial_interval

Method = Literal["binomial", "chernoff", "hoeffding", "wealth"]
Limits = tuple[float, float]

STEPS = np.arange(-8, 9)
RATIO = 1.6
MIDDLE = 0.6  # the prior of the bet that was forecast
PRIORS = np.where(STEPS == 0, MIDDLE, (1 - MIDDLE) * 0.5 ** np.abs(STEPS) / (2 - 2 * 0.5**8))
ODDS = np.geomspace(1e-4, 1e4, 48)  # among which c_0 is chosen
MANY = 32_000  # units of equal size from which on losses are rounded down, which is safe
FINE = 1 << 14
SMALL = 2_000  # distinct units up to which all bets are computed at once
ENOUGH = 20_000  # development units that a forecast reads
WIDER = 1.1  # from one k to the next
LEAST_K, LIKELY_K, DECAY = -40, 1, 0.6
FAILED = 1 / 128  # probability of the symbol that says that there is no score
UNFORESEEN = 0.1  # what the prices leave for scores that development rows did not foresee


@dataclass(frozen=True, eq=False)
class UnitLosses:
    """Losses of units, as sums of weighted row losses and of weights; `bound` is the largest den that a unit can have.

    `sizes_known` says that den is known before the labels are; where it is not (recall), only wealth holds. ValueError unless
    0 ≤ num ≤ den ≤ bound for every unit.

    >>> sizes = UnitLosses.of([0, 1, 0, 2, 5], [1, 2, 3, 4, 10])
    >>> sizes.score, sizes.bound
    (0.4, 10.0)
    """

    num: Floats
    den: Floats
    bound: float
    sizes_known: bool = True

    def __post_init__(self) -> None:
        """Refuse sums that cannot be."""
        slack = 1e-9 * self.bound
        inside = (self.num >= 0) & (self.num <= self.den + slack) & (self.den <= self.bound + slack)
        if not (len(self.den) and isfinite(self.bound) and self.bound > 0 and inside.all()):
            raise ValueError(f"units need 0 ≤ num ≤ den ≤ bound, and a bound above 0, not {self.bound}")

    @classmethod
    def of(cls, num: object, den: object, bound: float | None = None, sizes_known: bool = True) -> "UnitLosses":
        sums, sizes = np.asarray(num, np.float64), np.asarray(den, np.float64)
        return cls(np.minimum(sums, sizes), sizes, float(sizes.max()) if bound is None else float(bound), sizes_known)

    @property
    def score(self) -> float:
        """Σnum / Σden; NaN where every den is 0."""
        whole = float(self.den.sum())
        return float(self.num.sum()) / whole if whole else float("nan")

    @property
    def reverse(self) -> "UnitLosses":
        """One minus every loss."""
        return UnitLosses(np.maximum(self.den - self.num, 0.0), self.den, self.bound, self.sizes_known)

    @property
    def error(self) -> float:
        """Standard error of the score over units: sqrt(Σ (num − s·den)²) / Σden."""
        return float(np.sqrt(((self.num - self.score * self.den) ** 2).sum()) / self.den.sum())

    @cached_property
    def distinct(self) -> tuple[Floats, Floats, Floats]:
        """Distinct (x, d) with their counts; x is rounded down where many units have one size."""
        x, d = self.num / self.bound, self.den / self.bound
        if len(x) > MANY and (d == d[0]).all():
            x = np.floor(x * FINE) / FINE
        pairs, counts = np.unique(np.column_stack([x, d]), axis=0, return_counts=True)
        return pairs[:, 0], pairs[:, 1], counts.astype(np.float64)


# ---- the score alone


def chernoff_limits(score: float, units: float, nats: float) -> Limits:
    """Means not excluded by `units` · KL(score ‖ μ) ≥ nats.

    >>> [round(limit, 6) for limit in chernoff_limits(0.1, 2000, 3.912023)]
    [0.082282, 0.119802]
    """
    return _divergent(score, nats / units), 1 - _divergent(1 - score, nats / units)


def hoeffding_limits(score: float, units: float, nats: float) -> Limits:
    """The score ± sqrt(nats / 2 units), within [0, 1]."""
    half = sqrt(nats / (2 * units))
    return max(0.0, score - half), min(1.0, score + half)


def effective_units(den: Floats, bound: float) -> tuple[float, float]:
    """Σden / b, for Chernoff's limits, and (Σden)² / Σden², for Hoeffding's: the number of units where all are equal.

    >>> effective_units(np.array([1.0, 1, 2]), 2)
    (2.0, 2.6666666666666665)
    """
    whole = float(den.sum())
    return whole / bound, whole**2 / float((den**2).sum())


def _divergent(score: float, divergence: float) -> float:
    """The μ ≤ score with KL(score ‖ μ) = divergence; 0 where the score is 0."""
    from scipy.optimize import brentq  # a tenth of a second, which few looks need

    if score <= 0:
        return 0.0

    def excess(log_mu: float) -> float:
        mu = exp(log_mu)
        rest = (1 - score) * (log(1 - score) - np.log1p(-mu)) if score < 1 else 0.0
        return float(score * (log(score) - log_mu) + rest - divergence)

    least = -700.0
    return 0.0 if excess(least) <= 0 else exp(brentq(excess, least, log(score), xtol=1e-14)) if divergence > 0 else score


# ---- wealth


def bets(first: float) -> Floats:
    """c_j for the bet c_0: odds(c_j) = odds(c_0) · 1.6^j."""
    if not 0 < first < 1:
        raise ValueError(f"a bet lies strictly between 0 and 1, not {first}")
    odds = first / (1 - first) * RATIO**STEPS
    return np.asarray(odds / (1 + odds))


def lower_limit(units: UnitLosses, nats: float, first: float) -> float:
    """The largest mean loss that the wealth excludes from above: those below have wealth e^nats or more; 0 without a loss.

    >>> round(lower_limit(UnitLosses.of([0, 1, 0, 2, 5], [1, 2, 3, 4, 10]), 3.912023, 0.5), 6)
    0.036952
    """
    return _root(*units.distinct, nats, bets(first), np.log(PRIORS))


def wealth_limits(units: UnitLosses, nats: float, first: tuple[float, float]) -> Limits:
    """Means not excluded by wealth, with the bet c_0 of each side.

    >>> [round(limit, 6) for limit in wealth_limits(UnitLosses.of(np.zeros(50), np.ones(50)), 3.912023, (0.5, 0.99))]
    [0.0, 0.076152]
    """
    return lower_limit(units, nats, first[0]), 1 - lower_limit(units.reverse, nats, first[1])


def _log_wealths(x: Floats, d: Floats, counts: Floats, mean: float, bet: Floats) -> Floats:
    """ln wealth of each bet; many units are taken one bet at a time, so that memory stays theirs."""
    growth = x / mean - d
    if len(x) <= SMALL:
        return np.asarray(np.log1p(np.multiply.outer(bet, growth)) @ counts)
    return np.array([np.log1p(c * growth) @ counts for c in bet])


def _log_mixture(x: Floats, d: Floats, counts: Floats, mean: float, bet: Floats, log_prior: Floats) -> float:
    grown = _log_wealths(x, d, counts, mean, bet) + log_prior
    top = float(grown.max())
    return top + log(float(np.exp(grown - top).sum()))


def _root(x: Floats, d: Floats, counts: Floats, nats: float, bet: Floats, log_prior: Floats) -> float:
    """The mean at which the mixture has grown to e^nats; it falls in the mean, and is at most one at the score."""
    from scipy.optimize import brentq

    losses = float(x @ counts)
    if losses <= 0:
        return 0.0

    def excess(log_mean: float) -> float:
        return _log_mixture(x, d, counts, exp(log_mean), bet, log_prior) - nats

    high = log(losses / float(d @ counts))
    step = 0.25
    while excess(high - step) < 0:
        high, step = high - step, 2 * step
        if high - step < -600:
            return 0.0
    return exp(brentq(excess, high - step, high, xtol=1e-12))


# ---- the plan: everything that is fixed before labels are opened


@dataclass(frozen=True)
class ReleasePlan:
    """The rule by which a loss over sealed units will be released, written down before their labels are opened.

    `units` are the effective units of a score-only method (D or n). `bets` and `reach` (h below, h above) belong to wealth.
    `expected`, `spread`: score of the development units, and the standard error of the sealed score less it. Scores are
    released as multiples of 1/steps. `forecast` is the half width expected.
    """

    method: Method
    nats: float
    units: float
    steps: int
    expected: float
    spread: float
    forecast: float
    bets: tuple[float, float] | None = None
    reach: tuple[float, float] | None = None


@dataclass(frozen=True)
class ReleasedSymbols:
    """The symbols told of sealed labels: the cell of the score, and k for wealth. No cell: there is no score."""

    cell: int | None
    k: int | None = None


def plan(development: UnitLosses, sealed_den: Floats | int, nats: float, bound: float, binary: bool = False) -> ReleasePlan:
    """Choose the method with the narrowest interval forecast from development units, none of whose labels are sealed.

    `sealed_den` are the sizes of the sealed units, or only their number where sizes are not known before labels. `bound` is
    the largest den that a sealed unit can have. `binary`: independent rows of weight 1 and loss 0 or 1, which keep the exact
    binomial.
    """
    known = development.sizes_known and not isinstance(sealed_den, int)
    number = sealed_den if isinstance(sealed_den, int) else len(sealed_den)
    seen = like_sealed(development, bound)
    expected, spread = seen.score, _spread_of(development, seen, number)
    steps = steps_within(spread / 2)
    both = ReleasePlan("wealth", nats, float(number), steps, expected, spread, 1.0)
    plans = [_by_wealth(both, seen, number)]
    sizes = np.asarray(sealed_den, np.float64)
    if known and sizes.any():
        methods: tuple[Method, Method] = ("chernoff", "hoeffding")
        plans += [_by_score(both, method, n) for method, n in zip(methods, effective_units(sizes, bound))]
        if binary and (sizes == 1).all():
            counts = replace(both, steps=min(steps, number))  # the count itself is a multiple of 1/n
            plans.append(_by_score(counts, "binomial", number))
    return min(plans, key=lambda one: one.forecast)


def like_sealed(development: UnitLosses, bound: float) -> UnitLosses:
    """Development units that fit under the bound, thinned where they are many, and one of loss ½ and mean size.

    The last keeps a forecast from promising what units without a loss cannot: nobody knows yet that there will be none.
    """
    fit = np.flatnonzero(development.den <= bound * (1 + 1e-9))
    if len(fit) > ENOUGH:
        order = fit[np.lexsort((development.den[fit], development.num[fit]))]
        fit = order[np.linspace(0, len(order) - 1, ENOUGH).round().astype(np.int64)]
    den = development.den[fit]
    mean = float(den.mean()) if len(fit) and den.any() else bound
    return UnitLosses.of(np.append(development.num[fit], mean / 2), np.append(den, mean), bound)


def best_bet(units: UnitLosses, number: int, nats: float) -> float:
    """The c_0 whose own lower limit is highest at nats − ln .6, had `number` units these losses.

    Wealth falls in the mean: at the limit of one bet a better one has more than e^nats. The limit rises from bet to bet until
    none has.
    """
    x, d, counts = units.distinct
    scaled, own = counts * (number / counts.sum()), nats - log(MIDDLE)
    every = ODDS / (1 + ODDS)
    chosen = len(every) // 2
    limit = _root(x, d, scaled, own, every[[chosen]], np.zeros(1))
    while limit > 0:
        grown = _log_wealths(x, d, scaled, limit, every)
        better = int(grown.argmax())
        found = _root(x, d, scaled, own, every[[better]], np.zeros(1)) if better != chosen else limit
        if found <= limit:
            break
        chosen, limit = better, found
    return float(every[chosen])


def steps_within(width: float) -> int:
    """The least of 10, 20, 50, 100, 200, … whose cells are at most so wide.

    >>> steps_within(0.004), steps_within(0.2)
    (500, 10)
    """
    ladder: Integers = np.outer(10 ** np.arange(1, 8), [1, 2, 5]).ravel()
    return int(next((steps for steps in ladder if 1 / steps <= width * (1 + 1e-9)), ladder[-1]))


def release(chosen: ReleasePlan, sealed: UnitLosses) -> ReleasedSymbols:
    """The symbols of the sealed losses under a plan."""
    if not isfinite(sealed.score):
        return ReleasedSymbols(None)
    cell = min(chosen.steps, int(np.floor(sealed.score * chosen.steps + 0.5)))
    if chosen.bets is None:
        return ReleasedSymbols(cell)
    low, high = wealth_limits(sealed, chosen.nats, chosen.bets)
    return ReleasedSymbols(cell, smallest_k(chosen, cell / chosen.steps, (low, high)))


def smallest_k(chosen: ReleasePlan, score: float, limits: Limits) -> int:
    """The smallest k ≥ −40 whose interval around the released score holds the limits."""
    k = LEAST_K
    while not _holds(_around(chosen, score, k), limits):
        k += 1
    return k


def released_interval(chosen: ReleasePlan, told: ReleasedSymbols) -> Limits:
    """The interval, from what is public; [0, 1] where there is no score. ValueError where the symbols do not fit the plan."""
    _check(chosen, told)
    if told.cell is None:
        return 0.0, 1.0
    if chosen.bets is not None and told.k is not None:
        return _around(chosen, told.cell / chosen.steps, told.k)
    return _score_limits(chosen, told.cell)


def price(chosen: ReleasePlan, told: ReleasedSymbols) -> float:
    """−ln p of all symbols in nats: of the cell, of k, or of there being no score."""
    _check(chosen, told)
    if told.cell is None:
        return -log(FAILED)
    own = -log((1 - FAILED) * float(cell_probabilities(chosen)[told.cell]))
    return own if told.k is None else own + price_of(told.k)


def price_of(k: int) -> float:
    """−ln(¼ · .6^|k − 1|), whose probabilities sum to one over the integers.

    >>> round(price_of(1), 4), round(price_of(-1), 4)
    (1.3863, 2.4079)
    """
    return log(4) - abs(k - LIKELY_K) * log(DECAY)


def cell_probabilities(chosen: ReleasePlan) -> Floats:
    """Probability of each cell 0 … steps: .1 spread evenly, .9 by a Beta distribution with the plan's mean and spread."""
    edges = np.clip((np.arange(chosen.steps + 2) - 0.5) / chosen.steps, 0.0, 1.0)
    mean = min(max(chosen.expected, 1e-6), 1 - 1e-6)
    strength = max(mean * (1 - mean) / chosen.spread**2 - 1, 1.0)
    mass = np.diff(betainc(strength * mean, strength * (1 - mean), edges))
    return np.asarray(UNFORESEEN / (chosen.steps + 1) + (1 - UNFORESEEN) * mass)


def _check(chosen: ReleasePlan, told: ReleasedSymbols) -> None:
    """Raise ValueError where the symbols cannot be an answer under the plan."""
    inside = told.cell is None or 0 <= told.cell <= chosen.steps
    needs_k = told.cell is not None and chosen.bets is not None
    if not inside or (told.k is not None) != needs_k or (told.k is not None and told.k < LEAST_K):
        raise ValueError(f"{told} cannot be an answer under {chosen.method} with {chosen.steps} steps")


def _around(chosen: ReleasePlan, score: float, k: int) -> Limits:
    assert chosen.reach is not None
    below, above = chosen.reach
    return max(0.0, score - below * WIDER**k), min(1.0, score + above * WIDER**k)


def _holds(outer: Limits, inner: Limits) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _score_limits(chosen: ReleasePlan, cell: int) -> Limits:
    """Limits of every score that is rounded to the cell."""
    low, high = max(0.0, (cell - 0.5) / chosen.steps), min(1.0, (cell + 0.5) / chosen.steps)
    if chosen.method == "binomial":
        n = int(chosen.units)
        return binomial_interval(max(0, int(np.ceil(low * n - 1e-9))), min(n, int(np.floor(high * n + 1e-9))), n, chosen.nats)
    own = chernoff_limits if chosen.method == "chernoff" else hoeffding_limits
    return own(low, chosen.units, chosen.nats)[0], own(high, chosen.units, chosen.nats)[1]


def _by_wealth(base: ReleasePlan, seen: UnitLosses, number: int) -> ReleasePlan:
    """Add the bets of both sides, and the reach that the interval is forecast to have."""
    first = best_bet(seen, number, base.nats), best_bet(seen.reverse, number, base.nats)
    prior = np.log(PRIORS)
    limits = []
    for units, bet in zip((seen, seen.reverse), first):
        x, d, counts = units.distinct
        limits.append(_root(x, d, counts * (number / counts.sum()), base.nats, bets(bet), prior))
    reach = base.expected - limits[0], 1 - limits[1] - base.expected
    least = 0.5 / base.steps
    own = max(reach[0], least), max(reach[1], least)
    # k is 1 where all comes as expected, so that the interval is a step wider than the limits
    half = sum(own) / 2 * WIDER**LIKELY_K
    return replace(base, forecast=half, bets=first, reach=own)


def _by_score(base: ReleasePlan, method: Method, units: float) -> ReleasePlan:
    own = replace(base, method=method, units=float(units))
    low, high = _score_limits(own, int(np.floor(base.expected * base.steps + 0.5)))
    return replace(own, forecast=(high - low) / 2)


def _spread_of(development: UnitLosses, seen: UnitLosses, number: int) -> float:
    """Standard error of the sealed score less the development score, from the units that were seen and the pseudo-unit."""
    one = seen.error * sqrt(len(seen.den))
    return max(one * sqrt(1 / number + 1 / len(development.den)), 1e-6)
