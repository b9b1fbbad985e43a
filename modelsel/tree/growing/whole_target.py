"""Numbers as whole ones, so that sums of them are exact and a tree does not depend on the order of rows.

    y = base + (q + centre) / scale,   q whole, |q| < 2^(61 − b),   b ≥ 20 binary digits number the rows

`scale` is the smallest 10^d, d ≤ 9, in which all fitted rows are whole numbers that lie so near to each other (base = 0); where
there is none, the largest power of two (centre = 0): then y is rounded to 2^-42 of its range. Sums of up to 2^b such numbers
stay below 2^61.
"""

import math
from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Floats, Integers
from modelsel.tree.growing.growth import SQUARED_ERROR, NumberLoss

ROWS = 20  # binary digits that number the rows, at least
WORD = 61
DECIMALS = 9
EXACT = 2.0**53  # whole numbers below are floats
GLANCE = 64  # values that are tried before all are
LARGEST = 1000  # exponent of a scale


@dataclass(frozen=True, eq=False)
class WholeTarget:
    """The whole number of each fitted row, and how to read it."""

    whole: Integers
    base: float
    centre: float
    scale: float

    @classmethod
    def of(cls, target: Floats, total: float, digits: int = WORD, rows: int = ROWS) -> "WholeTarget":
        """The numbers of fitted rows whose weights sum to `total`, or to 2^`rows` at least; sums have so many binary digits.

        >>> found = WholeTarget.of(np.array([1.25, 1.5, 3.0]), 3.0)
        >>> found.whole.tolist(), found.centre, found.scale
        ([-87, -62, 88], 212.0, 100.0)
        """
        limit = 2.0 ** (digits - max(rows, math.ceil(math.log2(max(total, 2.0)))))
        for decimals in range(DECIMALS + 1):
            found = _decimal(target, 10.0**decimals, limit)
            if found is not None:
                return found
        return _binary(target, limit)

    @property
    def zero(self) -> float:
        """The number that is added to whole numbers so that the target's 0 is 0."""
        return self.centre + self.base * self.scale

    def value(self, mean: Floats) -> Floats:
        """Numbers of the target's unit, from means of whole ones."""
        return np.asarray(self.base + (mean + self.centre) / self.scale)


def _decimal(target: Floats, scale: float, limit: float) -> WholeTarget | None:
    """The target in whole numbers of 1/scale; None where it is none, or they are too large."""
    glance = target[:GLANCE]
    with np.errstate(over="ignore"):
        if (np.rint(glance * scale) / scale != glance).any():
            return None
        whole = np.rint(target * scale)
        low, high = float(whole.min()), float(whole.max())
        if max(-low, high) >= EXACT or (whole / scale != target).any():
            return None
    centre = math.floor((low + high) / 2)
    if max(high - centre, centre - low) >= limit:
        return None
    return WholeTarget((whole - centre).astype(np.int64), 0.0, float(centre), scale)


def _binary(target: Floats, limit: float) -> WholeTarget:
    """The target in whole numbers of a power of two."""
    low, high = float(target.min()), float(target.max())
    base, half = low / 2 + high / 2, high / 2 - low / 2
    exponent = min(math.floor(math.log2(limit)) - math.frexp(half)[1], LARGEST) if half > 0 else 0
    whole = np.rint(np.ldexp(target - base, exponent)).astype(np.int64)
    bound = int(limit) - 1
    return WholeTarget(np.clip(whole, -bound, bound), base, 0.0, math.ldexp(1.0, exponent))


@dataclass(frozen=True, eq=False)
class WeightedWholes:
    """The whole numbers of a task's rows with weights; v = q·w, rounded to whole `parts` of q where a weight is none.

    Weights are multiples of 1 / `steps`, so that floating sums of them are exact.
    """

    target: WholeTarget
    whole: Integers  # per row of the task
    integral: bool
    steps: float
    parts: float

    @classmethod
    def of(cls, target: WholeTarget, rows: Integers, size: int, weight: Floats, divided: bool) -> "WeightedWholes":
        """For fitted `rows` of a task of a `size`; `divided`: rows may be divided among branches."""
        whole = np.zeros(size, np.int64)
        whole[rows] = target.whole
        integral = not divided and bool((weight == np.floor(weight)).all())
        total, largest = float(weight.sum()), float(max(np.abs(target.whole).max(), 1))
        if integral:
            return cls(target, whole, True, 1.0, 1.0)
        steps = 2.0 ** (STEPS - math.ceil(math.log2(total)))
        return cls(target, whole, False, steps, 2.0 ** math.floor(WORD - math.log2(total * largest)))

    def rounded(self, weight: Floats) -> Floats:
        """Weights as multiples of a step."""
        return weight if self.integral else np.rint(weight * self.steps) / self.steps

    def goodness(self, worth: Floats, weight: Floats, loss: NumberLoss = SQUARED_ERROR) -> Floats:
        """The worth of tests as decreases of the mean loss, in the target's unit (squared error: in its squares)."""
        unit = self.parts * self.target.scale
        own = np.square(unit) if loss == SQUARED_ERROR else unit / loss.times
        return np.asarray(worth / own / np.where(weight > 0, weight, 1.0))


STEPS = 52  # binary digits of all weights together


def exact_sum(parts: Floats) -> float:
    """Σ of numbers of at least 0, each rounded to 2^-42 of the largest: the same in any order.

    >>> exact_sum(np.array([0.5, 0.25, 4.0]))
    4.75
    """
    exponent = math.frexp(float(parts.max(initial=0.0)))[1]
    return math.ldexp(float(int(np.rint(np.ldexp(parts, PART - exponent)).astype(np.int64).sum())), exponent - PART)


PART = 42
