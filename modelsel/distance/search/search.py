"""The k nearest stored rows of each query: several engines, one answer.

Order is (distance rounded to 40 binary digits, position), and stored rows lie in the order of their digests: a tie goes by
what a row is, never by where it stood, in which block it came or on which thread. `blas` (matrix products) and `tree`
(k-d trees) compute distances in another order of operations, and only propose: their candidates are measured again, and a
query goes to `loops` when a row left out could lie as near as the last one taken.
"""

from collections.abc import Callable

import numpy as np

from modelsel.core.types import Floats, Integers
from modelsel.distance.base import NUMBER, FittedDistance
from modelsel.distance.search.plain import Neighbours, distances, ordered, plain_search
from modelsel.kernels import compiler, stop

QUERIES, CELLS = 256, 1 << 20  # at a time, and times stored rows: what is held in memory, and how often the flag is seen
SPARE = 8  # candidates beyond the k asked for, so that a tie at the end rarely costs a second search
CLEAR = 1 + 1e-9  # a distance this much larger is larger for certain
EPSILON = np.finfo(np.float64).eps
Search = Callable[[Floats, int], Neighbours]


def nearest(metric: FittedDistance, stored: Floats, queries: Floats, count: int, engine: str | None = None) -> Neighbours:
    """Exact neighbours of encoded queries among encoded stored rows (both features × rows, C order), count ≤ rows."""
    search = ENGINES[engine or best_engine(metric, stored, count)](metric, stored)
    parts = [Neighbours(np.empty((0, count), np.int64), np.empty((0, count)))]
    size = max(16, min(QUERIES, CELLS // stored.shape[1]))
    for start in range(0, queries.shape[1], size):
        if stop.FLAG[0]:
            raise stop.Stopped
        parts.append(search(np.ascontiguousarray(queries[:, start : start + size]), count))
    return Neighbours(*(np.concatenate(columns) for columns in zip(*parts)))


def engines(metric: FittedDistance, stored: Floats) -> tuple[str, ...]:
    """List the engines that can search here: products and trees need numbers only, none of them missing."""
    numbers = bool((metric.kinds == NUMBER).all()) and not metric.known_only and bool(np.isfinite(stored).all())
    easy = numbers and metric.power in (1, 2, np.inf) and compiler.wanted()
    return (
        "loops",
        *(("single",) if easy else ()),
        *(("tree",) if numbers else ()),
        *(("blas",) if numbers and metric.power == 2 else ()),
    )


def best_engine(metric: FittedDistance, stored: Floats, count: int) -> str:
    """A tree for many rows in few dimensions, else single precision; products or loops for the rest.

    The crossings are as measured.
    """
    features, rows = stored.shape
    possible = engines(metric, stored)
    if "tree" in possible and features <= 4 and rows >= 20_000 and count <= rows // 100:
        return "tree"
    if "single" in possible and rows >= 500 and count <= rows // 10:
        return "single"
    return "blas" if "blas" in possible and features >= 32 and count <= rows // 50 else "loops"


def loops(metric: FittedDistance, stored: Floats) -> Search:
    """Every distance, in compiled code (or its twin)."""
    kernels = compiler.load("neighbours")
    if kernels is None:
        return lambda queries, count: plain_search(metric, stored, queries, count)
    parts = metric.kinds, metric.missing, metric.sizes, metric.first, metric.tables, metric.power, metric.known_only
    return lambda queries, count: Neighbours(*kernels.search(stored, queries, *parts, count))


def single(metric: FittedDistance, stored: Floats) -> Search:
    """Every distance in single precision, and in double precision what may be among the nearest by its bound of rounding."""
    from modelsel.distance.search.single import search

    return search(metric, stored, loops(metric, stored))


def blas(metric: FittedDistance, stored: Floats) -> Search:
    """|x − y|² − |x|² = |y|² − 2 x·y for a block at once, within (features + 4) roundings of |x|² + |y|²."""
    norms = (stored**2).sum(axis=0)
    products = np.vstack([-2.0 * stored, norms])
    bound = 4 * (len(stored) + 4) * EPSILON

    def search(queries: Floats, count: int) -> Neighbours:
        own = (queries**2).sum(axis=0)
        rows, farthest = _smallest(np.vstack([queries, np.ones_like(own)]).T @ products, count + SPARE)
        reach = np.sqrt(np.maximum(farthest + own - bound * (own + norms.max()), 0.0))
        return _confirmed(metric, stored, queries, count, rows, reach)

    return search


def tree(metric: FittedDistance, stored: Floats) -> Search:
    """A k-d tree (Bentley 1975), whose distances are off by a few roundings."""
    from scipy.spatial import cKDTree

    index = cKDTree(stored.T)

    def search(queries: Floats, count: int) -> Neighbours:
        known = np.nan_to_num(queries)
        distance, rows = map(np.asarray, index.query(known.T, min(count + SPARE, stored.shape[1]), p=metric.power))
        shape = (queries.shape[1], -1)
        return _confirmed(metric, stored, queries, count, rows.reshape(shape), distance.reshape(shape)[:, -1])

    return search


ENGINES: dict[str, Callable[[FittedDistance, Floats], Search]] = {"loops": loops, "single": single, "blas": blas, "tree": tree}


def _confirmed(
    metric: FittedDistance, stored: Floats, queries: Floats, count: int, rows: Integers, reach: Floats
) -> Neighbours:
    """Measure the candidates again and sort them; rows that were left out are at least at `reach`."""
    rows = np.sort(rows.astype(np.int64), axis=1)
    found = ordered(distances(metric, stored[:, rows], queries), rows, count)
    complete = (found.distance[:, -1] * CLEAR < reach) | (rows.shape[1] == stored.shape[1])
    again = np.flatnonzero(~complete | np.isnan(queries).any(axis=0))
    if len(again):
        second = loops(metric, stored)(np.ascontiguousarray(queries[:, again]), count)
        found.rows[again], found.distance[again] = second
    return found


def _smallest(values: Floats, count: int) -> tuple[Integers, Floats]:
    """Return columns of the `count` smallest values of each row, and the largest value among them."""
    count = min(count, values.shape[1])
    kernels = compiler.load("neighbours")
    if kernels is not None:
        columns, smallest = kernels.smallest(values, count)
        return columns, smallest[:, -1]
    columns = np.argpartition(values, count - 1, axis=1)[:, :count]
    return columns, np.take_along_axis(values, columns, axis=1).max(axis=1)
