"""The best cut of a node among features drawn by its key.

Features are drawn without repetition until `features` were looked at and one of them was not constant (Breiman 2001; as
scikit-learn does). The first of equally good cuts in the order of the draws wins.
"""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.forests.draws import below, word
from modelsel.kernels.forests.search.forest_goodness import FEATURE, GOODNESS
from modelsel.kernels.forests.search.forest_look import SEEN, look
from modelsel.kernels.forests.search.forest_sort import LARGE, SHORT
from modelsel.kernels.forests.search.forest_usual import MOST_CELLS, undivided, usual


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
        (np.empty(SHORT, np.int32), np.empty(SHORT, np.int32)), np.empty((widest + 1, classes)),
        np.empty(widest + 1, np.int64), np.empty(widest + 1, np.int64), np.empty(classes), np.empty(widest + 1),
        np.empty(widest + 1, np.int64), np.zeros(subsets, np.uint8), np.zeros(subsets, np.uint8), np.empty(1),
    )  # fmt: skip
    cells = np.empty(MOST_CELLS, np.int32), np.empty(MOST_CELLS, np.int64), np.empty(classes, np.int64), np.empty(classes)
    state = np.empty((2, classes)), np.empty(2), np.empty(2, np.int64), np.empty(2)
    judge = table, fused, goodness, np.empty((2, classes)), min_leaf
    drawing = np.arange(len(levels)), np.empty(len(levels), np.int64)
    return work, cells, state, judge, np.empty(5), np.zeros(2), drawing


@kernel(forceinline=True, _nrt=False)
def search(key, features, drawn, words, total, whole, columns, bits, data, settings, areas):
    """Write the best cut of a node; its feature is −1 where there is none."""
    work, cells, state, judge, best, ruler, (permutation, swaps) = areas
    best[GOODNESS], best[FEATURE] = -1.0, -1.0
    p, looked, differing = len(permutation), 0, 0
    node = undivided(whole, judge[0], judge[1]) if len(words) else (0.0, 0.0, 0)
    while looked < p and (looked < features or differing == 0):
        other = looked + below(word(key, looked), p - looked)
        swaps[looked] = other
        feature = permutation[other]
        permutation[looked], permutation[other] = feature, permutation[looked]
        differs = -1
        if len(words) and not columns[2][feature]:
            differs = usual(feature, drawn, words, whole, total, columns, bits, settings, work, cells, best, judge, node)
        if differs < 0:
            differs = int(look(feature, key, drawn, total, columns, data, settings, work, best, state, judge, ruler))
        differing += differs
        looked += 1
    for k in range(looked - 1, -1, -1):
        permutation[k], permutation[swaps[k]] = permutation[swaps[k]], permutation[k]
