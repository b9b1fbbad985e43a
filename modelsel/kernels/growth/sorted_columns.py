"""Sorted columns of which a node has a stretch, parted in place: the first child's rows in order, then the second's.

An entry is a whole number of which the highest bits name the row and the lowest says `new`: the value differs from the one
before, so that cuts need no values. What stands between is what a grower adds up (a class, a number).
"""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.layout import BRANCH, DIVIDED, FRACTIONAL

STRETCH = 256  # rows looked at together for a first difference


@kernel()
def pack(order, words, out, entries):
    """The entries of each sorted column: words of rows but for `new`; a row whose word is `out` is not among the chosen."""
    for f in range(order.shape[0]):
        at, new = 0, np.int64(0)
        sorted_rows, own = order[f], entries[f]
        for i in range(order.shape[1]):
            row = np.int64(sorted_rows[i])
            begins = row >> 63
            new |= begins & 1
            word = np.int64(words[np.uint64(row ^ begins)])
            if word != out:
                own[np.uint64(at)] = word | new
                at += 1
                new = np.int64(0)


@kernel()
def with_ties(entries):
    """Say of each column whether any two of its rows have the same value."""
    ties = np.zeros(len(entries), np.uint8)
    for f in range(len(entries)):
        all_new, own = np.int64(1), entries[f]
        for i in range(len(own)):
            all_new &= np.int64(own[np.uint64(i)])
        ties[f] = all_new & 1 == 0
    return ties


@kernel()
def inverses(n):
    """1/i for i = 0 … n, the first of them 0."""
    shares = np.zeros(n + 1)
    for i in range(1, n + 1):
        shares[i] = 1.0 / i
    return shares


@kernel(_nrt=False)
def differ(column):
    """Say whether any two values differ (a stretch at a time: most columns differ early)."""
    some = column[0] & 0
    for first in range(1, len(column), STRETCH):
        for i in range(first, min(first + STRETCH, len(column))):
            some |= column[np.uint64(i)]
        if some & 1:
            return True
    return False


@kernel(_nrt=False)
def _part(column, side, at, shift, spare):
    """One sorted column, in order: rows of side 0 first. A row that loses those before it inherits their `new`."""
    zero, one, new_zero, new_one = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for i in range(len(column)):
        entry = np.int64(column[i])
        later = np.int64(side[np.uint64(entry >> shift)])
        new_zero |= entry & 1
        new_one |= entry & 1
        column[np.uint64(zero)] = entry | new_zero
        spare[np.uint64(one)] = entry | new_one
        one += later
        zero += 1 - later
        new_zero &= later
        new_one &= 1 - later
    for i in range(one):
        column[np.uint64(at + i)] = spare[np.uint64(i)]


@kernel(_nrt=False)
def _part_distinct(column, side, at, shift, spare):
    """The same of a column without ties, where all rows stay `new`."""
    zero, one = np.int64(0), np.int64(0)
    for i in range(len(column)):
        entry = np.int64(column[i])
        later = np.int64(side[np.uint64(entry >> shift)])
        column[np.uint64(zero)] = entry
        spare[np.uint64(one)] = entry
        one += later
        zero += 1 - later
    for i in range(one):
        column[np.uint64(at + i)] = spare[np.uint64(i)]


@kernel(_nrt=False)
def _keep(column, side, wanted, shift):
    """One sorted column, in order: rows of the wanted side alone."""
    at, new = np.int64(0), np.int64(0)
    for i in range(len(column)):
        entry = np.int64(column[i])
        other = np.int64(side[np.uint64(entry >> shift)]) ^ wanted
        new |= entry & 1
        column[np.uint64(at)] = entry | new
        at += 1 - other
        new &= other


@kernel(_nrt=False)
def part_all(entries, start, end, f, below, ties, side, at, shift, spare, zero, one):
    """Part all sorted columns of a node but the chosen one, which is in order; only one side where the other is not wanted."""
    for g in range(len(entries)):
        if below[g] and zero and one and g != f:
            if ties[g]:
                _part(entries[g, start:end], side, at, shift, spare)
            else:
                _part_distinct(entries[g, start:end], side, at, shift, spare)
        elif below[g] and zero != one and not (zero and g == f):
            _keep(entries[g, start:end], side, np.int64(one), shift)


@kernel(_nrt=False)
def missing_to(policy, at, left, right):
    """Return the branch of a later row with a missing value: by policy, the node's median or its larger side."""
    if policy == FRACTIONAL:
        return DIVIDED
    if policy == BRANCH:
        return 1 if right > left else 0
    return 0 if (left + right - 1) // 2 < at else 1
