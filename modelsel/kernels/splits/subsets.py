"""The best set of levels against the others.

Exact for two classes by ordering the levels by class share (Breiman et al. 1984, theorem 4.5, for criteria that are a mean of
a concave impurity), exhaustive up to ten levels, and otherwise grown greedily, level by level.
"""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.layout import CODE, EXHAUSTIVE, FRACTIONAL, INFORMATION, TIE, VALUE
from modelsel.kernels.splits.split_competition import information, total_of, value_of

FEW = 16  # levels that are sorted by insertion
SHARE = 1  # column of the table after the weight of a level: what levels are sorted by


@kernel(_nrt=False)
def copy(work, branch, table, level):
    """Copy a level's weights into a branch (in a loop, as array expressions take seconds to compile)."""
    for c in range(work.shape[1]):
        work[branch, c] = table[level, c]


@kernel(_nrt=False)
def add(work, branch, weights):
    """Add a level's weights to a branch."""
    for c in range(work.shape[1]):
        work[branch, c] += weights[c]


@kernel(_nrt=False)
def rest(work, whole):
    """Give the second branch what the first has not; what rounding leaves of nothing is nothing."""
    for c in range(len(whole)):
        left = whole[c] - work[0, c]
        work[1, c] = left if left >= TIE * whole[c] else 0.0


@kernel(_nrt=False)
def keep(value, work, lost, rules, found):
    """Remember a test of two branches that is better than what was found."""
    if value <= found[VALUE] + TIE:
        return False
    found[VALUE] = value
    if rules.ratio:
        found[INFORMATION] = information(total_of(work[0]), total_of(work[1]), lost if rules.missing == FRACTIONAL else 0.0)
    return True


@kernel(_nrt=False)
def _try(work, whole, lost, rules, limits, units, goodness, found):
    """Keep the test whose branches are work[0] and the rest, if it is admissible and the best so far."""
    rest(work, whole)
    if min(total_of(work[0]), total_of(work[1])) < limits.min_leaf - 1e-9:
        return False
    return keep(value_of(work, 0, 2, rules, limits, units, goodness), work, lost, rules, found)


@kernel(_nrt=False)
def _insert(table, key, items):
    """Sort a few levels by a column of the table, equal ones staying in order."""
    for i in range(1, len(items)):
        item, j = items[i], i
        own = table[item, key]
        while j > 0 and table[items[j - 1], key] > own:
            items[j] = items[j - 1]
            j -= 1
        items[j] = item


@kernel(_nrt=False)
def _merge(table, key, items, other):
    """Sort as above by merges of runs of 1, 2, 4 and so on."""
    n, run = len(items), 1
    while run < n:
        for start in range(0, n, 2 * run):
            a, b, middle, end = start, start + run, min(start + run, n), min(start + 2 * run, n)
            for k in range(start, end):
                if b >= end or (a < middle and table[items[a], key] <= table[items[b], key]):
                    other[k] = items[a]
                    a += 1
                else:
                    other[k] = items[b]
                    b += 1
        for k in range(n):
            items[k] = other[k]
        run *= 2


@kernel(_nrt=False)
def _ordered(table, seen, whole, lost, rules, limits, units, goodness, work, order, other, found, inside):
    """Prefixes of the levels in order of the second class's share."""
    many, key, best = len(seen), 2 + SHARE, -1
    for i in range(many):
        order[i] = seen[i]
        table[seen[i], key] = table[seen[i], 1] / table[seen[i], 2]
    if many <= FEW:
        _insert(table, key, order[:many])
    else:
        _merge(table, key, order[:many], other)
    for c in range(2):
        work[0, c] = 0.0
    for i in range(many - 1):
        add(work, 0, table[order[i]])
        if _try(work, whole, lost, rules, limits, units, goodness, found):
            best = i
    for i in range(many):
        inside[order[i]] = i <= best
    return best >= 0


@kernel(_nrt=False)
def _exhaustive(table, seen, whole, lost, rules, limits, units, goodness, work, found, inside):
    """Every subset that holds the first level, as the binary digits of a number."""
    best = -1
    for number in range((1 << (len(seen) - 1)) - 1):
        copy(work, 0, table, seen[0])
        for i in range(1, len(seen)):
            if number >> (i - 1) & 1:
                add(work, 0, table[seen[i]])
        if _try(work, whole, lost, rules, limits, units, goodness, found):
            best = number
    for i in range(len(seen)):
        inside[seen[i]] = best >= 0 and (2 * best + 1) >> i & 1
    return best >= 0


@kernel(_nrt=False)
def _greedy(table, seen, whole, lost, rules, limits, units, goodness, work, rank, found, inside):
    """Add the level that helps most, one by one; what is kept is the best admissible set on the way."""
    many, kept, have = len(seen), -1, work[2]
    for i in range(many):
        rank[i] = -1
    for c in range(len(whole)):
        have[c] = 0.0
    for step in range(many - 1):
        best, value = -1, -np.inf
        for i in range(many):
            if rank[i] >= 0:
                continue
            copy(work, 0, table, seen[i])
            add(work, 0, have)
            rest(work, whole)
            trial = value_of(work, 0, 2, rules, limits, units, goodness)
            if trial > value + TIE:
                best, value = i, trial
        rank[best] = step
        add(work, 2, table[seen[best]])
        copy(work, 0, work, 2)
        if _try(work, whole, lost, rules, limits, units, goodness, found):
            kept = step
    for i in range(many):
        inside[seen[i]] = 0 <= rank[i] <= kept
    return kept >= 0


@kernel(_nrt=False)
def subset(table, seen, whole, lost, rules, limits, units, goodness, work, order, other, found, inside):
    """Write the best set of the levels `seen` into `inside`, and its goodness into `found`; order, other: room."""
    for level in seen:
        inside[level] = 0
    if len(whole) == 2 and rules.convex:
        any_ = _ordered(table, seen, whole, lost, rules, limits, units, goodness, work, order, other, found, inside)
    elif len(seen) <= EXHAUSTIVE:
        any_ = _exhaustive(table, seen, whole, lost, rules, limits, units, goodness, work, found, inside)
    else:
        any_ = _greedy(table, seen, whole, lost, rules, limits, units, goodness, work, order, found, inside)
    if any_:
        found[CODE] = 0.0
        if not inside[seen[0]]:  # the first level is always inside, so that equal splits are written alike
            for level in seen:
                inside[level] = 1 - inside[level]
