"""The number of rows that two sets share by chance, where values repeat.

A content stands T times among the n rows and K times in a pool of N; of m rows drawn from the pool H hold it, which is
hypergeometric. The overlap expected is Σ E min(T, H), and its variance at most Σ Var min(T, H): such counts, each of which
leaves less room to the others, are negatively associated (Joag-Dev & Proschan 1983). It is reckoned by contents, not by
draws, so that it is the same under every key that hashed them.
"""

from math import sqrt

import numpy as np
from scipy.special import gammaln

from modelsel.core.types import Floats, Integers
from modelsel.ledger.rows.identity import Hashes, occurrences, tally

MARGIN = 0.02


def expected(rows: Hashes, pool: Hashes, size: int) -> tuple[float, float]:
    """Mean and standard deviation of the share of rows that stand in `size` rows of the pool, each as often as there.

    >>> expected(np.array([7, 7, 9], np.uint64), np.array([7, 8], np.uint64), 1)
    (0.16666666666666666, 0.16666666666666666)
    """
    contents, times = tally(rows)
    starts = np.cumsum(times) - times
    held, size = np.repeat(occurrences(contents, pool), times), min(size, len(pool))
    turn = np.arange(len(rows)) - np.repeat(starts, times)
    probability = _hypergeometric(turn, held, len(pool), size)
    summed = np.cumsum(probability)
    above = 1 - (summed - np.repeat((summed - probability)[starts], times))  # P(H > 0), P(H > 1), … of each content
    mean, square = np.add.reduceat(above, starts), np.add.reduceat((2 * turn + 1) * above, starts)
    variance = max(0.0, float(np.sum(square - mean**2)))
    return float(mean.sum()) / len(rows), sqrt(variance) / len(rows)


def more_than_chance(rows: Hashes, stored: Hashes, own: Hashes, margin: float = MARGIN) -> bool:
    """Say whether rows stand in a stored set more often than a fresh sample of the same kind would.

    With q the share that `own` rows, as many as are stored, would repeat, and s its deviation, more is above
    q + max(margin, 3 s, 3 √(q (1 − q) / n)). Of a stored set larger than `own` as many rows as `own` has are thought drawn:
    what still more rows would repeat, nobody knows. Without rows of one's own (an exam of the whole table) chance cannot be
    judged, and any row that stands there counts.
    """
    n, size = len(rows), min(len(stored), len(own))
    if not len(own):
        return bool(np.isin(rows, stored).any())
    if not n or not size:
        return False
    mean, deviation = expected(rows, own, size)
    q = (mean * n + 1) / (n + 2)  # not quite nought in a small set
    return expected(rows, stored, size)[0] > q + max(margin, 3 * deviation, 3 * sqrt(q * (1 - q) / n))


def _hypergeometric(value: Integers, held: Integers, pool: int, size: int) -> Floats:
    """P(H = value) for `size` of `pool` rows, `held` of which are of one content."""
    possible = (value <= held) & (size - value <= pool - held) & (value <= size)
    h = np.where(possible, value, np.maximum(0, size - (pool - held)))
    log = _choose(held, h) + _choose(pool - held, size - h) - _choose(np.asarray(pool), np.asarray(size))
    result: Floats = np.where(possible, np.exp(log), 0.0)
    return result


def _choose(n: Integers, k: Integers) -> Floats:
    result: Floats = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return result
