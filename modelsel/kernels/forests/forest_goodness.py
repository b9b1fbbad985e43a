"""Goodness of the cuts of a node while its rows move one by one from the second branch to the first.

`state`: class weights of both branches (2 × classes), their weights, their numbers of rows, and per branch the sum of `term`
over its classes. `judge`: table of terms, which criterion is known here, a criterion's own function and its table, and how
many rows a branch must have. `ruler`: the node undivided, and what a difference to it is worth; of numbers also between which
means those of branches have to lie, whether the second's is to be larger (1) or smaller (−1), and rows of missing value apart.

Where the target is a number (SQUARES), two columns stand for classes: Σ u and the weight. `data`: class, weight and v of each
row, and the middle m of the node; v is whole, u = v − m·w rounded to a whole number, so that no order of sums changes a bit.
"""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.forests.forest_layout import SQUARES
from modelsel.kernels.layout import ENTROPY, GENERAL, GINI, TIE

GOODNESS, CODE, NEXT, MISSING, FEATURE = range(5)  # what is kept of the best cut
NEITHER, FIRST, SECOND = -1, 0, 1  # the branch of rows whose value is missing
LEAST, LARGEST, SIGN, MIDDLE, LOST_SUM, LOST_WEIGHT = range(2, 8)  # of `ruler`


@kernel(inline="always", _nrt=False)
def term(x, table, fused):
    """x² or x·log2 x; the latter from the table where weights are whole numbers."""
    if fused == GINI:
        return x * x
    if len(table) > 1:
        return table[np.int64(x)]
    return x * np.log2(x) if x > 0.0 else 0.0


@kernel(inline="always", _nrt=False)
def _purity(own, weight, table, fused):
    """Σ n_c²/n, or Σ n_c·log2 n_c − n·log2 n."""
    return own / weight if fused == GINI else own - term(weight, table, fused)


@kernel(inline="always", _nrt=False)
def move(c, w, state, judge):
    """Weight of class c goes over to the first branch."""
    classes, weights, _, sums = state
    table, fused = judge[0], judge[1]
    first, second = classes[0, c], classes[1, c]
    classes[0, c], classes[1, c] = first + w, second - w
    weights[0] += w
    weights[1] -= w
    if fused == GINI:
        sums[0] += w * (2.0 * first + w)
        sums[1] -= w * (2.0 * second - w)
    elif fused == ENTROPY:
        sums[0] += term(first + w, table, fused) - term(first, table, fused)
        sums[1] += term(second - w, table, fused) - term(second, table, fused)


@kernel(inline="always", _nrt=False)
def deviation(row, data):
    """u of a row: how far its number lies from the middle of the node, times its weight."""
    return data[2][row] - np.rint(data[3][0] * data[1][row])


@kernel(inline="always", _nrt=False)
def add_row(row, data, to):
    """Add a row to class weights, or to a sum and a weight."""
    if len(data[2]):
        to[0] += deviation(row, data)
        to[1] += data[1][row]
    else:
        to[data[0][row]] += data[1][row]


@kernel(inline="always", _nrt=False)
def _carry(u, w, state):
    """A sum and a weight go over to the first branch."""
    sums, weights = state[0], state[1]
    sums[0, 0] += u
    sums[1, 0] -= u
    weights[0] += w
    weights[1] -= w


@kernel(inline="always", _nrt=False)
def move_row(row, data, state, judge):
    """A row goes over to the first branch."""
    if judge[1] == SQUARES:
        _carry(deviation(row, data), data[1][row], state)
    else:
        move(data[0][row], data[1][row], state, judge)


@kernel(inline="always", _nrt=False)
def move_code(own, state, judge):
    """All rows of a code, counted in `own`, go over to the first branch."""
    if judge[1] == SQUARES:
        _carry(own[0], own[1], state)
        return
    for c in range(len(own)):
        if own[c] > 0.0:
            move(c, own[c], state, judge)


@kernel(inline="always", _nrt=False)
def worth(a, n_first, b, n_second):
    """What two branches spare of the squared error, but for what the node itself is worth."""
    return a * a / n_first + b * b / n_second


@kernel(inline="always", _nrt=False)
def keeps(a, n_first, b, n_second, ruler):
    """Say whether branches keep to the node's bounds and the feature's direction; their means are what leaves will say."""
    first, second = (a + ruler[MIDDLE] * n_first) / n_first, (b + ruler[MIDDLE] * n_second) / n_second
    inside = min(first, second) >= ruler[LEAST] and max(first, second) <= ruler[LARGEST]
    return inside and ruler[SIGN] * (second - first) >= 0.0


@kernel(inline="always", _nrt=False)
def _keep_with_lost(state, ruler, side):
    """The same where rows of missing value that stand apart follow the larger branch."""
    sums, weights = state[0], state[1]
    a, n_first, b, n_second = sums[0, 0], weights[0], sums[1, 0], weights[1]
    if side < 0 and n_first >= n_second:
        a, n_first = a + ruler[LOST_SUM], n_first + ruler[LOST_WEIGHT]
    elif side < 0:
        b, n_second = b + ruler[LOST_SUM], n_second + ruler[LOST_WEIGHT]
    return keeps(a, n_first, b, n_second, ruler)


@kernel(_nrt=False)
def begin(state, judge, total, lost, n, lost_rows, side):
    """All known rows in the second branch; those of missing value in branch `side`, or in neither."""
    classes, weights, rows, sums = state
    table, fused = judge[0], judge[1]
    weights[:], sums[:] = 0.0, 0.0
    for c in range(len(total)):
        classes[0, c] = lost[c] if side == FIRST else 0.0
        classes[1, c] = total[c] if side == SECOND else total[c] - lost[c]
        for k in range(2):
            weights[k] = classes[k, c] if fused == SQUARES else weights[k] + classes[k, c]
            sums[k] += term(classes[k, c], table, fused) if fused != GENERAL else 0.0
    rows[0] = lost_rows if side == FIRST else 0
    rows[1] = n if side == SECOND else n - lost_rows


@kernel(_nrt=False)
def gauge(ruler, judge, total, lost, apart, scale):
    """The node undivided. Where rows of missing value stand apart, the known ones are judged and count for their share."""
    table, fused = judge[0], judge[1]
    if fused == SQUARES:
        here, size = (total[0] - lost[0], total[1] - lost[1]) if apart else (total[0], total[1])
        ruler[0] = here * here / size if size > 0.0 else 0.0
        ruler[LOST_SUM], ruler[LOST_WEIGHT] = lost[0], lost[1]
        return
    weight, known, own = 0.0, 0.0, 0.0
    for c in range(len(total)):
        here = total[c] - lost[c] if apart else total[c]
        own += term(here, table, fused) if fused != GENERAL else 0.0
        known += here
        weight += total[c]
    if fused == GENERAL:
        ruler[0], ruler[1] = 0.0, known / weight
    elif known > 0.0:
        ruler[0] = _purity(own, known, table, fused)
        ruler[1] = 1.0 / weight if fused == GINI else 1.0 / (weight * scale)


@kernel(inline="always", _nrt=False)
def consider(best, code, following, side, state, judge, ruler):
    """Keep the cut if it is better than the best so far; `side` NEITHER: missing values go with the larger branch."""
    classes, weights, rows, sums = state
    table, fused, goodness, pair, least = judge
    if rows[0] < least or rows[1] < least:
        return False
    if fused == SQUARES:
        found = worth(classes[0, 0], weights[0], classes[1, 0], weights[1]) - ruler[0]
        if not found > best[GOODNESS] or not _keep_with_lost(state, ruler, side):  # equal sums are so to the last bit
            return False
        best[GOODNESS], best[CODE], best[NEXT] = found, code, following
        best[MISSING] = side if side >= 0 else (0.0 if weights[0] >= weights[1] else 1.0)
        return True
    if fused == GENERAL:
        for c in range(classes.shape[1]):
            pair[0, c], pair[1, c] = classes[0, c], classes[1, c]
        found = goodness(pair) * ruler[1]
    else:
        both = _purity(sums[0], weights[0], table, fused) + _purity(sums[1], weights[1], table, fused)
        found = (both - ruler[0]) * ruler[1]
    if not found > best[GOODNESS] + TIE:
        return False
    best[GOODNESS], best[CODE], best[NEXT] = found, code, following
    best[MISSING] = side if side >= 0 else (0.0 if weights[0] >= weights[1] else 1.0)
    return True


# Entries of a node put into the order of their codes: few by counting who is smaller, many by a radix sort.
#
# An entry is code | class | weight (32, 16 and 16 bits), so that a scan reads one word per row. No order of entries of one code
# matters: cuts lie between codes.

CLASS, LOW = np.uint64(16), np.uint64(32)
FIELD = np.uint64(0xFFFF)
FEW, SHORT, LANES = 4, 64, 32  # entries sorted by insertion, by comparing each with each, LANES at a time
CODES = 1 << 24  # codes that are compared in 32 bits together with a place
SMALL, LARGE, MANY = 8, 11, 2048  # digits of a radix sort, and entries from which they are large


@kernel(_nrt=False)
def gather(codes, drawn, words, keys):
    """Entries of the rows of a node, lowest and highest code; the lowest is −1 where a value is missing."""
    lowest, highest = np.int32(2**31 - 1), np.int32(-1)
    for i in range(len(drawn)):
        code = codes[np.uint64(drawn[np.uint64(i)])]
        keys[np.uint64(i)] = (np.uint64(np.uint32(code)) << LOW) | words[np.uint64(i)]
        lowest, highest = min(lowest, code), max(highest, code)
    return lowest, highest


@kernel(_nrt=False)
def sort(keys, spare, buckets, places, n, lowest, highest):
    """Sort by code. Returns whether the entries end in `spare`."""
    if n <= FEW:
        _insert(keys, n)
        return False
    if n <= SHORT and highest - lowest < CODES:
        _compare(keys, spare, places, n, lowest)
        return True
    bits, largest = 1, LARGE if n >= MANY else SMALL
    while (highest - lowest) >> bits:
        bits += 1
    passes = (bits + largest - 1) // largest
    width = (bits + passes - 1) // passes
    for k in range(passes):
        one, other = (spare, keys) if k % 2 else (keys, spare)
        _distribute(one, other, buckets, n, np.uint64(lowest), np.uint64(k * width), width)
    return passes % 2 == 1


@kernel(_nrt=False)
def _insert(keys, n):
    """Sort in place by insertion."""
    for i in range(1, n):
        key, j = keys[i], i
        while j > 0 and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key


@kernel(_nrt=False)
def _compare(keys, spare, own, n, lowest):
    """Each entry goes where as many stand before it as are smaller. `own`: room for codes with their places."""
    whole = (n + LANES - 1) // LANES * LANES
    for i in range(n, whole):
        own[i] = np.int32(2**31 - 1)  # no entry is larger
    for i in range(n):
        own[i] = np.int32((((keys[i] >> LOW) - np.uint64(lowest)) << np.uint64(6)) | np.uint64(i))
    for i in range(n):
        here, rank = own[i], np.int32(0)
        for j in range(whole):
            rank = np.int32(rank + np.int32(own[j] < here))
        spare[np.uint64(rank)] = keys[i]


@kernel(_nrt=False)
def _distribute(one, other, buckets, n, lowest, shift, width):
    """One pass of a radix sort."""
    mask, so_far = np.uint64((1 << width) - 1), 0
    for b in range(1 << width):
        buckets[b] = 0
    for i in range(n):
        buckets[(((one[np.uint64(i)] >> LOW) - lowest) >> shift) & mask] += 1
    for b in range(1 << width):
        buckets[b], so_far = so_far, so_far + buckets[b]
    for i in range(n):
        key = one[np.uint64(i)]
        b = (((key >> LOW) - lowest) >> shift) & mask
        other[np.uint64(buckets[b])] = key
        buckets[b] += 1
