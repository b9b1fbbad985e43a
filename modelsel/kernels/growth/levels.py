"""The best test of one nominal feature: a branch per level, one level against the rest, or a subset of the levels."""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.growth.tally import count
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
    FRACTIONAL,
    GENERAL,
    INFORMATION,
    MULTIWAY,
    NOTHING,
    SIDE,
    SUBSET,
    SURROGATE,
    TIE,
    VALUE,
)
from modelsel.kernels.splits.split_competition import total_of, unit_of, value_of
from modelsel.kernels.splits.subsets import add, copy, keep, rest, subset

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
    """Bound the gain of these branches from above: chi-square over n·ln 2 (see `real_cuts`)."""
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
        large += table[level, classes] >= limits.min_leaf - 1e-9
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
            if min(total_of(work[0]), total_of(work[1])) < limits.min_leaf - 1e-9:
                continue
            if keep(value_of(work, 0, 2, rules, limits, units, goodness), work, lost, rules, found):
                found[CODE], found[SIDE] = level, side


@kernel(_nrt=False)
def _side(rules, fill, inside, found, levels):
    """Return the branch of a missing value: with the node's mode, or where the search put it."""
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
def _pieces(codes, rows, y, words, field, weight, counts, levels, rules, table, work, room, fill, found):
    """Count the levels and do with missing values what the policy says; returns how many pieces a test can be made of.

    A piece is a level that occurs, or the missing values; room[0] lists them, and 0 stands for a constant feature.
    """
    classes, seen = len(counts), room[0]
    absent, whole = work[len(work) - 1], work[len(work) - 2]
    present = count(codes, rows, y, weight, words, field, levels, table, room[1], seen, absent)
    lost = total_of(absent)
    found[ABSENT] = lost
    pieces = present + (rules.missing == BRANCH and rules.nominal != EQUALITY and lost > 0)
    if present == 0 or pieces < 2:
        return 0
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
    found[SIDE] = _side(rules, fill[len(counts)], inside, found, levels)
