"""The best cut of a sorted column whose values are all known and whose rows weigh one, by whole numbers alone.

An entry packs row | class | new, where `new` says that the value differs from the one before: cuts need no values. The
classes left of a cut are counted in one machine word, a field per class, as long as it holds them (else in an array).

    entropy   Σ_c l_c·log l_c − n_l·log n_l and the same of the right side, from a table of whole numbers
    Gini      Σ_c l_c² / n_l + Σ_c r_c² / n_r, 1 / n from a table
"""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.contest import information
from modelsel.kernels.layout import CODE, CUTS, ENTROPY, INFORMATION, NOTHING, TIE, VALUE

WORD = 62  # bits of a word of counts


@kernel()
def _entropy(entries, total, left, word, width, class_bits, table, steps, sums, least, tie):
    """Best sum, where, number of admissible cuts, and whether any two values differ."""
    n, mask, low = len(entries), np.int64((1 << class_bits) - 1), np.int64((1 << width) - 1)
    s, so_far, best, bar, at, cuts, differ = sums, np.int64(0), np.int64(0), np.int64(-(2**62)), 0, 0, np.int64(0)
    entry = np.int64(entries[0])
    for i in range(1, n):
        label = (entry >> 1) & mask
        if left is None:
            place = label * width
            a = (so_far >> place) & low
            b = ((word >> place) & low) - a
            so_far += np.int64(1) << place
        else:
            a = left[np.uint64(label)]
            b = total[np.uint64(label)] - a
            left[np.uint64(label)] = a + 1
        s += steps[np.uint64(a)] - steps[np.uint64(b - 1)]
        entry = np.int64(entries[np.uint64(i)])
        new = entry & 1
        differ |= new
        if new and i >= least and n - i >= least:
            cuts += 1
            value = s - table[np.uint64(i)] - table[np.uint64(n - i)]
            if value > bar:
                best, bar, at = value, value + tie, i
    return float(best), at, cuts, differ


@kernel()
def _gini(entries, total, left, word, width, class_bits, shares, sums, least, tie):
    n, mask, low = len(entries), np.int64((1 << class_bits) - 1), np.int64((1 << width) - 1)
    s_left, s_right, so_far, best, bar, at, cuts, differ = np.int64(0), sums, np.int64(0), 0.0, -1.0, 0, 0, np.int64(0)
    entry = np.int64(entries[0])
    for i in range(1, n):
        label = (entry >> 1) & mask
        if left is None:
            place = label * width
            a = (so_far >> place) & low
            b = ((word >> place) & low) - a
            so_far += np.int64(1) << place
        else:
            a = left[np.uint64(label)]
            b = total[np.uint64(label)] - a
            left[np.uint64(label)] = a + 1
        s_left += 2 * a + 1
        s_right -= 2 * b - 1
        entry = np.int64(entries[np.uint64(i)])
        new = entry & 1
        differ |= new
        if new and i >= least and n - i >= least:
            cuts += 1
            value = float(s_left) * shares[np.uint64(i)] + float(s_right) * shares[np.uint64(n - i)]
            if value > bar:
                best, bar, at = value, value + tie, i
    return best, at, cuts, differ


@kernel()
def in_a_word(total, n):
    """The class counts as one word and the width of its fields; width 0 where it cannot hold them."""
    width = 1
    while n >> width:
        width += 1
    if width * len(total) > WORD:
        return np.int64(0), np.int64(0)
    word = np.int64(0)
    for c in range(len(total)):
        word |= total[c] << (c * width)
    return word, np.int64(width)


@kernel()
def search(entries, total, left, word, width, rules, table, steps, shares, scale, sums, least, found):
    """Write the best cut into `found`: CODE is the number of rows left of it (< 0: none; CUTS < 0: constant column)."""
    n = len(entries)
    if rules.fused == ENTROPY:
        tie = np.int64(max(TIE * n * scale, 8.0))
        if width > 0:
            best, at, cuts, differ = _entropy(
                entries, None, None, word, width, rules.class_bits, table, steps, sums, least, tie
            )
        else:
            left[:] = 0
            best, at, cuts, differ = _entropy(
                entries, total, left, word, width, rules.class_bits, table, steps, sums, least, tie
            )
        found[VALUE] = (best - float(sums - table[n])) / n / scale
    else:
        if width > 0:
            best, at, cuts, differ = _gini(entries, None, None, word, width, rules.class_bits, shares, sums, least, TIE * n)
        else:
            left[:] = 0
            best, at, cuts, differ = _gini(entries, total, left, word, width, rules.class_bits, shares, sums, least, TIE * n)
        found[VALUE] = (best - float(sums) / n) / n
    found[CODE] = at if cuts > 0 else NOTHING
    found[CUTS] = cuts if differ else NOTHING
    if rules.ratio:
        found[INFORMATION] = information(float(at), float(n - at), 0.0)
