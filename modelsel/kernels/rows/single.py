"""The nearest stored rows of each query, proposed in single precision and measured as `neighbours` measures them.

Differences of numbers that were rounded to 24 binary digits are off by a known bound. Every row that may be among the nearest
by that bound is kept, and then measured in double precision, feature by feature in their order: the same bits as without.
"""

from typing import Any

import numpy as np
from numba import float32, float64, int64, types
from numpy.typing import NDArray

from modelsel.kernels.compiler import kernel
from modelsel.kernels.rows.neighbours import _distance, _insert, _round

TILE, LANES, SOME, TOGETHER = 512, 64, 16, 4  # stored rows at a time, rows asked together, features summed together
INFINITE = 0x7F800000  # bits of infinity
FINITE, AGAIN = INFINITE - 1, 8  # bits of the largest number; proposals, at least, before they are sifted again
SQUARE_ROOT, CONSTANT, SHARE = range(3)  # the bound at a sum t: a √t + b + c t

_narrow = types.Array(float32, 2, "C", readonly=True)
_matrix = types.Array(float64, 2, "C", readonly=True)

Array = NDArray[Any]


@kernel(_nrt=False)
def _squares(a: Array, b: Array, c: Array, d: Array, u: float, v: float, w: float, x: float, sums: Array) -> None:
    for j in range(len(sums)):
        e, f, g, h = a[j] - u, b[j] - v, c[j] - w, d[j] - x
        sums[j] += (e * e + f * f) + (g * g + h * h)


@kernel(_nrt=False)
def _absolute(a: Array, b: Array, c: Array, d: Array, u: float, v: float, w: float, x: float, sums: Array) -> None:
    for j in range(len(sums)):
        sums[j] += (abs(a[j] - u) + abs(b[j] - v)) + (abs(c[j] - w) + abs(d[j] - x))


@kernel(_nrt=False)
def _largest(a: Array, b: Array, c: Array, d: Array, u: float, v: float, w: float, x: float, sums: Array) -> None:
    """Keep the largest difference over four features at a time."""
    for j in range(len(sums)):
        e, f, g, h = abs(a[j] - u), abs(b[j] - v), abs(c[j] - w), abs(d[j] - x)
        e, g = e if e > f else f, g if g > h else h
        e = e if e > g else g
        sums[j] = e if e > sums[j] else sums[j]


@kernel(_nrt=False)
def _sum_up(stored: Array, start: int, query: Array, power: float, sums: Array) -> None:
    """Approximate sums of one query's differences from the rows of a tile; features stand in fours."""
    end = start + len(sums)
    for j in range(len(sums)):
        sums[j] = 0.0
    for f in range(0, len(stored), TOGETHER):
        a, b, c, d = stored[f, start:end], stored[f + 1, start:end], stored[f + 2, start:end], stored[f + 3, start:end]
        u, v, w, x = query[f], query[f + 1], query[f + 2], query[f + 3]
        if power == 2.0:
            _squares(a, b, c, d, u, v, w, x, sums)
        elif power == 1.0:
            _absolute(a, b, c, d, u, v, w, x, sums)
        else:
            _largest(a, b, c, d, u, v, w, x, sums)


@kernel(_nrt=False)
def _select(items: Array, last: int, rank: int) -> object:
    """The item of a rank among the first, in linear time (Hoare 1961); items are moved."""
    low, high = 0, last
    while low < high:
        pivot, i, j = items[(low + high) // 2], low, high
        while i <= j:
            while items[i] < pivot:
                i += 1
            while pivot < items[j]:
                j -= 1
            if i <= j:
                items[i], items[j] = items[j], items[i]
                i += 1
                j -= 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            break
    return items[rank]


@kernel(_nrt=False)
def _reach(t: float, bound: Array) -> object:
    """Up to which sum rows may be among the nearest, where so many are within t."""
    return np.float32(t + 4.0 * (bound[SQUARE_ROOT] * np.sqrt(t) + bound[CONSTANT] + bound[SHARE] * t))


@kernel(_nrt=False)
def _sift(rows: Array, values: Array, many: int, count: int, bound: Array, spare: Array) -> Any:
    """Drop proposals that cannot be among the nearest; how many are left, and up to which sum others may be."""
    if many < count:
        return many, np.float32(np.inf)
    for i in range(many):
        spare[i] = values[i]
    t, left = np.float64(_select(spare, many - 1, count - 1)), 0
    reach = _reach(t, bound)
    for i in range(many):
        if values[i] <= reach:
            rows[left], values[left] = rows[i], values[i]
            left += 1
    return left, reach


@kernel(_nrt=False)
def _any(bits: Array, most: int) -> Any:
    """Say whether one of the values is no larger, by the signs of differences, eight in one instruction."""
    signs, beyond = np.int32(0), np.int32(most + 1)
    for j in range(len(bits)):
        signs |= bits[j] - beyond
    return signs < 0


@kernel(_nrt=False)
def _propose(
    sums: Array, bits: Array, start: int, count: int, bound: Array, rows: Array, values: Array, own: Array, spare: Array
) -> None:
    """Note rows of a tile that may be among the nearest.

    own: the number noted, the number before they are sifted, and the bits of the sum up to which they are noted, by which sums
    compare as whole numbers do.
    """
    for low in range(0, len(sums), LANES):
        if not _any(bits[low : low + LANES], own[2]):
            continue
        for first in range(low, low + LANES, SOME):
            if not _any(bits[first : first + SOME], own[2]):
                continue
            for j in range(first, first + SOME):
                if bits[j] > own[2]:
                    continue
                rows[own[0]], values[own[0]] = start + j, sums[j]
                own[0] += 1
                if own[0] == own[1]:
                    own[0], reach = _sift(rows, values, own[0], count, bound, spare)
                    own[1] = own[0] + max(count // 2, AGAIN)
                    spare[0] = reach
                    own[2] = min(spare.view(np.int32)[0], FINITE)


@kernel(_nrt=False)
def _measure(row: Array, query: Array, power: float) -> Any:
    """Compute the distance of two rows, summed in the order of `neighbours`."""
    total = 0.0
    for f in range(len(row)):
        term = abs(row[f] - query[f])
        if power == 2.0:
            total += term * term
        elif power == 1.0:
            total += term
        else:
            total = term if term > total else total
    return _distance(total, power)


@kernel(
    types.Tuple((types.Array(int64, 2, "C"), types.Array(float64, 2, "C")))(
        _narrow, _narrow, _matrix, _matrix, _matrix, float64, int64
    )
)
def search(
    narrow: Array, asked: Array, stored: Array, queries: Array, bounds: Array, power: float, count: int
) -> tuple[Array, Array]:
    """Positions and distances of the `count` nearest stored rows per query.

    narrow: features × stored rows and asked: queries × features, in single precision; stored, queries: row by row; bounds:
    per query.
    """
    rows, many = narrow.shape[1], len(asked)
    index, distance = np.full((many, count), -1, np.int64), np.full((many, count), np.inf)
    place, value, spare = np.empty((many, rows), np.int32), np.empty((many, rows), np.float32), np.empty(rows, np.float32)
    sums, state = np.empty(TILE, np.float32), np.empty((many, 3), np.int32)
    bits = sums.view(np.int32)
    for q in range(many):
        state[q, 0], state[q, 1], state[q, 2] = 0, count + AGAIN, FINITE
    for start in range(0, rows, TILE):
        own = sums[: min(TILE, rows - start)]
        for j in range(len(own), TILE):
            sums[j] = np.inf  # behind the last row
        for q in range(many):
            _sum_up(narrow, start, asked[q], power, own)
            _propose(sums, bits, start, count, bounds[q], place[q], value[q], state[q], spare)
    for q in range(many):
        left, _ = _sift(place[q], value[q], state[q, 0], count, bounds[q], spare)
        for i in range(left):
            near = _measure(stored[place[q, i]], queries[q], power)
            if _round(near) < _round(distance[q, count - 1]):
                _insert(index[q], distance[q], place[q, i], near)
    return index, distance


@kernel(_nrt=False)
def _within(sums: Array, bits: Array, count: int, bound: Array, rows: Array, values: Array, least: Array) -> Any:
    """Note rows that may be among the nearest: as many groups have a sum within that of the group of rank `count` by its least.

    Sums are not negative, so that they compare as the whole numbers of their bits do.
    """
    groups, many, order = len(sums) // LANES, 0, least.view(np.int32)
    for g in range(groups):
        group, lowest = bits[g * LANES : (g + 1) * LANES], np.int32(INFINITE)
        for j in range(len(group)):
            lowest = min(lowest, group[j])
        order[g] = lowest
        values[g] = least[g]
    reach = np.float32(np.inf)
    if count <= groups:
        reach = _reach(np.float64(_select(values, groups - 1, count - 1)), bound)
    for g in range(groups):
        if least[g] <= reach:
            for j in range(g * LANES, (g + 1) * LANES):
                if sums[j] <= reach:
                    rows[many], values[many] = j, sums[j]
                    many += 1
    return many


@kernel(
    types.Tuple((types.Array(int64, 2, "C"), types.Array(float64, 2, "C")))(
        types.Array(float32, 2, "C"), _matrix, _matrix, _matrix, float64, int64
    )
)
def among(sums: Array, stored: Array, queries: Array, bounds: Array, power: float, count: int) -> tuple[Array, Array]:
    """Return the same as `search` from sums that are there: queries × stored rows, filled up to a multiple of `LANES`."""
    many, rows, bits = len(sums), sums.shape[1], sums.view(np.int32)
    index, distance = np.full((many, count), -1, np.int64), np.full((many, count), np.inf)
    place, value, spare = np.empty(rows, np.int32), np.empty(rows, np.float32), np.empty(rows, np.float32)
    for q in range(many):
        left = _within(sums[q], bits[q], count, bounds[q], place, value, spare)
        left, _ = _sift(place, value, left, count, bounds[q], spare)
        for i in range(left):
            if place[i] >= len(stored):
                continue
            near = _measure(stored[place[i]], queries[q], power)
            if _round(near) < _round(distance[q, count - 1]):
                _insert(index[q], distance[q], place[i], near)
    return index, distance
