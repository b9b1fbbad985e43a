"""Recognise a table none of whose rows can be matched: its portrait lies nearer than two samples of one source would.

Variables are matched first: by their names, by their shapes and by how strongly they hang together with others, then again and
again by how they hang together with those that are matched (an assignment problem each time); numbers may be turned round.
Then, over the correlations d of the variables that fit,

    q = mean (d_ours − d_theirs)² / σ² (1/n + 1/m − 2c/nm)

with σ² the variance of each over random halves of our own table and c the rows that are matched already. For two samples of
one source q is about 1; for a copy it is nought, for 90 % of a copy .05. Its lower tail is taken from χ² of as many degrees of
freedom as the correlations of the halves leave (k²/Σ r²: too few, if anything), and every choice among names, signs and
subsets of the variables is paid for.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import lgamma, log

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc

from modelsel.core.fingerprint import generator
from modelsel.core.types import Booleans, Floats, Integers
from modelsel.ledger.portraits.portrait import VIEWS, Portrait, diagonal
from modelsel.ledger.portraits.variables import ORDERS, Variables
from modelsel.ledger.portraits.waves import freedom

# Sift the tables that cannot be the one at hand out of many, before they are compared one by one.
#
# Of variables matched in pairs let o(i, j) be the sum, over the features of i and of j, of what their squared differences (in
# variances, capped) exceed the mean that fits. A set S of pairs is left over by `likeness` only if for each i of it Σ o(i, j)
# over the j of S is at most nought. The smallest sum that i can have with any set of so many pairs is that with those that
# suit it best: where it is positive, i is in no such set, and without i others may be in none either. What is left when
# nothing changes any more bounds every S. So a table is sifted out only if no set of enough pairs can fit.


FIT, CAP = 0.6, 4.0  # mean squared difference, in variances, from which a variable does not fit; the most that one counts
SLACK = 1e-9  # of sums in another order
TABLES_AT_ONCE = 200  # tables of one pass: some megabytes


def least_of(ours: int, theirs: int) -> int:
    """Variables that have to fit, of so many: half of the fewer ones, and two."""
    return max(2, -(-min(ours, theirs) // 2))


def excess(apart: Floats) -> Floats:
    """o(i, j), of squared differences … × variables × orders × variables × orders (NaN: nothing is said)."""
    above: Floats = np.where(np.isfinite(apart), np.minimum(apart, CAP) - FIT, 0).sum(axis=(-3, -1))
    return above


def can_fit(over: Floats, there: Booleans, least: Integers) -> Booleans:
    """Mark the tables, of many, that may have `least` pairs that fit.

    `over` is tables × pairs × pairs, `there` (tables × pairs) says which pairs there are. False only where none can.
    """
    each = np.arange(over.shape[1])
    alone = over[:, each, each]
    two = (least == 2) & _any_two(over, alone, there)  # two are left however each of them fits: together they must be near
    least = np.maximum(least, 3)[:, None]
    left, place = there.copy(), np.arange(max(1, len(each) - 1))
    while True:
        others = np.where(left[:, None] & left[:, :, None], over, np.inf)
        others[:, each, each] = np.inf
        others = np.sort(others, axis=2)[:, :, : len(place)]
        best = np.where(place < least[..., None] - 1, others, np.minimum(others, 0)).sum(axis=2) + alone
        fits = left & (best <= SLACK) & (left.sum(axis=1, keepdims=True) >= least)
        if (fits == left).all():
            found: Booleans = two | fits.any(axis=1)
            return found
        left = fits


def _any_two(over: Floats, alone: Floats, there: Booleans) -> Booleans:
    """Mark the tables of which any two pairs are near together."""
    pairs = alone[:, :, None] + alone[:, None] + over + over.transpose(0, 2, 1)
    upper = np.triu(np.ones(over.shape[1:], bool), 1)
    near = (pairs <= SLACK) & there[:, None] & there[:, :, None] & upper
    found: Booleans = np.logical_or.reduce(near, axis=(1, 2))
    return found


def may_be_same(ours: Portrait, theirs: Sequence[Portrait]) -> Booleans:
    """Mark the tables that could be ours by columns of equal names: False only where `likeness`, not thorough, says no."""
    found = np.zeros(len(theirs), bool)
    for start in range(0, len(theirs), TABLES_AT_ONCE):
        some = theirs[start : start + TABLES_AT_ONCE]
        pairs = [np.intersect1d(ours.labels, one.labels, assume_unique=False, return_indices=True)[1:] for one in some]
        for view in VIEWS:
            found[start : start + len(some)] |= _by_names(ours, some, pairs, view)
    return found


def _by_names(ours: Portrait, theirs: Sequence[Portrait], pairs: Sequence[tuple[Integers, Integers]], view: str) -> Booleans:
    """Mark the tables that may fit in one view, with the columns of equal names paired."""
    most = max(2, *(len(left) for left, _ in pairs)) if pairs else 2
    apart = np.full((len(theirs), most, ORDERS, most, ORDERS), np.nan)
    there = np.zeros((len(theirs), most), bool)
    for place, (one, (left, right)) in enumerate(zip(theirs, pairs)):
        count, mine = len(left), ours.links[view]
        if count < 2:
            continue
        there[place, :count] = True
        difference = mine[left[:, None], :, left] - one.links[view][right[:, None], :, right]
        apart[place, :count, :, :count] = difference.transpose(0, 2, 1, 3)
        apart[place] **= 2
        apart[place] /= 1 / ours.n + 1 / one.n
    least = np.array([least_of(len(ours), len(one)) for one in theirs])
    return can_fit(excess(apart), there, least)


# Match the variables of two portraits: by names, by what each is by itself, and by how it hangs together with those matched.
#
# The last is an assignment problem, solved again and again until nothing changes, or `ROUNDS` times. The cost of matching a
# variable with another is the mean over all matched pairs of min((d_ours − d_theirs)²/σ², CAP), of the correlations d that both
# have. Numbers may be turned round: features of odd order change their sign then.

ROUNDS = 8
ODD = np.array([-1.0, 1.0, -1.0])  # how features change when a variable is turned round
NOWHERE = 1e9  # in place of what is not told: so far from everything that it counts CAP, which is taken off again


@dataclass(frozen=True, eq=False)
class Pairing:
    """Our variables, theirs, and by which sign."""

    ours: Integers
    theirs: Integers
    signs: Floats

    def __len__(self) -> int:
        return len(self.ours)

    def keep(self, which: Integers) -> "Pairing":
        return Pairing(self.ours[which], self.theirs[which], self.signs[which])

    @property
    def told(self) -> bytes:
        """The same for equal pairings."""
        return self.ours.tobytes() + self.theirs.tobytes() + np.asarray(self.signs, np.int8).tobytes()


def starts(
    ours: Portrait, theirs: Portrait, view: str, scale: float, thorough: bool, by_name: bool = True
) -> Iterator[Pairing]:
    """Yield first pairings: by equal names, then by what each variable is by itself, and by what they are together."""
    _, left, right = np.intersect1d(ours.labels, theirs.labels, return_indices=True)
    if len(left) > 1:
        named = Pairing(left, right, np.ones(len(left)))
        if by_name:
            yield named
        if thorough:
            yield refine_assignment(named, ours, theirs, view, scale)
    if thorough:
        yield refine_assignment(_assign_columns(*_pair_costs(ours, theirs, view, scale)), ours, theirs, view, scale)


def by_shape(ours: Portrait, theirs: Portrait, scale: float) -> Pairing:
    """Pair variables that are the same by themselves, whatever they hang together with; the others anyhow."""
    cost = np.minimum(_squares(ours.shapes, theirs.shapes) / scale, 1 - FIT) ** 0.1
    return _assign_columns(cost, np.ones(cost.shape))


def refine_assignment(start: Pairing, ours: Portrait, theirs: Portrait, view: str, scale: float) -> Pairing:
    """Assign anew by how variables hang together with those that are matched, until nothing changes.

    Where pairings follow each other in a circle, the one at which `ROUNDS` rounds would end is known.
    """
    both, done = _Correlations(ours, theirs, view, CAP * scale), [start]
    places = {start.told: 0}
    for place in range(1, ROUNDS + 1):
        costs = both.costs(done[-1])
        pairing = _assign_columns(costs.min(axis=0), np.where(costs[1] < costs[0], -1.0, 1.0))
        first = places.setdefault(pairing.told, place)
        if first != place:
            return done[first + (ROUNDS - first) % (place - first)]
        done.append(pairing)
    return done[-1]


class _Correlations:
    """The correlations of both sides, features first: orders² × the other variable × the variable."""

    def __init__(self, ours: Portrait, theirs: Portrait, view: str, cap: float) -> None:
        """Fill what is not told with values that are far from everything."""
        orders = 1 if ours.orders == 1 or theirs.orders == 1 else ORDERS
        left, right = (_by_feature(one.links[view], orders) for one in (ours, theirs))
        self._there = [np.isfinite(one).astype(np.float64) for one in (left, right)]
        self._left = np.where(np.isfinite(left), left, NOWHERE)
        self._right = np.where(np.isfinite(right), right, NOWHERE / 2)
        self._cap = cap
        between = ~np.eye(max(len(ours), len(theirs)), dtype=bool)
        self._whole = all(one[:, between[: one.shape[1], : one.shape[2]]].all() for one in self._there)
        self._turned = np.repeat(ODD[:orders], orders)[:, None, None]
        self._with_turned = np.tile(ODD[:orders], orders)[:, None]

    def costs(self, pairing: Pairing) -> Floats:
        """Signs × ours × theirs: how far each of ours, as it is and turned round, goes otherwise than each of theirs."""
        known, left = self._count_told(pairing), self._left[:, pairing.ours]
        left = left * np.where(pairing.signs < 0, self._with_turned, 1.0)[..., None]
        right, unknown = self._right[:, pairing.theirs][:, :, None], self._cap * (len(left) - known)
        totals = [self._squared_differences(one, right) - unknown for one in (left, left * self._turned)]
        each = np.arange(len(pairing))  # a variable is not compared with itself
        for table in (*totals, known):
            table[each, pairing.ours] = 0
            table[each, :, pairing.theirs] = 0
        costs: Floats = np.stack([total.sum(axis=0) for total in totals]) / np.maximum(1, known.sum(axis=0))
        return costs

    def _count_told(self, pairing: Pairing) -> Floats:
        """Matched × ours × theirs: of how many features both sides tell."""
        if self._whole:
            return np.full((len(pairing), self._left.shape[2], self._right.shape[2]), float(len(self._left)))
        known: Floats = self._there[0][:, pairing.ours].transpose(1, 2, 0) @ self._there[1][:, pairing.theirs].transpose(
            1, 0, 2
        )
        return known

    def _squared_differences(self, left: Floats, right: Floats) -> Floats:
        """Matched × ours × theirs: squared differences, each capped, summed over features."""
        apart = left[..., None] - right
        np.multiply(apart, apart, out=apart)
        total: Floats = np.minimum(apart, self._cap, out=apart).sum(axis=0)
        return total


def _by_feature(links: Floats, orders: int) -> Floats:
    """Order links by feature, then the other variable, then the variable."""
    part = links[:, :orders, :, :orders]
    found: Floats = np.ascontiguousarray(part.transpose(1, 3, 2, 0)).reshape(orders * orders, len(links), len(links))
    return found


def _assign_columns(cost: Floats, signs: Floats) -> Pairing:
    """Assign columns to one another at the least cost."""
    from scipy.optimize import linear_sum_assignment

    left, right = linear_sum_assignment(cost)
    return Pairing(left, right, signs[left, right])


def _pair_costs(ours: Portrait, theirs: Portrait, view: str, scale: float) -> tuple[Floats, Floats]:
    """Cost of every pair of variables by their shape and by the profile of their correlations, and the better sign."""
    apart = _squares(ours.profiles[view], theirs.profiles[view]) / scale
    means = [diagonal(portrait.links[view]) for portrait in (ours, theirs)]
    shapes = [_squares(means[0] * sign, means[1]) / scale for sign in (np.ones(ORDERS), ODD)]
    return apart + np.minimum(*shapes), np.where(shapes[1] < shapes[0], -1.0, 1.0)


def _squares(a: Floats, b: Floats) -> Floats:
    """Mean squared difference of every row of one with every row of the other, of what both have."""
    found: Floats = ((np.nan_to_num(a)[:, None] - np.nan_to_num(b)[None]) ** 2).mean(axis=2)
    return found


NEAR = 0.3  # q from which tables are not one
SURE = 14.0  # nats beyond all that was chosen
HALVES, SAMPLE = 64, 1000
PROBE, FAR = 8, 1.2  # halves drawn first; q from which, by these, tables are not one
EXACT = 1 << 24  # whole numbers below this are exact in single precision
AT_ONCE = 200_000  # cells of halves that are reckoned together: some megabytes
TOGETHER = 5.0  # rows that two levels must be expected to share


@dataclass(frozen=True, eq=False)
class Likeness:
    """The result of a comparison: `nats` are those left after everything that was chosen is paid for."""

    near: float
    nats: float
    variables: int

    @property
    def same(self) -> bool:
        return self.near < NEAR and self.nats > SURE


NONE = Likeness(1.0, 0.0, 0)


class Halves:
    """Differences of a table's correlations between random halves of it, drawn once when first asked for."""

    def __init__(self, found: Variables, seed: str) -> None:
        self._found = found
        self._drawn = {view: np.empty(0) for view in VIEWS}
        self._random = {view: generator(0, seed, view) for view in VIEWS}

    def differences(self, view: str, count: int = HALVES) -> Floats:
        """The first of the halvings × correlations, scaled so that their variance is that of one row."""
        drawn = self._drawn[view]
        if len(drawn) < count:
            n, rng, found = self._found.rows, self._random[view], [drawn] if len(drawn) else []
            half = min(n, SAMPLE) // 2
            step = max(1, AT_ONCE // (2 * half * len(self._found)))
            for start in range(len(drawn), count, step):
                orders = np.stack([rng.permutation(n)[: 2 * half] for _ in range(min(step, count - start))])
                found.append(self._differences(orders, view))
            self._drawn[view] = np.concatenate(found)
        return self._drawn[view][:count]

    @cached_property
    def crossing(self) -> Booleans:
        """A mask of the pairs of binary variables of which neither excludes or implies the other, and neither is rare."""
        rows, binary = self._found.rows, self._found.binary
        counts: NDArray[np.floating] = np.empty((rows, np.count_nonzero(binary)), np.float32 if rows < EXACT else np.float64)
        for place, index in enumerate(np.flatnonzero(binary).tolist()):
            counts[:, place] = self._found.values(index)  # 1 where a row has the level, and some row has
        both, each = np.asarray(counts.T @ counts, np.float64), counts.sum(axis=0, dtype=np.float64)
        cells = (both, each[:, None] - both, each - both, rows - each[:, None] - each + both)
        rarer = np.minimum(each, rows - each)
        often = rarer[:, None] * rarer / rows >= TOGETHER
        found = np.ones((len(binary), len(binary)), bool)
        found[np.ix_(binary, binary)] = (np.min(cells, axis=0) > 0) & often | np.eye(len(each), dtype=bool)
        return found

    def _differences(self, orders: Integers, view: str) -> Floats:
        """Differences between the first and the second half of the rows of each order."""
        count, both = orders.shape
        links = self._found.links_of(orders.reshape(2 * count, both // 2), view)
        return np.asarray((links[::2] - links[1::2]) * (both / 4) ** 0.5, np.float32)


def likeness(
    ours: Portrait, halves: Halves, theirs: Portrait, common: int = 0, thorough: bool = True, named: bool = True
) -> Likeness:
    """Compare two portraits by value, and where that does not make them one, by rank.

    Not `thorough`: variables are matched by their names alone; not `named`: names alone are known not to make them one.
    """
    found = NONE
    for view in VIEWS:
        found = max(found, _likeness(ours, halves, theirs, view, common, thorough, named), key=lambda one: (one.same, one.nats))
        if found.same:
            break
    return found


def _likeness(
    ours: Portrait, halves: Halves, theirs: Portrait, view: str, common: int, thorough: bool, named: bool
) -> Likeness:
    """Pair the columns of two portraits from several starts, and judge the best pairing."""
    scale = 1 / ours.n + 1 / theirs.n - 2 * common / (ours.n * theirs.n)
    if scale <= 0:
        return NONE
    best = NONE
    for start in starts(ours, theirs, view, scale, thorough, named):
        least = least_of(len(ours), len(theirs))
        if not _may_fit(start, ours, theirs, view, scale, least):
            continue
        pairing = fitting(start, ours, theirs, view, scale)
        if len(pairing) >= least and _near(pairing, ours, theirs, view, scale) < FIT:
            found = _lower_tail(pairing, ours, theirs, halves, view, scale)
            best = max(best, found, key=lambda one: one.nats)
        if best.same:
            break
    return best


def squared_differences(pairing: Pairing, ours: Portrait, theirs: Portrait, view: str, scale: float) -> Floats:
    """Squared differences in units of an independent pair's variance: matched × orders × matched × orders."""
    turned = np.where(pairing.signs[:, None] < 0, ODD, 1.0)
    left = ours.links[view][pairing.ours][:, :, pairing.ours]
    right = theirs.links[view][pairing.theirs][:, :, pairing.theirs]
    square: Floats = (left * turned[:, :, None, None] * turned - right) ** 2 / scale
    each = np.arange(len(pairing))
    within = (diagonal(left) * turned - diagonal(right)) ** 2 / scale
    for order in range(ORDERS):
        square[each, order, each, order] = within[:, order]
    return square


def _near(pairing: Pairing, ours: Portrait, theirs: Portrait, view: str, scale: float) -> float:
    square = squared_differences(pairing, ours, theirs, view, scale)
    there = np.isfinite(square)
    return float(np.minimum(square[there], CAP).mean()) if there.any() else CAP


def fitting(pairing: Pairing, ours: Portrait, theirs: Portrait, view: str, scale: float, fit: float = FIT) -> Pairing:
    """Drop the variables that do not fit, the worst first."""
    while len(pairing) > 2:
        square = squared_differences(pairing, ours, theirs, view, scale)
        there = np.isfinite(square)
        mean = np.where(there, np.minimum(square, CAP), 0).sum(axis=(1, 2, 3)) / np.maximum(1, there.sum(axis=(1, 2, 3)))
        worst = int(mean.argmax())
        if mean[worst] <= fit:
            break
        pairing = pairing.keep(np.delete(np.arange(len(pairing)), worst))
    return pairing


def _may_fit(pairing: Pairing, ours: Portrait, theirs: Portrait, view: str, scale: float, least: int) -> bool:
    """Say whether `fitting` could leave so many variables; False only where it certainly cannot."""
    over = excess(squared_differences(pairing, ours, theirs, view, scale))[None]
    return bool(can_fit(over, np.ones((1, len(pairing)), bool), np.array([least]))[0])


def _lower_tail(pairing: Pairing, ours: Portrait, theirs: Portrait, halves: Halves, view: str, scale: float) -> Likeness:
    """The lower tail of what is left of the differences, less all that was chosen; what is far by few halves is let be."""
    probed = _tail(pairing, ours, theirs, halves, view, scale, PROBE)
    return probed if probed.near > FAR else _tail(pairing, ours, theirs, halves, view, scale, HALVES)


def _tail(pairing: Pairing, ours: Portrait, theirs: Portrait, halves: Halves, view: str, scale: float, count: int) -> Likeness:
    """Compute how improbable so small a distance is between two independent samples, in nats."""
    gaps = squared_differences(pairing, ours, theirs, view, scale) * scale + _grain(pairing, ours)
    drawn = halves.differences(view, count)[:, pairing.ours][:, :, :, pairing.ours]
    upper = np.triu(np.ones((len(pairing), len(pairing)), bool))[:, None, :, None]
    told = np.isfinite(gaps) & np.isfinite(drawn).all(axis=0) & upper
    told &= halves.crossing[np.ix_(pairing.ours, pairing.ours)][:, None, :, None]
    if told.sum() < 2:
        return NONE
    differences, variance = drawn[:, told].astype(np.float64), drawn[:, told].astype(np.float64).var(axis=0)
    telling = variance > 0.02
    if telling.sum() < 2:
        return NONE
    square = gaps[told][telling] / (variance[telling] * scale)
    degrees = freedom(differences[:, telling] / variance[telling] ** 0.5)
    q = float(square.mean())
    tail = float(gammainc(degrees / 2, q * degrees / 2))
    return Likeness(q, -log(max(tail, 1e-300)) - _choice_nats(pairing, ours, theirs), len(pairing))


def _grain(pairing: Pairing, ours: Portrait) -> Floats:
    """Counts move in steps: equal ones may be half a step apart. Of two levels a step is 1/n √(p (1 − p) r (1 − r))."""
    deviation = np.where(ours.binary, _deviation(ours.shapes[:, 0]), np.inf)[pairing.ours]
    step: Floats = 0.5 / (ours.n * deviation[:, None] * deviation)
    return (step**2)[:, None, :, None]


def _deviation(middle: Floats) -> Floats:
    """√(p (1 − p)) of a level, from p − ½."""
    deviation: Floats = np.sqrt(np.maximum(0.25 - middle**2, 1e-6))
    return deviation


def _choice_nats(pairing: Pairing, ours: Portrait, theirs: Portrait) -> float:
    """Nats of the choices: variables not matched by name, their signs, those left out, the view."""
    named = (ours.labels[pairing.ours] == theirs.labels[pairing.theirs]) & (pairing.signs > 0)
    others, least = int((~named).sum()), min(len(ours), len(theirs))
    subsets = lgamma(least + 1) - lgamma(len(pairing) + 1) - lgamma(least - len(pairing) + 1)
    return others * log(2 * len(theirs)) + subsets + log(4)
