"""Class weights per level of a nominal feature at a node.

Where weights are whole numbers and few bits hold them all, a row is one machine word with a field per class, and is counted by
one addition.
"""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.layout import BRANCH, BY_SURROGATES, CODE, DIVIDED, EQUALITY, FRACTIONAL, MULTIWAY, SIDE, SURROGATE

WORD = 63  # bits


@kernel(_nrt=False)
def field_of(total, classes):
    """Bits that hold any class weight of a node, 0 where a word has no room for all classes."""
    bits = 1
    while total >> bits:
        bits += 1
    return bits if bits * classes <= WORD else 0


@kernel(_nrt=False)
def words_of(y, weight, field, words):
    """The word of each row: its weight in the field of its class."""
    for i in range(len(words)):
        words[i] = np.int64(weight[i]) << (field * y[i])


@kernel(_nrt=False)
def ascend(items, count):
    """Sort the first items, in place: insertion over halving gaps (Shell 1959)."""
    gap = count // 2
    while gap > 0:
        for i in range(gap, count):
            item, j = items[i], i
            while j >= gap and items[j - gap] > item:
                items[j] = items[j - gap]
                j -= gap
            items[j] = item
        gap //= 2


@kernel(_nrt=False)
def _by_words(codes, rows, words, field, levels, classes, table, tally, seen):
    """By words: missing values are counted as one level more."""
    mask, more, present = (np.int64(1) << field) - 1, levels + 1, 0
    for level in range(more):
        tally[level] = 0
    for i in range(len(rows)):
        code = np.int64(codes[np.uint64(rows[i])])
        tally[np.uint64(code + ((code >> WORD) & more))] += words[i]
    for level in range(more):
        word, total = tally[level], np.int64(0)
        if word != 0 or level == levels:
            own = table[level]
            for c in range(classes):
                part = word & mask
                own[c] = part
                total += part
                word >>= field
            own[classes] = total
            if level < levels:
                seen[present] = level
                present += 1
    return present


@kernel(_nrt=False)
def _dense(codes, rows, y, weight, levels, classes, table, seen):
    """By weights, where there are no more levels than rows."""
    present, more = 0, levels + 1
    for level in range(more):
        for c in range(classes + 1):
            table[level, c] = 0.0
    for i in range(len(rows)):
        code = np.int64(codes[np.uint64(rows[i])])
        table[np.uint64(code + ((code >> WORD) & more)), np.uint64(y[i])] += weight[i]
    for level in range(levels):
        own, total = table[level], 0.0
        for c in range(classes):
            total += own[c]
        own[classes] = total
        if total > 0.0:
            seen[present] = level
            present += 1
    return present


@kernel(_nrt=False)
def _sparse(codes, rows, y, weight, levels, classes, table, seen):
    """By weights, where most levels do not occur: they are not looked at."""
    present = 0
    for i in range(-1, len(rows)):
        level = codes[rows[i]] if i >= 0 else levels
        for c in range(classes + 1 if level >= 0 else 0):
            table[level, c] = 0.0
    for i in range(len(rows)):
        level = codes[rows[i]]
        if level >= 0 and table[level, classes] == 0.0:
            seen[present] = level
            present += 1
        if level < 0:
            level = levels
        table[level, classes] += weight[i]
        table[level, y[i]] += weight[i]
    ascend(seen, present)
    return present


@kernel(_nrt=False)
def count(codes, rows, y, weight, words, field, levels, table, tally, seen, absent):
    """Weights per level and class, and per level in the column after the classes; returns how many levels occur.

    seen: those that occur, in order; absent: class weights of the missing values, also row `levels` of the table.
    """
    classes = len(absent)
    if levels > len(rows):
        present = _sparse(codes, rows, y, weight, levels, classes, table, seen)
    elif field > 0:
        present = _by_words(codes, rows, words, field, levels, classes, table, tally, seen)
    else:
        present = _dense(codes, rows, y, weight, levels, classes, table, seen)
    for c in range(classes):
        absent[c] = table[levels, c]
    return present


@kernel(_nrt=False)
def side_of(rules, fill, inside, found, levels):
    """Return the branch of a missing value: with the node's mode, or where the search put it."""
    if rules.missing == FRACTIONAL:
        return DIVIDED
    if rules.missing == SURROGATE:
        return BY_SURROGATES
    if rules.missing == BRANCH:
        if rules.nominal == MULTIWAY:
            return levels
        return found[SIDE] if rules.nominal == EQUALITY else 1.0 - inside[levels]
    if rules.nominal == MULTIWAY:
        return fill
    if rules.nominal == EQUALITY:
        return 0.0 if fill == found[CODE] else 1.0
    return 1.0 - inside[fill]
