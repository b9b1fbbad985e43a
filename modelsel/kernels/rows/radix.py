"""Sorting of many 64-bit words by their digits, the last one first: a pass per digit, none where all words have the same.

Numbers are sorted as words: a float's bits, turned so that their order is that of the numbers (`ledger.rows.hashing`).
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel

BITS = 8  # of a digit: as many places to write to as fit the processor's small tables
DIGITS, SIZE = 64 // BITS, 1 << BITS


@kernel()
def _count_digits(words):
    """Count each digit at each place."""
    found = np.zeros((DIGITS, SIZE), np.int64)
    for word in words:
        for digit in range(DIGITS):
            found[digit, (word >> np.uint64(BITS * digit)) & np.uint64(SIZE - 1)] += 1
    return found


@kernel()
def _starts(counts, total):
    """Turn counts into the start of each digit's words, in place; False where all words have the same digit."""
    before, several = 0, True
    for digit in range(SIZE):
        several = several and counts[digit] != total
        counts[digit], before = before, before + counts[digit]
    return several


@kernel(types.nothing(types.bits, types.bits))
def sort(words, spare):
    """Put words into ascending order; `spare` is as long."""
    counts, here, there, flips = _count_digits(words), words, spare, 0
    for digit in range(DIGITS):
        if _starts(counts[digit], len(words)):
            for word in here:
                place = (word >> np.uint64(BITS * digit)) & np.uint64(SIZE - 1)
                there[counts[digit, place]] = word
                counts[digit, place] += 1
            here, there = there, here
            flips += 1
    if flips % 2:
        words[:] = here


@kernel(types.nothing(types.bits, types.wholes, types.bits, types.wholes))
def arrange(words, order, spare, room):
    """Put words into ascending order and what stands beside them likewise; `spare` and `room` are as long. Stable."""
    counts, flips = _count_digits(words), 0
    here, there, mine, other = words, spare, order, room
    for digit in range(DIGITS):
        if _starts(counts[digit], len(words)):
            for i in range(len(here)):
                place = (here[i] >> np.uint64(BITS * digit)) & np.uint64(SIZE - 1)
                to = counts[digit, place]
                there[to], other[to] = here[i], mine[i]
                counts[digit, place] = to + 1
            here, there, mine, other = there, here, other, mine
            flips += 1
    if flips % 2:
        words[:], order[:] = here, mine
