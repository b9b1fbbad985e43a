"""Cuts of a column of few codes in the usual case (`forest_scan`): its rows are counted, not sorted."""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.forests.search.forest_sort import CLASS, FIELD
from modelsel.kernels.layout import GINI


@kernel(_nrt=False)
def tally(codes, drawn, words, cells, rows, levels, classes, least):
    """Class weights, code after code, and rows where a branch must have some; False where a value is missing."""
    for cell in range(levels * classes):
        cells[cell] = 0
    wide = np.uint64(classes)
    if least <= 1.0:
        lowest = np.int32(0)
        for i in range(len(drawn)):
            code = codes[np.uint64(drawn[np.uint64(i)])]
            word = words[np.uint64(i)]
            lowest = min(lowest, code)
            cells[np.uint64(max(code, 0)) * wide + ((word >> CLASS) & FIELD)] += np.int32(word & FIELD)
        return lowest == 0
    for code in range(levels):
        rows[code] = 0
    for i in range(len(drawn)):
        code = codes[np.uint64(drawn[np.uint64(i)])]
        if code < 0:
            return False
        word = words[np.uint64(i)]
        cells[np.uint64(code) * wide + ((word >> CLASS) & FIELD)] += np.int32(word & FIELD)
        rows[np.uint64(code)] += 1
    return True


@kernel(_nrt=False)
def by_code(cells, rows, levels, n, total, firsts, least, bar, tie, node):
    """Find the best cut between codes that occur, by Gini's index.

    Returned are its value, the code before it (−1: none) and after it, the weight left of it, and how many codes occur.
    Σ (N_c − n_c)² = Σ N_c² − 2·Σ N_c·n_c + Σ n_c²; whole numbers below 2⁵³ in floating point are exact.
    """
    classes, here, last, found = len(total), 0, -1, 0
    best, at, following, best_left = bar, -1, -1, 0.0
    weight, squares, left, lefts, crossed = node[1], np.float64(node[2]), 0.0, 0.0, 0.0
    for c in range(classes):
        firsts[c] = 0.0
    for code in range(levels):
        start, own, more, crossing = np.uint64(code * classes), 0.0, 0.0, 0.0
        for c in range(np.uint64(classes)):
            w, first = np.float64(cells[start + c]), firsts[c]
            own += w
            more += w * (2.0 * first + w)
            crossing += total[c] * w
            firsts[c] = first + w
        if own == 0.0:
            continue
        if last >= 0 and (least <= 1.0 or (here >= least and n - here >= least)):
            value = lefts / left + (squares - 2.0 * crossed + lefts) / (weight - left)
            if value > best + tie:
                best, at, following, best_left = value, last, code, left
        left += own
        lefts += more
        crossed += crossing
        here += rows[code]
        last = code
        found += 1
    return best, at, following, best_left, found


@kernel(_nrt=False)
def by_code_of_terms(cells, rows, levels, n, total, firsts, table, least, bar, tie, node):
    """Find the same by the entropy."""
    classes, left, here, last, found = len(total), np.int64(0), 0, -1, 0
    best, at, following, best_left = bar, -1, -1, 0.0
    weight = np.int64(node[1])
    for c in range(classes):
        firsts[c] = 0.0
    for code in range(levels):
        start, own = code * classes, np.int64(0)
        for c in range(classes):
            own += cells[start + c]
        if own == 0:
            continue
        if last >= 0 and (least <= 1.0 or (here >= least and n - here >= least)):
            value = -(table[left] + table[weight - left])
            for c in range(classes):
                value += table[np.int64(firsts[c])] + table[np.int64(total[c] - firsts[c])]
            if value > best + tie:
                best, at, following, best_left = value, last, code, np.float64(left)
        for c in range(classes):
            firsts[c] += cells[start + c]
        left += own
        here += rows[code]
        last = code
        found += 1
    return best, at, following, best_left, found


@kernel(_nrt=False)
def of_bits(bits, place, drawn, words):
    """A column of two values and two classes: weight, weight of the second class and rows of the lower value."""
    word_of, shift = np.uint64(place >> 6), np.uint64(place & 63)
    weight, own, rows = np.uint64(0), np.uint64(0), np.uint64(0)
    for i in range(len(drawn)):
        lower = (bits[np.uint64(drawn[np.uint64(i)]), word_of] >> shift) & np.uint64(1)  # 1: the lower value
        word = words[np.uint64(i)]
        w = (word & FIELD) & (np.uint64(0) - lower)
        weight += w
        own += w & (np.uint64(0) - (word >> CLASS))
        rows += lower
    return np.float64(weight), np.float64(own), np.int64(rows)


@kernel(inline="always", _nrt=False)
def two_by_two(left, own, total, table, fused):
    """Purity of both branches of two classes."""
    others, right = total[1] - own, total[0] + total[1] - left
    if fused == GINI:
        return (own * own + (left - own) * (left - own)) / left + (
            others * others + (right - others) * (right - others)
        ) / right
    sums = table[np.int64(own)] + table[np.int64(left - own)] + table[np.int64(others)] + table[np.int64(right - others)]
    return sums - (table[np.int64(left)] + table[np.int64(right)])
