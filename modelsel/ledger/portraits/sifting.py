"""Sift the tables that cannot be the one at hand out of many, before they are compared one by one.

Of variables matched in pairs let o(i, j) be the sum, over the features of i and of j, of what their squared differences
(in variances, capped) exceed the mean that fits. A set S of pairs is left over by `likeness` only if for each i of it Σ o(i, j)
over the j of S is at most nought. The smallest sum that i can have with any set of so many pairs is that with those that suit
it best: where it is positive, i is in no such set, and without i others may be in none either. What is left when nothing
changes any more bounds every S. So a table is sifted out only if no set of enough pairs can fit.
"""

from collections.abc import Sequence

import numpy as np

from modelsel.core.types import Booleans, Floats, Integers
from modelsel.ledger.portraits.features import ORDERS
from modelsel.ledger.portraits.portrait import VIEWS, Portrait

FIT, CAP = 0.6, 4.0  # mean squared difference, in variances, from which a variable does not fit; the most that one counts
SLACK = 1e-9  # of sums in another order
AT_ONCE = 200  # tables of one pass: some megabytes


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
    for start in range(0, len(theirs), AT_ONCE):
        some = theirs[start : start + AT_ONCE]
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
