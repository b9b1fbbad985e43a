"""The best cut of one feature in the usual case: numeric, no missing value, whole weights, a criterion known here.

`node`: its purity, weight, and sum of squares of its class weights `total` (`real`: in floating point), whole but the first.
"""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.forests.forest_goodness import (
    CLASS,
    CODE,
    FEATURE,
    FIELD,
    GOODNESS,
    LOW,
    MISSING,
    NEITHER,
    NEXT,
    consider,
    gather,
    gauge,
    sort,
    term,
)
from modelsel.kernels.forests.forest_look import draw_threshold, draw_value
from modelsel.kernels.layout import GINI, TIE

# Cuts of a column of few codes in the usual case (`forest_scan`): its rows are counted, not sorted.


@kernel(_nrt=False)
def tally(codes, drawn, words, cells, rows, levels, classes, least):
    """Class weights, code after code, and rows where a branch must have some; False where a value is missing."""
    for cell in range(levels * classes):
        cells[cell] = 0
    wide = np.uint64(classes)
    if least <= 1.0:
        lowest = np.int32(0)
        for i in range(len(drawn)):
            code = codes[np.uint64(drawn[np.uint64(i)])]
            word = words[np.uint64(i)]
            lowest = min(lowest, code)
            cells[np.uint64(max(code, 0)) * wide + ((word >> CLASS) & FIELD)] += np.int32(word & FIELD)
        return lowest == 0
    for code in range(levels):
        rows[code] = 0
    for i in range(len(drawn)):
        code = codes[np.uint64(drawn[np.uint64(i)])]
        if code < 0:
            return False
        word = words[np.uint64(i)]
        cells[np.uint64(code) * wide + ((word >> CLASS) & FIELD)] += np.int32(word & FIELD)
        rows[np.uint64(code)] += 1
    return True


@kernel(_nrt=False)
def by_code(cells, rows, levels, n, total, firsts, least, bar, tie, node):
    """Find the best cut between codes that occur, by Gini's index.

    Returned are its value, the code before it (−1: none) and after it, the weight left of it, and how many codes occur.
    Σ (N_c − n_c)² = Σ N_c² − 2·Σ N_c·n_c + Σ n_c²; whole numbers below 2⁵³ in floating point are exact.
    """
    classes, here, last, found = len(total), 0, -1, 0
    best, at, following, best_left = bar, -1, -1, 0.0
    weight, squares, left, lefts, crossed = node[1], np.float64(node[2]), 0.0, 0.0, 0.0
    for c in range(classes):
        firsts[c] = 0.0
    for code in range(levels):
        start, own, more, crossing = np.uint64(code * classes), 0.0, 0.0, 0.0
        for c in range(np.uint64(classes)):
            w, first = np.float64(cells[start + c]), firsts[c]
            own += w
            more += w * (2.0 * first + w)
            crossing += total[c] * w
            firsts[c] = first + w
        if own == 0.0:
            continue
        if last >= 0 and (least <= 1.0 or (here >= least and n - here >= least)):
            value = lefts / left + (squares - 2.0 * crossed + lefts) / (weight - left)
            if value > best + tie:
                best, at, following, best_left = value, last, code, left
        left += own
        lefts += more
        crossed += crossing
        here += rows[code]
        last = code
        found += 1
    return best, at, following, best_left, found


@kernel(_nrt=False)
def by_code_of_terms(cells, rows, levels, n, total, firsts, table, least, bar, tie, node):
    """Find the same by the entropy."""
    classes, left, here, last, found = len(total), np.int64(0), 0, -1, 0
    best, at, following, best_left = bar, -1, -1, 0.0
    weight = np.int64(node[1])
    for c in range(classes):
        firsts[c] = 0.0
    for code in range(levels):
        start, own = code * classes, np.int64(0)
        for c in range(classes):
            own += cells[start + c]
        if own == 0:
            continue
        if last >= 0 and (least <= 1.0 or (here >= least and n - here >= least)):
            value = -(table[left] + table[weight - left])
            for c in range(classes):
                value += table[np.int64(firsts[c])] + table[np.int64(total[c] - firsts[c])]
            if value > best + tie:
                best, at, following, best_left = value, last, code, np.float64(left)
        for c in range(classes):
            firsts[c] += cells[start + c]
        left += own
        here += rows[code]
        last = code
        found += 1
    return best, at, following, best_left, found


@kernel(_nrt=False)
def of_bits(bits, place, drawn, words):
    """A column of two values and two classes: weight, weight of the second class and rows of the lower value."""
    word_of, shift = np.uint64(place >> 6), np.uint64(place & 63)
    weight, own, rows = np.uint64(0), np.uint64(0), np.uint64(0)
    for i in range(len(drawn)):
        lower = (bits[np.uint64(drawn[np.uint64(i)]), word_of] >> shift) & np.uint64(1)  # 1: the lower value
        word = words[np.uint64(i)]
        w = (word & FIELD) & (np.uint64(0) - lower)
        weight += w
        own += w & (np.uint64(0) - (word >> CLASS))
        rows += lower
    return np.float64(weight), np.float64(own), np.int64(rows)


@kernel(inline="always", _nrt=False)
def two_by_two(left, own, total, table, fused):
    """Purity of both branches of two classes."""
    others, right = total[1] - own, total[0] + total[1] - left
    if fused == GINI:
        return (own * own + (left - own) * (left - own)) / left + (
            others * others + (right - others) * (right - others)
        ) / right
    sums = table[np.int64(own)] + table[np.int64(left - own)] + table[np.int64(others)] + table[np.int64(right - others)]
    return sums - (table[np.int64(left)] + table[np.int64(right)])


# Cuts of sorted entries in the usual case: a numeric column without missing values, whole weights, a criterion known here.
#
# `total`: class weights of the node; `node`: its purity, weight and sum of squares or terms; `bar`: what both branches together
# must exceed. Returned are the best value, how many entries stand before its cut (0: none), and their weight. Whether a cut is
# better is asked without a division: a/l + b/r > v where a·r + b·l > v·l·r.

LAST = np.uint64((1 << 32) - 1)  # of the bits below a code


@kernel(_nrt=False)
def gini_of_two(keys, n, total, least, bar, tie):
    """Two classes: Σ n_c²/n of both branches exceeds that of the node by 2·(own·N − l·N₁)²/(N·l·r)."""
    second, weight = total[1], total[0] + total[1]
    half, nothing = np.float64(weight) / 2.0, total[0] * total[0] + total[1] * total[1]
    margin = tie * half
    asked = (bar - nothing / np.float64(weight)) * half + margin
    left, own, at, best_left, best_own = np.int64(0), np.int64(0), 0, np.int64(0), np.int64(0)
    first, last = np.int64(np.ceil(least)), n - np.int64(np.ceil(least))
    for i in range(min(n - 1, last)):
        key = keys[np.uint64(i)]
        w = np.int64(key & FIELD)
        left += w
        own += w & -np.int64((key >> CLASS) & FIELD)
        apart, both = np.float64(own * weight - left * second), np.float64(left * (weight - left))
        ends = (keys[np.uint64(i + 1)] ^ key) > LAST  # another code follows
        if ends & (apart * apart > asked * both) & (i + 1 >= first):  # one branch that is seldom taken
            at, best_left, best_own = i + 1, left, own
            asked = apart * apart / both + margin
    if at == 0:
        return bar, 0, 0.0
    one, a, other, b = (
        np.float64(best_left),
        np.float64(best_own),
        np.float64(weight - best_left),
        np.float64(second - best_own),
    )
    return (a * a + (one - a) * (one - a)) / one + (b * b + (other - b) * (other - b)) / other, at, one


@kernel(_nrt=False)
def gini(keys, n, total, firsts, least, bar, tie, node):
    """Σ n_c²/n of both branches."""
    left, right, lefts, rights = np.int64(0), np.int64(node[1]), np.int64(0), node[2]
    at, best, best_left, asked = 0, bar, 0.0, bar + tie
    first, last = np.int64(np.ceil(least)), n - np.int64(np.ceil(least))
    for c in range(len(total)):
        firsts[c] = 0
    for i in range(min(n - 1, last)):
        key = keys[np.uint64(i)]
        w, c = np.int64(key & FIELD), (key >> CLASS) & FIELD
        own = firsts[c]
        lefts += w * (2 * own + w)
        rights -= w * (2 * (total[c] - own) - w)
        firsts[c] = own + w
        left += w
        right -= w
        one, other, a, b = np.float64(left), np.float64(right), np.float64(lefts), np.float64(rights)
        ends = (keys[np.uint64(i + 1)] ^ key) > LAST
        if ends & (a * other + b * one > asked * one * other) & (i + 1 >= first):
            best, best_left, at = a / one + b / other, one, i + 1
            asked = best + tie
    return best, at, best_left


@kernel(_nrt=False)
def entropy(keys, n, total, firsts, table, least, bar, tie):
    """Σ n_c·log n_c − n·log n of both branches, in whole numbers."""
    left, right, sums, at, best, best_left = np.int64(0), np.int64(0), 0.0, 0, bar, np.int64(0)
    for c in range(len(total)):
        firsts[c] = 0
        right += total[c]
        sums += table[total[c]]
    for i in range(n - 1):
        key = keys[np.uint64(i)]
        w, c = np.int64(key & FIELD), (key >> CLASS) & FIELD
        own = firsts[c]
        others = total[c] - own
        sums += (table[own + w] - table[own]) + (table[others - w] - table[others])
        firsts[c] = own + w
        left += w
        right -= w
        if (keys[np.uint64(i + 1)] ^ key) >> LOW and i + 1 >= least and n - 1 - i >= least:
            value = sums - (table[left] + table[right])
            if value > best + tie:
                best, at, best_left = value, i + 1, left
    return best, at, np.float64(best_left)


COUNTED, MOST_CELLS = 8, 4096  # cells (codes times classes) per row, and cells, up to which a column is counted
MOST_CLASSES, MOST_WEIGHT, WHOLE_WEIGHT = 65535, 65535, 2.0**26  # squares are exact


@kernel(forceinline=True, _nrt=False)
def usual(feature, drawn, words, total, real, columns, bits, settings, work, cells, best, judge, node):
    """Try a feature: 1 or 0 as its values differ here or not, −1 where a value is missing."""
    unit = node[1] if judge[1] == GINI else node[1] * settings[3]
    bar, tie, many = node[0] + best[GOODNESS] * unit, TIE * unit, columns[1][feature]
    if len(total) == 2 and bits[1][feature] >= 0:
        differs, value, at, following, left = _by_bits(bits, feature, drawn, words, total, judge, bar, tie)
    elif many * len(total) <= min(COUNTED * len(drawn), MOST_CELLS):
        differs, value, at, following, left = _by_codes(
            columns[0][feature], many, drawn, words, real, cells, judge, bar, tie, node
        )
    else:
        differs, value, at, following, left = _by_entries(
            columns[0][feature], drawn, words, total, work, cells, judge, bar, tie, node
        )
    if at >= 0:
        best[GOODNESS], best[FEATURE], best[CODE], best[NEXT] = (value - node[0]) / unit, feature, at, following
        best[MISSING] = 0.0 if left >= node[1] - left else 1.0
        work[12][0] = np.nan  # halfway between two codes, written when the tree is grown
    return differs


@kernel(forceinline=True, _nrt=False)
def _by_bits(bits, feature, drawn, words, total, judge, bar, tie):
    """Judge the only cut of a two-valued feature by counting bits."""
    n, least = len(drawn), judge[4]
    left, own, rows = of_bits(bits[0], bits[1][feature], drawn, words)
    if rows == 0 or rows == n:
        return 0, bar, -1, -1, 0.0
    if rows < least or n - rows < least:
        return 1, bar, -1, -1, 0.0
    value = two_by_two(left, own, total, judge[0], judge[1])
    if not value > bar + tie:
        return 1, bar, -1, -1, 0.0
    return 1, value, 0, 1, left


@kernel(forceinline=True, _nrt=False)
def _by_codes(codes, many, drawn, words, total, cells, judge, bar, tie, node):
    """Find the best cut by a table of class weights per code; -1 where the table cannot hold the rows."""
    table, rows, firsts = cells[0], cells[1], cells[3]
    if not tally(codes, drawn, words, table, rows, many, len(total), judge[4]):
        return -1, bar, -1, -1, 0.0
    if judge[1] == GINI:
        value, at, following, left, found = by_code(table, rows, many, len(drawn), total, firsts, judge[4], bar, tie, node)
    else:
        value, at, following, left, found = by_code_of_terms(
            table, rows, many, len(drawn), total, firsts, judge[0], judge[4], bar, tie, node
        )
    return np.int64(found > 1), value, at, following, left


@kernel(forceinline=True, _nrt=False)
def _by_entries(codes, drawn, words, total, work, cells, judge, bar, tie, node):
    """Find the best cut by sorting the rows' entries; -1 where a row has no value."""
    keys, spare, buckets, places = work[0], work[1], work[2], work[3]
    n, least, firsts = len(drawn), judge[4], cells[2]
    lowest, highest = gather(codes, drawn, words, keys)
    if lowest < 0 or lowest == highest:
        return -1 if lowest < 0 else 0, bar, -1, -1, 0.0
    ordered = spare if sort(keys, spare, buckets, places, n, lowest, highest) else keys
    if judge[1] != GINI:
        value, cut, left = entropy(ordered, n, total, firsts, judge[0], least, bar, tie)
    elif len(total) == 2:
        value, cut, left = gini_of_two(ordered, n, total, least, bar, tie)
    else:
        value, cut, left = gini(ordered, n, total, firsts, least, bar, tie, node)
    if cut == 0:
        return 1, bar, -1, -1, 0.0
    return 1, value, np.int64(ordered[cut - 1] >> LOW), np.int64(ordered[cut] >> LOW), left


# One cut drawn at random (extremely randomised trees).

COMPARED = 128  # rows up to which values are compared with a drawn one


@kernel(_nrt=False)
def extremes(codes, drawn):
    """Lowest and highest code; the lowest is −1 where a value is missing."""
    lowest, highest = np.int32(2**31 - 1), np.int32(-1)
    for i in range(len(drawn)):
        code = codes[np.uint64(drawn[np.uint64(i)])]
        lowest, highest = min(lowest, code), max(highest, code)
    return lowest, highest


@kernel(_nrt=False)
def _classes_up_to(codes, drawn, words, at, firsts):
    """Class weights and number of the rows whose code is at most `at`."""
    rows = np.int64(0)
    for i in range(len(drawn)):
        word, inside = words[np.uint64(i)], -np.int64(codes[np.uint64(drawn[np.uint64(i)])] <= at)  # all bits, or none
        firsts[(word >> CLASS) & FIELD] += np.float64(np.int64(word & FIELD) & inside)
        rows -= inside
    return rows


@kernel(_nrt=False)
def _classes_up_to_value(codes, drawn, words, values, threshold, firsts):
    """The same of the rows whose value is at most a threshold; and the largest code of these."""
    rows, at = np.int64(0), np.int64(-1)
    for i in range(len(drawn)):
        code = np.int64(codes[np.uint64(drawn[np.uint64(i)])])
        word, inside = words[np.uint64(i)], -np.int64(values[np.uint64(code)] <= threshold)
        firsts[(word >> CLASS) & FIELD] += np.float64(np.int64(word & FIELD) & inside)
        rows -= inside
        at = max(at, code | ~inside)
    return rows, at


@kernel(_nrt=False)
def usual_class_draw(feature, key, drawn, words, total, columns, scale, work, best, state, judge, ruler):
    """Try one threshold drawn between the extremes of a feature; as `usual`.

    In a node of few rows these are compared with it by their values: it need not be searched among all values of the column.
    """
    codes, n = columns[0][feature], len(drawn)
    lowest, highest = extremes(codes, drawn)
    if lowest < 0 or lowest == highest:
        return -1 if lowest < 0 else 0
    values, lost, (classes, weights, rows, sums) = columns[3][columns[4][feature] :], work[7], state
    classes[0, :], lost[:], weights[:], sums[:] = 0.0, 0.0, 0.0, 0.0
    threshold = draw_value(key, feature, values[lowest], values[highest])
    if n <= COMPARED and threshold < values[highest]:
        rows[0], at = _classes_up_to_value(codes, drawn, words, values, threshold, classes[0])
    else:
        at, threshold = draw_threshold(key, feature, np.int64(lowest), np.int64(highest), values)
        rows[0] = _classes_up_to(codes, drawn, words, at, classes[0])
    rows[1] = n - rows[0]
    for c in range(len(total)):
        classes[1, c] = total[c] - classes[0, c]
        for k in range(2):
            weights[k] += classes[k, c]
            sums[k] += term(classes[k, c], judge[0], judge[1])
    gauge(ruler, judge, total, lost, False, scale)
    if consider(best, np.float64(at), np.float64(at), NEITHER, state, judge, ruler):
        best[FEATURE], work[12][0] = feature, threshold
    return 1


@kernel()
def in_words(target, weight, rows, classes, known):
    """Class and weight of each row in one word; none where they do not fit, or where the usual search does not serve."""
    words, whole = np.empty(len(rows), np.uint64), 0.0
    if not known or classes > MOST_CLASSES:
        return words[:0]
    for i in range(len(rows)):
        w = weight[rows[i]]
        whole += w
        if w != np.floor(w) or w > MOST_WEIGHT:
            return words[:0]
        words[i] = (np.uint64(target[rows[i]]) << CLASS) | np.uint64(w)
    return words if whole < WHOLE_WEIGHT else words[:0]


@kernel(forceinline=True, _nrt=False)
def totals(words, whole):
    """Class weights of some rows in whole numbers."""
    for c in range(len(whole)):
        whole[c] = 0
    if len(whole) == 2:
        weight, second = np.uint64(0), np.uint64(0)
        for i in range(len(words)):
            weight += words[i] & FIELD
            second += words[i] & FIELD & (np.uint64(0) - (words[i] >> CLASS))
        whole[0], whole[1] = weight - second, second
        return
    for i in range(len(words)):
        whole[(words[i] >> CLASS) & FIELD] += np.int64(words[i] & FIELD)


@kernel(forceinline=True, _nrt=False)
def as_one_branch(total, table, fused):
    """The node as one branch, its weight, and the sum of squares of its class weights."""
    own, weight, squares = 0.0, 0, 0
    for c in range(len(total)):
        weight += total[c]
        squares += total[c] * total[c]
    if fused == GINI:
        return np.float64(squares) / np.float64(weight), np.float64(weight), squares
    for c in range(len(total)):
        own += term(np.float64(total[c]), table, fused)
    return own - term(np.float64(weight), table, fused), np.float64(weight), squares
