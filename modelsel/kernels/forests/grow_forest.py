"""Grow one tree of a forest, depth first.

Each node's features are drawn by its own key, so that the tree stopped early is this one cut back (`kernels.forests.draws`).
Stages of a node: its class weights, the search of its cut, its rows divided.
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.forests.draws import below, of_child, word
from modelsel.kernels.forests.forest_goodness import (
    CLASS,
    CODE,
    FEATURE,
    FIELD,
    GOODNESS,
    LARGE,
    LARGEST,
    LEAST,
    MIDDLE,
    MISSING,
    NEXT,
    SHORT,
    SIGN,
)
from modelsel.kernels.forests.forest_layout import AT, COLUMN, KIND, LOST, NODE, OTHERS, RIGHT, ROWS, SQUARES, TEST
from modelsel.kernels.forests.forest_look import SEEN, halfway, look
from modelsel.kernels.forests.forest_numbers import (
    LANES,
    SORTED,
    divide_sorted,
    keep_number,
    keep_sorted,
    numbers_in_words,
    usual_draw,
    usual_number,
    weigh_numbers,
)
from modelsel.kernels.forests.forest_usual import MOST_CELLS, as_one_branch, in_words, totals, usual, usual_class_draw
from modelsel.kernels.layout import EQUALITY, GINI, SUBSET, THRESHOLD

TOGETHER = 1024  # tests whose codes are sought at once
KEPT = 4  # columns per column that a node looks at, up to which all of them are kept sorted

# The rows of a node go to its branches, and what the test says of rows that did not grow the tree.


@kernel(_nrt=False)
def divide(codes, test, at, lost_to, marks, rows, spare, words, others):
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


@kernel(forceinline=True, _nrt=False)
def _place(side, row, word, ends, rows, spare, words, others):
    """Write a row to both branches and keep it in one, so that no jump depends on the way of the last row."""
    first, second = ends
    rows[first], words[first] = row, word
    spare[second], others[second] = row, word
    return first + np.uint64(1) - side, second + side


@kernel(forceinline=True, _nrt=False)
def divide_known(codes, at, bits, place, rows, spare, words, others):
    """The same for a threshold where no value is missing; a column of two values (`place`) is read as bits."""
    ends = np.uint64(0), np.uint64(0)
    if place >= 0:
        word_of, shift = np.uint64(place >> 6), np.uint64(place & 63)
        for i in range(len(rows)):
            row, word = rows[np.uint64(i)], words[np.uint64(i)]
            side = np.uint64(1) - ((bits[np.uint64(row), word_of] >> shift) & np.uint64(1))
            ends = _place(side, row, word, ends, rows, spare, words, others)
    else:
        for i in range(len(rows)):
            row, word = rows[np.uint64(i)], words[np.uint64(i)]
            ends = _place(np.uint64(codes[np.uint64(row)] > at), row, word, ends, rows, spare, words, others)
    first = ends[0]
    for i in range(ends[1]):
        rows[first + np.uint64(i)] = spare[np.uint64(i)]
        words[first + np.uint64(i)] = others[np.uint64(i)]
    return np.int64(first)


@kernel(_nrt=False)
def weight_of(rows, weight):
    """Add up the weights of rows."""
    whole = 0.0
    for i in range(len(rows)):
        whole += weight[rows[i]]
    return whole


@kernel()
def settle(nodes, inner, following, thresholds, values, first, levels):
    """Write thresholds that are not known yet, and the largest codes whose values are at most these: also for other rows.

    All codes are sought together, a halving of each in turn, so that none waits for the memory that another one reads.
    """
    count, longest = len(inner), 0
    place, span, there = np.zeros(count, np.int64), np.ones(count, np.int64), np.empty(count)
    for k in range(count):
        f, at = nodes[inner[k], COLUMN], np.int64(nodes[inner[k], AT])
        if nodes[inner[k], TEST] & KIND == THRESHOLD:
            place[k] = first[f] + at
            if np.isnan(thresholds[k]):
                thresholds[k] = halfway(values[place[k]], values[first[f] + following[k]])
            span[k] = (following[k] if following[k] > at else levels[f]) - at
            longest = max(longest, span[k])
    while longest > 1:
        for k in range(count):
            there[k] = values[np.uint64(place[k] + (span[k] >> 1))]
        for k in range(count):  # a loop of its own, without jumps
            half = span[k] >> 1
            place[k] += half & -np.int64(there[k] <= thresholds[k])
            span[k] -= half
        longest -= longest >> 1
    for k in range(count):
        if nodes[inner[k], TEST] & KIND == THRESHOLD:
            nodes[inner[k], AT] = place[k] - first[nodes[inner[k], COLUMN]]


@kernel(_nrt=False)
def mark(codes, drawn, own, others_to, seen, marks):
    """Mark the levels that take the first branch; those that do not occur here go with the larger one."""
    for level in range(len(marks)):
        seen[level] = 0
    for i in range(len(drawn)):
        if codes[drawn[i]] >= 0:
            seen[codes[drawn[i]]] = 1
    for level in range(len(marks)):
        marks[level] = own[level] if seen[level] else 1 - others_to


@kernel()
def longer(marks, size):
    """Copy marks into an array of a given length, zeros behind them."""
    longer = np.zeros(size, np.uint8)
    longer[: len(marks)] = marks
    return longer


# The best cut of a node among features drawn by its key.
#
# Features are drawn without repetition until `features` were looked at and one of them was not constant (Breiman 2001; as
# scikit-learn does). The first of equally good cuts in the order of the draws wins.


@kernel()
def room(levels, nominal, rows, classes, goodness, table, fused, min_leaf):
    """Allocate the arrays that every node writes to.

    Areas of the general search, cells of the usual one, tables for judging cuts, the best cut.
    """
    widest, subsets = 0, 0
    for f in range(len(levels)):
        if nominal[f] or levels[f] * classes <= SEEN + rows:
            widest = max(widest, levels[f])
        subsets = max(subsets, levels[f] if nominal[f] else 0)
    work = (
        np.empty(rows, np.uint64), np.empty(rows, np.uint64), np.empty(1 << LARGE, np.int64),
        np.empty(SHORT, np.int32), np.empty((widest + 1, classes)),
        np.empty(widest + 1, np.int64), np.empty(widest + 1, np.int64), np.empty(classes), np.empty(widest + 1),
        np.empty(widest + 1, np.int64), np.zeros(subsets, np.uint8), np.zeros(subsets, np.uint8), np.empty(1),
    )  # fmt: skip
    cells = (
        np.empty(MOST_CELLS, np.int32), np.empty(MOST_CELLS, np.int64), np.empty(classes, np.int64), np.empty(classes),
        np.empty(MOST_CELLS if fused == SQUARES else 1, np.int64), np.empty(LANES), np.empty(LANES),
    )  # fmt: skip
    state = np.empty((2, classes)), np.empty(2), np.empty(2, np.int64), np.empty(2)
    judge = table, fused, goodness, np.empty((2, classes)), min_leaf
    drawing = np.arange(len(levels)), np.empty(len(levels), np.int64)
    return work, cells, state, judge, np.empty(5), np.zeros(8), drawing


@kernel(forceinline=True, _nrt=False)
def search(key, features, drawn, words, total, whole, columns, bits, data, settings, signs, kept, few, start, areas):
    """Write the best cut of a node; its feature is −1 where there is none."""
    work, cells, state, judge, best, ruler, (permutation, swaps) = areas
    p, looked, differing, numbers = len(permutation), 0, 0, judge[1] == SQUARES
    best[GOODNESS], best[FEATURE] = -np.inf if numbers else -1.0, -1.0
    node = as_one_branch(whole, judge[0], judge[1]) if len(words) and not numbers else (0.0, 0.0, 0)
    while looked < p and (looked < features or differing == 0):
        if numbers and len(drawn) == 2 and best[FEATURE] >= 0:
            break  # all cuts of two rows are the same
        other = looked + below(word(key, looked), p - looked)
        swaps[looked] = other
        feature = permutation[other]
        permutation[looked], permutation[other] = feature, permutation[looked]
        differs = -1
        ruler[SIGN] = signs[feature] if len(signs) else 0.0
        if len(words) and not columns[2][feature]:
            if numbers and settings[2]:
                differs = usual_draw(
                    feature, key, drawn, words, total, np.int64(data[3][0]), columns, work, best, judge[4], ruler
                )
            elif numbers:
                own = work[0][:0]
                if len(drawn) > few and kept[1][feature] >= 0:
                    own = kept[0][kept[1][feature], start : start + len(drawn)]
                differs = usual_number(
                    feature, drawn, words, total, np.int64(data[3][0]), columns, own, work, cells, best, judge[4], ruler
                )
            elif settings[2]:
                differs = usual_class_draw(
                    feature, key, drawn, words, total, columns, settings[3], work, best, state, judge, ruler
                )
            else:
                differs = usual(feature, drawn, words, whole, total, columns, bits, settings, work, cells, best, judge, node)
        if differs < 0:
            differs = int(look(feature, key, drawn, total, columns, data, settings, work, best, state, judge, ruler))
        differing += differs
        looked += 1
    for k in range(looked - 1, -1, -1):
        permutation[k], permutation[swaps[k]] = permutation[swaps[k]], permutation[k]


@kernel(forceinline=True, _nrt=False)
def _open(nodes, node, above, rows):
    """Begin a node."""
    nodes[node, ROWS], nodes[node, COLUMN] = rows, -1
    if above >= 0 and node != above + 1:
        nodes[above, RIGHT] = node


@kernel(forceinline=True, _nrt=False)
def _weigh(drawn, words, data, total, whole):
    """Write the class weights of a node, and say whether more than one class has some."""
    if len(words):
        totals(words, whole)
        for c in range(len(total)):
            total[c] = whole[c]
        return True  # one class alone was seen before
    present = 0
    for c in range(len(total)):
        total[c] = 0.0
    for i in range(len(drawn)):
        total[data[0][drawn[i]]] += data[1][drawn[i]]
    for c in range(len(total)):
        present += total[c] > 0.0
    return present > 1


@kernel(forceinline=True, _nrt=False)
def _one_class(words, first, held, weights, leaves):
    """Keep the weight of a node that holds one class, and say whether it does."""
    c, weight, at = words[0] >> CLASS, np.uint64(0), first[leaves]
    for i in range(len(words)):
        if words[np.uint64(i)] >> CLASS != c:
            return False
        weight += words[np.uint64(i)] & FIELD
    held[at], weights[at], first[leaves + 1] = c, weight, at + 1
    return True


@kernel(forceinline=True, _nrt=False)
def _branch(nodes, node, columns, bits, drawn, words, data, known, tests, best, work):
    """The rows of a node to its branches, and which of these takes missing values and levels that did not occur."""
    f, lost_to = int(best[FEATURE]), int(best[MISSING])
    test = tests if columns[2][f] else THRESHOLD
    if known:
        firsts = divide_known(
            columns[0][f], int(best[CODE]), bits[0], bits[1][f], drawn, work[0].view(np.int32), words, work[1]
        )
    else:
        firsts = divide(columns[0][f], test, int(best[CODE]), lost_to, work[10], drawn, work[0].view(np.int32), words, work[1])
    others_to = np.int64(lost_to)  # the smaller branch
    if not known:
        others_to = np.int64(weight_of(drawn[:firsts], data[1]) < weight_of(drawn[firsts:], data[1]))
    nodes[node, TEST], nodes[node, COLUMN] = test + LOST * lost_to + OTHERS * others_to, f
    return firsts, others_to, test


@kernel(forceinline=True, _nrt=False)
def _keep(total, first, held, weights, leaves):
    """Keep the class weights of a leaf."""
    at = first[leaves]
    for c in range(len(total)):
        if total[c] > 0.0:
            held[at], weights[at] = c, total[c]
            at += 1
    first[leaves + 1] = at


@kernel(_nrt=False)
def whole_weights(weight, rows):
    """Say whether all weights are whole numbers."""
    whole = True
    for i in range(len(rows)):
        whole &= weight[rows[i]] == np.floor(weight[rows[i]])
    return whole


@kernel(_nrt=False)
def mean_of(rows, data):
    """The mean of v, as leaves say it."""
    amount, weight = 0.0, 0.0
    for i in range(len(rows)):
        amount += data[2][rows[i]]
        weight += data[1][rows[i]]
    return amount / weight


@kernel(_nrt=False)
def bound(sign, drawn, firsts, data, ruler, bounds, top):
    """Write the bounds of both branches (the second's at `top`, then the first's): the middle of their means parts them."""
    for k in range(2):
        bounds[top + k, 0], bounds[top + k, 1] = ruler[LEAST], ruler[LARGEST]
    if sign != 0:
        middle = mean_of(drawn[:firsts], data) / 2.0 + mean_of(drawn[firsts:], data) / 2.0
        lower, upper = (top + 1, top) if sign > 0 else (top, top + 1)
        bounds[lower, 1], bounds[upper, 0] = min(bounds[lower, 1], middle), max(bounds[upper, 0], middle)


@kernel(
    types.forest_tree(
        types.fixed_columns, types.fixed_wholes, types.fixed_flags, types.fixed_reals, types.fixed_wholes, types.fixed_codes,
        types.fixed_reals, types.codes, types.fixed_words, types.fixed_wholes, types.whole, types.fixed_reals, types.whole,
        types.real, types.goodness, types.word, types.whole, types.real, types.whole, types.whole, types.whole, types.whole,
        types.fixed_reals, types.fixed_wholes, types.flags,
    )
)  # fmt: skip
def grow(codes, levels, nominal, values, first, target, weight, rows, two_valued, slots, known, table, fused, scale, goodness,
         key, features, min_leaf, tests, apart, random, classes, amount, signs, stop):  # fmt: skip
    """Give nodes (preorder), thresholds and goodness of their tests, class weights of leaves, marks of levels.

    There are no nodes when it was stopped.

    `rows`: the distinct rows drawn for this tree; `weight`: per data row, how often it was drawn times its weight;
    `two_valued`, `slots`: columns of two values as bits; `known`: every feature is numeric and no value is missing; `amount`:
    of a target that is a number, v per data row, `target` then being its rank, and two classes: Σ v, and the weight; `signs`:
    per feature 1 where answers may only rise with it, −1 where they may only fall, 0 else; none: no feature has any.
    """
    m, numbers = len(rows), fused == SQUARES
    most, listed = 2 * m - 1, 2 * m if numbers else m
    nodes, thresholds, found = np.zeros((most, NODE), np.int32), np.empty(m), np.empty(m)
    inner, following = np.empty(m, np.int32), np.empty(m, np.int64)
    of_leaf, held, weights, total = np.zeros(m + 1, np.int32), np.empty(listed, np.int32), np.empty(listed), np.empty(classes)
    marks, marked = np.zeros(64, np.uint8), 0
    areas = room(levels, nominal, m, classes, goodness, table, fused, min_leaf)
    work, best, ruler = areas[0], areas[4], areas[5]
    directed, centred = len(signs) > 0, len(signs) == 0 or whole_weights(weight, rows)  # u from which v is found again
    bounds = np.empty((m + 1 if directed else 1, 2))
    bounds[0, 0], bounds[0, 1] = -np.inf, np.inf
    ruler[LEAST], ruler[LARGEST] = -np.inf, np.inf
    columns, settings = (codes, levels, nominal, values, first), (tests, apart == 1, random == 1, scale)
    data, raw, whole = (target, weight, amount, np.zeros(1)), np.zeros(2), np.zeros(classes, np.int64)
    if numbers:
        words = numbers_in_words(amount, weight, rows)
    else:
        words = in_words(target, weight, rows, classes, len(table) > 1 or fused == GINI)
    often = numbers and known == 1 and random == 0 and len(words) > 0 and features * KEPT >= len(levels)
    kept = keep_sorted(codes, levels, rows, work, often)
    few = SORTED * len(levels) // features if len(kept[0]) else m
    to = np.empty(m if len(kept[0]) else 1, np.uint32)
    pending, keys, top, made = np.empty((m + 1, 3), np.int64), np.empty(m + 1, np.uint64), 1, 0
    leaves, tests_made = 0, 0
    pending[0, 0], pending[0, 1], pending[0, 2], keys[0] = 0, m, -1, key
    while top > 0:
        top -= 1
        start, end, above, here = pending[top, 0], pending[top, 1], pending[top, 2], keys[top]
        if stop[0]:
            made = 0
            break
        node, drawn = made, rows[start:end]
        made += 1
        _open(nodes, node, above, end - start)
        own_words = words[start:end] if len(words) else words[:0]
        if not numbers and len(words) and _one_class(own_words, of_leaf, held, weights, leaves):
            leaves += 1
            continue
        if numbers:
            mixed = weigh_numbers(drawn, own_words, data, total, raw, centred)
            ruler[MIDDLE] = data[3][0]
            if directed:
                ruler[LEAST], ruler[LARGEST] = bounds[top, 0], bounds[top, 1]
        else:
            mixed = _weigh(drawn, own_words, data, total, whole)
        mixed &= end - start >= max(2.0, 2 * min_leaf)
        if mixed:
            search(
                here, features, drawn, own_words, total, whole, columns, (two_valued, slots), data, settings, signs, kept, few,
                start, areas,
            )  # fmt: skip
        if not mixed or best[FEATURE] < 0:
            if numbers:
                keep_number(raw, of_leaf, held, weights, leaves)
            else:
                _keep(total, of_leaf, held, weights, leaves)
            leaves += 1
            continue
        if end - start > few:
            divide_sorted(kept[0], start, end, codes[int(best[FEATURE])], int(best[CODE]), drawn, to, work[1], few)
        firsts, others_to, test = _branch(
            nodes, node, columns, (two_valued, slots), drawn, own_words, data, known == 1 and len(words) > 0, tests, best, work
        )
        f, code = int(best[FEATURE]), int(best[CODE])
        found[tests_made], thresholds[tests_made] = best[GOODNESS] / total[1] if numbers else best[GOODNESS], np.nan
        if test == THRESHOLD:
            thresholds[tests_made], following[tests_made] = work[12][0], best[NEXT]
        elif test == SUBSET:
            if marked + levels[f] > len(marks):
                marks = longer(marks, 2 * (marked + levels[f]))
            mark(codes[f], drawn, work[10], others_to, work[11], marks[marked : marked + levels[f]])
            code = marked
            marked += levels[f]
        nodes[node, AT], inner[tests_made] = code, node
        tests_made += 1
        if directed:
            bound(signs[f], drawn, firsts, data, ruler, bounds, top)
        for side in (1, 0):
            pending[top, 0] = start + firsts if side else start
            pending[top, 1] = end if side else start + firsts
            pending[top, 2], keys[top] = node, of_child(here, side)
            top += 1
    for start in range(0, tests_made, TOGETHER):
        end = min(start + TOGETHER, tests_made)
        settle(nodes, inner[start:end], following[start:end], thresholds[start:end], values, first, levels)
    return (
        nodes[:made].copy(), thresholds[:tests_made].copy(), found[:tests_made].copy(), of_leaf[: leaves + 1].copy(),
        held[: of_leaf[leaves]].copy(), weights[: of_leaf[leaves]].copy(), marks[:marked].copy(),
    )  # fmt: skip
