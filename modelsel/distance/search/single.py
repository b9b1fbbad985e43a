"""Numbers as the single-precision search takes them, and how far its sums can be off.

Values are centred and scaled by a power of two: no square overflows. With u = 2⁻²⁴, half the spacing at 1, a difference
of two rounded values is off by δ_f ≤ 2u (|x_f| + |y_f|), and a sum t of F differences by Σ δ_f + 2 (F + 4) u t for p = 1,
by the largest δ_f + 4 u t for p = ∞, and for p = 2, of squares, by 2 √t |δ| + |δ|² + 2 (F + 4) u t.

With p = 2 and some features, t = |x|² + |y|² − 2 x·y comes from a matrix product of F + 2 factors, a quarter of the work.
Rounded factors and sums are off by at most 2u (F + 8) (|x| + |y|)², which is added to |y|² so that no sum is negative.
Where some rows lie far out, that bound hides too much, and differences are taken.
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
CELLS = 1 << 19  # sums at a time: what stays near
PRODUCTS = 4  # features from which a product is quicker than differences
TOLD_APART = 1e-3  # of the mean square: what a product's rounding may hide
BEHIND = 1e30  # squared distance of what fills the last stored rows up
FAR = 2.0**20  # spreads from the stored rows beyond which a query is searched for in double precision


def search(
    metric: FittedDistance, stored: Floats, otherwise: Callable[[Floats, int], Neighbours]
) -> Callable[[Floats, int], Neighbours]:
    """A search among encoded stored rows (features × rows); queries that are not near, or have holes, are handed over."""
    kernel = compiler.load("single")
    if kernel is None or metric.power not in (1, 2, np.inf):
        return otherwise
    middle = stored.mean(axis=1, keepdims=True)
    centred = stored - middle
    largest = np.abs(centred).max(axis=1)
    spread = float(largest.max())
    if not LEAST < spread < 1 / LEAST:
        return otherwise
    scale = 2.0 ** -np.ceil(np.log2(spread))
    centred, by_row = centred * scale, np.ascontiguousarray(stored.T)
    if metric.power == 2 and (found := _products(centred, by_row, middle, scale, otherwise)) is not None:
        return found
    narrow = _narrow(centred)

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


def _products(
    centred: Floats, by_row: Floats, middle: Floats, scale: float, otherwise: Callable[[Floats, int], Neighbours]
) -> Callable[[Floats, int], Neighbours] | None:
    """The same by one matrix product per block of queries; None where differences are quicker, or tell the near ones better."""
    features, rows = centred.shape
    norms = (centred**2).sum(axis=0)
    farthest, share = float(norms.max()), 2 * HALF * (features + 8)
    if features < PRODUCTS or 16 * share * farthest > TOLD_APART * float(norms.mean()):
        return None
    kernel = compiler.load("single")
    assert kernel is not None, "single() was asked first"
    factors = np.zeros((features + 2, -(-rows // kernel.LANES) * kernel.LANES), np.float32)
    factors[:features, :rows], factors[features, :rows], factors[features + 1] = centred, norms, 1.0
    factors[features, rows:] = BEHIND
    sums = np.empty((max(16, CELLS // rows), factors.shape[1]), np.float32)

    def nearest(queries: Floats, count: int) -> Neighbours:
        moved = (queries - middle) * scale
        own = (moved**2).sum(axis=0)
        usual = np.flatnonzero(own <= 4 * farthest)  # not where one is NaN
        bounds = np.zeros((len(usual), 3))
        bounds[:, 1] = share * (np.sqrt(own[usual]) + np.sqrt(farthest)) ** 2
        asked = np.empty((len(usual), features + 2), np.float32)
        asked[:, :features], asked[:, features], asked[:, features + 1] = -2.0 * moved.T[usual], 1.0, own[usual] + bounds[:, 1]
        near = np.ascontiguousarray(queries.T[usual])
        parts = [Neighbours(np.empty((0, count), np.int64), np.empty((0, count)))]
        for start in range(0, len(usual), len(sums)):
            some = slice(start, start + len(sums))
            product = np.matmul(asked[some], factors, out=sums[: len(asked[some])])
            parts.append(Neighbours(*kernel.among(product, by_row, near[some], bounds[some], 2.0, count)))
        found = Neighbours(*(np.concatenate(columns) for columns in zip(*parts)))
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
    """Convert to single precision, with columns of zeros up to a multiple of those that are summed together."""
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
