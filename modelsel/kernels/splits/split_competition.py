"""The parts that growers share: records that grow, the features worth a search, and the contest between features."""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.layout import ABSENT, BRANCH, CODE, CUTS, ENTROPY, FRACTIONAL, GENERAL, INFORMATION, TIE, VALUE


@kernel()
def longer(array, size):
    """The same array with room for `size`, at least twice as long when it must grow."""
    if size <= array.shape[0]:
        return array
    longer = np.zeros((max(size, 2 * array.shape[0]), array.shape[1]), array.dtype)
    for i in range(array.shape[0]):  # loops, as the assignment of a slice takes seconds to compile
        for k in range(array.shape[1]):
            longer[i, k] = array[i, k]
    return longer


@kernel(_nrt=False)
def total_of(row):
    """Sum of a row, in a loop: array expressions take seconds to compile."""
    total = 0.0
    for c in range(len(row)):
        total += row[c]
    return total


@kernel(_nrt=False)
def unit_of(n, entropy):
    """n·log2 n or n²."""
    if not entropy:
        return n * n
    return n * np.log2(n) if n > 0 else 0.0


@kernel(_nrt=False)
def value_of(work, first, branches, rules, limits, units, goodness):
    """Goodness of a split whose branches are rows of `work`: by table, by formula, or by the criterion's own function."""
    if rules.fused == GENERAL and rules.formula == GENERAL:
        return goodness(work[first : first + branches])
    table, entropy, inner, whole, total = rules.fused != GENERAL, rules.formula == ENTROPY, 0.0, 0.0, 0.0
    for c in range(work.shape[1]):
        n = 0.0
        for b in range(first, first + branches):
            n += work[b, c]
        whole += units[int(n)] if table else unit_of(n, entropy)
        total += n
    for b in range(first, first + branches):
        n, s = 0.0, 0.0
        for c in range(work.shape[1]):
            n += work[b, c]
            s += units[int(work[b, c])] if table else unit_of(work[b, c], entropy)
        if n > 0 and entropy:
            inner += s - (units[int(n)] if table else unit_of(n, entropy))
        elif n > 0:
            inner += s / n
    if entropy:
        return (
            (inner - whole + (units[int(total)] if table else unit_of(total, entropy)))
            / total
            / (limits.scale if table else 1.0)
        )
    return (inner - whole / total) / total


@kernel(_nrt=False)
def splittable(counts, depth, rules, limits):
    """A node is worth a search: two classes, weight for two branches, and within the limits."""
    total, classes = 0.0, 0
    for c in range(len(counts)):
        total += counts[c]
        classes += counts[c] > 0
    return classes > 1 and total >= limits.room and depth < rules.max_depth


@kernel(_nrt=False)
def least_weight(rules, limits, known, classes):
    """Weight that either side must have; `min_leaf_rule: c45` asks for more where there is plenty (Quinlan 1993)."""
    if rules.cautious:
        return max(limits.least, min(25.0, 0.1 * known / classes) - 1e-9)
    return limits.least


@kernel(_nrt=False)
def information(a, b, absent):
    """Split information of two branches and, where rows are divided, the missing ones."""
    total, bits = a + b + absent, 0.0
    for part in (a, b, absent):
        if part > 0:
            bits -= part / total * np.log2(part / total)
    return bits


@kernel(_nrt=False)
def contest(found, offered, cost, total, rules, limits, is_nominal, levels, worth):
    """The feature whose test is taken (−1: none) and its goodness, from the best test of each.

    `worth` is None, or `cost` has no numbers, where goodness itself competes.
    """
    mean, rivals, best, chosen = 0.0, 0, -np.inf, -1
    for f in range(len(offered)):
        if offered[f] and found[f, CODE] >= 0:
            if rules.missing >= FRACTIONAL and rules.missing != BRANCH:
                found[f, VALUE] *= (total - found[f, ABSENT]) / total
            if rules.penalty and not is_nominal[f]:
                found[f, VALUE] -= np.log2(found[f, CUTS]) / total
                if found[f, VALUE] <= TIE:
                    found[f, CODE] = -1.0
                    continue
            if not is_nominal[f] or levels[f] < 0.3 * limits.rows:
                mean += found[f, VALUE]
                rivals += 1
    mean = mean / rivals if rivals > 0 else np.inf
    if rivals == 0 or not rules.average:
        mean = -np.inf
    for f in range(len(offered)):
        if not offered[f] or found[f, CODE] < 0:
            continue
        value = found[f, VALUE]
        if rules.ratio:
            if value < mean - 1e-3 or found[f, INFORMATION] <= TIE:
                continue
            value /= found[f, INFORMATION]
        if worth is not None and len(cost) > 0:
            value = worth(value, cost[f], limits.exponent)
        if value > best + TIE:
            best, chosen = value, f
    return chosen, best
