"""Blocks of a sorted column, and how good a cut inside each can be at most.

The classes of a block are counted in machine words, a field per class. With the counts before the block this gives the box
of all class counts that a cut inside can leave on its left. The criteria are convex in these counts, so that no cut exceeds
the best corner of the box (for entropy a bound that needs no corners).
"""

import numpy as np

from modelsel.kernels.compiler import kernel

FIELD, FIELDS = 6, 10  # bits of a field, and how many a word has
EIGHT = 8  # rows that are counted at once; a block has up to seven times as many
CORNERS = 3  # classes up to which Gini's every corner is tried


@kernel(_nrt=False)
def _one(entry, mask):
    """One in the field of the entry's class."""
    return np.int64(1) << (((np.int64(entry) >> 1) & mask) * FIELD)


@kernel(_nrt=False)
def _count(entries, class_bits, words):
    """Class counts of each eight rows (the last fewer); eight sums in a row are added in vector registers."""
    n, mask, one = len(entries), np.int64((1 << class_bits) - 1), np.uint64(1)
    for j in range(n // EIGHT):
        at = np.uint64(EIGHT * j)
        word = _one(entries[at], mask)
        at += one
        word += _one(entries[at], mask)
        at += one
        word += _one(entries[at], mask)
        at += one
        word += _one(entries[at], mask)
        at += one
        word += _one(entries[at], mask)
        at += one
        word += _one(entries[at], mask)
        at += one
        word += _one(entries[at], mask)
        at += one
        word += _one(entries[at], mask)
        words[j] = word
    word = np.int64(0)
    for i in range(n - n % EIGHT, n):
        word += _one(entries[np.uint64(i)], mask)
    words[n // EIGHT] = word


@kernel(_nrt=False)
def boundaries(entries, block, class_bits, words, bounds, classes):
    """Write the class counts left of each block and, last, of all (classes × blocks + 1); returns how many blocks."""
    n, each = len(entries), block // EIGHT
    blocks = (n + block - 1) // block
    _count(entries, class_bits, words)
    for j in range(n // EIGHT + 1, blocks * each):
        words[j] = 0
    for j in range(blocks):
        word = np.int64(0)
        for k in range(j * each, j * each + each):
            word += words[k]
        words[j] = word
    for c in range(classes):
        own, so_far = bounds[c], np.int64(0)
        own[0] = 0.0
        for j in range(blocks):
            so_far += (words[j] >> (c * FIELD)) & ((1 << FIELD) - 1)
            own[j + 1] = so_far
    return blocks


@kernel(_nrt=False)
def gini_reach(bounds, total, blocks, n, reach):
    """The most that Σ_c l_c² / n_l + Σ_c r_c² / n_r can be in each block: of two classes (the third has no rows) or three."""
    l0, l1, l2, t0, t1, all_ = bounds[0], bounds[1], bounds[2], float(total[0]), float(total[1]), float(n)
    t2 = all_ - t0 - t1
    for j in range(blocks):
        reach[j] = 0.0
    for corner in range(1 << len(total)):
        one, two, three = corner & 1, (corner >> 1) & 1, corner >> 2
        for j in range(blocks):
            a, b, c = l0[j + one], l1[j + two], l2[j + three]
            n_left = a + b + c
            n_right = all_ - n_left
            s_left = a * a + b * b + c * c
            s_right = (t0 - a) * (t0 - a) + (t1 - b) * (t1 - b) + (t2 - c) * (t2 - c)
            value = (s_left * n_right + s_right * n_left) / max(n_left * n_right, 1.0)
            reach[j] = value if value > reach[j] else reach[j]
    for j in range(blocks):
        reach[j] *= 1 + 1e-12


@kernel(_nrt=False)
def entropy_reach(bounds, total, blocks, block, n, table, steps, reach):
    """The most that Σ_c (l_c·log l_c + r_c·log r_c) − n_l·log n_l − n_r·log n_r can be in each block.

    n·log n lies below its chords (of the classes) and above its tangents (of the sides).
    """
    for j in range(blocks):
        first, last = j * block, min(j * block + block, n)
        h = (last - first) // 2
        slope = steps[np.uint64(n - first - h)] - steps[np.uint64(first + h)]
        s = -table[np.uint64(first + h)] - table[np.uint64(n - first - h)] - h * slope
        for c in range(len(total)):
            a, b, t = np.int64(bounds[c, j]), np.int64(bounds[c, j + 1]), total[c]
            before = table[np.uint64(a)] + table[np.uint64(t - a)]
            after = table[np.uint64(b)] + table[np.uint64(t - b)] + (b - a) * slope
            s += max(before, after)
        reach[j] = float(s)
