"""The best test of one nominal feature: a branch per level, one level against the rest, or a subset of the levels."""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.growth.tally import count, side_of
from modelsel.kernels.layout import (
    ABSENT,
    BRANCH,
    CLASS_MODE,
    CODE,
    CUTS,
    ENTROPY,
    EQUALITY,
    EXHAUSTIVE,
    FRACTIONAL,
    GENERAL,
    INFORMATION,
    NOTHING,
    SIDE,
    SUBSET,
    TIE,
    VALUE,
)
from modelsel.kernels.splits.split_competition import information, total_of, unit_of, value_of

# The best set of levels against the others.
#
# Exact for two classes by ordering the levels by class share (Breiman et al. 1984, theorem 4.5, for criteria that are a mean of
# a concave impurity), exhaustive up to ten levels, and otherwise grown greedily, level by level.


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
    if min(total_of(work[0]), total_of(work[1])) < limits.least:
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
def _ordered_prefixes(table, seen, whole, lost, rules, limits, units, goodness, work, order, other, found, inside):
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
        any_ = _ordered_prefixes(table, seen, whole, lost, rules, limits, units, goodness, work, order, other, found, inside)
    elif len(seen) <= EXHAUSTIVE:
        any_ = _exhaustive(table, seen, whole, lost, rules, limits, units, goodness, work, found, inside)
    else:
        any_ = _greedy(table, seen, whole, lost, rules, limits, units, goodness, work, order, found, inside)
    if any_:
        found[CODE] = 0.0
        if not inside[seen[0]]:  # the first level is always inside, so that equal splits are written alike
            for level in seen:
                inside[level] = 1 - inside[level]


LN2 = np.log(2.0)


@kernel(_nrt=False)
def _most(table, column, seen):
    """Return the level with the largest entry of a column; ties: the first."""
    best = seen[0]
    for level in seen:
        if table[level, column] > table[best, column] + 1e-9:
            best = level
    return best


@kernel(_nrt=False)
def _fill(table, seen, classes, rules, fill):
    """The most common level, of each class and (last) of the node; ties go to the first level."""
    best = _most(table, classes, seen)
    for c in range(classes):
        fill[c] = best
        if rules.missing == CLASS_MODE:
            own = _most(table, c, seen)
            fill[c] = own if table[own, c] > 0 else best
    fill[classes] = best


@kernel(_nrt=False)
def _information(table, pieces, classes, lost):
    """Split information; rows that are divided count as one more outcome."""
    total, bits = lost, 0.0
    for level in pieces:
        total += table[level, classes]
    for level in pieces:
        part = table[level, classes]
        bits -= part / total * np.log2(part / total)
    if lost > 0:
        bits -= lost / total * np.log2(lost / total)
    return bits


@kernel(_nrt=False)
def _at_most(table, pieces, whole):
    """Bound the gain of these branches from above: chi-square over n·ln 2 (see `splits/threshold`)."""
    sums = 0.0
    for level in pieces:
        own = 0.0
        for c in range(len(whole)):
            if whole[c] > 0:
                own += table[level, c] * table[level, c] / whole[c]
        sums += own / table[level, len(whole)]
    return (sums - 1.0) / LN2 + TIE


@kernel(_nrt=False)
def _gain(table, pieces, whole, n, rules, limits, units):
    """Entropy's or Gini's decrease by the table of whole numbers."""
    entropy, inner, outer, classes = rules.fused == ENTROPY, 0.0, np.int64(0), len(whole)
    for c in range(classes):
        outer += units[int(whole[c])]
    for level in pieces:
        size, s = table[level, classes], np.int64(0)
        for c in range(classes):
            s += units[int(table[level, c])]
        inner += float(s - units[int(size)]) if entropy else s / size
    if entropy:
        return (inner - float(outer - units[int(n)])) / n / limits.scale
    return (inner - outer / n) / n


@kernel(_nrt=False)
def _gain_by_formula(table, pieces, whole, n, rules):
    """The same where weights are real numbers."""
    entropy, inner, outer, classes = rules.formula == ENTROPY, 0.0, 0.0, len(whole)
    for c in range(classes):
        outer += unit_of(whole[c], entropy)
    for level in pieces:
        size, s, largest = table[level, classes], 0.0, 0.0
        for c in range(classes):
            largest = max(largest, table[level, c])
        if entropy and largest == size:  # pure
            continue
        for c in range(classes):
            s += unit_of(table[level, c], entropy)
        inner += s - unit_of(size, entropy) if entropy else s / size
    if entropy:
        return (inner - outer + unit_of(n, entropy)) / n
    return (inner - outer / n) / n


@kernel(_nrt=False)
def _multiway(table, pieces, whole, lost, bar, rules, limits, units, goodness, work, found):
    """A branch per piece: a level that occurs, or the missing values."""
    classes, large, n = len(whole), 0, 0.0
    for level in pieces:
        large += table[level, classes] >= limits.least
        n += table[level, classes]
    if large < 2:
        return
    if rules.formula == GENERAL:
        for b in range(len(pieces)):
            copy(work, b, table, pieces[b])
        found[VALUE] = value_of(work, 0, len(pieces), rules, limits, units, goodness)
    elif rules.fused != GENERAL:
        found[VALUE] = _gain(table, pieces, whole, n, rules, limits, units)
    elif rules.formula == ENTROPY and _at_most(table, pieces, whole) <= bar:
        return
    else:
        found[VALUE] = _gain_by_formula(table, pieces, whole, n, rules)
    found[CODE] = 0.0
    if rules.ratio:
        found[INFORMATION] = _information(table, pieces, classes, lost if rules.missing == FRACTIONAL else 0.0)


@kernel(_nrt=False)
def _equality(table, seen, absent, lost, whole, rules, limits, units, goodness, work, found):
    """Each level against the rest; missing rows that form no branch of their own join the side that scores better."""
    either = rules.missing == BRANCH and lost > 0
    for level in seen:
        for side in range(2 if either else 1):
            copy(work, 0, table, level)
            rest(work, whole)
            if either:
                add(work, side, absent)
            if min(total_of(work[0]), total_of(work[1])) < limits.least:
                continue
            if keep(value_of(work, 0, 2, rules, limits, units, goodness), work, lost, rules, found):
                found[CODE], found[SIDE] = level, side


@kernel(_nrt=False)
def _pieces(codes, rows, y, words, field, weight, counts, levels, rules, table, work, room, fill, found):
    """Count the levels and do with missing values what the policy says; returns how many pieces a test can be made of.

    A piece is a level that occurs, or the missing values; room[0] lists them, and 0 stands for a constant feature.
    """
    classes, seen = len(counts), room[0]
    absent, whole = work[len(work) - 1], work[len(work) - 2]
    present = count(codes, rows, y, weight, words, field, levels, table, room[1], seen, absent)
    lost = total_of(absent)
    found[ABSENT] = lost
    pieces = present + (rules.missing == BRANCH and lost > 0)
    if present == 0 or pieces < 2:
        return 0
    if rules.nominal == EQUALITY:
        pieces = present
    for c in range(classes):
        whole[c] = counts[c]
    if rules.missing <= CLASS_MODE:
        _fill(table, seen[:present], classes, rules, fill)
        for c in range(classes if lost > 0 else 0):
            table[fill[c], c] += absent[c]
            table[fill[c], classes] += absent[c]
    elif rules.missing != BRANCH or rules.nominal == EQUALITY:
        for c in range(classes):
            whole[c] -= absent[c]
            if whole[c] < TIE * counts[c]:
                whole[c] = 0.0
    if pieces > present:
        table[levels, classes] = lost
        seen[present] = levels
    return pieces


@kernel(types.level_search.signature, _nrt=False)
def search(codes, rows, y, words, field, weight, counts, levels, rules, limits, units, goodness, table, work, room, fill,
           inside, found):  # fmt: skip
    """Write the best test of a nominal feature into `found` (CODE < 0: none; CUTS < 0: it has one value here).

    found[VALUE], before: what another feature has reached; a test that stays below may be passed over. words: of rows, with
    `field` bits per class (0: there are none). table (levels + 2 × classes + 2), work, room (4 × levels + 2): room to work.
    """
    bar = found[VALUE]
    for k in range(len(found)):
        found[k] = 0.0
    found[CODE], found[VALUE] = NOTHING, -np.inf
    many = _pieces(codes, rows, y, words, field, weight, counts, levels, rules, table, work, room, fill, found)
    if many == 0:
        found[CUTS] = NOTHING
        return
    whole, lost, pieces = work[len(work) - 2], found[ABSENT], room[0, :many]
    if rules.nominal == SUBSET:
        subset(table, pieces, whole, lost, rules, limits, units, goodness, work, room[2], room[3], found, inside)
    elif rules.nominal == EQUALITY:
        absent = work[len(work) - 1]
        _equality(table, pieces, absent, lost, whole, rules, limits, units, goodness, work, found)
    else:
        share = total_of(whole) / (total_of(whole) + lost) if rules.missing == FRACTIONAL else 1.0
        _multiway(table, pieces, whole, lost, bar / share, rules, limits, units, goodness, work, found)
    found[SIDE] = side_of(rules, fill[len(counts)], inside, found, levels)
