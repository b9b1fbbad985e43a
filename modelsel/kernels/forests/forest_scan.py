"""The usual case, written out: a numeric column without missing values, whole weights, and a criterion that is known here.

An entry is code | class | weight (32, 16 and 16 bits), so that a scan reads one word per row. `bar`: what both branches
together must exceed; returned are the best value and the number of entries before its cut (0: none).
"""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.layout import GINI

CLASS, LOW = np.uint64(16), np.uint64(32)
FIELD = np.uint64(0xFFFF)
SHORT = 32  # entries that are sorted by insertion
SMALL, LARGE, MANY = 8, 11, 4096  # digits of a radix sort, and entries from which they are large


@kernel(_nrt=False)
def gather(codes, drawn, words, keys):
    """Entries of the rows of a node, and the bits in which their codes differ; the last one is −1 where a value is missing."""
    lowest, highest = np.int32(2**31 - 1), np.int32(-1)
    for i in range(len(drawn)):
        code = codes[np.uint64(drawn[np.uint64(i)])]
        keys[np.uint64(i)] = (np.uint64(np.uint32(code)) << LOW) | words[np.uint64(i)]
        lowest, highest = min(lowest, code), max(highest, code)
    return lowest, highest


@kernel(_nrt=False)
def sort(keys, spare, buckets, n, bits):
    """Sort by code; equal ones stay in their order. Returns whether they end in `spare`."""
    if n <= SHORT:
        for i in range(1, n):
            key, j = keys[i], i
            while j > 0 and (keys[j - 1] >> LOW) > (key >> LOW):
                keys[j] = keys[j - 1]
                j -= 1
            keys[j] = key
        return False
    width = LARGE if n >= MANY else SMALL
    mask = np.uint64((1 << width) - 1)
    one, other, swapped = keys, spare, False
    for shift in range(0, bits, width):
        at, so_far = np.uint64(32 + shift), 0
        for b in range(1 << width):
            buckets[b] = 0
        for i in range(n):
            buckets[(one[np.uint64(i)] >> at) & mask] += 1
        for b in range(1 << width):
            buckets[b], so_far = so_far, so_far + buckets[b]
        for i in range(n):
            key = one[np.uint64(i)]
            b = (key >> at) & mask
            other[np.uint64(buckets[b])] = key
            buckets[b] += 1
        one, other, swapped = other, one, not swapped
    return swapped


@kernel(_nrt=False)
def gini_of_two(keys, n, total, least, bar, tie):
    """Two classes: Σ n_c²/n of both branches from two sums."""
    weight = total[0] + total[1]
    left, own, at, best = 0.0, 0.0, 0, bar
    for i in range(n - 1):
        key = keys[np.uint64(i)]
        w = np.float64(key & FIELD)
        left += w
        own += w * np.float64((key >> CLASS) & FIELD)
        if (keys[np.uint64(i + 1)] ^ key) >> LOW and i + 1 >= least and n - 1 - i >= least:
            right, others = weight - left, total[1] - own
            value = (own * own + (left - own) * (left - own)) / left + (
                others * others + (right - others) * (right - others)
            ) / right
            if value > best + tie:
                best, at = value, i + 1
    return best, at


@kernel(_nrt=False)
def gini(keys, n, total, firsts, least, bar, tie):
    """Σ n_c²/n of both branches."""
    left, right, lefts, rights, at, best = 0.0, 0.0, 0.0, 0.0, 0, bar
    for c in range(len(total)):
        firsts[c] = 0.0
        right += total[c]
        rights += total[c] * total[c]
    for i in range(n - 1):
        key = keys[np.uint64(i)]
        w, c = np.float64(key & FIELD), (key >> CLASS) & FIELD
        own = firsts[c]
        lefts += w * (2.0 * own + w)
        rights -= w * (2.0 * (total[c] - own) - w)
        firsts[c] = own + w
        left += w
        right -= w
        if (keys[np.uint64(i + 1)] ^ key) >> LOW and i + 1 >= least and n - 1 - i >= least:
            value = lefts / left + rights / right
            if value > best + tie:
                best, at = value, i + 1
    return best, at


@kernel(_nrt=False)
def entropy(keys, n, total, firsts, table, least, bar, tie):
    """Σ n_c·log n_c − n·log n of both branches, in whole numbers."""
    left, right, sums, at, best = np.int64(0), np.int64(0), 0.0, 0, bar
    for c in range(len(total)):
        firsts[c] = 0.0
        right += np.int64(total[c])
        sums += table[np.int64(total[c])]
    for i in range(n - 1):
        key = keys[np.uint64(i)]
        w, c = np.int64(key & FIELD), (key >> CLASS) & FIELD
        own = np.int64(firsts[c])
        others = np.int64(total[c]) - own
        sums += (table[own + w] - table[own]) + (table[others - w] - table[others])
        firsts[c] = np.float64(own + w)
        left += w
        right -= w
        if (keys[np.uint64(i + 1)] ^ key) >> LOW and i + 1 >= least and n - 1 - i >= least:
            value = sums - (table[left] + table[right])
            if value > best + tie:
                best, at = value, i + 1
    return best, at


@kernel(_nrt=False)
def tally(codes, drawn, words, found, rows, levels):
    """Class weights and rows per code; False where a value is missing."""
    for code in range(levels):
        rows[code] = 0
        for c in range(found.shape[1]):
            found[code, c] = 0.0
    for i in range(len(drawn)):
        code = codes[np.uint64(drawn[np.uint64(i)])]
        if code < 0:
            return False
        word = words[np.uint64(i)]
        found[np.uint64(code), (word >> CLASS) & FIELD] += np.float64(word & FIELD)
        rows[np.uint64(code)] += 1
    return True


@kernel(_nrt=False)
def by_code(found, rows, levels, n, total, firsts, table, fused, least, bar, tie):
    """The best cut between codes that occur: its value, the code before it (−1: none), and the code after it."""
    left, weight, here, best, at, following = 0.0, 0.0, 0, bar, -1, -1
    for c in range(len(total)):
        firsts[c] = 0.0
        weight += total[c]
    last = -1
    for code in range(levels):
        if rows[code] == 0:
            continue
        if last >= 0 and here >= least and n - here >= least:
            value = _both(total, firsts, left, weight, table, fused)
            if value > best + tie:
                best, at, following = value, last, code
        for c in range(len(total)):
            firsts[c] += found[code, c]
            left += found[code, c]
        here += rows[code]
        last = code
    return best, at, following


@kernel(_nrt=False)
def _both(total, firsts, left, weight, table, fused):
    right, lefts, rights = weight - left, 0.0, 0.0
    for c in range(len(total)):
        others = total[c] - firsts[c]
        if fused == GINI:
            lefts += firsts[c] * firsts[c]
            rights += others * others
        else:
            lefts += table[np.int64(firsts[c])] + table[np.int64(others)]
    if fused == GINI:
        return lefts / left + rights / right
    return lefts - (table[np.int64(left)] + table[np.int64(right)])
