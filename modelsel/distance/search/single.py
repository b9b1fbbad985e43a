"""Numbers as the single-precision search takes them, and how far its sums can be off.

Values are centred and scaled by a power of two: no square overflows. With u = 2⁻²⁴, half the spacing at 1, a difference
of two rounded values is off by δ_f ≤ 2u (|x_f| + |y_f|), and a sum t of F differences by Σ δ_f + 2 (F + 4) u t for p = 1,
by the largest δ_f + 4 u t for p = ∞, and for p = 2, of squares, by 2 √t |δ| + |δ|² + 2 (F + 4) u t.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Floats, Integers
from modelsel.distance.base import FittedDistance
from modelsel.distance.search.plain import Neighbours
from modelsel.kernels import compiler

TOGETHER, HALF = 4, 2.0**-24  # features that the kernel sums together; half the spacing of single precision at 1
LEAST = 1e-120  # spread below which squares of differences are not what they are in double precision either
FAR = 2.0**20  # spreads from the stored rows beyond which a query is searched for in double precision


def search(
    metric: FittedDistance, stored: Floats, otherwise: Callable[[Floats, int], Neighbours]
) -> Callable[[Floats, int], Neighbours]:
    """A search among encoded stored rows (features × rows); queries that are not near, or have holes, are handed over."""
    kernel = compiler.load("single")
    if kernel is None or metric.power not in (1, 2, np.inf):
        return otherwise
    middle = stored.mean(axis=1, keepdims=True)
    largest = np.abs(stored - middle).max(axis=1)
    spread = float(largest.max())
    if not LEAST < spread < 1 / LEAST:
        return otherwise
    scale = 2.0 ** -np.ceil(np.log2(spread))
    narrow, by_row = _narrow((stored - middle) * scale), np.ascontiguousarray(stored.T)

    def nearest(queries: Floats, count: int) -> Neighbours:
        size = np.abs(queries - middle) * scale
        usual = np.flatnonzero((size < FAR).all(axis=0))  # not where one is NaN
        near = queries[:, usual]
        asked = np.ascontiguousarray(_narrow((near - middle) * scale).T)
        bounds = _bounds(2 * HALF * (largest[:, None] * scale + size[:, usual]), metric.power)
        parts = narrow, asked, by_row, np.ascontiguousarray(near.T), bounds, metric.power, count
        found = Neighbours(*kernel.search(*parts))
        return found if len(usual) == queries.shape[1] else _with_others(found, usual, queries, count, otherwise)

    return nearest


def _with_others(
    found: Neighbours, usual: Integers, queries: Floats, count: int, otherwise: Callable[[Floats, int], Neighbours]
) -> Neighbours:
    """The queries that are searched for in double precision, among the others."""
    shape = queries.shape[1], count
    both = Neighbours(np.empty(shape, np.int64), np.empty(shape))
    others = np.setdiff1d(np.arange(queries.shape[1]), usual)
    rest = otherwise(np.ascontiguousarray(queries[:, others]), count)
    for whole, own, more in zip(both, found, rest, strict=True):
        whole[usual], whole[others] = own, more
    return both


def _narrow(values: Floats) -> NDArray[np.float32]:
    """In single precision, with columns of zeros up to a multiple of those that are summed together."""
    rows = -(-len(values) // TOGETHER) * TOGETHER
    narrow = np.zeros((rows, values.shape[1]), np.float32)
    narrow[: len(values)] = values
    return narrow


def _bounds(off: Floats, power: float) -> Floats:
    """Factors of √t, 1 and t, per query, from how far each difference may be off (features × queries)."""
    bounds = np.zeros((off.shape[1], 3))
    bounds[:, 2] = 2 * (len(off) + 2 * TOGETHER) * HALF
    if power == 2:
        squares = (off**2).sum(axis=0)
        bounds[:, 0], bounds[:, 1] = 2 * np.sqrt(squares), squares
    else:
        bounds[:, 1] = off.sum(axis=0) if power == 1 else off.max(axis=0, initial=0.0)
    return bounds
