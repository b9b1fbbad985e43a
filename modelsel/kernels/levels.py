"""The best test of one nominal feature: a branch per level, one level against the rest, or a subset of the levels.

Subsets are exact for two classes by ordering the levels by class share (Breiman et al. 1984, theorem 4.5, for criteria that
are a mean of a concave impurity), exhaustive up to ten levels, and otherwise grown greedily, level by level.
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.layout import (
    ABSENT,
    BRANCH,
    BY_SURROGATES,
    CLASS_MODE,
    CODE,
    CUTS,
    DIVIDED,
    ENTROPY,
    EQUALITY,
    EXHAUSTIVE,
    FRACTIONAL,
    GENERAL,
    INFORMATION,
    MULTIWAY,
    NOTHING,
    SIDE,
    SURROGATE,
    TIE,
    VALUE,
)


@kernel()
def _copy(work, branch, table, level):
    """A branch of one level (loops, as array expressions take seconds to compile)."""
    for c in range(work.shape[1]):
        work[branch, c] = table[level, c]


@kernel()
def _add(work, branch, weights):
    for c in range(work.shape[1]):
        work[branch, c] += weights[c]


@kernel()
def _total(row):
    total = 0.0
    for c in range(len(row)):
        total += row[c]
    return total


@kernel()
def _arrange(items, key):
    """Sort items by their keys, equal ones staying in order: merges of runs of 1, 2, 4, …"""
    n, other = len(items), np.empty(len(items), np.int64)
    run = 1
    while run < n:
        for start in range(0, n, 2 * run):
            a, b, middle, end = start, start + run, min(start + run, n), min(start + 2 * run, n)
            for k in range(start, end):
                if b >= end or (a < middle and key[items[a]] <= key[items[b]]):
                    other[k] = items[a]
                    a += 1
                else:
                    other[k] = items[b]
                    b += 1
        for k in range(n):
            items[k] = other[k]
        run *= 2


@kernel()
def _count(codes, rows, y, weight, table, seen, absent):
    """Weights per level and class, and (last) per level; returns how many levels occur. `seen` lists them in order."""
    whole = len(absent)
    for i in range(len(rows)):
        level = codes[rows[i]]
        if level >= 0:
            for c in range(whole + 1):
                table[level, c] = 0.0
    present = 0
    for i in range(len(rows)):
        level, c = codes[rows[i]], y[rows[i]]
        if level < 0:
            absent[c] += weight[i]
            continue
        if table[level, whole] == 0.0:
            seen[present] = level
            present += 1
        table[level, whole] += weight[i]
        table[level, c] += weight[i]
    number = np.empty(table.shape[0])
    for level in range(len(number)):
        number[level] = level
    _arrange(seen[:present], number)
    return present


@kernel()
def _most(table, column, seen):
    best = seen[0]
    for level in seen:
        if table[level, column] > table[best, column] + 1e-9:
            best = level
    return best


@kernel()
def _fill(table, seen, rules, fill):
    """The most common level, of each class and (last) of the node; ties go to the first level."""
    classes = table.shape[1] - 1
    best = _most(table, classes, seen)
    for c in range(classes):
        own = _most(table, c, seen)
        fill[c] = own if rules.missing == CLASS_MODE and table[own, c] > 0 else best
    fill[classes] = best


@kernel()
def _value(work, branches, rules, limits, units, goodness):
    """Goodness of a split whose branches are the first rows of `work`."""
    if rules.fused == GENERAL:
        return goodness(work[:branches])
    inner, whole, total = 0.0, 0.0, 0.0
    for c in range(work.shape[1]):
        n = 0.0
        for b in range(branches):
            n += work[b, c]
        whole += units[int(n)]
        total += n
    for b in range(branches):
        n, s = 0.0, 0.0
        for c in range(work.shape[1]):
            n += work[b, c]
            s += units[int(work[b, c])]
        if n > 0:
            inner += s - units[int(n)] if rules.fused == ENTROPY else s / n
    if rules.fused == ENTROPY:
        return (inner - (whole - units[int(total)])) / total / limits.scale
    return (inner - whole / total) / total


@kernel()
def _rest(work, whole):
    """The second branch has what the first has not; what rounding leaves of nothing is nothing."""
    for c in range(len(whole)):
        left = whole[c] - work[0, c]
        work[1, c] = left if left >= TIE * whole[c] else 0.0


@kernel()
def _information(work, branches, lost):
    """Split information; rows that are divided count as one more outcome."""
    total, bits = lost, 0.0
    for b in range(branches):
        total += _total(work[b])
    for b in range(branches):
        part = _total(work[b])
        if part > 0:
            bits -= part / total * np.log2(part / total)
    if lost > 0:
        bits -= lost / total * np.log2(lost / total)
    return bits


@kernel()
def _keep(value, work, lost, rules, found):
    """Remember a test of two branches that is better than what was found."""
    if value > found[VALUE] + TIE:
        found[VALUE], found[INFORMATION] = value, _information(work, 2, lost if rules.missing == FRACTIONAL else 0.0)
        return True
    return False


@kernel()
def _multiway(table, seen, absent, lost, rules, limits, units, goodness, work, found):
    branches, large = 0, 0
    for level in seen:
        _copy(work, branches, table, level)
        branches += 1
        large += table[level, len(absent)] >= limits.min_leaf - 1e-9
    if rules.missing == BRANCH and lost > 0:
        for c in range(len(absent)):
            work[branches, c] = absent[c]
        branches += 1
        large += lost >= limits.min_leaf - 1e-9
    if large >= 2:
        found[CODE] = 0.0
        found[VALUE] = _value(work, branches, rules, limits, units, goodness)
        found[INFORMATION] = _information(work, branches, lost if rules.missing == FRACTIONAL else 0.0)


@kernel()
def _equality(table, seen, absent, lost, whole, rules, limits, units, goodness, work, found):
    """Each level against the rest; missing rows that form no branch of their own join the side that scores better."""
    either = rules.missing == BRANCH and lost > 0
    for level in seen:
        for side in range(2 if either else 1):
            _copy(work, 0, table, level)
            _rest(work, whole)
            if either:
                _add(work, side, absent)
            if min(_total(work[0]), _total(work[1])) < limits.min_leaf - 1e-9:
                continue
            if _keep(_value(work, 2, rules, limits, units, goodness), work, lost, rules, found):
                found[CODE], found[SIDE] = level, side


@kernel()
def _try(work, whole, lost, rules, limits, units, goodness, found):
    """The test whose first branch is work[0], the rest being the second; is it admissible and the best so far?"""
    _rest(work, whole)
    if min(_total(work[0]), _total(work[1])) < limits.min_leaf - 1e-9:
        return False
    return _keep(_value(work, 2, rules, limits, units, goodness), work, lost, rules, found)


@kernel()
def _ordered(table, seen, whole, lost, rules, limits, units, goodness, work, found, inside):
    """Prefixes of the levels in order of the second class's share."""
    share = np.empty(len(seen))
    for i in range(len(seen)):
        share[i] = table[seen[i], 1] / table[seen[i], 2]
    order, best = np.empty(len(seen), np.int64), -1
    for i in range(len(seen)):
        order[i] = i
    _arrange(order, share)
    for c in range(2):
        work[0, c] = 0.0
    for i in range(len(seen) - 1):
        _add(work, 0, table[seen[order[i]]])
        if _try(work, whole, lost, rules, limits, units, goodness, found):
            best = i
    for i in range(best + 1):
        inside[seen[order[i]]] = 1
    return best >= 0


@kernel()
def _exhaustive(table, seen, whole, lost, rules, limits, units, goodness, work, found, inside):
    """Every subset that holds the first level, as the binary digits of a number."""
    best = -1
    for number in range((1 << (len(seen) - 1)) - 1):
        _copy(work, 0, table, seen[0])
        for i in range(1, len(seen)):
            if number >> (i - 1) & 1:
                _add(work, 0, table[seen[i]])
        if _try(work, whole, lost, rules, limits, units, goodness, found):
            best = number
    if best >= 0:
        inside[seen[0]] = 1
        for i in range(1, len(seen)):
            inside[seen[i]] = best >> (i - 1) & 1
    return best >= 0


@kernel()
def _greedy(table, seen, whole, lost, rules, limits, units, goodness, work, found, inside):
    """Add the level that helps most, one by one; what is kept is the best admissible set on the way."""
    chosen, kept = np.zeros(len(seen), np.uint8), -1
    rank = np.full(len(seen), -1)
    have = np.zeros(work.shape[1])
    for step in range(len(seen) - 1):
        best, value = -1, -np.inf
        for i in range(len(seen)):
            if chosen[i]:
                continue
            _copy(work, 0, table, seen[i])
            _add(work, 0, have)
            _rest(work, whole)
            trial = _value(work, 2, rules, limits, units, goodness)
            if trial > value + TIE:
                best, value = i, trial
        chosen[best], rank[best] = 1, step
        for c in range(len(have)):
            have[c] += table[seen[best], c]
            work[0, c] = have[c]
        if _try(work, whole, lost, rules, limits, units, goodness, found):
            kept = step
    for i in range(len(seen)):
        inside[seen[i]] = 0 <= rank[i] <= kept
    return kept >= 0


@kernel()
def _subset(table, seen, whole, lost, rules, limits, units, goodness, work, found, inside):
    inside[:] = 0
    if len(whole) == 2 and rules.convex:
        any_ = _ordered(table, seen, whole, lost, rules, limits, units, goodness, work, found, inside)
    elif len(seen) <= EXHAUSTIVE:
        any_ = _exhaustive(table, seen, whole, lost, rules, limits, units, goodness, work, found, inside)
    else:
        any_ = _greedy(table, seen, whole, lost, rules, limits, units, goodness, work, found, inside)
    if any_:
        found[CODE] = 0.0
        if not inside[seen[0]]:  # the first level is always inside, so that equal splits are written alike
            for level in seen:
                inside[level] = 1 - inside[level]


@kernel()
def _side(rules, fill, inside, found, levels):
    """Where a missing value goes: with the node's mode, or where the search put it."""
    if rules.missing == FRACTIONAL:
        return DIVIDED
    if rules.missing == SURROGATE:
        return BY_SURROGATES
    if rules.missing == BRANCH:
        if rules.nominal == MULTIWAY:
            return levels
        return found[SIDE] if rules.nominal == EQUALITY else 1.0 - inside[levels]
    if rules.nominal == MULTIWAY:
        return fill
    if rules.nominal == EQUALITY:
        return 0.0 if fill == found[CODE] else 1.0
    return 1.0 - inside[fill]


@kernel(
    types.nothing(
        types.fixed_codes,
        types.codes,
        types.fixed_codes,
        types.reals,
        types.reals,
        types.whole,
        types.rules,
        types.limits,
        types.fixed_wholes,
        types.goodness,
        types.matrix,
        types.matrix,
        types.wholes,
        types.wholes,
        types.flags,
        types.reals,
    )
)
def search(codes, rows, y, weight, counts, levels, rules, limits, units, goodness, table, work, seen, fill, inside, found):
    """Write the best test of a nominal feature into `found` (CODE < 0: none; CUTS < 0: it has one value here)."""
    classes = len(counts)
    absent, whole = np.zeros(classes), np.zeros(classes)
    for c in range(classes):
        whole[c] = counts[c]
    for k in range(len(found)):
        found[k] = 0.0
    found[CODE], found[VALUE] = NOTHING, -np.inf
    present = _count(codes, rows, y, weight, table, seen, absent)
    lost = _total(absent)
    found[ABSENT] = lost
    pieces = present + (rules.missing == BRANCH and rules.nominal != EQUALITY and lost > 0)
    if present == 0 or pieces < 2:
        found[CUTS] = NOTHING
        return
    if rules.missing <= CLASS_MODE:
        _fill(table, seen[:present], rules, fill)
        for c in range(classes):
            if absent[c] > 0:
                table[fill[c], c] += absent[c]
                table[fill[c], classes] += absent[c]
    elif rules.missing != BRANCH or rules.nominal == EQUALITY:
        for c in range(classes):
            whole[c] -= absent[c]
            if whole[c] < TIE * counts[c]:
                whole[c] = 0.0
    if rules.nominal == MULTIWAY:
        _multiway(table, seen[:present], absent, lost, rules, limits, units, goodness, work, found)
    elif rules.nominal == EQUALITY:
        _equality(table, seen[:present], absent, lost, whole, rules, limits, units, goodness, work, found)
    else:
        if pieces > present:  # missing is one level more
            for c in range(classes):
                table[levels, c] = absent[c]
            table[levels, classes] = lost
            seen[present] = levels
        _subset(table, seen[:pieces], whole, lost, rules, limits, units, goodness, work, found, inside)
    found[SIDE] = _side(rules, fill[classes], inside, found, levels)
