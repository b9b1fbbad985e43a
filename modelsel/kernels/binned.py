"""The best cut of columns of few distinct values, from how many rows of each class every value has.

A node's table holds, per feature and class, the rows up to each value (running counts). The rows of the smaller child are
counted, and what is left of the parent's table is the larger child's. A cut then costs its classes, not its rows; the
goodness is that of `kernels/counted`, to the last bit.
"""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.counted import enter, gauge
from modelsel.kernels.layout import CODE, CUTS, ENTROPY, NOTHING


@kernel()
def first_cells(levels, classes):
    """Where each feature's cells begin (class × value, values next to each other), and last their number."""
    first = np.zeros(len(levels) + 1, np.int64)
    for f in range(len(levels)):
        first[f + 1] = first[f] + levels[f] * classes
    return first


@kernel(_nrt=False)
def count(members, rows, y, codes, first, levels, classes, offered, mine, labels, cells):
    """Running counts of the members; classes: how many rows of each there are among them."""
    for i in range(len(members)):
        row = np.uint64(rows[np.uint64(members[i])])
        mine[i], labels[i] = row, y[row]
    for f in range(len(levels)):
        if not offered[f]:
            continue
        column, width, own = codes[f], np.int64(levels[f]), cells[first[f] : first[f + 1]]
        for j in range(len(own)):
            own[j] = 0
        for i in range(len(members)):
            own[np.uint64(labels[i] * width + column[np.uint64(mine[i])])] += np.int32(1)
        for c in range(len(classes)):
            so_far = np.int32(0)
            for j in range(c * width, (c + 1) * width if classes[c] > 0 else c * width):
                so_far += own[np.uint64(j)]
                own[np.uint64(j)] = so_far


@kernel(_nrt=False)
def subtract(whole, part, first, offered):
    """Leave in `whole` what is not in `part`."""
    for f in range(len(offered)):
        if offered[f]:
            one, other = whole[first[f] : first[f + 1]], part[first[f] : first[f + 1]]
            for j in range(len(one)):
                one[j] -= other[j]


@kernel(_nrt=False)
def _rows_left(own, width, total, rows_left):
    """Rows up to each value, of all classes."""
    for j in range(width):
        rows_left[j] = 0
    for c in range(len(total)):
        if total[c]:
            for j in range(width):
                rows_left[np.uint64(j)] += own[np.uint64(c * width + j)]


@kernel(_nrt=False)
def _squares(own, width, total, rows_left, left, right):
    """Rows up to each value; Σ_c l_c² and Σ_c r_c² of each cut: r_c² = l_c² + t_c (t_c − 2 l_c)."""
    for j in range(width):
        rows_left[j] = left[j] = right[j] = 0.0
    for c in range(len(total)):
        if total[c]:
            all_ = float(total[c])
            for j in range(width):
                a = float(own[np.uint64(c * width + j)])
                rows_left[np.uint64(j)] += a
                left[np.uint64(j)] += a * a
                right[np.uint64(j)] += all_ * (all_ - 2.0 * a)
    for j in range(width):
        right[j] += left[j]


@kernel(_nrt=False)
def _terms(own, width, j, total, table):
    """Σ_c l_c·log l_c + r_c·log r_c behind value j."""
    s = np.int64(0)
    for c in range(len(total)):
        if total[c]:
            a = np.int64(own[np.uint64(c * width + j)])
            s += table[np.uint64(a)] + table[np.uint64(total[c] - a)]
    return s


@kernel(_nrt=False)
def _best(own, width, n, total, rows_left, left, right, entropy, table, shares, least, tie, bar):
    """The best value above `bar`, the rows left of its cut (0: none), how many admissible cuts there are, and values."""
    best, at, cuts, before, values = bar, np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    bar += tie
    if entropy:
        _rows_left(own, width, total, rows_left)
    else:
        _squares(own, width, total, rows_left, left, right)
    for j in range(width):
        i = np.int64(rows_left[j])
        values += i != before
        if i != before and i < n and i >= least and n - i >= least:
            cuts += 1
            if entropy:
                value = float(_terms(own, width, j, total, table) - table[np.uint64(i)] - table[np.uint64(n - i)])
            else:
                value = left[j] * shares[np.uint64(i)] + right[j] * shares[np.uint64(n - i)]
            if value > bar:
                best, bar, at = value, value + tie, i
        before = i
    return best, at, cuts, values


@kernel(_nrt=False)
def search(cells, n, first, levels, here, below, total, rows_left, left, right, rules, table, shares, scale, least, found):
    """As `counted.search`, from a node's running counts."""
    entropy, bar = rules.fused == ENTROPY, -1.0
    unit, tie, whole = gauge(total, n, rules, table, scale)
    for f in range(len(levels)):
        below[f], found[f, CODE], found[f, CUTS] = 0, NOTHING, NOTHING
        if not here[f]:
            continue
        own, width = cells[first[f] : first[f + 1]], np.int64(levels[f])
        best, at, cuts, values = _best(
            own, width, n, total, rows_left, left, right, entropy, table, shares, least, tie, whole + bar * unit
        )
        if values < 2:
            continue
        below[f], found[f, CUTS] = 1, cuts if rules.penalty else 1
        bar = enter(found[f], at, best, whole, unit, n, rules, bar)


@kernel(_nrt=False)
def ends(own, width, total, at, rows_left):
    """The value before a cut with `at` rows on its left, and the value behind it."""
    _rows_left(own, width, total, rows_left)
    low = np.int64(0)
    while rows_left[low] < at:
        low += 1
    high = low
    while rows_left[high] == at:
        high += 1
    return low, high


@kernel(_nrt=False)
def divide(members, rows, y, column, low, at, spare, left, right):
    """Members up to value `low` first, each side in order; counts the classes of either side."""
    zero, one = np.int64(0), np.int64(0)
    for i in range(len(members)):
        member = members[i]
        row = np.uint64(rows[np.uint64(member)])
        later = np.int64(column[row] > low)
        if later:
            right[np.uint64(y[row])] += 1.0
        else:
            left[np.uint64(y[row])] += 1.0
        members[np.uint64(zero)] = member
        spare[np.uint64(one)] = member
        one += later
        zero += 1 - later
    for i in range(one):
        members[np.uint64(at + i)] = spare[np.uint64(i)]


@kernel(_nrt=False)
def sort(members, rows, y, codes, levels, offered, class_bits, mine, words, tally, entries, begin):
    """Sorted columns (entries row | class | new, from `begin`) of the members: a counting sort per feature.

    Rows at even and at odd places are counted apart, so that a processor need not wait for the row before.
    """
    for i in range(len(members)):
        row = rows[np.uint64(members[i])]
        mine[i], words[i] = row, ((np.int64(members[i]) << class_bits) | y[np.uint64(row)]) << 1
    for f in range(len(levels)):
        if not offered[f]:
            continue
        column, own, counters = codes[f], entries[f, begin : begin + len(members)], 2 * np.int64(levels[f])
        for k in range(counters):
            tally[k] = 0
        for i in range(len(members)):
            tally[np.uint64(2 * column[np.uint64(mine[i])] + (i & 1))] += 1
        so_far = np.int64(0)
        for k in range(counters):
            so_far, tally[k] = so_far + tally[k], so_far
        for i in range(len(members)):
            place = np.uint64(2 * column[np.uint64(mine[i])] + (i & 1))
            own[np.uint64(tally[place])] = words[i]
            tally[place] += 1
        own[0] |= np.uint32(1)
        for k in range(1, counters, 2):  # where the rows of a value end, the next begins
            if tally[k] < len(members):
                own[np.uint64(tally[k])] |= np.uint32(1)
