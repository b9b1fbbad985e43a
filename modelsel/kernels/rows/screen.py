"""Screening hashes of rows: a sum over a few columns of each cell's mixed bits, one column at a time.

A cell counts with the 24 leading bits of its number (as float32), so that a copy in single precision has the same hash. The key
of a column keeps values of two columns apart. It is far cheaper than a keyed BLAKE2b and as exact as 64 bits are; it is no
one-way function, and stands in the home beside its key alone (`ledger.rows.screens`).
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel

MISSING = 0xFFC00001  # the bits of any NaN


@kernel()
def _mix(value, key, factor):
    """The mixed bits of a cell in single precision."""
    single = np.float32(value + 0.0)  # minus nought is nought
    bits = np.uint64(single.view(np.uint32)) if single == single else np.uint64(MISSING)
    mixed = bits * key
    return (mixed ^ (mixed >> np.uint64(32))) * factor


@kernel()
def _passes(hash_, marks, spread, last):
    bit = ((hash_ ^ (hash_ >> np.uint64(29))) * spread >> np.uint64(20)) & last
    return (marks[bit >> np.uint64(6)] >> (bit & np.uint64(63))) & np.uint64(1)


@kernel(types.nothing(types.strided_reals, types.word, types.word, types.bits))
def add(values, key, factor, sums):
    """Add a column's cells to the sums of its rows."""
    for row in range(len(values)):
        sums[row] += _mix(values[row], key, factor)


@kernel(types.whole(types.strided_reals, types.word, types.word, types.fixed_bits, types.word, types.wholes, types.bits))
def passing(values, key, factor, marks, spread, found, hashes):
    """Write the places of the rows whose hash by this column alone is among the marks, and these; return how many there are."""
    count, last = 0, np.uint64(64 * len(marks) - 1)
    for row in range(len(values)):
        mixed = _mix(values[row], key, factor)
        if _passes(mixed, marks, spread, last):
            found[count], hashes[count] = row, mixed
            count += 1
    return count
