"""The best cut of one feature among the rows of a node.

`drawn`: the rows of the node, by number of the data row; `data`: class and weight of every data row. A column of few codes is
counted, another one is sorted. Rows of missing value are tried in either branch, or stand `apart` and follow the larger one.
"""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.forests.search.forest_goodness import CODE, FIRST, NEITHER, SECOND, begin, consider, move

LOW, ROW = np.uint64(32), np.uint64(0xFFFFFFFF)


@kernel(inline="always", _nrt=False)
def sides(lost_rows, apart):
    """The branches in which rows of missing value are tried."""
    return (NEITHER, FIRST) if apart or lost_rows == 0 else (FIRST, SECOND + 1)


@kernel(_nrt=False)
def by_order(keys, n, lost_rows, total, lost, apart, data, best, state, judge, ruler):
    """The best threshold, from sorted keys code | row of the known rows."""
    target, weight = data
    low, high = sides(lost_rows, apart)
    better = False
    for side in range(low, high):
        begin(state, judge, total, lost, n + lost_rows, lost_rows, side)
        for i in range(n if side == SECOND else n - 1):
            here = keys[np.uint64(i)]
            row = here & ROW
            move(target[row], weight[row], state, judge)
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
    for c in range(tally.shape[1]):
        if tally[code, c] > 0.0:
            move(c, tally[code, c], state, judge)
    state[2][0] += counts[code]
    state[2][1] -= counts[code]


@kernel(_nrt=False)
def count(codes, drawn, data, tally, counts, order):
    """Class weights and rows per code; missing values under the last one. Returns how many known codes occur, in `order`."""
    target, weight = data
    last = len(counts) - 1
    tally[:], counts[:] = 0.0, 0
    for i in range(len(drawn)):
        row = np.uint64(drawn[i])
        code = codes[row]
        at = np.int64(code) if code >= 0 else last
        tally[at, target[row]] += weight[row]
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
    target, weight = data
    lost[:] = 0.0
    n, lowest, highest = 0, np.int64(2**31), np.int64(-1)
    for i in range(len(drawn)):
        row = np.uint64(drawn[i])
        code = np.int64(codes[row])
        if code < 0:
            lost[target[row]] += weight[row]
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

    Exact for two classes and an impurity (Breiman et al. 1984, theorem 4.5), one against the rest for more.
    """
    better = False
    for c in range(1 if tally.shape[1] == 2 else 0, tally.shape[1]):
        rank(tally, order, c, by, other)
        if by_table(tally, counts, order, n, lost_rows, total, lost, apart, best, state, judge, ruler):
            better = True
            marks[:] = 0
            for k in range(len(order)):
                marks[order[k]] = 1
                if order[k] == np.int64(best[CODE]):
                    break
    return better


@kernel(_nrt=False)
def rank(tally, order, c, by, other):
    """Put codes in order of the share of class c, those of equal share by code (merging runs)."""
    n = len(order)
    for k in range(n):
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
