"""The best cut of a sorted column whose values are all known and whose rows weigh one, by whole numbers alone.

An entry packs row | class | new, where `new` says that the value differs from the one before: cuts need no values. A long
column is first taken in blocks (`kernels/growth/blocks`), and only blocks that may hold a better cut than the best so far are
looked at cut by cut.

    entropy   Σ_c l_c·log l_c − n_l·log n_l and the same of the right side, from a table of whole numbers
    Gini      Σ_c l_c² / n_l + Σ_c r_c² / n_r, 1 / n from a table
"""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.growth.sorted_columns import differ
from modelsel.kernels.layout import CODE, CUTS, ENTROPY, INFORMATION, NOTHING, TIE, VALUE
from modelsel.kernels.splits.split_competition import information

# Blocks of a sorted column, and how good a cut inside each can be at most.
#
# The classes of a block are counted in machine words, a field per class. With the counts before the block this gives the box
# of all class counts that a cut inside can leave on its left. The criteria are convex in these counts, so that no cut exceeds
# the best corner of the box (for entropy a bound that needs no corners).

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


SHORT = 64  # rows up to which a column is looked at cut by cut


@kernel(_nrt=False)
def _entropy(entries, first, end, left, total, class_bits, table, steps, least, tie, best, at):
    """The best cut behind one of the rows first … end − 1, whose classes join `left`, if it is better than `best`."""
    n, mask, bar, s = len(entries), np.int64((1 << class_bits) - 1), best + tie, np.int64(0)
    for c in range(len(left)):
        s += table[np.uint64(left[c])] + table[np.uint64(total[c] - left[c])]
    entry = np.int64(entries[np.uint64(first)])
    for i in range(first + 1, min(end, n - 1) + 1):
        label = np.uint64((entry >> 1) & mask)
        a = left[label]
        b = total[label] - a
        left[label] = a + 1
        s += steps[np.uint64(a)] - steps[np.uint64(b - 1)]
        entry = np.int64(entries[np.uint64(i)])
        if entry & 1 and i >= least and n - i >= least:
            value = float(s - table[np.uint64(i)] - table[np.uint64(n - i)])
            if value > bar:
                best, bar, at = value, value + tie, i
    return best, at


@kernel(_nrt=False)
def _gini(entries, first, end, left, total, class_bits, shares, least, tie, best, at):
    """Find the best Gini cut in a range of sorted entries; the class counts are updated row by row."""
    n, mask, bar, s_left, s_right = len(entries), np.int64((1 << class_bits) - 1), best + tie, np.int64(0), np.int64(0)
    for c in range(len(left)):
        s_left += left[c] * left[c]
        s_right += (total[c] - left[c]) * (total[c] - left[c])
    entry = np.int64(entries[np.uint64(first)])
    for i in range(first + 1, min(end, n - 1) + 1):
        label = np.uint64((entry >> 1) & mask)
        a = left[label]
        b = total[label] - a
        left[label] = a + 1
        s_left += 2 * a + 1
        s_right -= 2 * b - 1
        entry = np.int64(entries[np.uint64(i)])
        if entry & 1 and i >= least and n - i >= least:
            value = float(s_left) * shares[np.uint64(i)] + float(s_right) * shares[np.uint64(n - i)]
            if value > bar:
                best, bar, at = value, value + tie, i
    return best, at


@kernel(_nrt=False)
def _cuts(entries, least):
    """Count the admissible cuts."""
    cuts = np.int64(0)
    for i in range(max(least, 1), len(entries) - max(least, 1) + 1):
        cuts += np.int64(entries[np.uint64(i)]) & 1
    return cuts


@kernel(inline="always", _nrt=False)
def _best(entries, total, left, bounds, reach, words, rules, table, steps, shares, least, tie, bar):
    """The best value above `bar` and the number of rows left of its cut, 0 where there is none."""
    n, classes, entropy, best, at = len(entries), len(total), rules.fused == ENTROPY, bar, 0
    block = 32 if n >= 512 else 16 if n >= 128 else 8
    if n <= SHORT or classes > (FIELDS if entropy else CORNERS):
        blocks, block = 1, n
        for c in range(classes):
            bounds[c, 0] = 0.0
        reach[0] = np.inf
    else:
        blocks = boundaries(entries, block, rules.class_bits, words, bounds, classes)
        if entropy:
            entropy_reach(bounds, total, blocks, block, n, table, steps, reach)
        else:
            gini_reach(bounds, total, blocks, n, reach)
    for j in range(blocks):
        if reach[j] > best + tie:
            first, end = j * block, min(j * block + block, n)
            for c in range(classes):
                left[c] = np.int64(bounds[c, j])
            if entropy:
                best, at = _entropy(entries, first, end, left, total, rules.class_bits, table, steps, least, tie, best, at)
            else:
                best, at = _gini(entries, first, end, left, total, rules.class_bits, shares, least, tie, best, at)
    return best, at


@kernel(_nrt=False)
def gauge(total, n, rules, table, scale):
    """Units of a value, how much closer than that is equal, and the value of the node undivided."""
    entropy, sums = rules.fused == ENTROPY, np.int64(0)
    unit = float(n) * (scale if entropy else 1.0)
    for c in range(len(total)):
        sums += table[total[c]]
    return unit, max(TIE * unit, 8.0 if entropy else 0.0), float(sums - table[n]) if entropy else float(sums) / n


@kernel(_nrt=False)
def enter(found, at, best, whole, unit, n, rules, bar):
    """Write the best cut of a feature (`at` rows left of it, 0: none); returns what the next feature has to exceed."""
    if at == 0:
        return bar
    found[CODE], found[VALUE] = at, (best - whole) / unit
    if rules.ratio:
        found[INFORMATION] = information(float(at), float(n - at), 0.0)
    elif not (rules.average or rules.penalty):
        return found[VALUE]
    return bar


@kernel(_nrt=False)
def search(entries, begin, end, here, below, total, left, bounds, reach, words, rules, table, steps, shares, scale, least,
           found):  # fmt: skip
    """Write the best cut of each feature offered `here` into `found`: CODE is the number of rows left of it.

    CODE < 0: none, or none better than that of a feature before where goodness alone competes. Constant features are not
    offered `below`.
    """
    n, bar = end - begin, -1.0
    unit, tie, whole = gauge(total, n, rules, table, scale)
    for f in range(len(entries)):
        below[f], found[f, CODE], found[f, CUTS] = 0, NOTHING, NOTHING
        column = entries[f, begin:end]
        if not here[f] or not differ(column):
            continue
        below[f], found[f, CUTS] = 1, _cuts(column, least) if rules.penalty else 1
        best, at = _best(column, total, left, bounds, reach, words, rules, table, steps, shares, least, tie, whole + bar * unit)
        bar = enter(found[f], at, best, whole, unit, n, rules, bar)
