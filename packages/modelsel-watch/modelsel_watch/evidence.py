"""Whether values are made of other values, row by row, and how sure that is: by content, for objects are copied and cut.

A value per row is made of a prediction where it is a one-to-one recoding of it, a step function of it (a threshold, a rounding,
another scale), or a stretch of it. How sure that is, is counted in nats: as many as an arrangement like this one has by chance,

    min( ln(n! / Π n_v!),  ln C(n − p, m) + m ln(k − 1) + p ln k for each period p,  n ln r ),

n: rows, n_v: rows of value v, k: values, m: rows whose value is not that of the row p before them, r: monotone runs; less
the choice among recodings or steps. Sorted and periodic values, which tables of any kind have in common, so count for nothing.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from math import inf, lgamma, log

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Integers
from modelsel.guard.face import is_plain_list, library_of

SURE = 25.0  # nats from which values are made of others, and not like them by chance
HINT = 7.0  # nats from which that is possible
PERIODS, FEW = 400, 50_000  # periods that are tried, and rows up to which all of them are
DISTINCT = 10  # numbers that are no integers: so many equal ones are no chance
LEVELS = 64  # values up to which any recoding is tried, and not steps alone

Values = NDArray[np.generic]


def array_of(made: object) -> Values | None:
    """Values of one or two dimensions; None for what is none, or would have to be computed to be read."""
    if not (isinstance(made, np.ndarray) or library_of(made) or is_plain_list(made)):
        return None
    with suppress(ValueError, TypeError):
        values = np.asarray(made)
        return values if values.ndim in (1, 2) and len(values) and values.dtype.kind in "fiubOUST" else None
    return None


@dataclass(frozen=True, eq=False)
class RowValues:
    """A value per row, as it is compared."""

    values: Values

    @classmethod
    def all_of(cls, values: Values, most: int) -> "tuple[RowValues, ...]":
        """The columns of values; none of a table of more than `most`."""
        if values.ndim == 1:
            return (cls(values),)
        return tuple(cls(values[:, place]) for place in range(values.shape[1])) if values.shape[1] <= most else ()

    def __len__(self) -> int:
        return len(self.values)

    @property
    def numeric(self) -> bool:
        return self.plain.dtype.kind == "f"

    @cached_property
    def plain(self) -> Values:
        """Numbers as they are, also those that are objects; all else as texts."""
        with suppress(ValueError, TypeError):
            return np.asarray(self.values, np.float64)
        return np.asarray([str(one) for one in self.values.tolist()])

    @cached_property
    def codes(self) -> Integers:
        """Each value's place among the distinct ones, in ascending order."""
        codes: Integers = np.unique(self.plain, return_inverse=True)[1].astype(np.int64).ravel()
        return codes

    @cached_property
    def levels(self) -> int:
        return int(self.codes.max()) + 1

    @cached_property
    def tells(self) -> bool:
        """Say whether the numbers are known again wherever they stand: there are many, and they are not round."""
        if self.values.dtype.kind != "f":
            return False
        numbers = np.asarray(self.values, np.float64)
        distinct = np.unique(numbers[np.isfinite(numbers)])
        return int((distinct != np.round(distinct, 3)).sum()) >= DISTINCT


def arrangement(codes: Integers) -> float:
    """Nats of the order in which values stand, by whichever way of describing it is shortest."""
    n, counts = len(codes), np.bincount(codes)
    k = int((counts > 0).sum())
    if k < 2:
        return 0.0
    steps = np.diff(codes)
    runs = 1 + min(int((steps > 0).sum()), int((steps < 0).sum()))
    least = min(_ln_factorial(n) - sum(map(_ln_factorial, counts.tolist())), n * log(runs))
    for period in range(1, min(PERIODS if n <= FEW else LEVELS, n // 2) + 1):
        m = int((codes[period:] != codes[:-period]).sum())
        least = min(least, _ln_choose(n - period, m) + m * log(max(1, k - 1)) + period * log(k))
    return least


def made_of(made: RowValues, source: RowValues) -> float:
    """Nats for a value per row being made of a source of as many rows; 0 where it is not."""
    if made.levels < 2 or made.levels > source.levels:
        return 0.0
    image = np.full(source.levels, -1)
    image[source.codes] = made.codes
    if (image[source.codes] != made.codes).any():
        return 0.0
    return max(0.0, arrangement(made.codes) - _choice(image, made.levels, source.numeric))


def _choice(image: Integers, k: int, numeric: bool) -> float:
    """Nats of choosing a way to make k values of as many as the image has: any recoding of few, or steps."""
    there, cost = len(image), inf
    if there <= LEVELS:
        cost = _ln_factorial(k) if k == there else there * log(k)
    steps = np.diff(image)
    if numeric and int((steps != 0).sum()) == k - 1:
        order = log(2) if (steps >= 0).all() or (steps <= 0).all() else _ln_factorial(k)
        cost = min(cost, order + _ln_choose(there - 1, k - 1))
    return cost


def stretch_of(made: RowValues, source: RowValues) -> float:
    """Nats for values being a stretch of a longer source, or some of its numbers in any order; 0 where they are not."""
    one, all_ = made.plain, source.plain
    if len(one) >= len(all_) or made.numeric is not source.numeric:
        return 0.0
    if made.tells and np.isin(one, all_).all():
        return inf
    starts = np.flatnonzero(all_[: len(all_) - len(one) + 1] == one[0])
    for place in range(1, len(one)):
        starts = starts[all_[starts + place] == one[place]]
        if not len(starts):
            return 0.0
    return max(0.0, arrangement(made.codes) - log(len(all_)))


def evidence(values: Iterable[RowValues], source: Iterable[RowValues]) -> float:
    """Nats for values being made of a source, by any of its columns."""
    best, columns = 0.0, [*source]
    for made in values:
        for column in columns:
            if len(made) != len(column):
                best = max(best, stretch_of(made, column))
            elif made.tells and np.array_equal(made.plain, column.plain, equal_nan=True):
                return inf
            else:
                best = max(best, made_of(made, column))
            if best >= SURE:
                return best
    return best


def _ln_factorial(n: int) -> float:
    return lgamma(n + 1)


def _ln_choose(n: int, k: int) -> float:
    return _ln_factorial(n) - _ln_factorial(k) - _ln_factorial(n - k) if 0 <= k <= n else 0.0
