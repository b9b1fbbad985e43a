"""The best test of one nominal feature: a branch per level, one level against the rest, or a subset of the levels.

Subsets are exact for two classes by ordering the levels by class share (Breiman et al. 1984, theorem 4.5, for criteria that
are a mean of a concave impurity), exhaustive up to ten levels, and otherwise grown greedily, level by level.
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.contest import total_of, value_of
from modelsel.kernels.layout import (
    ABSENT,
    BRANCH,
    BY_SURROGATES,
    CLASS_MODE,
    CODE,
    CUTS,
    DIVIDED,
    EQUALITY,
    EXHAUSTIVE,
    FRACTIONAL,
    INFORMATION,
    MULTIWAY,
    NOTHING,
    SIDE,
    SUBSET,
    SURROGATE,
    TIE,
    VALUE,
)


@kernel(_nrt=False)
def _copy(work, branch, table, level):
    """A branch of one level (loops, as array expressions take seconds to compile)."""
    for c in range(work.shape[1]):
        work[branch, c] = table[level, c]


@kernel(_nrt=False)
def _add(work, branch, weights):
    for c in range(work.shape[1]):
        work[branch, c] += weights[c]


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


@kernel(_nrt=False)
def _ascend(items, count):
    """Sort the first items, in place: insertion over halving gaps (Shell 1959)."""
    gap = count // 2
    while gap > 0:
        for i in range(gap, count):
            item, j = items[i], i
            while j >= gap and items[j - gap] > item:
                items[j] = items[j - gap]
                j -= gap
            items[j] = item
        gap //= 2


@kernel(_nrt=False)
def _clear(codes, rows, levels, table):
    """Nothing in the rows of the table that will be counted into; missing values are counted as one level more."""
    width, few = table.shape[1], levels <= len(rows)
    for i in range(levels if few else len(rows)):
        level = i if few else codes[rows[i]]
        for c in range(width if level >= 0 else 0):
            table[level, c] = 0.0
    for c in range(width):
        table[levels, c] = 0.0


@kernel(_nrt=False)
def _count(codes, rows, y, weight, levels, table, seen, absent):
    """Weights per level and class, and (last) per level; returns how many levels occur. `seen` lists them in order."""
    whole, present = len(absent), 0
    _clear(codes, rows, levels, table)
    if levels <= len(rows):
        for i in range(len(rows)):
            level = codes[rows[i]]
            table[level if level >= 0 else levels, y[i]] += weight[i]
        for level in range(levels):
            for c in range(whole):
                table[level, whole] += table[level, c]
            if table[level, whole] > 0.0:
                seen[present] = level
                present += 1
    else:
        for i in range(len(rows)):
            level = codes[rows[i]]
            if level >= 0 and table[level, whole] == 0.0:
                seen[present] = level
                present += 1
            if level < 0:
                level = levels
            table[level, whole] += weight[i]
            table[level, y[i]] += weight[i]
        _ascend(seen, present)
    for c in range(whole):
        absent[c] = table[levels, c]
    return present


@kernel(_nrt=False)
def _most(table, column, seen):
    best = seen[0]
    for level in seen:
        if table[level, column] > table[best, column] + 1e-9:
            best = level
    return best


@kernel(_nrt=False)
def _fill(table, seen, rules, fill):
    """The most common level, of each class and (last) of the node; ties go to the first level."""
    classes = table.shape[1] - 1
    best = _most(table, classes, seen)
    for c in range(classes):
        own = _most(table, c, seen)
        fill[c] = own if rules.missing == CLASS_MODE and table[own, c] > 0 else best
    fill[classes] = best


@kernel(_nrt=False)
def _rest(work, whole):
    """The second branch has what the first has not; what rounding leaves of nothing is nothing."""
    for c in range(len(whole)):
        left = whole[c] - work[0, c]
        work[1, c] = left if left >= TIE * whole[c] else 0.0


@kernel(_nrt=False)
def _information(work, branches, lost):
    """Split information; rows that are divided count as one more outcome."""
    total, bits = lost, 0.0
    for b in range(branches):
        total += total_of(work[b])
    for b in range(branches):
        part = total_of(work[b])
        if part > 0:
            bits -= part / total * np.log2(part / total)
    if lost > 0:
        bits -= lost / total * np.log2(lost / total)
    return bits


@kernel(_nrt=False)
def _keep(value, work, lost, rules, found):
    """Remember a test of two branches that is better than what was found."""
    if value > found[VALUE] + TIE:
        found[VALUE], found[INFORMATION] = value, _information(work, 2, lost if rules.missing == FRACTIONAL else 0.0)
        return True
    return False


@kernel(_nrt=False)
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
        found[VALUE] = value_of(work, 0, branches, rules, limits, units, goodness)
        found[INFORMATION] = _information(work, branches, lost if rules.missing == FRACTIONAL else 0.0)


@kernel(_nrt=False)
def _equality(table, seen, absent, lost, whole, rules, limits, units, goodness, work, found):
    """Each level against the rest; missing rows that form no branch of their own join the side that scores better."""
    either = rules.missing == BRANCH and lost > 0
    for level in seen:
        for side in range(2 if either else 1):
            _copy(work, 0, table, level)
            _rest(work, whole)
            if either:
                _add(work, side, absent)
            if min(total_of(work[0]), total_of(work[1])) < limits.min_leaf - 1e-9:
                continue
            if _keep(value_of(work, 0, 2, rules, limits, units, goodness), work, lost, rules, found):
                found[CODE], found[SIDE] = level, side


@kernel(_nrt=False)
def _try(work, whole, lost, rules, limits, units, goodness, found):
    """The test whose first branch is work[0], the rest being the second; is it admissible and the best so far?"""
    _rest(work, whole)
    if min(total_of(work[0]), total_of(work[1])) < limits.min_leaf - 1e-9:
        return False
    return _keep(value_of(work, 0, 2, rules, limits, units, goodness), work, lost, rules, found)


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
            trial = value_of(work, 0, 2, rules, limits, units, goodness)
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


@kernel(_nrt=False)
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


@kernel(_nrt=False)
def _tests_of_all(codes, rows, y, weight, counts, levels, rules, limits, units, goodness, table, work, seen, fill, found):
    """All but sets of levels; returns how many levels there are to choose from (missing may be one), 0 where it is constant."""
    classes = len(counts)
    absent, whole = work[len(work) - 1], work[len(work) - 2]
    for c in range(classes):
        absent[c], whole[c] = 0.0, counts[c]
    for k in range(len(found)):
        found[k] = 0.0
    found[CODE], found[VALUE] = NOTHING, -np.inf
    present = _count(codes, rows, y, weight, levels, table, seen, absent)
    lost = total_of(absent)
    found[ABSENT] = lost
    pieces = present + (rules.missing == BRANCH and rules.nominal != EQUALITY and lost > 0)
    if present == 0 or pieces < 2:
        found[CUTS] = NOTHING
        return 0
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
    elif pieces > present:
        for c in range(classes):
            table[levels, c] = absent[c]
        table[levels, classes] = lost
        seen[present] = levels
    return pieces


@kernel(types.level_search.signature)
def search(codes, rows, y, weight, counts, levels, rules, limits, units, goodness, table, work, seen, fill, inside, found):
    """Write the best test of a nominal feature into `found` (CODE < 0: none; CUTS < 0: it has one value here)."""
    pieces = _tests_of_all(
        codes, rows, y, weight, counts, levels, rules, limits, units, goodness, table, work, seen, fill, found
    )
    if pieces == 0:
        return
    if rules.nominal == SUBSET:
        whole, lost = work[len(work) - 2], found[ABSENT]
        _subset(table, seen[:pieces], whole, lost, rules, limits, units, goodness, work, found, inside)
    found[SIDE] = _side(rules, fill[len(counts)], inside, found, levels)
