"""The k nearest stored rows of each query: several engines, one answer.

Order is (distance rounded to 40 binary digits, position), and stored rows lie in the order of their digests: a tie goes by
what a row is, never by where it stood, in which block it came or on which thread. `blas` (matrix products) and `tree`
(k-d trees) compute distances in another order of operations, and only propose: their candidates are measured again, and a
query goes to `loops` when a row left out could lie as near as the last one taken.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import blake2b
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Floats, Integers
from modelsel.distance.base import LEVELS, NAME, NUMBER, FittedDistance
from modelsel.kernels import compiler, stop

# Distances in NumPy: features added up in their order, one element at a time. The oracle of every search.


SPLIT = 8193.0  # 2¹³ + 1


class Neighbours(NamedTuple):
    """Per query, the nearest stored rows, nearest first: `rows` (positions) and `distance` are queries × count."""

    rows: Integers
    distance: Floats


def plain_search(metric: FittedDistance, stored: Floats, queries: Floats, count: int) -> Neighbours:
    """All distances, sorted by (rounded distance, position)."""
    return nearest_in_order(distances(metric, stored, queries), np.arange(stored.shape[1])[None], count)


def nearest_in_order(distance: Floats, rows: Integers, count: int) -> Neighbours:
    """The first `count` of some rows (queries × rows, ascending positions) by rounded distance, then position."""
    order = np.argsort(round_distance(distance), axis=1, kind="stable")[:, :count]
    everywhere = np.broadcast_to(rows, distance.shape)
    return Neighbours(np.take_along_axis(everywhere, order, axis=1), np.take_along_axis(distance, order, axis=1))


def distances(metric: FittedDistance, stored: Floats, queries: Floats) -> Floats:
    """Distances, queries × stored rows; `stored` is features × rows, or features × queries × rows of each query's own."""
    total = np.zeros((queries.shape[1], stored.shape[-1]))
    known = np.zeros_like(total)
    for f in range(len(stored)):
        term = _terms(metric, f, stored[f], queries[f][:, None])
        known += ~np.isnan(term)
        if np.isinf(metric.power):
            np.maximum(total, term, out=total)
        else:
            total += np.nan_to_num(term**metric.power)
    if metric.known_only:
        return np.where(known > 0, total / np.maximum(known, 1), 1.0)
    return _root(total, metric.power)


def round_distance(distance: Floats) -> Floats:
    """Round to 40 binary digits (Veltkamp 1968), which is 12 decimal ones.

    >>> float(round_distance(np.array([0.1 + 0.2]))[0]) == float(round_distance(np.array([0.3]))[0])
    True
    """
    product = np.minimum(distance, 1e300) * SPLIT
    return np.where(distance > 1e300, distance, product - (product - distance))


def _root(total: Floats, power: float) -> Floats:
    """Take the root that a Minkowski distance of this power ends with."""
    if power == 2:
        return np.sqrt(total)
    if power == 1 or np.isinf(power):
        return total
    root: Floats = np.power(total, 1 / power)
    return root


def _terms(metric: FittedDistance, f: int, column: Floats, value: Floats) -> Floats:
    """Compute one feature's differences between a value and the values of a column."""
    term: Floats
    if metric.kinds[f] == NAME:
        term = (column != value).astype(np.float64)
    elif metric.kinds[f] == LEVELS:
        size = int(metric.sizes[f])
        table = metric.tables[metric.first[f] :][: size * size].reshape(size, size)
        term = table[np.nan_to_num(value).astype(int), np.nan_to_num(column).astype(int)]
    else:
        term = np.abs(column - value)
    return np.where(np.isnan(column) | np.isnan(value), metric.missing[f], term)


QUERIES, CELLS = 1024, 1 << 20  # at a time, and times stored rows: what is held in memory, and how often the flag is seen
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
    easy = numbers and metric.power in (1, 2, np.inf) and compiler.is_wanted()
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
    """Every distance, in compiled code or in NumPy."""
    kernels = compiler.load_compiled("neighbours")
    if kernels is None:
        return lambda queries, count: plain_search(metric, stored, queries, count)
    parts = metric.kinds, metric.missing, metric.sizes, metric.first, metric.tables, metric.power, metric.known_only
    return lambda queries, count: Neighbours(*kernels.search(stored, queries, *parts, count))


def single(metric: FittedDistance, stored: Floats) -> Search:
    """Every distance in single precision, and in double precision what may be among the nearest by its bound of rounding."""

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
        return _confirm(metric, stored, queries, count, rows, reach)

    return search


def tree(metric: FittedDistance, stored: Floats) -> Search:
    """A k-d tree (Bentley 1975), whose distances are off by a few roundings."""
    from scipy.spatial import cKDTree

    index = cKDTree(stored.T)

    def search(queries: Floats, count: int) -> Neighbours:
        known = np.nan_to_num(queries)
        distance, rows = map(np.asarray, index.query(known.T, min(count + SPARE, stored.shape[1]), p=metric.power))
        shape = (queries.shape[1], -1)
        return _confirm(metric, stored, queries, count, rows.reshape(shape), distance.reshape(shape)[:, -1])

    return search


ENGINES: dict[str, Callable[[FittedDistance, Floats], Search]] = {"loops": loops, "single": single, "blas": blas, "tree": tree}


def _confirm(metric: FittedDistance, stored: Floats, queries: Floats, count: int, rows: Integers, reach: Floats) -> Neighbours:
    """Measure the candidates again and sort them; rows that were left out are at least at `reach`."""
    rows = np.sort(rows.astype(np.int64), axis=1)
    found = nearest_in_order(distances(metric, stored[:, rows], queries), rows, count)
    complete = (found.distance[:, -1] * CLEAR < reach) | (rows.shape[1] == stored.shape[1])
    again = np.flatnonzero(~complete | np.isnan(queries).any(axis=0))
    if len(again):
        second = loops(metric, stored)(np.ascontiguousarray(queries[:, again]), count)
        found.rows[again], found.distance[again] = second
    return found


def _smallest(values: Floats, count: int) -> tuple[Integers, Floats]:
    """Return columns of the `count` smallest values of each row, and the largest value among them."""
    count = min(count, values.shape[1])
    kernels = compiler.load_compiled("neighbours")
    if kernels is not None:
        columns, smallest = kernels.smallest(values, count)
        return columns, smallest[:, -1]
    columns = np.argpartition(values, count - 1, axis=1)[:, :count]
    return columns, np.take_along_axis(values, columns, axis=1).max(axis=1)


# Numbers as the single-precision search takes them, and how far its sums can be off.
#
# Values are centred and scaled by a power of two: no square overflows. With u = 2⁻²⁴, half the spacing at 1, a difference
# of two rounded values is off by δ_f ≤ 2u (|x_f| + |y_f|), and a sum t of F differences by Σ δ_f + 2 (F + 4) u t for p = 1,
# by the largest δ_f + 4 u t for p = ∞, and for p = 2, of squares, by 2 √t |δ| + |δ|² + 2 (F + 4) u t.
#
# With p = 2 and some features, t = |x|² + |y|² − 2 x·y comes from a matrix product of F + 2 factors, a quarter of the work.
# Rounded factors and sums are off by at most 2u (F + 8) (|x| + |y|)², which is added to |y|² so that no sum is negative.
# Where some rows lie far out, that bound hides too much, and differences are taken.

TOGETHER, HALF = 4, 2.0**-24  # features that the kernel sums together; half the spacing of single precision at 1
LEAST = 1e-120  # spread below which squares of differences are not what they are in double precision either
CELLS_AT_ONCE = 1 << 19  # sums at a time: what stays near
PRODUCTS = 4  # features from which a product is quicker than differences
TOLD_APART = 1e-3  # of the mean square: what a product's rounding may hide
BEHIND = 1e30  # squared distance of what fills the last stored rows up
FAR = 2.0**20  # spreads from the stored rows beyond which a query is searched for in double precision


def search(
    metric: FittedDistance, stored: Floats, otherwise: Callable[[Floats, int], Neighbours]
) -> Callable[[Floats, int], Neighbours]:
    """A search among encoded stored rows (features × rows); queries that are not near, or have holes, are handed over."""
    kernel = compiler.load_compiled("single")
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
    """Find neighbours by matrix products, a block of queries each; None where differences are quicker or more exact."""
    features, rows = centred.shape
    norms = (centred**2).sum(axis=0)
    farthest, share = float(norms.max()), 2 * HALF * (features + 8)
    if features < PRODUCTS or 16 * share * farthest > TOLD_APART * float(norms.mean()):
        return None
    kernel = compiler.load_compiled("single")
    assert kernel is not None, "single() was asked first"
    factors = np.zeros((features + 2, -(-rows // kernel.LANES) * kernel.LANES), np.float32)
    factors[:features, :rows], factors[features, :rows], factors[features + 1] = centred, norms, 1.0
    factors[features, rows:] = BEHIND
    sums = np.empty((max(16, CELLS_AT_ONCE // rows), factors.shape[1]), np.float32)

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


# The last searches of a study's cells: two distances that are one and the same on some rows search them once.
#
# HEOM and the Euclidean distance by ranges differ where a name or a missing value is compared, and nowhere else. Whoever asks
# for what another thread is searching already waits for it. Outside of cells (`share_searches`) nothing is remembered.

KEPT = 4
WORTH = 1 << 20  # distances from which a digest of the rows costs less than a hundredth of the search

_LOCK = Lock()
_SHARED: ContextVar[bool] = ContextVar("shared", default=False)
_SEARCHES: OrderedDict[Hashable, Future[Neighbours]] = OrderedDict()


@contextmanager
def share_searches() -> Iterator[None]:
    """Remember searches within the block, in this thread, and find them again."""
    token = _SHARED.set(True)
    try:
        yield
    finally:
        _SHARED.reset(token)


def neighbours(metric: FittedDistance, stored: Floats, queries: Floats, count: int) -> Neighbours:
    """Search as `nearest` does, unless these very rows were searched by the same differences already."""
    small = stored.shape[1] * queries.shape[1] < WORTH
    if small or not _SHARED.get() or not _by_numbers(metric, stored, queries):
        return nearest(metric, stored, queries, count)
    key = metric.power, count, stored.shape, queries.shape, _digest(stored), _digest(queries)
    with _LOCK:
        known = _SEARCHES.get(key)
        own = _SEARCHES[key] = known or Future()
        _SEARCHES.move_to_end(key)
        while len(_SEARCHES) > KEPT:
            _SEARCHES.popitem(last=False)
    if known is not None and known.exception() is None:
        return known.result()
    try:
        found = nearest(metric, stored, queries, count)
    except BaseException as problem:
        _forget(key, own)
        if own is not known:
            own.set_exception(problem)
        raise
    if own is not known:
        own.set_result(found)
    return found


def _forget(key: Hashable, failed: Future[Neighbours]) -> None:
    with _LOCK:
        if _SEARCHES.get(key) is failed:
            del _SEARCHES[key]


def _by_numbers(metric: FittedDistance, stored: Floats, queries: Floats) -> bool:
    """Say whether the distance is made of differences of known numbers alone."""
    numbers = bool((metric.kinds == NUMBER).all()) and not metric.known_only
    return numbers and not (np.isnan(stored).any() or np.isnan(queries).any())


def _digest(values: Floats) -> bytes:
    return blake2b(np.ascontiguousarray(values).data, digest_size=16).digest()
