"""Grow the subtree of a few rows by squared error, all features side by side.

Sorted columns do not pay where rows are few: here the rows' codes of all features stand next to each other, and a node sorts
them for all features at once by exchanging neighbours (a loop over features, which processors do several at a time). Then
the sums left of the first cut of every feature are added up together, of the second, and so on. Of two and of three rows (most
nodes of a tree that is grown out) the first feature that has the best cut there can be ends the search. Sums are whole numbers
below 2^53, so that floats hold them exactly, and a cut is worth what `grow_numbers_complete` says, to the last bit.
"""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.growth.number_sums import LARGEST, LEAST, ROWS, TOTAL, add, begin, splittable
from modelsel.kernels.growth.sorted_columns import missing_to
from modelsel.kernels.layout import BRANCHES, DEPTH, END, FEATURE, FIRST, LEFT, MISSING_TO, RIGHT, START, TEST, THRESHOLD

PLACE = 4  # bits of a key that name a row of a node: a key is code | place
FEW = 1 << PLACE  # rows
WIDTH = 32  # features at a time: loops of this length are unrolled
BEST = FEW * WIDTH  # behind the sums up to each position: what the best cut is worth
CODES = 2**27  # codes of a feature that a key has room for


@kernel()
def by_row(codes, rows):
    """Codes of the chosen rows, those of a row next to each other."""
    turned = np.empty((len(rows), len(codes)), np.int32)
    for i in range(len(rows)):
        own = turned[i]
        for f in range(len(codes)):
            own[f] = codes[f, np.uint64(rows[i])]
    return turned


@kernel()
def room():
    """Keys, and sums with what the best cut of each feature is worth."""
    return np.zeros(FEW * WIDTH, np.int32), np.zeros((FEW + 1) * WIDTH)


@kernel(_nrt=False)
def _sort(by_row, few, first, width, keys):
    """Keys of some features in order, position by position; of those beyond the last, which are constant, keys of code 0."""
    for i in range(len(few)):
        own, start = by_row[few[i], first : first + width], i * WIDTH
        for f in range(width):
            keys[np.uint64(start + f)] = (own[np.uint64(f)] << PLACE) | np.int32(i)
        for f in range(start + width, start + WIDTH):
            keys[np.uint64(f)] = i
        for j in range(start, 0, -WIDTH):
            for f in range(j, j + WIDTH):
                one, other = keys[np.uint64(f - WIDTH)], keys[np.uint64(f)]
                keys[np.uint64(f - WIDTH)] = one if one < other else other
                keys[np.uint64(f)] = other if one < other else one


@kernel(inline="always", _nrt=False)
def _worth(left, rest, one, other):
    """What a cut is worth; one, other: 1/n of either side."""
    right = rest - left
    return left * left * one + right * right * other


@kernel(_nrt=False)
def _best(keys, n, off, rest, inverse, least, sums):
    """Write Σ (q − m) up to each position and the worth of the best cut, of some features; off: q − m of each place."""
    for f in range((n - least) * WIDTH):
        sums[np.uint64(f)] = off[np.uint64(keys[np.uint64(f)] & (FEW - 1))]
    for f in range(BEST, BEST + WIDTH):
        sums[np.uint64(f)] = -1.0
    for f in range(WIDTH, least * WIDTH):
        sums[np.uint64(f)] += sums[np.uint64(f - WIDTH)]
    for i in range(least, n - least + 1):
        one, other, start = inverse[i], inverse[n - i], i * WIDTH
        for f in range(WIDTH):
            here, top = np.uint64(start + f), np.uint64(BEST + f)
            left = sums[here - np.uint64(WIDTH)]
            value, best = _worth(left, rest, one, other), sums[top]
            ends = (keys[here - np.uint64(WIDTH)] ^ keys[here]) >= FEW
            sums[top] = value if ends & (value > best) else best
            sums[here] += left


@kernel(_nrt=False)
def _first(keys, n, f, best, rest, inverse, least, sums):
    """Rows left of the first cut of a feature that is worth that."""
    for i in range(least, n - least):
        before, here = np.uint64((i - 1) * WIDTH + f), np.uint64(i * WIDTH + f)
        if (keys[before] ^ keys[here]) >= FEW and _worth(sums[before], rest, inverse[i], inverse[n - i]) == best:
            return i
    return n - least


@kernel(_nrt=False)
def _search(by_row, few, rest, inverse, least, off, keys, sums):
    """The feature of the best cut (−1: none), what it is worth, the codes before and after it and the rows left of it."""
    n, best, chosen, low, high, at, rest = len(few), -1.0, -1, np.int32(0), np.int32(0), 0, float(rest)
    for first in range(0, by_row.shape[1], WIDTH):
        width, before = min(WIDTH, by_row.shape[1] - first), chosen
        _sort(by_row, few, first, width, keys)
        _best(keys, n, off, rest, inverse, least, sums)
        for f in range(width):
            if sums[np.uint64(BEST + f)] > best:
                best, chosen = sums[np.uint64(BEST + f)], first + f
        if chosen != before:
            f = chosen - first
            at = _first(keys, n, f, best, rest, inverse, least, sums)
            low, high = keys[(at - 1) * WIDTH + f] >> PLACE, keys[at * WIDTH + f] >> PLACE
    return chosen, best - rest * rest * inverse[n], low, high, at


@kernel(_nrt=False)
def _search_pair(by_row, few, rest, inverse, off):
    """The same of two rows: the first feature in which they differ, whose cut is worth as much as any."""
    one, other, n = by_row[few[0]], by_row[few[1]], by_row.shape[1]
    for f in range(n):
        a, b = one[np.uint64(f)], other[np.uint64(f)]
        if a != b:
            worth = _worth(off[0] if a < b else off[1], float(rest), inverse[1], inverse[1])
            return f, worth - float(rest) * float(rest) * inverse[2], min(a, b), max(a, b), 1
    return -1, 0.0, np.int32(0), np.int32(0), 0


@kernel(_nrt=False)
def _search_three(by_row, few, rest, inverse, off, worth):
    """The same of three rows: a cut is worth what the row that it leaves alone says; nothing beats the best of the three."""
    first, second, third = by_row[few[0]], by_row[few[1]], by_row[few[2]]
    best, chosen, low, high, at, top = -1.0, -1, np.int32(0), np.int32(0), 0, -1.0
    for i in range(3):
        worth[i] = _worth(off[i], float(rest), inverse[1], inverse[2])
        top = max(top, worth[i])
    for f in range(by_row.shape[1]):
        a, b, c = first[np.uint64(f)], second[np.uint64(f)], third[np.uint64(f)]
        least, largest = min(a, min(b, c)), max(a, max(b, c))
        middle = max(min(a, b), min(max(a, b), c))
        below, above = 0 if a == least else 1 if b == least else 2, 0 if a == largest else 1 if b == largest else 2
        if least < middle and worth[below] > best:
            best, chosen, low, high, at = worth[below], f, least, middle, 1
        if middle < largest and worth[above] > best:
            best, chosen, low, high, at = worth[above], f, middle, largest, 2
        if best == top:
            break
    return chosen, best - float(rest) * float(rest) * inverse[3], low, high, at


@kernel(_nrt=False)
def grow_few(root, few, q, by_row, whole, inverse, least, enough, most, policy, nodes, value, sums, made, off, work):
    """Grow the subtree below `root`, whose rows are `few`; nodes have room. Returns how many nodes there are then."""
    nodes[root, START], nodes[root, END] = 0, len(few)
    node, following = root, made
    while node < made:
        start, end, depth = nodes[node, START], nodes[node, END], nodes[node, DEPTH]
        if splittable(sums[node], depth, least, enough, most):
            own, mean = few[start:end], sums[node, TOTAL] // sums[node, ROWS]
            for i in range(len(own)):
                off[i] = float(whole[own[i]] - mean)
            rest = sums[node, TOTAL] - mean * sums[node, ROWS]
            if len(own) == 2:
                f, best, low, high, at = _search_pair(by_row, own, rest, inverse, off)
            elif len(own) == 3 and least == 1:
                f, best, low, high, at = _search_three(by_row, own, rest, inverse, off, work[1])
            else:
                f, best, low, high, at = _search(by_row, own, rest, inverse, least, off, work[0], work[1])
            if f >= 0:
                record, i = nodes[node], 0
                record[TEST], record[FEATURE], record[FIRST], record[BRANCHES] = THRESHOLD, f, made, 2
                record[LEFT], record[RIGHT], value[node] = low, high, best
                record[MISSING_TO] = missing_to(policy, at, at, len(own) - at)
                for j in range(len(own)):
                    if by_row[own[j], f] <= low:
                        own[i], own[j] = own[j], own[i]
                        i += 1
                for b in range(2):
                    begin(nodes, value, made + b, node, depth + 1)
                    nodes[made + b, START], nodes[made + b, END] = (start + at, end) if b else (start, start + at)
                    count = nodes[made + b, END] - nodes[made + b, START]
                    for j in range(count):
                        q[j] = whole[few[nodes[made + b, START] + j]]
                    add(q[:count], sums[made + b])
                made += 2
        node = following
        following += 1
    return made


@kernel(_nrt=False)
def fits(sums):
    """A node has few rows, and sums of them are floats."""
    return sums[ROWS] <= FEW and sums[LARGEST] - sums[LEAST] < 2**48
