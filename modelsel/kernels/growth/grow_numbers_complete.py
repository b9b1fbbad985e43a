"""Grow a tree by squared error where every feature is a threshold feature without missing values and every row weighs one.

An entry of a sorted column packs row | q | new: the row's place among the fitted ones, the whole number q that stands for its
target (less the smallest), and whether its value differs from the one before (`kernels/growth/sorted_columns`). With m the
whole mean of a node, a cut is worth

    a² / n_l + b² / n_r,   a = Σ_left (q − m),   b = Σ_right (q − m)

Sums are whole numbers, so that cuts which part the rows alike, or the other way round, are worth the same to the last bit; the
first of the best wins. Nodes of few rows need no sorted columns.
"""

import math

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.growth.sorted_columns import differ, inverses, missing_to, pack, part_all, with_ties
from modelsel.kernels.layout import (
    BRANCHES,
    DEPTH,
    END,
    FEATURE,
    FIRST,
    LEFT,
    MISSING_TO,
    PARENT,
    RECORD,
    RIGHT,
    START,
    TEST,
    THRESHOLD,
)
from modelsel.kernels.splits.split_competition import longer

# Nodes whose rows weigh one each, and their sums: of q = u·2^21 + v and of products of its parts, which add upwards.


HALF = 21
TOTAL, U, UU, UV, VV, LEAST, LARGEST, ROWS = range(8)  # of a node: Σq, Σu, Σu², Σuv, Σv², least and largest q, rows
SUMS = 8


@kernel(_nrt=False)
def add(numbers, sums):
    """The sums of some rows."""
    total, u_total, uu, uv, vv = np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    least, largest, low = numbers[0], numbers[0], np.int64((1 << HALF) - 1)
    for i in range(len(numbers)):
        q = numbers[np.uint64(i)]
        u, v = q >> HALF, q & low
        total += q
        u_total += u
        uu += u * u
        uv += u * v
        vv += v * v
        least = q if q < least else least
        largest = q if q > largest else largest
    sums[TOTAL], sums[U], sums[UU], sums[UV], sums[VV] = total, u_total, uu, uv, vv
    sums[LEAST], sums[LARGEST], sums[ROWS] = least, largest, len(numbers)


@kernel(_nrt=False)
def squares(sums):
    """Σ (q − M)² about the mean M, from whole sums about a whole number near it; 0 where all are equal."""
    if sums[LEAST] == sums[LARGEST]:
        return 0.0
    n, total, u = sums[ROWS], sums[TOTAL], sums[U]
    m, v = total // n, total - (u << HALF)
    mu, mv = m >> HALF, m & ((1 << HALF) - 1)
    uu = sums[UU] - 2 * mu * u + n * mu * mu
    uv = sums[UV] - mu * v - mv * u + n * mu * mv
    vv = sums[VV] - 2 * mv * v + n * mv * mv
    rest = float(total - m * n)
    about = float(uu) * 2.0 ** (2 * HALF) + float(uv) * 2.0 ** (HALF + 1) + float(vv)
    return max(about - rest * rest / float(n), 0.0)


@kernel(_nrt=False)
def splittable(sums, depth, least, enough, most):
    """A node is worth a search: two numbers, rows for two branches, and within the limits."""
    return sums[LEAST] < sums[LARGEST] and sums[ROWS] >= max(enough, 2 * least) and depth < most


@kernel(_nrt=False)
def begin(nodes, value, node, parent, depth):
    """An empty record of a new node."""
    record = nodes[node]
    for k in range(RECORD):
        record[k] = 0
    record[PARENT], record[DEPTH], value[node] = parent, depth, 0.0


# Grow the subtree of a few rows by squared error, all features side by side.
#
# Sorted columns do not pay where rows are few: here the rows' codes of all features stand next to each other, and a node sorts
# them for all features at once by exchanging neighbours (a loop over features, which processors do several at a time). Then the
# sums left of the first cut of every feature are added up together, of the second, and so on. Of two and of three rows (most
# nodes of a tree that is grown out) the first feature that has the best cut there can be ends the search. Sums are whole
# numbers below 2^53, so that floats hold them exactly, and a cut is worth what it is in larger nodes, to the last bit.


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
def _search_few(by_row, few, rest, inverse, least, off, keys, sums):
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
                f, best, low, high, at = _search_few(by_row, own, rest, inverse, least, off, work[0], work[1])
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
    least, most = np.int64(max(np.ceil(limits.least), 1.0)), rules.max_depth
    enough = np.int64(np.ceil(limits.room))
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
