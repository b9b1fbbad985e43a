"""Columns as ranks: rows by value and the rank of each value.

As a whole number, a float's bits stand in its order, up from zero and down from it where negative. Where the
bits in which a column's numbers differ leave room for the number of the row in one word, value | row is sorted as it is (by
NumPy, in vector registers); else a radix sort takes the digits in which any two differ. Equal values stay in the order of
their rows, and missing values come last.
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
ROOM = 62  # bits of a word of value | row, beside one for missing
SIGN = ZERO = np.uint64(1 << 63)
ONE, NONE, ALL = np.uint64(1), np.uint64(0), np.uint64(2**64 - 1)


@kernel(_nrt=False)
def _key(value, bits):
    """Ordered whole number of a value; missing values have the largest."""
    key = ZERO - (bits & ~SIGN) if bits & SIGN else ZERO + bits  # −0 is 0
    return key if value == value else ALL


@kernel(_nrt=False)
def _keys(column, bits, keys, rows):
    """Ordered whole numbers of the values, and the bits in which any two differ."""
    differ = NONE
    for i in range(len(column)):
        key = _key(column[i], bits[i])
        keys[i], rows[i] = key, i
        differ |= key ^ keys[0]
    return differ


@kernel(_nrt=False)
def _words(column, bits, row_bits, words):
    """Words value | row; returns the value that stands for missing, −1 where there is no room for both."""
    low, high, differ, first, missing = ALL, NONE, NONE, NONE, np.int64(0)
    for i in range(len(column)):
        if column[i] == column[i]:
            first = _key(column[i], bits[i])
            break
    for i in range(len(column)):
        key = _key(column[i], bits[i])
        words[i] = np.int64(key)
        known = column[i] == column[i]
        low, high = min(low, key), max(high, key if known else NONE)
        differ |= (key ^ first) if known else NONE
    spare, width = NONE, np.int64(0)
    while differ and not (differ >> spare) & ONE:
        spare += ONE
    if high >= low:
        while ((high - low) >> spare) >> np.uint64(width):
            width += 1
    if width + row_bits > ROOM:
        return np.int64(-1)
    missing = np.int64(1) << width
    for i in range(len(column)):
        value = np.int64((np.uint64(words[i]) - low) >> spare) if column[i] == column[i] else missing
        words[i] = (value << row_bits) | i
    return missing


@kernel(types.wholes(types.fixed_rows, types.fixed_words, types.whole, types.entries))
def pack(block, bits, row_bits, words):
    """Fill `words` (columns × rows), to be sorted; per column the value that stands for missing, −1 where there was no room."""
    missing = np.empty(len(block), np.int64)
    for t in range(len(block)):
        missing[t] = _words(block[t], bits[t], row_bits, words[t])
    return missing


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


@kernel(_nrt=False)
def _spread(column, words, missing, row_bits, codes, order, values):
    """The same from sorted words."""
    count, before, mask = np.int64(0), np.int64(-1), (np.int64(1) << row_bits) - 1
    for i in range(len(words)):
        row, value = words[i] & mask, words[i] >> row_bits
        if value == missing:
            codes[np.uint64(row)], order[i] = -1, row
            continue
        new = np.int64(value != before)
        order[i] = row ^ -new
        if new:
            values[count] = column[np.uint64(row)]
        count += new
        before = value
        codes[np.uint64(row)] = count - 1
    return count


@kernel(
    types.wholes(
        types.fixed_rows,
        types.fixed_words,
        types.entries,
        types.wholes,
        types.whole,
        types.fixed_wholes,
        types.columns,
        types.columns,
        types.matrix,
    )
)
def rank(block, bits, words, missing, row_bits, part, codes, order, values):
    """How many distinct values each column has; fills codes[part], `order` (~row where a value begins) and `values`.

    `values` may lie over `words`: a word is read before a value takes its place.
    """
    n = block.shape[1]
    digit = MANY if SMALL < n < LARGE else FEW
    mask, step = np.uint64((1 << digit) - 1), np.uint64(digit)
    counts, ends = np.zeros(len(block), np.int64), np.zeros(1 << digit, np.int64)
    room = n if missing.min() < 0 else 0
    keys, to_keys = np.empty(room, np.uint64), np.empty(room, np.uint64)
    rows, to_rows = np.empty(room, np.int32), np.empty(room, np.int32)
    for t in range(len(block)):
        if missing[t] >= 0:
            counts[t] = _spread(block[t], words[t], missing[t], row_bits, codes[part[t]], order[t], values[t])
            continue
        differ, shift = _keys(block[t], bits[t], keys, rows), NONE
        while differ:
            while not differ & ONE:
                differ >>= ONE
                shift += ONE
            _by_digit(keys, rows, to_keys, to_rows, shift, mask, ends)
            keys, to_keys, rows, to_rows = to_keys, keys, to_rows, rows
            differ >>= step
            shift += step
        counts[t] = _codes(block[t], keys, rows, codes[part[t]], order[t], values[t])
    return counts
