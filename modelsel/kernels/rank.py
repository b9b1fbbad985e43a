"""Columns as ranks: rows by value and the rank of each value, by a radix sort of the numbers' bits.

As a whole number, a float's bits stand in its order once the lower bits of the negative ones are turned round. Only the
digits in which a column's numbers differ are sorted by, so that few distinct values cost little; equal values stay in the
order of their rows, and missing values come last.
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel

SMALL, LARGE, FEW, MANY = (
    4096,
    200_000,
    8,
    11,
)  # a digit has MANY bits between: a small table for few rows, few streams for many
SIGN = np.uint64(1 << 63)
ONE, NONE, ALL = np.uint64(1), np.uint64(0), np.uint64(2**64 - 1)


@kernel()
def _keys(column, bits, keys, rows):
    """Ordered whole numbers of the values, and the bits in which any two differ."""
    differ = NONE
    for i in range(len(column)):
        key = bits[i]
        if column[i] != column[i]:
            key = ALL
        elif column[i] == 0.0:
            key = SIGN  # −0 is 0
        elif key & SIGN:
            key = ~key
        else:
            key |= SIGN
        keys[i], rows[i] = key, i
        differ |= key ^ keys[0]
    return differ


@kernel()
def _by_digit(keys, rows, to_keys, to_rows, shift, mask, ends):
    """One pass: a stable sort by one digit."""
    ends[:] = 0
    for i in range(len(keys)):
        ends[(keys[i] >> shift) & mask] += 1
    at = np.int64(0)
    for digit in range(len(ends)):
        at, ends[digit] = at + ends[digit], at
    for i in range(len(keys)):
        key = keys[i]
        digit = (key >> shift) & mask
        place = np.uint64(ends[digit])
        to_keys[place], to_rows[place] = key, rows[i]
        ends[digit] += 1


@kernel()
def _codes(column, keys, rows, codes, order, values):
    """Rank of each value (−1 where missing) and the distinct values; returns how many."""
    count, before = 0, NONE  # no number has this key
    for i in range(len(rows)):
        row, key = np.uint64(rows[i]), keys[i]
        if key == ALL:
            codes[row], order[i] = -1, rows[i]
            continue
        order[i] = rows[i] if key == before else ~rows[i]
        if key != before:
            values[count] = column[row]
            count += 1
            before = key
        codes[row] = count - 1
    return count


@kernel(types.wholes(types.fixed_rows, types.fixed_words, types.columns, types.columns, types.matrix))
def rank(block, bits, codes, order, values):
    """Fill `codes`, `order` (~row where a value begins), `values` (columns × rows); how many distinct values per column."""
    n = block.shape[1]
    digit = MANY if SMALL < n < LARGE else FEW
    mask, step = np.uint64((1 << digit) - 1), np.uint64(digit)
    counts, ends = np.zeros(len(block), np.int64), np.zeros(1 << digit, np.int64)
    keys, to_keys, rows, to_rows = np.empty(n, np.uint64), np.empty(n, np.uint64), np.empty(n, np.int32), np.empty(n, np.int32)
    for t in range(len(block)):
        differ, shift = _keys(block[t], bits[t], keys, rows), NONE
        while differ:
            while not differ & ONE:
                differ >>= ONE
                shift += ONE
            _by_digit(keys, rows, to_keys, to_rows, shift, mask, ends)
            keys, to_keys, rows, to_rows = to_keys, keys, to_rows, rows
            differ >>= step
            shift += step
        counts[t] = _codes(block[t], keys, rows, codes[t], order[t], values[t])
    return counts
