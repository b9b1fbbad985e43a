"""Codes that stand for a missing number: a value far outside the rest that repeats, -200 or 999.

Far: the gap between it (or up to three such values, 997, 998, 999) and the next is wider than the range of all others. Below
numbers that are all 0 or more a negative one is far by less: a tenth of their range.
"""

import numpy as np

from modelsel.core.types import Floats

REPEATED = 3  # rows that hold a code
MOST = 3  # codes beside each other
DIFFERENT = 10  # other values
FEWER = 3  # different other values that will do where the gap is wide
WIDE = 5.0  # ranges that such a gap is wide


def sentinels(values: Floats) -> list[tuple[float, int]]:
    """The codes among numbers, each with the rows that hold it.

    >>> sentinels(np.array([*range(30), -200, -200, -200, 999, 999, 999.0]))
    [(-200.0, 3), (999.0, 3)]
    >>> sentinels(np.arange(30.0)), sentinels(np.array([0.0, 1000.0] * 20))
    ([], [])
    """
    known = values[np.isfinite(values)]
    return [*_beyond(known, -1.0), *_beyond(known, 1.0)] if len(known) > DIFFERENT else []


def _beyond(known: Floats, side: float) -> list[tuple[float, int]]:
    """The codes at one end: below all others, or above."""
    found: list[tuple[float, int]] = []
    rest = known
    while len(rest) and len(found) < MOST:
        code = float((rest * side).max() * side)
        held = int(np.count_nonzero(rest == code))
        rest = rest[rest != code]
        if held < REPEATED or not len(rest):
            return []
        found.append((code, held))
        if _is_far(code, rest):
            return found
    return []


def _is_far(code: float, rest: Floats) -> bool:
    """Say whether a value is far from all others."""
    low, high = float(rest.min()), float(rest.max())
    gap, wide = max(low - code, code - high), high - low
    different = len(np.unique(rest[:1000]))
    if code < 0 <= low and code == round(code) and different >= DIFFERENT and gap > 0.1 * wide:
        return True
    return (different >= DIFFERENT and gap > wide) or (different >= FEWER and gap > WIDE * wide)
