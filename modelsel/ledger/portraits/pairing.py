"""Match the variables of two portraits: by names, by what each is by itself, and by how it hangs together with those matched.

The last is an assignment problem, solved again and again until nothing changes, or `ROUNDS` times. The cost of matching a
variable with another is the mean over all matched pairs of min((d_ours − d_theirs)²/σ², CAP), of the correlations d that both
have. Numbers may be turned round: features of odd order change their sign then.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Floats, Integers
from modelsel.ledger.portraits.features import ORDERS
from modelsel.ledger.portraits.portrait import Portrait, diagonal
from modelsel.ledger.portraits.sifting import CAP

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
            yield settled(named, ours, theirs, view, scale)
    if thorough:
        yield settled(_assigned(*_alone(ours, theirs, view, scale)), ours, theirs, view, scale)


def settled(start: Pairing, ours: Portrait, theirs: Portrait, view: str, scale: float) -> Pairing:
    """Assign anew by how variables hang together with those that are matched, until nothing changes.

    Where pairings follow each other in a circle, the one at which `ROUNDS` rounds would end is known.
    """
    both, done = _Correlations(ours, theirs, view, CAP * scale), [start]
    places = {start.told: 0}
    for place in range(1, ROUNDS + 1):
        costs = both.costs(done[-1])
        pairing = _assigned(costs.min(axis=0), np.where(costs[1] < costs[0], -1.0, 1.0))
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
        known, left = self._known(pairing), self._left[:, pairing.ours]
        left = left * np.where(pairing.signs < 0, self._with_turned, 1.0)[..., None]
        right, unknown = self._right[:, pairing.theirs][:, :, None], self._cap * (len(left) - known)
        totals = [self._apart(one, right) - unknown for one in (left, left * self._turned)]
        each = np.arange(len(pairing))  # a variable is not compared with itself
        for table in (*totals, known):
            table[each, pairing.ours] = 0
            table[each, :, pairing.theirs] = 0
        costs: Floats = np.stack([total.sum(axis=0) for total in totals]) / np.maximum(1, known.sum(axis=0))
        return costs

    def _known(self, pairing: Pairing) -> Floats:
        """Matched × ours × theirs: of how many features both sides tell."""
        if self._whole:
            return np.full((len(pairing), self._left.shape[2], self._right.shape[2]), float(len(self._left)))
        known: Floats = self._there[0][:, pairing.ours].transpose(1, 2, 0) @ self._there[1][:, pairing.theirs].transpose(
            1, 0, 2
        )
        return known

    def _apart(self, left: Floats, right: Floats) -> Floats:
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


def _assigned(cost: Floats, signs: Floats) -> Pairing:
    """Assign columns to one another at the least cost."""
    from scipy.optimize import linear_sum_assignment

    left, right = linear_sum_assignment(cost)
    return Pairing(left, right, signs[left, right])


def _alone(ours: Portrait, theirs: Portrait, view: str, scale: float) -> tuple[Floats, Floats]:
    """Cost of every pair of variables by their shape and by the profile of their correlations, and the better sign."""
    apart = _squares(ours.profiles[view], theirs.profiles[view]) / scale
    means = [diagonal(portrait.links[view]) for portrait in (ours, theirs)]
    shapes = [_squares(means[0] * sign, means[1]) / scale for sign in (np.ones(ORDERS), ODD)]
    return apart + np.minimum(*shapes), np.where(shapes[1] < shapes[0], -1.0, 1.0)


def _squares(a: Floats, b: Floats) -> Floats:
    """Mean squared difference of every row of one with every row of the other, of what both have."""
    found: Floats = ((np.nan_to_num(a)[:, None] - np.nan_to_num(b)[None]) ** 2).mean(axis=2)
    return found
