"""The nearest stored rows of each query: every distance summed up over the features in their order, in float64.

    d = (Σ t^p)^(1/p); order is (d rounded to 40 binary digits, which is 12 decimal ones; position of the stored row)

Stored rows are taken in blocks that stay in the cache, and a block's distances are summed feature by feature. A term that
is NaN (a missing value where only known ones count) is left out, and the sum is divided by the number of the others.
"""

from typing import Any

import numpy as np
from numba import float64, int64, types
from numpy.typing import NDArray

from modelsel.kernels.compiler import kernel

BLOCK = 1024  # stored rows at a time
NUMBER, NAME = 0, 1
SPLIT = 8193.0  # 2¹³ + 1: Veltkamp's split (1968) keeps 40 of 53 digits
BEYOND = 1 + 1e-9  # more than rounding can do to a distance

_matrix = types.Array(float64, 2, "C", readonly=True)
_vector = types.Array(float64, 1, "C", readonly=True)
_integers = types.Array(int64, 1, "C", readonly=True)
_kinds = types.Array(types.int8, 1, "C", readonly=True)


Array = NDArray[Any]


@kernel()
def _differences(column: Array, value: float, kind: int, table: Array, size: int, missing: float, terms: Array) -> None:
    """Compute each stored value's difference from the query's: |x − y|, 0 or 1, or an entry of the table."""
    if value != value:
        terms[:] = missing
    elif kind == NUMBER:
        for j in range(len(column)):
            term = abs(column[j] - value)
            terms[j] = term if term == term else missing
    elif kind == NAME:
        for j in range(len(column)):
            term = 0.0 if column[j] == value else 1.0
            terms[j] = term if column[j] == column[j] else missing
    else:
        start = int(value) * size
        for j in range(len(column)):
            terms[j] = missing if column[j] != column[j] else table[start + int(column[j])]


@kernel()
def _add(sums: Array, terms: Array, power: float) -> None:
    """Add a feature's terms, raised to the power, to the running sums; the largest for an infinite power."""
    if power == 2.0:
        for j in range(len(sums)):
            sums[j] += terms[j] * terms[j]
    elif power == 1.0:
        for j in range(len(sums)):
            sums[j] += terms[j]
    elif np.isinf(power):
        for j in range(len(sums)):
            sums[j] = max(sums[j], terms[j])
    else:
        for j in range(len(sums)):
            sums[j] += terms[j] ** power


@kernel()
def _add_numbers(sums: Array, column: Array, value: float, missing: float, power: float) -> None:
    """The two steps above in one, for the commonest case: a known number, and p = 1, 2 or ∞."""
    if power == 2.0:
        for j in range(len(sums)):
            term = abs(column[j] - value)
            term = term if term == term else missing
            sums[j] += term * term
    elif power == 1.0:
        for j in range(len(sums)):
            term = abs(column[j] - value)
            sums[j] += term if term == term else missing
    else:
        for j in range(len(sums)):
            term = abs(column[j] - value)
            term = term if term == term else missing
            sums[j] = term if term > sums[j] else sums[j]


@kernel()
def _add_known(sums: Array, known: Array, terms: Array) -> None:
    """Add up the terms that are known, and count them."""
    for j in range(len(sums)):
        if terms[j] == terms[j]:
            sums[j] += terms[j]
            known[j] += 1.0


@kernel()
def _mean(sums: Array, known: Array) -> None:
    """Rows that share no known feature are as far as can be."""
    for j in range(len(sums)):
        sums[j] = sums[j] / known[j] if known[j] > 0.0 else 1.0


@kernel()
def _distance(total: float, power: float) -> float:
    """Take the root of a sum."""
    if power == 2.0:
        total = np.sqrt(total)
    elif power != 1.0 and not np.isinf(power):
        total = total ** (1.0 / power)
    return total


@kernel()
def _round(distance: float) -> float:
    """Round a distance to half its bits, so that rounding errors do not decide ties."""
    if distance > 1e300:
        return distance
    product = distance * SPLIT
    return product - (product - distance)


@kernel()
def _limit(distance: float, power: float) -> float:
    """Sums from here on cannot come before a row at this distance."""
    return (distance if power == 1.0 or np.isinf(power) else distance**power) * BEYOND


@kernel()
def _insert(index: Array, distance: Array, row: int, near: float) -> None:
    """Put a row behind those that are not farther, and drop the last."""
    key, place, end = _round(near), 0, len(distance) - 1
    while place < end:
        middle = (place + end) // 2
        if _round(distance[middle]) > key:
            end = middle
        else:
            place = middle + 1
    for after in range(len(distance) - 1, place, -1):
        distance[after] = distance[after - 1]
        index[after] = index[after - 1]
    distance[place] = near
    index[place] = row


@kernel()
def _offer(sums: Array, start: int, power: float, index: Array, distance: Array) -> None:
    """Let the rows of a block, from position `start`, compete with the nearest so far."""
    last = len(distance) - 1
    limit = _limit(distance[last], power)
    for j in range(len(sums)):
        if sums[j] < limit:
            near = _distance(sums[j], power)
            if _round(near) < _round(distance[last]):
                _insert(index, distance, start + j, near)
                limit = _limit(distance[last], power)


@kernel(
    types.Tuple((types.Array(int64, 2, "C"), types.Array(float64, 2, "C")))(
        _matrix, _matrix, _kinds, _vector, _integers, _integers, _vector, float64, types.boolean, int64
    )
)
def search(
    stored: Array, queries: Array, kinds: Array, missing: Array, sizes: Array, first: Array, tables: Array,
    power: float, known_only: bool, count: int,
) -> tuple[Array, Array]:  # fmt: skip
    """Positions and distances of the `count` nearest stored rows per query; both matrices are features × rows."""
    rows, fused = stored.shape[1], not known_only and (power == 1.0 or power == 2.0 or np.isinf(power))
    index = np.full((queries.shape[1], count), -1, np.int64)
    distance = np.full((queries.shape[1], count), np.inf)
    terms, sums, known = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    for start in range(0, rows, BLOCK):
        width = min(BLOCK, rows - start)
        term, total, seen = terms[:width], sums[:width], known[:width]
        for q in range(queries.shape[1]):
            total[:] = 0.0
            seen[:] = 0.0
            for f in range(len(stored)):
                column = stored[f, start : start + width]
                if fused and kinds[f] == NUMBER and queries[f, q] == queries[f, q]:
                    _add_numbers(total, column, queries[f, q], missing[f], power)
                    continue
                _differences(column, queries[f, q], kinds[f], tables[first[f] :], sizes[f], missing[f], term)
                if known_only:
                    _add_known(total, seen, term)
                else:
                    _add(total, term, power)
            if known_only:
                _mean(total, seen)
            _offer(total, start, power, index[q], distance[q])
    return index, distance


@kernel(types.Tuple((types.Array(int64, 2, "C"), types.Array(float64, 2, "C")))(types.Array(float64, 2, "C"), int64))
def smallest(values: Array, count: int) -> tuple[Array, Array]:
    """Columns and values of the `count` smallest numbers of each row, ascending (what they are candidates for decides ties)."""
    index = np.full((len(values), count), -1, np.int64)
    value = np.full((len(values), count), np.inf)
    for q in range(len(values)):
        row, kept, place = values[q], value[q], index[q]
        for j in range(values.shape[1]):
            if row[j] < kept[count - 1]:
                _insert(place, kept, j, row[j])
    return index, value
