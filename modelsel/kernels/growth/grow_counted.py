"""Grow a tree where every feature is a threshold feature without missing values and every row weighs one.

The same tree as `grow`, by less: an entry (row | class | new, `kernels/growth/sorted_columns`) takes four bytes, nothing is
looked up by value, and a node's stretch of every sorted column is parted in place. Where values are few, a node with many
rows has a table of class counts instead, and columns are sorted where rows are fewer than cells.
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.growth.counted import enter, gauge, search
from modelsel.kernels.growth.sorted_columns import inverses, missing_to, pack, part_all, with_ties
from modelsel.kernels.layout import (
    BRANCHES,
    CODE,
    CUTS,
    DEPTH,
    END,
    ENTROPY,
    FEATURE,
    FIRST,
    LEFT,
    MIMIC,
    MISSING_TO,
    NOTHING,
    PARENT,
    RECORD,
    RIGHT,
    START,
    TEST,
    THRESHOLD,
)
from modelsel.kernels.splits.split_competition import contest, least_weight, longer, splittable

# The best cut of columns of few distinct values, from how many rows of each class every value has.
#
# A node's table holds the rows up to each value (running counts), class by class, the values of all features next to each
# other: what is asked of every value is asked in one long loop per class. The rows of the smaller child are counted, and what
# is left of the parent's table is the larger child's. A cut then costs its classes, not its rows; the goodness is that of
# `counted`, to the last bit.


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
def count_values(members, rows, y, codes, first, offered, classes, mine, labels, table):
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
def subtract_counts(whole, part, first, offered):
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
def search_table(table, n, first, here, below, total, sums, rules, units, shares, scale, least, found):
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
def ends_of(rows_left, at):
    """Of a feature: the value before a cut with `at` rows on its left, and the value behind it."""
    low = np.int64(0)
    while rows_left[low] < at:
        low += 1
    high = low
    while rows_left[high] == at:
        high += 1
    return low, high


@kernel(_nrt=False)
def divide_members(members, rows, y, column, low, at, spare, left, right):
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
def sort_members(members, rows, y, codes, levels, offered, class_bits, mine, words, tally, entries, begin):
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


OUT = np.uint32(1)  # marks a row that is not among the chosen: the lowest bit of an entry is not set before it has a place
WORTH = 10  # tables pay where the root has more than so many times the rows that a feature has cells


@kernel()
def _words(y, rows, class_bits):
    """Entries of the chosen rows but for `new`, per row of the task."""
    words = np.full(len(y), OUT, np.uint32)
    for i in range(len(rows)):
        words[rows[i]] = ((i << class_bits) | y[rows[i]]) << 1
    return words


@kernel()
def _steps(table):
    """Compute the increase of a sum of table entries by one more row."""
    steps = np.empty(len(table), np.int64)
    for i in range(len(table) - 1):
        steps[i] = table[i + 1] - table[i]
    return steps


@kernel(_nrt=False)
def _divide(column, at, class_bits, side, left, right):
    """Mark the rows right of the cut and count the classes of either side."""
    mask, shift = (1 << class_bits) - 1, class_bits + 1
    for i in range(len(column)):
        entry = np.int64(column[i])
        later = i >= at
        side[np.uint64(entry >> shift)] = later
        if later:
            right[np.uint64((entry >> 1) & mask)] += 1.0
        else:
            left[np.uint64((entry >> 1) & mask)] += 1.0


@kernel(_nrt=False)
def _hand_down(members, rows, y, codes, first_value, levels, class_bits, start, middle, end, zero, one, enough, counts, below,
               mine, spare, tally, whole, part, entries):  # fmt: skip
    """Tables of the children of many rows (the larger child's into `whole`), sorted columns of those of few.

    zero, one: may the child be split; counts: classes of the two; the smaller child's table goes into `part`.
    """
    left, right = middle - start, end - middle
    first_smaller = left < right
    low, high = (start, middle) if first_smaller else (middle, end)
    larger = (one and right >= enough) if first_smaller else (zero and left >= enough)
    smaller = (zero and left >= enough) if first_smaller else (one and right >= enough)
    if larger or smaller:
        classes = counts[0 if first_smaller else 1]
        count_values(members[low:high], rows, y, codes, first_value, below, classes, mine, spare, part)
    if larger:
        subtract_counts(whole, part, first_value, below)
    if zero and left < enough:
        sort_members(members[start:middle], rows, y, codes, levels, below, class_bits, mine, spare, tally, entries, start)
    if one and right < enough:
        sort_members(members[middle:end], rows, y, codes, levels, below, class_bits, mine, spare, tally, entries, middle)


@kernel(
    types.of_grower(
        types.fixed_columns,
        types.fixed_columns,
        types.fixed_wholes,
        types.fixed_codes,
        types.codes,
        types.reals,
        types.fixed_wholes,
        types.rules,
        types.limits,
        types.flags,
    )
)
def grow(order, codes, levels, y, rows, root, units, rules, limits, stop):
    """Records as of `grow.grow`; no records when it was stopped."""
    features, n, classes, shift = len(order), len(rows), len(root), rules.class_bits + 1
    steps, shares = _steps(units), inverses(n)
    nodes, value, counts = np.zeros((64, RECORD), np.int64), np.zeros((64, 1)), np.zeros((64, classes))
    nodes[0, PARENT], nodes[0, END] = -1, n
    for c in range(classes):
        counts[0, c] = root[c]
    offered, found = np.ones((8, features), np.uint8), np.zeros((features, 8))
    nominal, cost = np.zeros(features, np.bool_), np.zeros(1)
    side, spare, tally = np.zeros(n, np.uint8), np.empty(n, np.uint32), np.empty(2 * levels.max(), np.uint32)
    total, left = np.zeros(classes, np.int64), np.zeros(classes, np.int64)
    bounds, reach, words = np.zeros((max(classes, 3), n // 8 + 8)), np.zeros(n // 8 + 8), np.zeros(n // 8 + 8, np.int64)
    first_value = first_values(levels)
    cells = first_value[features] * classes
    each = cells // features
    enough = max(each // 2, 1)
    stack, top, made, ties = np.zeros((64, 2), np.int64), 1, 1, np.ones(features, np.uint8)
    if n > WORTH * each:
        entries, members, mine = np.empty((features, n), np.uint32), np.arange(n, dtype=np.uint32), np.empty(n, np.uint32)
        tables, sums = np.zeros((8, cells), np.int32), np.zeros((3, first_value[features]))
        count_values(members, rows, y, codes, first_value, offered[0], root, mine, spare, tables[0])
        stack[0, 1] = 1
    else:
        entries, members, mine = np.empty((features, n), np.uint32), np.empty(0, np.uint32), np.empty(0, np.uint32)
        tables, sums = np.zeros((1, 1), np.int32), np.zeros((3, 1))
        pack(order, _words(y, rows, rules.class_bits), OUT, entries)
        ties = with_ties(entries)
    if not splittable(root, 0, rules, limits):
        top = 0
    while top > 0:
        if stop[0]:
            made = 0
            break
        top -= 1
        node, tabled = stack[top, 0], stack[top, 1]
        start, end, depth = nodes[node, START], nodes[node, END], nodes[node, DEPTH]
        offered = longer(offered, depth + 2)
        here, below = offered[depth], offered[depth + 1]
        for c in range(classes):
            total[c] = np.int64(counts[node, c])
        least = np.int64(np.ceil(least_weight(rules, limits, float(end - start), classes)))
        if tabled:
            search_table(tables[top], end - start, first_value, here, below, total, sums, rules, units, shares, limits.scale,
                          least, found)  # fmt: skip
        else:
            search(entries, start, end, here, below, total, left, bounds, reach, words, rules, units, steps, shares,
                   limits.scale, least, found)  # fmt: skip
        f, best = contest(found, here, cost, float(end - start), rules, limits, nominal, levels, None)
        if f < 0:
            continue
        first, at = made, np.int64(found[f, CODE])
        made += 2
        nodes, value, counts = longer(nodes, made), longer(value, made), longer(counts, made)
        column, middle = entries[f, start:end], start + at
        if tabled:
            low, high = ends_of(sums[0, first_value[f] :], at)
            divide_members(members[start:end], rows, y, codes[f], low, at, spare, counts[first], counts[first + 1])
        else:
            low = np.int64(codes[f, rows[column[at - 1] >> shift]])
            high = np.int64(codes[f, rows[column[at] >> shift]])
            _divide(column, at, rules.class_bits, side, counts[first], counts[first + 1])
        record = nodes[node]
        record[TEST], record[FEATURE], record[FIRST], record[BRANCHES] = THRESHOLD, f, first, 2
        record[LEFT], record[RIGHT], value[node, 0] = low, high, best
        record[MISSING_TO] = missing_to(rules.missing, at, at, end - middle)
        for b in range(2):
            nodes[first + b, PARENT], nodes[first + b, DEPTH] = node, depth + 1
        zero = splittable(counts[first], depth + 1, rules, limits)
        one = splittable(counts[first + 1], depth + 1, rules, limits)
        if not zero and not one:
            continue
        stack = longer(stack, top + 2)
        larger = np.int64(2 * at < end - start)  # is taken last
        if tabled:
            tables = longer(tables, top + 2)
            part = tables[top + (one if larger else zero)]
            _hand_down(members, rows, y, codes, first_value, levels, rules.class_bits, start, middle, end, zero, one, enough,
                       counts[first:made], below, mine, spare, tally, tables[top], part, entries)  # fmt: skip
        else:
            part_all(entries, start, end, f, below, ties, side, at, shift, spare, zero, one)
            if not zero:
                middle, end = start, start + end - middle
        nodes[first, START], nodes[first, END] = start, middle
        nodes[first + 1, START], nodes[first + 1, END] = middle, end
        for child in (larger, 1 - larger):
            if one if child else zero:
                size = nodes[first + child, END] - nodes[first + child, START]
                stack[top, 0], stack[top, 1] = first + child, tabled and size >= enough
                top += 1
    return (
        nodes[:made].copy(), value[:made, 0].copy(), counts[:made].copy(), np.zeros(0, np.uint8),
        np.zeros((0, MIMIC), np.int64), np.zeros(0), np.zeros(0, np.int64),
    )  # fmt: skip
