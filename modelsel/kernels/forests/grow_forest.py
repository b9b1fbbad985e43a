"""Grow one tree of a forest, depth first.

Each node's features are drawn by its own key, so that the tree stopped early is this one cut back (`kernels.forests.draws`).
Stages of a node: its class weights, the search of its cut, its rows divided.
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.forests.draws import of_child
from modelsel.kernels.forests.forest_divide import divide, divide_known, last_code, longer, mark, weight_of
from modelsel.kernels.forests.forest_layout import AT, COLUMN, LOST, NODE, OTHERS, RIGHT, ROWS, TEST
from modelsel.kernels.forests.search.forest_goodness import CODE, FEATURE, GOODNESS, MISSING
from modelsel.kernels.forests.search.forest_search import room, search
from modelsel.kernels.forests.search.forest_sort import CLASS, FIELD
from modelsel.kernels.forests.search.forest_usual import in_words, totals
from modelsel.kernels.layout import GINI, SUBSET, THRESHOLD


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


@kernel(
    types.forest_tree(
        types.fixed_columns, types.fixed_wholes, types.fixed_flags, types.fixed_reals, types.fixed_wholes, types.fixed_codes,
        types.fixed_reals, types.codes, types.fixed_words, types.fixed_wholes, types.whole, types.fixed_reals, types.whole,
        types.real, types.goodness, types.word, types.whole, types.real, types.whole, types.whole, types.whole, types.whole,
        types.flags,
    )
)  # fmt: skip
def grow(codes, levels, nominal, values, first, target, weight, rows, two_valued, slots, known, table, fused, scale, goodness,
         key, features, min_leaf, tests, apart, random, classes, stop):  # fmt: skip
    """Give nodes (preorder), thresholds and goodness of their tests, class weights of leaves, marks of levels.

    There are no nodes when it was stopped.

    `rows`: the distinct rows drawn for this tree; `weight`: per data row, how often it was drawn times its weight;
    `two_valued`, `slots`: columns of two values as bits; `known`: every feature is numeric and no value is missing.
    """
    m = len(rows)
    most = 2 * m - 1
    nodes, thresholds, found = np.zeros((most, NODE), np.int32), np.empty(m), np.empty(m)
    of_leaf, held, weights, total = np.zeros(m + 1, np.int32), np.empty(m, np.int32), np.empty(m), np.empty(classes)
    marks, marked = np.zeros(64, np.uint8), 0
    areas = room(levels, nominal, m, classes, goodness, table, fused, min_leaf)
    work, best = areas[0], areas[4]
    columns, data, settings = (codes, levels, nominal, values, first), (target, weight), (tests, apart == 1, random == 1, scale)
    words, whole = in_words(target, weight, rows, classes, len(table) > 1 or fused == GINI, random), np.zeros(classes, np.int64)
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
        if len(words) and _one_class(own_words, of_leaf, held, weights, leaves):
            leaves += 1
            continue
        mixed = _weigh(drawn, own_words, data, total, whole) and end - start >= max(2.0, 2 * min_leaf)
        if mixed:
            search(here, features, drawn, own_words, total, whole, columns, (two_valued, slots), data, settings, areas)
        if not mixed or best[FEATURE] < 0:
            _keep(total, of_leaf, held, weights, leaves)
            leaves += 1
            continue
        firsts, others_to, test = _branch(
            nodes, node, columns, (two_valued, slots), drawn, own_words, data, known == 1 and len(words) > 0, tests, best, work
        )
        f, code = int(best[FEATURE]), int(best[CODE])
        found[tests_made], thresholds[tests_made] = best[GOODNESS], np.nan
        if test == THRESHOLD:
            thresholds[tests_made] = work[12][0]
            code = int(last_code(values[first[f] : first[f] + levels[f]], code, work[12][0]))
        elif test == SUBSET:
            if marked + levels[f] > len(marks):
                marks = longer(marks, 2 * (marked + levels[f]))
            mark(codes[f], drawn, work[10], others_to, work[11], marks[marked : marked + levels[f]])
            code = marked
            marked += levels[f]
        nodes[node, AT] = code
        tests_made += 1
        for side in (1, 0):
            pending[top, 0] = start + firsts if side else start
            pending[top, 1] = end if side else start + firsts
            pending[top, 2], keys[top] = node, of_child(here, side)
            top += 1
    return (
        nodes[:made].copy(), thresholds[:tests_made].copy(), found[:tests_made].copy(), of_leaf[: leaves + 1].copy(),
        held[: of_leaf[leaves]].copy(), weights[: of_leaf[leaves]].copy(), marks[:marked].copy(),
    )  # fmt: skip
