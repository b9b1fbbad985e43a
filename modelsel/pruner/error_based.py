"""Error-based pruning, C4.5's: a leaf is charged the upper confidence limit of its errors.

estimate(leaf) = n · U_CF(e, n). Bottom up, a node becomes a leaf when its estimate ≤ the sum of its branches' + 0.1, unless
its largest branch in its place would do better still: then that branch takes the place and the rows of all (raising).

Quinlan 1993, *C4.5: programs for machine learning*, chapter 4.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betaincinv, ndtri

from modelsel.core.spec import number, one_of, plain
from modelsel.core.types import Floats
from modelsel.kernels.layout import BY_BETA, BY_DEVIATE, NOTHING_MORE
from modelsel.pruner.base import CountsErrors, RecomputedPath
from modelsel.pruner.raising import raise_subtrees
from modelsel.pruner.raising import raised_by_kernel as compiled
from modelsel.tree.routing import RerouteState
from modelsel.tree.structure.cutting import cheaper_as_leaf, errors_as_leaf
from modelsel.tree.structure.evidence import PruningData, Reroute
from modelsel.tree.structure.node import PrunedView

SLACK = 0.1  # of an error: C4.5's preference for the smaller tree


@dataclass(frozen=True)
class ErrorBased(CountsErrors):
    """Leaves may rise as `confidence` falls, so each confidence is pruned afresh, from the counts or the rows."""

    confidence: float = number(0.25, above=0.0, most=1.0, help="one-sided level of the limit; smaller prunes more")
    raising: bool = plain(True, help="the largest branch may take its parent's place")
    bound: str = one_of("normal", "c45_table", "exact", help="how the limit is computed")

    def sharing(self) -> tuple[object, ...]:
        return ("error_based", self.raising)

    def path(self, cut: PrunedView, evidence: PruningData) -> RecomputedPath:
        if self.raising and evidence.reroute is None:
            raise ValueError("subtree raising sends rows elsewhere and needs them (Evidence.reroute); or set raising=false")
        return RecomputedPath(cut, evidence)

    def pruned(self, cut: PrunedView, evidence: PruningData) -> PrunedView:
        """The tree left at this confidence; another tree where a branch was raised."""
        if self.raising and evidence.reroute is not None:
            return self._raised(cut, evidence.reroute)
        weight: Floats = cut.tree.counts.sum(axis=1)
        estimate = self.estimate(weight, errors_as_leaf(cut.tree.counts, cut.prediction, None))
        return replace(cut, leaf=cheaper_as_leaf(cut, estimate, SLACK))

    def _raised(self, cut: PrunedView, rows: Reroute) -> PrunedView:
        """Prune with raising, by the kernel where all rows go whole, else with the rows that are divided."""
        whole = compiled(cut, rows, *charge(self.bound, self.confidence), SLACK) if isinstance(rows, RerouteState) else None
        return raise_subtrees(cut, rows, self.estimate, SLACK) if whole is None else whole

    def estimate(self, weight: Floats, errors: Floats) -> Floats:
        """Errors expected of leaves of this weight and these errors; 0 for an empty branch."""
        return errors + LIMITS[self.bound](weight, errors, self.confidence)


# Upper confidence limits of a leaf's errors, three ways: what C4.5's pruning adds to the errors it has seen.
#
# Of weight n with e errors, the extra errors at confidence CF are n · U_CF(e, n) − e with U the upper limit of the rate:
# by the normal quantile (Wilson's limit at e + ½), by the same with release 8's interpolated table of deviates, or by the
# binomial distribution (Clopper and Pearson). Below one error all but the last interpolate from n (1 − CF^(1/n)) at e = 0.
#
# Quinlan 1993, *C4.5: programs for machine learning*, section 4.2; Wilson 1927; Clopper and Pearson 1934.

Limit = Callable[[Floats, Floats, float], Floats]
TABLE = ((0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00), (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00))


def normal(n: Floats, e: Floats, confidence: float) -> Floats:
    """Extra errors by the normal quantile; none from CF = ½ on beyond the continuity correction.

    >>> normal(np.array([14.0]), np.array([5.0]), 0.25).round(4)
    array([1.7611])
    """
    if confidence > 0.5:
        return np.zeros_like(n)
    return _extra(n, e, confidence, *_normal(confidence))


def c45_table(n: Floats, e: Floats, confidence: float) -> Floats:
    """Extra errors by release 8's table, linear between its entries."""
    return _extra(n, e, confidence, *_c45_table(confidence))


def exact(n: Floats, e: Floats, confidence: float) -> Floats:
    """Extra errors by the binomial distribution; fractions by the incomplete beta function."""
    possible = e < n
    room = np.where(possible, n - e, 1.0)
    rate = np.asarray(betaincinv(e + 1.0, room, 1.0 - confidence), np.float64)
    return np.where(possible, np.maximum(n * rate - e, 0.0), 0.0)


def _extra(n: Floats, e: Floats, confidence: float, deviate: float, almost_all: float) -> Floats:
    none = n * (1.0 - confidence ** (1.0 / np.maximum(n, 1e-300)))
    one = _wilson(n, np.ones_like(n), deviate, almost_all)
    return np.where(e < 0.9999, none + e * (one - none), _wilson(n, e, deviate, almost_all))


def _wilson(n: Floats, e: Floats, deviate: float, almost_all: float) -> Floats:
    """Wilson's limit at e + ½; where that exceeds n, the share `almost_all` of what is left."""
    square, most = deviate**2, e + 0.5 < n
    safe = np.where(most, n, e + 1.0)
    f = (e + 0.5) / safe
    spread = deviate * np.sqrt(f / safe - f * f / safe + square / (4.0 * safe * safe))
    limit = safe * (f + square / (2.0 * safe) + spread) / (1.0 + square / safe)
    return np.where(most, limit - e, almost_all * np.maximum(n - e, 0.0))


def _normal(confidence: float) -> tuple[float, float]:
    """The deviate, and the share of almost all."""
    return float(-ndtri(confidence)), 1.0


def _c45_table(confidence: float) -> tuple[float, float]:
    return float(np.interp(confidence, *TABLE)), 0.67


def charge(bound: str, confidence: float) -> tuple[int, tuple[float, float, float]]:
    """The same as compiled pruning takes it: which way, and the share of almost all, confidence and deviate."""
    if bound == "exact" or (bound == "normal" and confidence > 0.5):
        return (BY_BETA if bound == "exact" else NOTHING_MORE), (1.0, confidence, 0.0)
    deviate, almost_all = _normal(confidence) if bound == "normal" else _c45_table(confidence)
    return BY_DEVIATE, (almost_all, confidence, deviate)


LIMITS: dict[str, Limit] = {"normal": normal, "c45_table": c45_table, "exact": exact}
