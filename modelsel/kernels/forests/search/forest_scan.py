"""Cuts of sorted entries in the usual case: a numeric column without missing values, whole weights, a criterion known here.

`total`: class weights of the node; `node`: its purity, weight and sum of squares or terms; `bar`: what both branches together
must exceed. Returned are the best value, how many entries stand before its cut (0: none), and their weight. Whether a cut is
better is asked without a division: a/l + b/r > v where a·r + b·l > v·l·r.
"""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.forests.search.forest_sort import CLASS, FIELD, LOW

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
