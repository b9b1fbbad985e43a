"""Numbers as places in a table of the different ones, found by their bits: leaves of trees answer few, linear models many."""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel

FREE = -1
GOLDEN = 0x9E3779B97F4A7C15  # 2^64 over the golden ratio, odd: Fibonacci hashing


@kernel(types.whole(types.fixed_bits, types.codes, types.bits))
def number(words, places, table):
    """Write each word's place and the different words, in the order in which they come; −1 where they are more than fit."""
    digits, count = 1, 0
    while (1 << digits) < 2 * len(table):
        digits += 1
    mask, shift = (1 << digits) - 1, np.uint64(64 - digits)
    slots = np.full(1 << digits, FREE, np.int32)
    for row in range(len(words)):
        word = words[row]
        slot = np.int64((word * np.uint64(GOLDEN)) >> shift)
        while slots[slot] != FREE and table[slots[slot]] != word:
            slot = (slot + 1) & mask
        if slots[slot] == FREE:
            if count == len(table):
                return np.int64(-1)
            slots[slot] = count
            table[count] = word
            count += 1
        places[row] = slots[slot]
    return np.int64(count)
