"""Grow one tree of a forest: depth first, each node's features drawn by its own key, so that the tree stopped early is this
one cut back (`kernels.forests.draws`).

At a node features are drawn without repetition until `features` were looked at and one of them was not constant (Breiman 2001;
as scikit-learn does). The first of equally good cuts in the order of the draws wins.
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.forests.draws import below, of_child, word
from modelsel.kernels.forests.forest_cuts import (
    by_equality,
    by_order,
    by_subset,
    by_table,
    count,
    draw_threshold,
    gather,
    try_levels,
    try_threshold,
)
from modelsel.kernels.forests.forest_goodness import CODE, FEATURE, GOODNESS, MISSING, NEXT, gauge, term
from modelsel.kernels.forests.forest_layout import AT, COLUMN, DEPTH, LOST, NODE, OTHERS, PARENT, RIGHT, ROWS, SIDES, TEST
from modelsel.kernels.forests.forest_scan import CLASS, FIELD, LARGE, LOW, by_code, entropy, gini, gini_of_two, tally
from modelsel.kernels.forests.forest_scan import gather as gather_words
from modelsel.kernels.forests.forest_scan import sort as sort_words
from modelsel.kernels.layout import EQUALITY, GENERAL, GINI, SUBSET, THRESHOLD, TIE

COUNTED = 2  # rows per code and class from which a column is counted in the usual case
MOST = 65535
SEEN = 32  # codes per row from which a column is sorted rather than counted


@kernel(_nrt=False)
def _bits(top):
    """Binary digits of a number."""
    bits = 1
    while top >> bits:
        bits += 1
    return bits


@kernel(_nrt=False)
def _look(feature, key, drawn, total, columns, data, settings, work, best, state, judge, ruler):
    """Try a feature. Returns whether its values differ here; a better cut is written to `best`."""
    codes, levels, nominal, values, first = columns
    tests, apart, random, scale = settings
    keys, spare, buckets, tally, counts, order, lost, by, other, marks, fresh, threshold = work
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
                best[FEATURE], threshold[0] = feature, _between(values, first[feature], best)
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
    ordered = spare if sort_words(keys, spare, buckets, known, _bits(highest)) else keys
    if by_order(ordered, known, n - known, total, lost, apart, data, best, state, judge, ruler):
        best[FEATURE], threshold[0] = feature, _between(values, first[feature], best)
    return True


@kernel(_nrt=False)
def _quickly(feature, drawn, words, total, columns, settings, work, best, judge, node):
    """`_look` in the usual case (`forest_scan`): 1 or 0 as its values differ or not, −1 where it is not that case."""
    codes, levels, _, values, first = columns
    keys, spare, buckets, sums, rows, _, firsts, _, _, _, _, threshold = work
    table, fused, _, _, least = judge
    n, many, unit = len(drawn), levels[feature], node[1] if fused == GINI else node[1] * settings[3]
    bar, tie = node[0] + best[GOODNESS] * unit, TIE * unit
    if many * len(total) * COUNTED <= n:
        if not tally(codes[feature], drawn, words, sums, rows, many):
            return -1
        value, at, following = by_code(sums, rows, many, n, total, firsts, table, fused, least, bar, tie)
        if at < 0:
            return _differ(rows, many)
        left = 0.0
        for code in range(at + 1):
            for c in range(len(total)):
                left += sums[code, c]
    else:
        lowest, highest = gather_words(codes[feature], drawn, words, keys)
        if lowest < 0 or lowest == highest:
            return -1 if lowest < 0 else 0
        ordered = spare if sort_words(keys, spare, buckets, n, _bits(highest)) else keys
        if fused != GINI:
            value, cut = entropy(ordered, n, total, firsts, table, least, bar, tie)
        elif len(total) == 2:
            value, cut = gini_of_two(ordered, n, total, least, bar, tie)
        else:
            value, cut = gini(ordered, n, total, firsts, least, bar, tie)
        if cut == 0:
            return 1
        left, at, following = 0.0, np.int64(ordered[cut - 1] >> LOW), np.int64(ordered[cut] >> LOW)
        for i in range(cut):
            left += np.float64(ordered[i] & FIELD)
    best[GOODNESS], best[FEATURE], best[CODE], best[NEXT] = (value - node[0]) / unit, feature, at, following
    best[MISSING] = 0.0 if left >= node[1] - left else 1.0
    threshold[0] = _between(values, first[feature], best)
    return 1


@kernel(_nrt=False)
def _differ(rows, levels):
    """Do two codes occur?"""
    found = 0
    for code in range(levels):
        found += rows[code] > 0
    return np.int64(found > 1)


@kernel(_nrt=False)
def _between(values, first, best):
    """The middle between two values, the lower one where it cannot be told from the higher; none but missing ones above: ∞."""
    if best[CODE] == best[NEXT]:
        return np.inf
    low, high = values[first + np.int64(best[CODE])], values[first + np.int64(best[NEXT])]
    middle = low / 2.0 + high / 2.0
    return middle if low <= middle < high else low


@kernel(_nrt=False)
def _search(key, features, drawn, words, total, columns, data, settings, work, best, state, judge, ruler, permutation, swaps):
    """The best cut of a node among features drawn by its key."""
    best[GOODNESS], best[FEATURE] = -1.0, -1.0
    p, looked, differing = len(permutation), 0, 0
    node = _undivided(total, judge)
    while looked < p and (looked < features or differing == 0):
        other = looked + below(word(key, looked), p - looked)
        swaps[looked] = other
        feature = permutation[other]
        permutation[looked], permutation[other] = feature, permutation[looked]
        differs = -1
        if len(words) and not columns[2][feature]:
            differs = _quickly(feature, drawn, words, total, columns, settings, work, best, judge, node)
        if differs < 0:
            differs = int(_look(feature, key, drawn, total, columns, data, settings, work, best, state, judge, ruler))
        differing += differs
        looked += 1
    for k in range(looked - 1, -1, -1):
        permutation[k], permutation[swaps[k]] = permutation[swaps[k]], permutation[k]


@kernel(_nrt=False)
def _undivided(total, judge):
    """The node as one branch, and its weight."""
    own, weight = 0.0, 0.0
    for c in range(len(total)):
        own += term(total[c], judge[0], judge[1]) if judge[1] != GENERAL else 0.0
        weight += total[c]
    if judge[1] == GENERAL:
        return 0.0, weight
    return own / weight if judge[1] == GINI else own - term(weight, judge[0], judge[1]), weight


@kernel(_nrt=False)
def _divide(codes, test, at, lost_to, marks, rows, spare, words, others):
    """Rows of the first branch before those of the second, each in their order; returns how many go first."""
    first, second = 0, 0
    for i in range(len(rows)):
        row = rows[i]
        code = codes[row]
        if code < 0:
            side = lost_to
        elif test == THRESHOLD:
            side = np.int64(code > at)
        elif test == EQUALITY:
            side = np.int64(code != at)
        else:
            side = np.int64(marks[code] == 0)
        if side == 0:
            rows[first] = row
            if len(words):
                words[first] = words[i]
            first += 1
        else:
            spare[second] = row
            if len(words):
                others[second] = words[i]
            second += 1
    for i in range(second):
        rows[first + i] = spare[i]
        if len(words):
            words[first + i] = others[i]
    return first


@kernel()
def _words(target, weight, rows, classes, known, random):
    """Class and weight of each row in one word; none where they do not fit, or where the usual search does not serve."""
    words = np.empty(len(rows), np.uint64)
    if random or not known or classes > MOST:
        return words[:0]
    for i in range(len(rows)):
        w = weight[rows[i]]
        if w != np.floor(w) or w > MOST:
            return words[:0]
        words[i] = (np.uint64(target[rows[i]]) << CLASS) | np.uint64(w)
    return words


@kernel(_nrt=False)
def _weight(rows, weight):
    whole = 0.0
    for i in range(len(rows)):
        whole += weight[rows[i]]
    return whole


@kernel(_nrt=False)
def _last(values, code, threshold):
    """The largest code whose value is at most the threshold: also for rows that did not grow the tree."""
    low, high = code, len(values) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if values[middle] <= threshold:
            low = middle
        else:
            high = middle - 1
    return low


@kernel(_nrt=False)
def _mark(codes, drawn, own, others_to, seen, marks):
    """Which levels take the first branch; those that do not occur here go with the larger one."""
    for level in range(len(marks)):
        seen[level] = 0
    for i in range(len(drawn)):
        if codes[drawn[i]] >= 0:
            seen[codes[drawn[i]]] = 1
    for level in range(len(marks)):
        marks[level] = own[level] if seen[level] else 1 - others_to


@kernel()
def _longer(marks, size):
    longer = np.zeros(size, np.uint8)
    longer[: len(marks)] = marks
    return longer


@kernel(
    types.forest_tree(
        types.fixed_columns, types.fixed_wholes, types.fixed_flags, types.fixed_reals, types.fixed_wholes, types.fixed_codes,
        types.fixed_reals, types.codes, types.fixed_reals, types.whole, types.real, types.goodness, types.word, types.whole,
        types.real, types.whole, types.whole, types.whole, types.whole, types.flags,
    )
)  # fmt: skip
def grow(codes, levels, nominal, values, first, target, weight, rows, table, fused, scale, goodness, key, features, min_leaf,
         tests, apart, random, classes, stop):  # fmt: skip
    """Nodes (preorder), thresholds, goodness, class weights, marks of levels. No nodes when it was stopped.

    `rows`: the distinct rows drawn for this tree; `weight`: per data row, how often it was drawn times its weight.
    """
    m, p = len(rows), len(codes)
    most, widest, subsets = 2 * m - 1, 0, 0
    for f in range(p):
        if nominal[f] or levels[f] * classes <= SEEN + m:
            widest = max(widest, levels[f])
        subsets = max(subsets, levels[f] if nominal[f] else 0)
    nodes, thresholds, found = np.zeros((most, NODE), np.int32), np.full(most, np.nan), np.full(most, np.nan)
    counts, marks, marked = np.zeros((most, classes)), np.zeros(64, np.uint8), 0
    own = np.zeros(subsets, np.uint8)
    cut = np.empty(1)
    work = (
        np.empty(m, np.uint64), np.empty(m, np.uint64), np.empty(1 << LARGE, np.int64), np.empty((widest + 1, classes)),
        np.empty(widest + 1, np.int64), np.empty(widest + 1, np.int64), np.empty(classes), np.empty(widest + 1),
        np.empty(widest + 1, np.int64), own, np.zeros(subsets, np.uint8), cut,
    )  # fmt: skip
    state = np.empty((2, classes)), np.empty(2), np.empty(2, np.int64), np.empty(2)
    judge = table, fused, goodness, np.empty((2, classes)), min_leaf
    ruler, best, spare = np.zeros(2), np.empty(5), np.empty(m, np.int32)
    columns, data, settings = (codes, levels, nominal, values, first), (target, weight), (tests, apart == 1, random == 1, scale)
    words = _words(target, weight, rows, classes, len(table) > 1 or fused == GINI, random)
    permutation, swaps = np.arange(p), np.empty(p, np.int64)
    pending, keys, top, made = np.empty((m + 1, 3), np.int64), np.empty(m + 1, np.uint64), 1, 0
    pending[0, 0], pending[0, 1], pending[0, 2], keys[0] = 0, m, -1, key
    while top > 0:
        top -= 1
        start, end, above, here = pending[top, 0], pending[top, 1], pending[top, 2], keys[top]
        if stop[0]:
            made = 0
            break
        node, drawn = made, rows[start:end]
        made += 1
        nodes[node, ROWS], nodes[node, COLUMN], nodes[node, PARENT] = end - start, -1, above
        if above >= 0:
            nodes[node, DEPTH] = nodes[above, DEPTH] + 1
            if node != above + 1:
                nodes[above, RIGHT] = node
        total, present = counts[node], 0
        for i in range(len(drawn)):
            total[target[drawn[i]]] += weight[drawn[i]]
        for c in range(classes):
            present += total[c] > 0.0
        if present < 2 or end - start < 2 or end - start < 2 * min_leaf:
            continue
        here_words = words[start:end] if len(words) else words[:0]
        _search(
            here,
            features,
            drawn,
            here_words,
            total,
            columns,
            data,
            settings,
            work,
            best,
            state,
            judge,
            ruler,
            permutation,
            swaps,
        )
        if best[FEATURE] < 0:
            continue
        f = int(best[FEATURE])
        test, lost_to = tests if nominal[f] else THRESHOLD, int(best[MISSING])
        found[node], nodes[node, TEST], nodes[node, COLUMN] = best[GOODNESS], test, f
        code = int(best[CODE])
        firsts = _divide(codes[f], test, code, lost_to, own, drawn, spare, here_words, work[1])
        others_to = np.int64(_weight(drawn[:firsts], weight) < _weight(drawn[firsts:], weight))
        nodes[node, SIDES] = LOST * lost_to + OTHERS * others_to
        if test == THRESHOLD:
            thresholds[node] = cut[0]
            code = int(_last(values[first[f] : first[f] + levels[f]], code, cut[0]))
        elif test == SUBSET:
            if marked + levels[f] > len(marks):
                marks = _longer(marks, 2 * (marked + levels[f]))
            _mark(codes[f], drawn, own, others_to, work[4], marks[marked : marked + levels[f]])
            code = marked
            marked += levels[f]
        nodes[node, AT] = code
        for side in (1, 0):
            pending[top, 0] = start + firsts if side else start
            pending[top, 1] = end if side else start + firsts
            pending[top, 2], keys[top] = node, of_child(here, side)
            top += 1
    return nodes[:made].copy(), thresholds[:made].copy(), found[:made].copy(), counts[:made].copy(), marks[:marked].copy()
