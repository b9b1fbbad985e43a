"""Grow a tree by squared error where every feature is a threshold feature without missing values and every row weighs one.

An entry of a sorted column packs q | row | new: the whole number that stands for the row's target, the row's place among the
fitted ones, and whether its value differs from the one before. With m the whole mean of a node, a cut is worth

    a² / n_l + b² / n_r,   a = Σ_left (q − m),   b = Σ_right (q − m)

Sums are whole numbers, so that cuts which part the rows alike, or the other way round, are worth the same to the last bit; the
first of the best wins. A node's stretch of every sorted column is parted in place, as in `grow_counted`.
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.layout import (
    BRANCH,
    BRANCHES,
    DEPTH,
    DIVIDED,
    END,
    FEATURE,
    FIRST,
    FRACTIONAL,
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

OUT = np.int64(-1)
HALF = 21  # q = u·2^21 + v
TOTAL, U, UU, UV, VV, LEAST, LARGEST, ROWS = range(8)  # of a node: Σq, Σu, Σu², Σuv, Σv², least and largest q, rows
SUMS = 8
STRETCH = 256  # rows looked at together for a first difference


@kernel()
def _pack(order, whole, rows, shift):
    """Entries q | row | new of the chosen rows, per sorted column."""
    entries, place = np.empty((order.shape[0], len(rows)), np.int64), np.full(order.shape[1], OUT)
    for i in range(len(rows)):
        place[rows[i]] = i
    for f in range(order.shape[0]):
        at, new, sorted_rows, own = 0, np.int64(0), order[f], entries[f]
        for i in range(order.shape[1]):
            row = np.int64(sorted_rows[i])
            begins = row >> 63
            new |= begins & 1
            number = place[np.uint64(row ^ begins)]
            if number >= 0:
                own[at] = (whole[np.uint64(number)] << shift) | (number << 1) | new
                at += 1
                new = np.int64(0)
    return entries


@kernel()
def _inverses(n):
    """1/i for i = 0 … n, the first of them 0."""
    shares = np.zeros(n + 1)
    for i in range(1, n + 1):
        shares[i] = 1.0 / i
    return shares


@kernel(_nrt=False)
def _add(column, shift, sums):
    """The sums of a stretch of rows."""
    total, u_total, uu, uv, vv = np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    least, largest, low = np.int64(column[0] >> shift), np.int64(column[0] >> shift), np.int64((1 << HALF) - 1)
    for i in range(len(column)):
        q = column[np.uint64(i)] >> shift
        u, v = q >> HALF, q & low
        total += q
        u_total += u
        uu += u * u
        uv += u * v
        vv += v * v
        least = q if q < least else least
        largest = q if q > largest else largest
    sums[TOTAL], sums[U], sums[UU], sums[UV], sums[VV] = total, u_total, uu, uv, vv
    sums[LEAST], sums[LARGEST], sums[ROWS] = least, largest, len(column)


@kernel(_nrt=False)
def _squares(sums):
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
def _splittable(sums, depth, least, enough, most):
    """A node is worth a search: two numbers, rows for two branches, and within the limits."""
    return sums[LEAST] < sums[LARGEST] and sums[ROWS] >= max(enough, 2 * least) and depth < most


@kernel(_nrt=False)
def _differ(column):
    """Say whether any two values differ (a stretch at a time: most columns differ early)."""
    differ = np.int64(0)
    for first in range(1, len(column), STRETCH):
        for i in range(first, min(first + STRETCH, len(column))):
            differ |= column[np.uint64(i)]
        if differ & 1:
            return True
    return False


@kernel(inline="always", _nrt=False)
def _cut(column, mean, rest, inverse, least, shift, best):
    """What the best cut is worth if it is more than `best`, and the rows left of it (0: none); rest: Σ (q − m)."""
    n, at, a = len(column), np.int64(0), np.int64(0)
    for i in range(least - 1):
        a += (column[np.uint64(i)] >> shift) - mean
    for i in range(least, n - least + 1):
        a += (column[np.uint64(i - 1)] >> shift) - mean
        if column[np.uint64(i)] & 1:
            left, right = float(a), float(rest - a)
            value = left * left * inverse[np.uint64(i)] + right * right * inverse[np.uint64(n - i)]
            if value > best:
                best, at = value, np.int64(i)
    return best, at


@kernel(_nrt=False)
def _search(entries, begin, end, here, below, sums, inverse, least, shift):
    """The feature of the best cut (−1: none), what it is worth, the rows left of it. Constant ones are not offered below."""
    mean = sums[TOTAL] // sums[ROWS]
    rest, best, chosen, at = sums[TOTAL] - mean * sums[ROWS], -1.0, -1, np.int64(0)
    for f in range(len(entries)):
        column = entries[f, begin:end]
        below[f] = here[f] and _differ(column)
        if below[f]:
            best, left = _cut(column, mean, rest, inverse, least, shift, best)
            if left > 0:
                chosen, at = f, left
    return chosen, best - float(rest) * float(rest) * inverse[end - begin], at


@kernel(_nrt=False)
def _pair(codes, here, rows, one, other):
    """The feature that parts two rows, the first in which they differ (−1: none); the row that goes left, and the other."""
    for f in range(len(here)):
        if here[f]:
            a, b = codes[f, rows[np.uint64(one)]], codes[f, rows[np.uint64(other)]]
            if a != b:
                return (f, one, other) if a < b else (f, other, one)
    return -1, one, other


@kernel(_nrt=False)
def _write_pair(nodes, value, sums, node, first, f, left, right, codes, rows, whole, policy):
    """A test that parts two rows, and its two leaves."""
    record = nodes[node]
    record[TEST], record[FEATURE], record[FIRST], record[BRANCHES] = THRESHOLD, f, first, 2
    record[LEFT], record[RIGHT] = codes[f, rows[np.uint64(left)]], codes[f, rows[np.uint64(right)]]
    record[MISSING_TO] = _missing_to(policy, 1, 1)
    total = whole[np.uint64(left)] + whole[np.uint64(right)]
    mean = total >> 1
    rest, a = total - 2 * mean, whole[np.uint64(left)] - mean
    b = float(rest - a)
    value[node, 0] = float(a) * float(a) * 1.0 + b * b * 1.0 - float(rest) * float(rest) * 0.5
    for k in range(2):
        child, q = first + k, whole[np.uint64(right if k else left)]
        nodes[child, PARENT], nodes[child, DEPTH] = node, record[DEPTH] + 1
        _only(q, sums[child])


@kernel(_nrt=False)
def _only(q, sums):
    """The sums of a single row."""
    u, v = q >> HALF, q & np.int64((1 << HALF) - 1)
    sums[TOTAL], sums[U], sums[UU], sums[UV], sums[VV] = q, u, u * u, u * v, v * v
    sums[LEAST], sums[LARGEST], sums[ROWS] = q, q, 1


@kernel(_nrt=False)
def _sides(column, at, side, ids):
    """Mark the rows right of a cut."""
    for i in range(len(column)):
        side[np.uint64((column[np.uint64(i)] >> 1) & ids)] = i >= at


@kernel(_nrt=False)
def _part(column, side, at, ids, spare):
    """One sorted column, in order: rows of side 0 first. A row that loses those before it inherits their `new`."""
    zero, one, new_zero, new_one = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for i in range(len(column)):
        entry = column[np.uint64(i)]
        later = np.int64(side[np.uint64((entry >> 1) & ids)])
        new_zero |= entry & 1
        new_one |= entry & 1
        column[np.uint64(zero)] = entry | new_zero
        spare[np.uint64(one)] = entry | new_one
        one += later
        zero += 1 - later
        new_zero &= later
        new_one &= 1 - later
    for i in range(one):
        column[np.uint64(at + i)] = spare[np.uint64(i)]


@kernel(_nrt=False)
def _keep(column, side, wanted, ids):
    """One sorted column, in order: rows of the wanted side alone."""
    at, new = np.int64(0), np.int64(0)
    for i in range(len(column)):
        entry = column[np.uint64(i)]
        other = np.int64(side[np.uint64((entry >> 1) & ids)]) ^ wanted
        new |= entry & 1
        column[np.uint64(at)] = entry | new
        at += 1 - other
        new &= other


@kernel(_nrt=False)
def _part_all(entries, start, end, f, below, side, at, ids, spare, zero, one):
    """Part all sorted columns of a node but the chosen one, which is in order; only one side where the other is a leaf."""
    for g in range(len(entries)):
        if below[g] and zero and one and g != f:
            _part(entries[g, start:end], side, at, ids, spare)
        elif below[g] and zero != one and not (zero and g == f):
            _keep(entries[g, start:end], side, np.int64(one), ids)


@kernel(_nrt=False)
def _missing_to(policy, left, right):
    """Return the branch of a later row with a missing value: by policy, the node's median or its larger side."""
    if policy == FRACTIONAL:
        return DIVIDED
    if policy == BRANCH:
        return 1 if right > left else 0
    return 0 if (left + right - 1) // 2 < left else 1


@kernel(
    types.grown_numbers(
        types.fixed_columns, types.fixed_columns, types.fixed_wholes, types.fixed_wholes, types.rules, types.limits, types.flags
    )
)
def grow(order, codes, whole, rows, rules, limits, stop):
    """Records, goodness in squares of a whole number, Σ q and Σ (q − M)² of each node; no records when it was stopped.

    order, codes: of the ranked columns; whole: q of each of the chosen `rows`.
    """
    features, n, ids = len(order), len(rows), np.int64((1 << rules.id_bits) - 1)
    shift = rules.id_bits + 1
    least, most = max(np.int64(np.ceil(limits.min_leaf - 1e-9)), 1), rules.max_depth
    enough = np.int64(np.ceil(limits.min_split - 1e-9))
    inverse, entries = _inverses(n), _pack(order, whole, rows, shift)
    nodes, value, sums = np.zeros((64, RECORD), np.int64), np.zeros((64, 1)), np.zeros((64, SUMS), np.int64)
    offered, side, spare = np.ones((8, features), np.uint8), np.zeros(n, np.uint8), np.empty(n, np.int64)
    first_column = np.empty((1, n), np.int64)
    for i in range(n):
        first_column[0, i] = whole[i] << shift
    _add(first_column[0], shift, sums[0])
    nodes[0, PARENT], nodes[0, END] = -1, n
    stack, top, made = np.zeros((64, 1), np.int64), 1, 1
    if not _splittable(sums[0], 0, least, enough, most):
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
        f, best, at = _search(entries, start, end, here, below, sums[node], inverse, least, shift)
        if f < 0:
            continue
        first, column, middle = made, entries[f, start:end], start + at
        made += 2
        nodes, value, sums = longer(nodes, made), longer(value, made), longer(sums, made)
        _add(column[:at], shift, sums[first])
        _add(column[at:], shift, sums[first + 1])
        record = nodes[node]
        record[TEST], record[FEATURE], record[FIRST], record[BRANCHES] = THRESHOLD, f, first, 2
        record[LEFT] = codes[f, rows[(column[at - 1] >> 1) & ids]]
        record[RIGHT] = codes[f, rows[(column[at] >> 1) & ids]]
        record[MISSING_TO], value[node, 0] = _missing_to(rules.missing, at, end - middle), best
        for b in range(2):
            nodes[first + b, PARENT], nodes[first + b, DEPTH] = node, depth + 1
        zero = _splittable(sums[first], depth + 1, least, enough, most)
        one = _splittable(sums[first + 1], depth + 1, least, enough, most)
        for b in range(2):
            if (one if b else zero) and sums[first + b, ROWS] == 2:  # needs no sorted columns
                place = at if b else 0
                g, left, right = _pair(codes, below, rows, (column[place] >> 1) & ids, (column[place + 1] >> 1) & ids)
                if g >= 0:
                    nodes, value, sums = longer(nodes, made + 2), longer(value, made + 2), longer(sums, made + 2)
                    _write_pair(nodes, value, sums, first + b, made, g, left, right, codes, rows, whole, rules.missing)
                    made += 2
        zero, one = zero and sums[first, ROWS] > 2, one and sums[first + 1, ROWS] > 2
        if not zero and not one:
            continue
        _sides(column, at, side, ids)
        _part_all(entries, start, end, f, below, side, at, ids, spare, zero, one)
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
    squares = np.zeros(made)
    for node in range(made):
        squares[node] = _squares(sums[node])
    return nodes[:made].copy(), value[:made, 0].copy(), sums[:made].copy(), squares
