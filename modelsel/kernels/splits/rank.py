"""Columns as ranks: rows by value and the rank of each value.

As a whole number, a float's bits stand in its order, up from zero and down from it where negative. A word value | row is sorted
by the digits of its value, the last first, which leaves equal values in the order of their rows (few words by NumPy). Where the
bits in which a column's numbers differ leave no room for the number of the row, the last of them are left out, and rows that
are then alike are put in order afterwards; only where that would take long does a radix sort take the digits in which any two
differ. Whole numbers that lie close to each other need no sort: they are counted. Equal values stay in the order of their rows,
and missing values come last.
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
WIDE = 12  # bits of a digit of words, at most: its table stays close to the processor
SORTED = 1024  # rows from which words are sorted by digits
ROOM = 62  # bits of a word of value | row, beside one for missing
CLOSE = 1024  # whole numbers in a range below this are counted
STRETCH = 256  # values looked at together
ALIKE = 8  # rows moved, per row, among those whose words are cut short, before a radix sort is quicker
SIGN = ZERO = np.uint64(1 << 63)
ONE, TWO, NONE, ALL = np.uint64(1), np.uint64(2), np.uint64(0), np.uint64(2**64 - 1)


@kernel(_nrt=False)
def _key(value, bits):
    """Ordered whole number of a value; missing values have the largest."""
    key = ZERO - (bits & ~SIGN) if bits & SIGN else ZERO + bits  # −0 is 0
    return key if value == value else ALL


@kernel(_nrt=False)
def _bits(key):
    """The bits of the value that a key stands for."""
    return key - ZERO if key >= ZERO else SIGN | (ZERO - key)


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
def _close(column):
    """Lowest and highest known value; nothing (1, 0) where they are not whole numbers close to each other."""
    low, high = np.inf, -np.inf
    for first in range(0, len(column), STRETCH):
        wrong = 0
        for i in range(first, min(first + STRETCH, len(column))):
            value = column[np.uint64(i)]
            wrong += (np.floor(value) != value) & (value == value)
            low = value if value < low else low
            high = value if value > high else high
        if wrong:
            return 1.0, 0.0
    return (low, high) if high - low < CLOSE else (1.0, 0.0)


@kernel(_nrt=False)
def _words(column, bits, row_bits, words):
    """Words value | row, key = low + (value << spare); the value that stands for missing, low, spare, and whether cut short.

    Words that are cut short leave out bits in which keys differ: there was no room for all of them.
    """
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
        while width < 64 and ((high - low) >> spare) >> np.uint64(width):  # a shift by 64 shifts nothing
            width += 1
    short = width + row_bits > ROOM
    if short:
        spare += np.uint64(width + row_bits - ROOM)
        width = ROOM - row_bits
    missing = np.int64(1) << width
    for i in range(len(column)):
        value = np.int64((np.uint64(words[i]) - low) >> spare) if column[i] == column[i] else missing
        words[i] = (value << row_bits) | i
    return missing, low, spare, np.uint64(short)


@kernel(_nrt=False)
def _count(column, bits, low, missing, tally, codes, order, values):
    """Rank of each value (−1 where missing) and the bits of the distinct values; returns how many.

    The later half of the rows is counted apart, so that a processor need not wait for the row before.
    """
    n, count, so_far, start = len(column), np.int64(0), np.int64(0), np.int64(0)
    half = np.int64(n // 2)
    for i in range(n):
        value = column[i]
        codes[i] = np.int32(value - low) if value == value else np.int32(missing)
    for k in range(3 * missing + 3):
        tally[k] = 0
    for i in range(half, n):
        tally[np.uint64(3 * codes[np.uint64(i)] + 1)] += 1
    for i in range(half):
        tally[np.uint64(3 * codes[np.uint64(i)])] += 1
    for value in range(missing + 1):
        first, second = tally[3 * value], tally[3 * value + 1]
        tally[3 * value], tally[3 * value + 1], tally[3 * value + 2] = so_far, so_far + first, count
        so_far += first + second
        count += first + second > 0 and value < missing
    tally[3 * missing + 2] = -1
    for i in range(half, n):
        place, row = np.uint64(3 * codes[np.uint64(i)]), np.uint64(i - half)
        order[np.uint64(tally[place + ONE])], codes[np.uint64(i)] = i, tally[place + TWO]
        tally[place + ONE] += 1
        if i - half < half:
            place = np.uint64(3 * codes[row])
            order[np.uint64(tally[place])], codes[row] = i - half, tally[place + TWO]
            tally[place] += 1
    for value in range(missing):
        end = tally[3 * value + 1]
        if end > start:
            values[tally[3 * value + 2]] = np.int64(_bits(_key(column[order[start]], bits[order[start]])))
            order[start] = ~order[start]
        start = end
    return count


@kernel(
    types.nothing(
        types.fixed_rows,
        types.fixed_words,
        types.whole,
        types.fixed_wholes,
        types.columns,
        types.columns,
        types.entries,
        types.wholes,
        types.wholes,
        types.words,
    )
)
def pack(block, bits, row_bits, part, codes, order, words, counts, missing, frame):
    """Rank columns of whole numbers close to each other; for the others fill `words` (columns × rows), to be sorted.

    counts: distinct values of a column that is ranked, whose bits lead its `words`; −1 of others;
    missing: the value that stands for missing in words; frame: low and spare of words, and whether they are cut short.
    """
    tally = np.empty(3 * CLOSE + 3, np.int64)
    for t in range(len(block)):
        low, high = _close(block[t])
        if low <= high:
            absent = np.int64(high - low) + 1
            counts[t] = _count(block[t], bits[t], low, absent, tally, codes[part[t]], order[t], words[t])
        else:
            counts[t] = -1
            missing[t], frame[t, 0], frame[t, 1], frame[t, 2] = _words(block[t], bits[t], row_bits, words[t])


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
def _codes(keys, rows, codes, order, values):
    """The same from keys in order."""
    count, before = 0, NONE  # no number has this key
    for i in range(len(rows)):
        row, key = np.uint64(rows[i]), keys[i]
        if key == ALL:
            codes[row], order[i] = -1, rows[i]
            continue
        order[i] = rows[i] if key == before else ~rows[i]
        if key != before:
            values[count] = _bits(key)
            count += 1
            before = key
        codes[row] = count - 1
    return count


@kernel(_nrt=False)
def _spread(words, missing, row_bits, low, spare, codes, order, values):
    """The same from sorted words."""
    count, before, mask = np.int64(0), np.int64(-1), (np.int64(1) << row_bits) - 1
    for i in range(len(words)):
        row, value = words[i] & mask, words[i] >> row_bits
        if value == missing:
            codes[np.uint64(row)], order[i] = -1, row
            continue
        new = np.int64(value != before)
        order[i] = row ^ -new
        values[np.uint64(count - 1 + new)] = _bits(low + (np.uint64(value) << spare))
        count += new
        before = value
        codes[np.uint64(row)] = count - 1
    return count


@kernel(_nrt=False)
def _arrange(words, row_bits, spare, ends):
    """Sort words that stand in the order of their rows, by digits of their values; `ends` has room for all digits."""
    n, every, width = len(words), np.int64(0), np.int64(0)
    for i in range(n):
        every |= words[np.uint64(i)]
    while (every >> row_bits) >> width:
        width += 1
    passes = max((width + WIDE - 1) // WIDE, 1)
    digit = (width + passes - 1) // passes
    size, here, there, shift = np.int64(1) << digit, words, spare, row_bits
    for k in range(passes * size):
        ends[k] = 0
    for i in range(n):
        value = words[np.uint64(i)] >> row_bits
        for k in range(passes):
            ends[np.uint64(k * size + (value & (size - 1)))] += 1
            value >>= digit
    for k in range(passes):
        own, at = ends[k * size : (k + 1) * size], np.int32(0)
        for each in range(size):
            at, own[each] = at + own[each], at
        for i in range(n):
            word = here[np.uint64(i)]
            place = np.uint64((word >> shift) & (size - 1))
            there[np.uint64(own[place])] = word
            own[place] += 1
        here, there, shift = there, here, shift + digit
    for i in range(n if passes & 1 else 0):
        words[np.uint64(i)] = spare[np.uint64(i)]


@kernel(_nrt=False)
def _settle(words, row_bits, column, bits, keys):
    """Put rows whose words are alike into the order of their keys, and fill `keys`; False where that would take long."""
    mask, left, n = (np.int64(1) << row_bits) - 1, ALIKE * len(words), len(words)
    for i in range(n):
        word = words[i]
        row = word & mask
        key, at = _key(column[row], bits[row]), i
        while at > 0 and keys[at - 1] > key:  # rows of a shorter word are never larger
            keys[at], words[at] = keys[at - 1], words[at - 1]
            at -= 1
        keys[at], words[at] = key, word
        left -= i - at
        if left < 0:
            return False
    return True


@kernel(_nrt=False)
def _spread_keys(words, row_bits, keys, codes, order, values):
    """The same from words and their keys in order."""
    count, before, mask = np.int64(0), NONE, (np.int64(1) << row_bits) - 1  # no number has this key
    for i in range(len(words)):
        row, key = words[i] & mask, keys[i]
        if key == ALL:
            codes[np.uint64(row)], order[i] = -1, row
            continue
        new = np.int64(key != before)
        order[i] = row ^ -new
        values[np.uint64(count - 1 + new)] = _bits(key)
        count += new
        before = key
        codes[np.uint64(row)] = count - 1
    return count


@kernel(
    types.nothing(
        types.fixed_rows,
        types.fixed_words,
        types.entries,
        types.wholes,
        types.wholes,
        types.words,
        types.whole,
        types.fixed_wholes,
        types.columns,
        types.columns,
        types.bits,
    )
)
def rank(block, bits, words, counts, missing, frame, row_bits, part, codes, order, flat):
    """Rank the other columns: `counts` of distinct values, codes[part] and `order` (~row where a value begins).

    words: sorted already where rows are fewer than SORTED. flat: bits of the distinct values, a column after the other.
    """
    n, at = block.shape[1], np.int64(0)
    digit = MANY if SMALL < n < LARGE else FEW
    mask, step = np.uint64((1 << digit) - 1), np.uint64(digit)
    ends, room = np.zeros(1 << digit, np.int64), 0
    spare = np.empty(n if n >= SORTED else 0, np.int64)
    digits = np.empty((ROOM // WIDE + 1) << WIDE if n >= SORTED else 0, np.int32)
    for t in range(len(block)):
        room = n if counts[t] < 0 and frame[t, 2] else room
    keys, to_keys = np.empty(room, np.uint64), np.empty(room, np.uint64)
    rows, to_rows = np.empty(room, np.int32), np.empty(room, np.int32)
    for t in range(len(block)):
        own, values = codes[part[t]], flat[at:]
        if counts[t] >= 0:
            for i in range(counts[t]):
                values[i] = np.uint64(words[t, i])
            at += counts[t]
            continue
        if n >= SORTED:
            _arrange(words[t], row_bits, spare, digits)
        if not frame[t, 2]:
            counts[t] = _spread(words[t], missing[t], row_bits, frame[t, 0], frame[t, 1], own, order[t], values)
        elif _settle(words[t], row_bits, block[t], bits[t], keys):
            counts[t] = _spread_keys(words[t], row_bits, keys, own, order[t], values)
        else:
            differ, shift = _keys(block[t], bits[t], keys, rows), NONE
            while differ:
                while not differ & ONE:
                    differ >>= ONE
                    shift += ONE
                _by_digit(keys, rows, to_keys, to_rows, shift, mask, ends)
                keys, to_keys, rows, to_rows = to_keys, keys, to_rows, rows
                differ >>= step
                shift += step
            counts[t] = _codes(keys, rows, own, order[t], values)
        at += counts[t]
