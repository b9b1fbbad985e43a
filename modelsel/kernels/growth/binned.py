"""The best cut of columns of few distinct values, from how many rows of each class every value has.

A node's table holds the rows up to each value (running counts), class by class, the values of all features next to each
other: what is asked of every value is asked in one long loop per class. The rows of the smaller child are counted, and what is
left of the parent's table is the larger child's. A cut then costs its classes, not its rows; the goodness is that of
`kernels/growth/counted`, to the last bit.
"""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.growth.counted import enter, gauge
from modelsel.kernels.layout import CODE, CUTS, ENTROPY, NOTHING


@kernel()
def first_values(levels):
    """Compute the position of each feature's first value, and last the number of all values, which is the width of a table."""
    first = np.zeros(len(levels) + 1, np.int64)
    for f in range(len(levels)):
        first[f + 1] = first[f] + levels[f]
    return first


@kernel(_nrt=False)
def _next_run(offered, f):
    """The next features in a row that are offered: first, and behind the last."""
    while f < len(offered) and not offered[f]:
        f += 1
    end = f
    while end < len(offered) and offered[end]:
        end += 1
    return f, end


@kernel(_nrt=False)
def count(members, rows, y, codes, first, offered, classes, mine, labels, table):
    """Running counts of the members; classes: how many rows of each there are among them."""
    width = first[len(offered)]
    for i in range(len(members)):
        row = np.uint64(rows[np.uint64(members[i])])
        mine[i], labels[i] = row, y[row] * width
    for f in range(len(offered)):
        if not offered[f]:
            continue
        column, start, end = codes[f], first[f], first[f + 1]
        for c in range(len(classes)):
            for j in range(c * width + start, c * width + end):
                table[np.uint64(j)] = 0
        for i in range(len(members)):
            table[np.uint64(labels[i] + start + column[np.uint64(mine[i])])] += np.int32(1)
        for c in range(len(classes)):
            so_far = np.int32(0)
            for j in range(c * width + start, c * width + end if classes[c] > 0 else 0):
                so_far += table[np.uint64(j)]
                table[np.uint64(j)] = so_far


@kernel(_nrt=False)
def subtract(whole, part, first, offered):
    """Leave in `whole` what is not in `part`."""
    width = first[len(offered)]
    f, end = _next_run(offered, 0)
    while f < end:
        for begin in range(0, len(whole), width):
            one, other = whole[begin + first[f] : begin + first[end]], part[begin + first[f] : begin + first[end]]
            for j in range(len(one)):
                one[j] -= other[j]
        f, end = _next_run(offered, end)


@kernel(_nrt=False)
def _rows_left(table, width, start, end, total, rows_left):
    """Rows up to each value, of all classes."""
    rows_left[start:end] = 0.0
    for c in range(len(total)):
        if total[c]:
            own, here = table[c * width + start : c * width + end], rows_left[start:end]
            for j in range(end - start):
                here[j] += own[j]


@kernel(_nrt=False)
def _squares(table, width, start, end, total, sums):
    """Rows up to each value; Σ_c l_c² and Σ_c r_c² of each cut: r_c² = l_c² + t_c (t_c − 2 l_c)."""
    rows_left, left, right = sums[0, start:end], sums[1, start:end], sums[2, start:end]
    sums[:, start:end] = 0.0
    for c in range(len(total)):
        if total[c]:
            all_, own = float(total[c]), table[c * width + start : c * width + end]
            for j in range(end - start):
                a = float(own[j])
                rows_left[j] += a
                left[j] += a * a
                right[j] += all_ * (all_ - 2.0 * a)
    for j in range(end - start):
        right[j] += left[j]


@kernel(_nrt=False)
def _terms(table, width, j, total, units):
    """Σ_c l_c·log l_c + r_c·log r_c behind value j."""
    s = np.int64(0)
    for c in range(len(total)):
        if total[c]:
            a = np.int64(table[np.uint64(c * width + j)])
            s += units[np.uint64(a)] + units[np.uint64(total[c] - a)]
    return s


@kernel(_nrt=False)
def _best(table, width, start, end, n, total, sums, entropy, units, shares, least, tie, bar):
    """The best value above `bar`, the rows left of its cut (0: none), how many admissible cuts there are, and values."""
    best, at, cuts, before, values = bar, np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    bar += tie
    for j in range(start, end):
        i = np.int64(sums[0, np.uint64(j)])
        values += i != before
        if i != before and i < n and i >= least and n - i >= least:
            cuts += 1
            if entropy:
                value = float(_terms(table, width, j, total, units) - units[np.uint64(i)] - units[np.uint64(n - i)])
            else:
                value = sums[1, np.uint64(j)] * shares[np.uint64(i)] + sums[2, np.uint64(j)] * shares[np.uint64(n - i)]
            if value > bar:
                best, bar, at = value, value + tie, i
        before = i
    return best, at, cuts, values


@kernel(_nrt=False)
def search(table, n, first, here, below, total, sums, rules, units, shares, scale, least, found):
    """As `counted.search`, from a node's running counts; leaves the rows up to each value in `sums[0]`."""
    entropy, bar, width = rules.fused == ENTROPY, -1.0, first[len(here)]
    unit, tie, whole = gauge(total, n, rules, units, scale)
    f, end = _next_run(here, 0)
    while f < end:
        if entropy:
            _rows_left(table, width, first[f], first[end], total, sums[0])
        else:
            _squares(table, width, first[f], first[end], total, sums)
        f, end = _next_run(here, end)
    for f in range(len(here)):
        below[f], found[f, CODE], found[f, CUTS] = 0, NOTHING, NOTHING
        if not here[f]:
            continue
        best, at, cuts, values = _best(
            table, width, first[f], first[f + 1], n, total, sums, entropy, units, shares, least, tie, whole + bar * unit
        )
        if values < 2:
            continue
        below[f], found[f, CUTS] = 1, cuts if rules.penalty else 1
        bar = enter(found[f], at, best, whole, unit, n, rules, bar)


@kernel(_nrt=False)
def ends(rows_left, at):
    """Of a feature: the value before a cut with `at` rows on its left, and the value behind it."""
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
