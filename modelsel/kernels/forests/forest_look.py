"""The best cut of one feature in any case: levels, missing values, any weights and criterion, cuts drawn at random.

`columns`: codes, numbers of levels, which are nominal, values and where those of a feature begin; `work`: room for all nodes.
"""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.forests.draws import CUT, below, share, word
from modelsel.kernels.forests.forest_goodness import (
    CODE,
    FEATURE,
    FIRST,
    NEITHER,
    NEXT,
    SECOND,
    add_row,
    begin,
    consider,
    gauge,
    move_code,
    move_row,
    sort,
)
from modelsel.kernels.forests.forest_layout import SQUARES
from modelsel.kernels.layout import EQUALITY

# The best cut of one feature among the rows of a node.
#
# `drawn`: the rows of the node, by number of the data row; `data`: class, weight and number of every data row. A column of few
# codes is counted, another one is sorted. Rows of missing value are tried in either branch, or stand `apart` and follow the
# larger one.

LOW, ROW = np.uint64(32), np.uint64(0xFFFFFFFF)


@kernel(inline="always", _nrt=False)
def sides(lost_rows, apart):
    """The branches in which rows of missing value are tried."""
    return (NEITHER, FIRST) if apart or lost_rows == 0 else (FIRST, SECOND + 1)


@kernel(_nrt=False)
def by_order(keys, n, lost_rows, total, lost, apart, data, best, state, judge, ruler):
    """The best threshold, from sorted keys code | row of the known rows."""
    low, high = sides(lost_rows, apart)
    better = False
    for side in range(low, high):
        begin(state, judge, total, lost, n + lost_rows, lost_rows, side)
        for i in range(n if side == SECOND else n - 1):
            here = keys[np.uint64(i)]
            move_row(here & ROW, data, state, judge)
            state[2][0] += 1
            state[2][1] -= 1
            following = keys[np.uint64(i + 1)] >> LOW if i + 1 < n else here >> LOW
            if following != here >> LOW or i + 1 == n:
                better |= consider(best, np.float64(here >> LOW), np.float64(following), side, state, judge, ruler)
    return better


@kernel(_nrt=False)
def by_table(tally, counts, order, n, lost_rows, total, lost, apart, best, state, judge, ruler):
    """The best prefix of codes in an order (those that occur), from the class weights of each code."""
    low, high = sides(lost_rows, apart)
    better = False
    for side in range(low, high):
        begin(state, judge, total, lost, n + lost_rows, lost_rows, side)
        for k in range(len(order) if side == SECOND else len(order) - 1):
            shift(order[k], tally, counts, state, judge)
            following = order[k + 1] if k + 1 < len(order) else order[k]
            better |= consider(best, np.float64(order[k]), np.float64(following), side, state, judge, ruler)
    return better


@kernel(_nrt=False)
def shift(code, tally, counts, state, judge):
    """All rows of a code go over to the first branch."""
    move_code(tally[code], state, judge)
    state[2][0] += counts[code]
    state[2][1] -= counts[code]


@kernel(_nrt=False)
def count(codes, drawn, data, tally, counts, order):
    """Class weights and rows per code; missing values under the last one. Returns how many known codes occur, in `order`."""
    last = len(counts) - 1
    tally[:], counts[:] = 0.0, 0
    for i in range(len(drawn)):
        row = np.uint64(drawn[i])
        code = codes[row]
        at = np.int64(code) if code >= 0 else last
        add_row(row, data, tally[at])
        counts[at] += 1
    found = 0
    for code in range(last):
        if counts[code] > 0:
            order[found] = code
            found += 1
    return found


@kernel(_nrt=False)
def gather(codes, drawn, data, keys, lost):
    """Keys code | row of the known rows, class weights of the others; how many are known, and whether their codes differ."""
    lost[:] = 0.0
    n, lowest, highest = 0, np.int64(2**31), np.int64(-1)
    for i in range(len(drawn)):
        row = np.uint64(drawn[i])
        code = np.int64(codes[row])
        if code < 0:
            add_row(row, data, lost)
            continue
        keys[np.uint64(n)] = (np.uint64(code) << LOW) | row
        n += 1
        lowest, highest = min(lowest, code), max(highest, code)
    return n, lowest, highest


@kernel(_nrt=False)
def by_equality(tally, counts, order, n, lost_rows, total, lost, apart, best, state, judge, ruler):
    """The best single code against all others."""
    low, high = sides(lost_rows, apart)
    better = False
    for side in range(low, high):
        for k in range(len(order)):
            begin(state, judge, total, lost, n + lost_rows, lost_rows, side)
            shift(order[k], tally, counts, state, judge)
            better |= consider(best, np.float64(order[k]), np.float64(order[k]), side, state, judge, ruler)
    return better


@kernel(_nrt=False)
def by_subset(tally, counts, order, n, lost_rows, total, lost, apart, best, state, judge, ruler, by, other, marks):
    """The best prefix of levels in order of the share of one class: of each class in turn where there are more than two.

    Exact for two classes and an impurity (Breiman et al. 1984, theorem 4.5), one against the rest for more. Of numbers, in
    order of their means: exact (Fisher 1958).
    """
    better = False
    for c in range(1 if tally.shape[1] == 2 else 0, tally.shape[1]):
        rank(tally, order, c, judge[1] == SQUARES, by, other)
        if by_table(tally, counts, order, n, lost_rows, total, lost, apart, best, state, judge, ruler):
            better = True
            marks[:] = 0
            for k in range(len(order)):
                marks[order[k]] = 1
                if order[k] == np.int64(best[CODE]):
                    break
    return better


@kernel(_nrt=False)
def rank(tally, order, c, numbers, by, other):
    """Put codes in order of the share of class c, or of the mean, those of equal share by code (merging runs)."""
    n = len(order)
    for k in range(n):
        if numbers:
            by[order[k]] = tally[order[k], 0] / tally[order[k], 1]
            continue
        weight = 0.0
        for d in range(tally.shape[1]):
            weight += tally[order[k], d]
        by[order[k]] = tally[order[k], c] / weight if weight > 0.0 else 0.0
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            i, j = start, min(start + width, n)
            middle, end = j, min(start + 2 * width, n)
            for k in range(start, end):
                first = i < middle and (j >= end or not _after(order[i], order[j], by))
                other[k] = order[i] if first else order[j]
                i, j = (i + 1, j) if first else (i, j + 1)
        for k in range(n):
            order[k] = other[k]
        width *= 2


@kernel(inline="always", _nrt=False)
def _after(a, b, by):
    return by[a] > by[b] or (by[a] == by[b] and a > b)


# One cut of a feature drawn at random among the rows of a node, and its goodness (extremely randomised trees).


@kernel(inline="always", _nrt=False)
def draw_value(key, feature, first, last):
    """A value drawn between two; rounding may have it be the last."""
    return first + share(word(key ^ CUT, feature)) * (last - first)


@kernel(_nrt=False)
def draw_threshold(key, feature, lowest, highest, values):
    """A value drawn between those of two codes, below the higher one, and the largest code whose value is at most that."""
    first, last = values[lowest], values[highest]
    drawn = draw_value(key, feature, first, last)
    low, high = lowest, highest - 1
    while low < high:
        middle = (low + high + 1) // 2
        if values[middle] <= drawn:
            low = middle
        else:
            high = middle - 1
    return low, drawn if first <= drawn < last else values[low]


@kernel(_nrt=False)
def try_threshold(codes, drawn, at, n, lost_rows, total, lost, apart, data, best, state, judge, ruler):
    """Goodness of one threshold."""
    low, high = sides(lost_rows, apart)
    better = False
    for side in range(low, high):
        begin(state, judge, total, lost, n + lost_rows, lost_rows, side)
        for i in range(len(drawn)):
            row = np.uint64(drawn[i])
            if 0 <= codes[row] <= at:
                move_row(row, data, state, judge)
                state[2][0] += 1
                state[2][1] -= 1
        better |= consider(best, np.float64(at), np.float64(at), side, state, judge, ruler)
    return better


@kernel(_nrt=False)
def try_levels(
    key, feature, equality, tally, counts, order, n, lost_rows, total, lost, apart, best, state, judge, ruler, marks
):
    """Goodness of one level, or of a set of levels, drawn among those that occur."""
    own = word(key ^ CUT, feature)
    chosen = below(own, len(order))
    low, high = sides(lost_rows, apart)
    better = False
    for side in range(low, high):
        begin(state, judge, total, lost, n + lost_rows, lost_rows, side)
        inside = 0
        for k in range(len(order)):
            if k == chosen or (not equality and k != (chosen + 1) % len(order) and word(own, order[k]) >> np.uint64(63)):
                shift(order[k], tally, counts, state, judge)
                inside += 1
        if consider(best, np.float64(order[chosen]), np.float64(order[chosen]), side, state, judge, ruler):
            better = True
            marks[:] = 0
            for k in range(len(order)):
                if k == chosen or (not equality and k != (chosen + 1) % len(order) and word(own, order[k]) >> np.uint64(63)):
                    marks[order[k]] = 1
    return better


SEEN = 32  # codes per row from which a column is sorted rather than counted


@kernel(_nrt=False)
def look(feature, key, drawn, total, columns, data, settings, work, best, state, judge, ruler):
    """Try a feature. Returns whether its values differ here; a better cut is written to `best`."""
    codes, levels, nominal, values, first = columns
    tests, apart, random, scale = settings
    keys, spare, buckets, places, tally, counts, order, lost, by, other, marks, fresh, threshold = work
    own, many, n = codes[feature], levels[feature], len(drawn)
    if nominal[feature] or many * tally.shape[1] <= SEEN + n:
        found = count(own, drawn, data, tally[: many + 1], counts[: many + 1], order)
        lost_rows = counts[many]
        for c in range(len(lost)):
            lost[c] = tally[many, c]
        if found + (lost_rows > 0) < 2:
            return False
        gauge(ruler, judge, total, lost, apart and lost_rows > 0, scale)
        some = tally[: many + 1], counts[: many + 1], order[:found], n - lost_rows, lost_rows, total, lost, apart
        if not nominal[feature]:
            if random:
                if found < 2:
                    return True
                at, drawn_value = draw_threshold(key, feature, order[0], order[found - 1], values[first[feature] :])
                if try_threshold(own, drawn, at, n - lost_rows, lost_rows, total, lost, apart, data, best, state, judge, ruler):
                    best[FEATURE], threshold[0] = feature, drawn_value
            elif by_table(*some, best, state, judge, ruler):
                best[FEATURE], threshold[0] = feature, between(values, first[feature], best)
        elif random:
            if found > 1 and try_levels(key, feature, tests == EQUALITY, *some, best, state, judge, ruler, fresh[:many]):
                best[FEATURE] = feature
                for level in range(many):
                    marks[level] = fresh[level]
        elif tests == EQUALITY:
            if by_equality(*some, best, state, judge, ruler):
                best[FEATURE] = feature
        elif by_subset(*some, best, state, judge, ruler, by, other, fresh[:many]):
            best[FEATURE] = feature
            for level in range(many):
                marks[level] = fresh[level]
        return True
    known, lowest, highest = gather(own, drawn, data, keys, lost)
    if known == 0 or (lowest == highest and known == n):
        return False
    gauge(ruler, judge, total, lost, apart and known < n, scale)
    if random:
        if lowest < highest:
            at, drawn_value = draw_threshold(key, feature, lowest, highest, values[first[feature] :])
            if try_threshold(own, drawn, at, known, n - known, total, lost, apart, data, best, state, judge, ruler):
                best[FEATURE], threshold[0] = feature, drawn_value
        return True
    ordered = spare if sort(keys, spare, buckets, places, known, lowest, highest) else keys
    if by_order(ordered, known, n - known, total, lost, apart, data, best, state, judge, ruler):
        best[FEATURE], threshold[0] = feature, between(values, first[feature], best)
    return True


@kernel(_nrt=False)
def between(values, first, best):
    """The threshold between the codes of the best cut; none but missing values above: ∞."""
    if best[CODE] == best[NEXT]:
        return np.inf
    return halfway(values[first + np.int64(best[CODE])], values[first + np.int64(best[NEXT])])


@kernel(_nrt=False)
def halfway(low, high):
    """The middle between two values, the lower one where it cannot be told from the higher."""
    middle = low / 2.0 + high / 2.0
    return middle if low <= middle < high else low
