"""The best cut of one feature in the usual case: numeric, no missing value, whole weights, a criterion known here.

`node`: its purity, weight, and sum of squares of its class weights `total` (`real`: in floating point), whole but the first.
"""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.forests.search.forest_codes import by_code, by_code_of_terms, of_bits, tally, two_by_two
from modelsel.kernels.forests.search.forest_goodness import CODE, FEATURE, GOODNESS, MISSING, NEXT, term
from modelsel.kernels.forests.search.forest_look import between
from modelsel.kernels.forests.search.forest_scan import entropy, gini, gini_of_two
from modelsel.kernels.forests.search.forest_sort import CLASS, FIELD, LOW, gather, sort
from modelsel.kernels.layout import GINI, TIE

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
        work[12][0] = between(columns[3], columns[4][feature], best)
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


@kernel()
def in_words(target, weight, rows, classes, known, random):
    """Class and weight of each row in one word; none where they do not fit, or where the usual search does not serve."""
    words, whole = np.empty(len(rows), np.uint64), 0.0
    if random or not known or classes > MOST_CLASSES:
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
def undivided(total, table, fused):
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
