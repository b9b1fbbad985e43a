"""Goodness of the cuts of a node while its rows move one by one from the second branch to the first.

`state`: class weights of both branches (2 × classes), their weights, their numbers of rows, and per branch the sum of `term`
over its classes. `judge`: table of terms, which criterion is known here, a criterion's own function and its table, and how
many rows a branch must have. `ruler`: the node undivided, and what a difference to it is worth.
"""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.layout import ENTROPY, GENERAL, GINI, TIE

GOODNESS, CODE, NEXT, MISSING, FEATURE = range(5)  # what is kept of the best cut
NEITHER, FIRST, SECOND = -1, 0, 1  # the branch of rows whose value is missing


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
            weights[k] += classes[k, c]
            sums[k] += term(classes[k, c], table, fused) if fused != GENERAL else 0.0
    rows[0] = lost_rows if side == FIRST else 0
    rows[1] = n if side == SECOND else n - lost_rows


@kernel(_nrt=False)
def gauge(ruler, judge, total, lost, apart, scale):
    """The node undivided. Where rows of missing value stand apart, the known ones are judged and count for their share."""
    table, fused = judge[0], judge[1]
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
