"""Grow a tree where every feature is a threshold feature without missing values and every row weighs one.

The same tree as `grow`, by less: an entry (row | class | new, `kernels/growth/sorted_columns`) takes four bytes, nothing is
looked up by value, and a node's stretch of every sorted column is parted in place. Where values are few, a node with many
rows has a table of class counts instead (`kernels/growth/binned`), and columns are sorted where rows are fewer than cells.
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.growth import binned
from modelsel.kernels.growth.counted import search
from modelsel.kernels.growth.sorted_columns import inverses, missing_to, pack, part_all, with_ties
from modelsel.kernels.layout import (
    BRANCHES,
    CODE,
    DEPTH,
    END,
    FEATURE,
    FIRST,
    LEFT,
    MIMIC,
    MISSING_TO,
    PARENT,
    RECORD,
    RIGHT,
    START,
    TEST,
    THRESHOLD,
)
from modelsel.kernels.splits.split_competition import contest, least_weight, longer, splittable

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
        binned.count(members[low:high], rows, y, codes, first_value, below, classes, mine, spare, part)
    if larger:
        binned.subtract(whole, part, first_value, below)
    if zero and left < enough:
        binned.sort(members[start:middle], rows, y, codes, levels, below, class_bits, mine, spare, tally, entries, start)
    if one and right < enough:
        binned.sort(members[middle:end], rows, y, codes, levels, below, class_bits, mine, spare, tally, entries, middle)


@kernel(
    types.grown(
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
    first_value = binned.first_values(levels)
    cells = first_value[features] * classes
    each = cells // features
    enough = max(each // 2, 1)
    stack, top, made, ties = np.zeros((64, 2), np.int64), 1, 1, np.ones(features, np.uint8)
    if n > WORTH * each:
        entries, members, mine = np.empty((features, n), np.uint32), np.arange(n, dtype=np.uint32), np.empty(n, np.uint32)
        tables, sums = np.zeros((8, cells), np.int32), np.zeros((3, first_value[features]))
        binned.count(members, rows, y, codes, first_value, offered[0], root, mine, spare, tables[0])
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
            binned.search(tables[top], end - start, first_value, here, below, total, sums, rules, units, shares, limits.scale,
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
            low, high = binned.ends(sums[0, first_value[f] :], at)
            binned.divide(members[start:end], rows, y, codes[f], low, at, spare, counts[first], counts[first + 1])
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
