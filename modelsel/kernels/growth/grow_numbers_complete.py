"""Grow a tree by squared error where every feature is a threshold feature without missing values and every row weighs one.

An entry of a sorted column packs row | q | new: the row's place among the fitted ones, the whole number q that stands for its
target (less the smallest), and whether its value differs from the one before (`kernels/growth/sorted_columns`). With m the
whole mean of a node, a cut is worth

    a² / n_l + b² / n_r,   a = Σ_left (q − m),   b = Σ_right (q − m)

Sums are whole numbers, so that cuts which part the rows alike, or the other way round, are worth the same to the last bit; the
first of the best wins. Nodes of few rows need no sorted columns (`kernels/growth/few_rows`).
"""

import math

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.growth.few_rows import CODES, FEW, by_row, fits, grow_few, room
from modelsel.kernels.growth.number_sums import LEAST, ROWS, SUMS, TOTAL, add, begin, splittable, squares
from modelsel.kernels.growth.sorted_columns import differ, inverses, missing_to, pack, part_all, with_ties
from modelsel.kernels.layout import (
    BRANCHES,
    DEPTH,
    END,
    FEATURE,
    FIRST,
    LEFT,
    MISSING_TO,
    RECORD,
    RIGHT,
    START,
    TEST,
    THRESHOLD,
)
from modelsel.kernels.splits.split_competition import longer

OUT = np.int64(-1)
WORD = 62  # binary digits of an entry without its lowest
BLOCK = 64  # cuts that are asked together whether one of them may be better
DEEP = 40  # levels from which the rows bound the nodes
LONG = 256  # rows from which that pays
NEARLY = 1.0 - 1e-12  # what rounding may do to a comparison


@kernel()
def _words(whole, low, rows, size, shift):
    """Entries of the chosen rows but for `new`, per row of the task."""
    words = np.full(size, OUT)
    for i in range(len(rows)):
        words[rows[i]] = (np.int64(i) << shift) | ((whole[i] - low) << 1)
    return words


@kernel(inline="always", _nrt=False)
def _cuts(column, first, last, a, mean, mask, rest, inverse, best, at):
    """Look at the cuts behind rows first … last; a: Σ (q − m) of the rows before."""
    n = len(column)
    for i in range(first, last + 1):
        a += ((column[np.uint64(i - 1)] & mask) >> 1) - mean
        if column[np.uint64(i)] & 1:
            left, right = float(a), float(rest - a)
            value = left * left * inverse[np.uint64(i)] + right * right * inverse[np.uint64(n - i)]
            if value > best:
                best, at = value, np.int64(i)
    return best, at


@kernel(_nrt=False)
def _room(n, rest, first, last, best):
    """The least and the largest a of cuts first … last that cannot be better than `best`: where a − R·i/n is that near to 0.

    A cut is worth R²/n + (a − R·i/n)²·n / (i (n − i)), R = `rest`; i (n − i) is least at an end.
    """
    size, share = float(n), float(rest) / float(n)
    beyond = best * NEARLY - float(rest) * share
    ends = min(float(first) * (size - float(first)), float(last) * (size - float(last)))
    away = math.sqrt(max(beyond, 0.0) * ends / size) * NEARLY - 1.0
    return np.int64(np.ceil(share * float(last) - away)), np.int64(np.floor(share * float(first) + away))


@kernel(_nrt=False)
def _cut(column, mean, mask, rest, inverse, least, best):
    """What the best cut is worth if it is more than `best`, and the rows left of it (0: none)."""
    n, at, a = len(column), np.int64(0), np.int64(0)
    for i in range(least - 1):
        a += ((column[np.uint64(i)] & mask) >> 1) - mean
    if n < LONG:
        return _cuts(column, least, n - least, a, mean, mask, rest, inverse, best, at)
    twice = 2 * mean
    for first in range(least, n - least + 1, BLOCK):
        last, before = min(first + BLOCK - 1, n - least), a
        low, high = _room(n, rest, first, last, best)
        low, high, double, outside = 2 * low, 2 * high, 2 * a, high - low
        for i in range(first, last + 1):
            double += (column[np.uint64(i - 1)] & mask) - twice
            outside |= (double - low) | (high - double)
        a = double >> 1
        if outside < 0:
            best, at = _cuts(column, first, last, before, mean, mask, rest, inverse, best, at)
    return best, at


@kernel(_nrt=False)
def _search(entries, begin, end, here, below, ties, mean, mask, rest, inverse, least):
    """The feature of the best cut (−1: none), what it is worth, the rows left of it. Constant ones are not offered below."""
    best, chosen, at = -1.0, -1, np.int64(0)
    for f in range(len(entries)):
        column = entries[f, begin:end]
        below[f] = here[f] and (not ties[f] or differ(column))
        if below[f]:
            best, left = _cut(column, mean, mask, rest, inverse, least, best)
            if left > 0:
                chosen, at = f, left
    return chosen, best - float(rest) * float(rest) * inverse[end - begin], at


@kernel(_nrt=False)
def _divide(column, at, shift, mask, low, side, numbers, left, right):
    """Mark the rows right of a cut, and add up either side."""
    for i in range(len(column)):
        entry = column[np.uint64(i)]
        side[np.uint64(entry >> shift)] = i >= at
        numbers[np.uint64(i)] = ((entry & mask) >> 1) + low
    add(numbers[:at], left)
    add(numbers[at : len(column)], right)


@kernel(
    types.grown_numbers(
        types.fixed_columns, types.fixed_columns, types.fixed_wholes, types.fixed_wholes, types.rules, types.limits, types.flags
    )
)
def grow(order, codes, whole, rows, rules, limits, stop):
    """Records, goodness in squares of a whole number, Σ q and Σ (q − M)² of each node; no records when it was stopped.

    order, codes: of the ranked columns; whole: q of each of the chosen `rows`.
    """
    features, n, shift = len(order), len(rows), np.int64(WORD + 1 - rules.id_bits)
    mask = ((np.int64(1) << (WORD - rules.id_bits)) - 1) << 1
    least, most = np.int64(max(np.ceil(limits.min_leaf - 1e-9), 1.0)), rules.max_depth
    enough = np.int64(np.ceil(limits.min_split - 1e-9))
    bound = 2 * (n // least) + 1 if most > DEEP else min(2 * (n // least) + 1, np.int64(2) << most)
    nodes, value, sums = np.empty((bound, RECORD), np.int64), np.empty(bound), np.empty((bound, SUMS), np.int64)
    add(whole, sums[0])
    low, inverse, entries = sums[0, LEAST], inverses(n), np.empty((features, n), np.int64)
    pack(order, _words(whole, low, rows, order.shape[1], shift), OUT, entries)
    ties, turned, few = with_ties(entries), by_row(codes, rows), codes.shape[1] < CODES
    offered, side, spare, numbers = np.ones((8, features), np.uint8), np.zeros(n, np.uint8), np.empty(n, np.int64), whole.copy()
    own, off, work = np.empty(FEW, np.int64), np.empty(FEW), room()
    begin(nodes, value, 0, -1, 0)
    nodes[0, END] = n
    stack, top, made = np.zeros((64, 1), np.int64), 1, 1
    if not splittable(sums[0], 0, least, enough, most):
        top = 0
    while top > 0:
        if stop[0]:
            made = 0
            break
        top -= 1
        node = stack[top, 0]
        start, end, depth = nodes[node, START], nodes[node, END], nodes[node, DEPTH]
        offered = longer(offered, depth + 2)
        here, below = offered[depth], offered[depth + 1]
        mean = sums[node, TOTAL] // sums[node, ROWS]
        rest = sums[node, TOTAL] - mean * sums[node, ROWS]
        f, best, at = _search(entries, start, end, here, below, ties, mean - low, mask, rest, inverse, least)
        if f < 0:
            continue
        first, column, middle = made, entries[f, start:end], start + at
        made += 2
        _divide(column, at, shift, mask, low, side, numbers, sums[first], sums[first + 1])
        record = nodes[node]
        record[TEST], record[FEATURE], record[FIRST], record[BRANCHES] = THRESHOLD, f, first, 2
        record[LEFT], record[RIGHT] = turned[column[at - 1] >> shift, f], turned[column[at] >> shift, f]
        record[MISSING_TO], value[node] = missing_to(rules.missing, at, at, end - middle), best
        for b in range(2):
            begin(nodes, value, first + b, node, depth + 1)
        zero = splittable(sums[first], depth + 1, least, enough, most)
        one = splittable(sums[first + 1], depth + 1, least, enough, most)
        for b in range(2):
            if few and (one if b else zero) and fits(sums[first + b]):
                count, place = sums[first + b, ROWS], at if b else 0
                for i in range(count):
                    own[i] = column[place + i] >> shift
                made = grow_few(first + b, own[:count], numbers, turned, whole, inverse, least, enough, most, rules.missing,
                                nodes, value, sums, made, off, work)  # fmt: skip
                zero, one = zero and b == 1, one and b == 0
        if not zero and not one:
            continue
        part_all(entries, start, end, f, below, ties, side, at, shift, spare, zero, one)
        if not zero:
            middle, end = start, start + end - middle
        nodes[first, START], nodes[first, END] = start, middle
        nodes[first + 1, START], nodes[first + 1, END] = middle, end
        stack = longer(stack, top + 2)
        larger = np.int64(2 * at < nodes[node, END] - start)  # is taken last
        for child in (larger, 1 - larger):
            if one if child else zero:
                stack[top, 0] = first + child
                top += 1
    spread = np.zeros(made)
    for node in range(made):
        spread[node] = squares(sums[node])
    return nodes[:made], value[:made], sums[:made], spread
