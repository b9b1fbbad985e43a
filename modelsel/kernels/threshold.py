"""The best cut x ≤ θ of one presorted column, in one pass.

An entry packs code | class | number of the row in its node, sorted by code; missing values have the largest code. With
integral weights the sum of n_c·log2 n_c (or n_c²) on either side changes by one table entry per row, so that a cut costs
O(1), and sums of table entries are exact: equal counts give equal goodness. Otherwise the criterion's function is called
where the class changes (Fayyad & Irani 1992: a concave impurity has its best cut there), within what `min_leaf` admits.
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.contest import information, least_weight, total_of, value_of
from modelsel.kernels.layout import (
    ABSENT,
    BRANCH,
    BY_SURROGATES,
    CLASS_MODE,
    CODE,
    CUTS,
    DIVIDED,
    ENTROPY,
    FRACTIONAL,
    GENERAL,
    INFORMATION,
    NEXT,
    SIDE,
    SURROGATE,
    TIE,
    VALUE,
)

MIXED = -2


@kernel(_nrt=False)
def _count_missing(entries, weight, missing, rules, absent):
    """Weights per class of the missing values, which are sorted last; returns the end of the known ones."""
    shift, mask = rules.id_bits + rules.class_bits, (1 << rules.class_bits) - 1
    end = len(entries)
    while end > 0 and entries[end - 1] >> shift == missing:
        end -= 1
        entry = entries[end]
        absent[(entry >> rules.id_bits) & mask] += weight[entry & ((1 << rules.id_bits) - 1)]
    return end


@kernel(_nrt=False)
def _fill(entries, end, weight, rules, known, work, fill):
    """Codes that stand in for missing values: the lower weighted median, of each class and (last) of the node."""
    shift, mask = rules.id_bits + rules.class_bits, (1 << rules.class_bits) - 1
    classes = len(known)
    if rules.unit and rules.missing != CLASS_MODE:
        for c in range(classes + 1):
            fill[c] = entries[(end - 1) // 2] >> shift
        return
    for c in range(classes + 1):
        fill[c] = -1
    half, sums, total = total_of(known) / 2, work, 0.0
    for c in range(classes):
        sums[c] = 0.0
    for i in range(end):
        entry = entries[i]
        c, w = (entry >> rules.id_bits) & mask, weight[entry & ((1 << rules.id_bits) - 1)]
        total += w
        sums[c] += w
        if fill[classes] < 0 and total >= half:
            fill[classes] = entry >> shift
        if fill[c] < 0 and sums[c] >= known[c] / 2:
            fill[c] = entry >> shift
    for c in range(classes):
        if fill[c] < 0 or rules.missing != CLASS_MODE:
            fill[c] = fill[classes]


@kernel(_nrt=False)
def _lost(absent, rules):
    """Weight that counts as an outcome of its own."""
    return total_of(absent) if rules.missing == FRACTIONAL else 0.0


@kernel(_nrt=False)
def _by_table(entries, end, weight, rules, table, scale, limit, absent, fill, sides, found):
    """Every cut by exact sums of table entries; `sides` holds nothing and the whole, and ends as the scan does."""
    shift, ids = rules.id_bits + rules.class_bits, (1 << rules.id_bits) - 1
    mask = (1 << rules.class_bits) - 1
    left, right = sides[0], sides[1]
    n_left, n_right = 0, 0
    s_left, s_right = 0, 0
    for c in range(len(right)):
        n_right += right[c]
        s_right += table[right[c]]
    whole = (s_right - table[n_right]) / 1.0 if rules.fused == ENTROPY else s_right / n_right
    tie = max(TIE * n_right * scale, 8.0) if rules.fused == ENTROPY else TIE * n_right
    filled = total_of(absent) > 0 and rules.missing <= CLASS_MODE
    best, cuts, previous = -np.inf, 0, entries[0] >> shift
    for i in range(end):
        entry = entries[i]
        code = entry >> shift
        if code != previous:
            if filled:
                for c in range(len(right)):
                    if fill[c] == previous and absent[c] > 0:
                        w = int(absent[c])
                        a, b = left[c], right[c]
                        s_left += table[a + w] - table[a]
                        s_right += table[b - w] - table[b]
                        left[c], right[c] = a + w, b - w
                        n_left, n_right = n_left + w, n_right - w
            if n_left >= limit and n_right >= limit:
                cuts += 1
                if rules.fused == ENTROPY:
                    value = float(s_left + s_right - table[n_left] - table[n_right])
                else:
                    value = s_left / n_left + s_right / n_right
                if value > best + tie:
                    best = value
                    found[CODE], found[NEXT], found[INFORMATION] = previous, code, n_left
            previous = code
        c = (entry >> rules.id_bits) & mask
        w = 1 if rules.unit else int(weight[entry & ids])
        a, b = left[c], right[c]
        s_left += table[a + w] - table[a]
        s_right += table[b - w] - table[b]
        left[c], right[c] = a + w, b - w
        n_left, n_right = n_left + w, n_right - w
    found[CUTS] = cuts
    total = n_left + n_right
    found[VALUE] = (best - whole) / total / (scale if rules.fused == ENTROPY else 1.0)
    found[INFORMATION] = information(found[INFORMATION], total - found[INFORMATION], _lost(absent, rules))


@kernel(_nrt=False)
def _either_by_table(entries, end, weight, rules, table, scale, limit, absent, sides, found):
    """Every cut twice, the missing rows on its left and on its right, by exact sums of table entries."""
    shift, ids = rules.id_bits + rules.class_bits, (1 << rules.id_bits) - 1
    mask = (1 << rules.class_bits) - 1
    left, right, entropy = sides[0], sides[1], rules.fused == ENTROPY
    n_left, n_right, lost, whole = 0, 0, 0, 0
    joined_left, rest, alone = 0, 0, 0  # sums of table entries: left with the missing rows, right without, left without
    for c in range(len(right)):
        more = int(absent[c])
        n_right, lost = n_right + right[c], lost + more
        whole += table[right[c] + more]
        joined_left, rest = joined_left + table[more], rest + table[right[c]]
    joined_right, n = whole, n_right + lost
    unit = n * scale if entropy else float(n)
    tie = max(TIE * unit, 8.0) if entropy else TIE * unit
    best, cuts, previous = -np.inf, 0, entries[0] >> shift
    for i in range(end):
        entry = entries[i]
        code = entry >> shift
        if code != previous:
            with_left, with_right = n_left + lost >= limit and n_right >= limit, n_left >= limit and n_right + lost >= limit
            cuts += with_left or with_right
            if with_left:
                if entropy:
                    value = float(joined_left + rest - table[n_left + lost] - table[n_right])
                else:
                    value = joined_left / (n_left + lost) + rest / n_right
                if value > best + tie:
                    best, found[CODE], found[NEXT], found[SIDE], found[INFORMATION] = value, previous, code, 0.0, n_left + lost
            if with_right:
                if entropy:
                    value = float(alone + joined_right - table[n_left] - table[n_right + lost])
                else:
                    value = alone / n_left + joined_right / (n_right + lost)
                if value > best + tie:
                    best, found[CODE], found[NEXT], found[SIDE], found[INFORMATION] = value, previous, code, 1.0, n_left
            previous = code
        c = (entry >> rules.id_bits) & mask
        w = 1 if rules.unit else int(weight[entry & ids])
        a, b, more = left[c], right[c], int(absent[c])
        joined_left += table[a + w + more] - table[a + more]
        alone += table[a + w] - table[a]
        rest += table[b - w] - table[b]
        joined_right += table[b - w + more] - table[b + more]
        left[c], right[c] = a + w, b - w
        n_left, n_right = n_left + w, n_right - w
    found[CUTS] = cuts
    found[VALUE] = (best - (float(whole - table[n]) if entropy else whole / n)) / unit
    found[INFORMATION] = information(found[INFORMATION], n - found[INFORMATION], 0.0)


@kernel(_nrt=False)
def _entropy_cuts(entries, end, rules, table, least, tie, left, total, found):
    """Every cut of rows of weight one: Σ n_c·log n_c on both sides, less n·log n of either. Returns the best and how many."""
    shift, ids, mask = rules.id_bits + rules.class_bits, rules.id_bits, (1 << rules.class_bits) - 1
    s = np.int64(0)
    for c in range(len(total)):
        left[c] = 0
        s += table[total[c]]
    best, cuts, bar, at = -(2**62), 0, -(2**62), 0
    entry = entries[0]
    for i in range(1, end):
        label = np.uint64((entry >> ids) & mask)
        a = left[label]
        b = total[label] - a
        left[label] = a + 1
        s += table[np.uint64(a + 1)] - table[np.uint64(a)] + table[np.uint64(b - 1)] - table[np.uint64(b)]
        after = entries[i]
        if (entry ^ after) >> shift != 0 and i >= least and end - i >= least:
            cuts += 1
            value = s - table[np.uint64(i)] - table[np.uint64(end - i)]
            if value > bar:
                best, bar, at = value, value + tie, i
        entry = after
    if cuts > 0:
        found[CODE], found[NEXT], found[INFORMATION] = entries[at - 1] >> shift, entries[at] >> shift, at
    return float(best), cuts


@kernel(_nrt=False)
def _gini_cuts(entries, end, rules, least, tie, left, total, found):
    """Every cut of rows of weight one: Σ n_c² / n on both sides, compared without dividing. Returns the best and how many."""
    shift, ids, mask = rules.id_bits + rules.class_bits, rules.id_bits, (1 << rules.class_bits) - 1
    s_left, s_right = 0.0, 0.0
    for c in range(len(total)):
        left[c] = 0
        s_right += float(total[c]) * float(total[c])
    best, cuts, bar, at = -1.0, 0, -1.0, 0
    n_left, n_right = 0.0, float(end)
    entry = entries[0]
    for i in range(1, end):
        label = np.uint64((entry >> ids) & mask)
        a = left[label]
        b = total[label] - a
        left[label] = a + 1
        s_left += float(2 * a + 1)
        s_right -= float(2 * b - 1)
        n_left += 1.0
        n_right -= 1.0
        after = entries[i]
        if (entry ^ after) >> shift != 0 and i >= least and end - i >= least:
            cuts += 1
            parts, whole = s_left * n_right + s_right * n_left, n_left * n_right
            if parts > bar * whole:
                best, at = parts / whole, i
                bar = best + tie
        entry = after
    if cuts > 0:
        found[CODE], found[NEXT], found[INFORMATION] = entries[at - 1] >> shift, entries[at] >> shift, at
    return best, cuts


@kernel(_nrt=False)
def _by_count(entries, end, rules, table, scale, limit, absent, sides, found):
    """Every cut of rows of weight one, none of them missing."""
    left, total, n = sides[0], sides[1], float(end)
    least = int(np.ceil(limit))
    if rules.fused == ENTROPY:
        best, cuts = _entropy_cuts(entries, end, rules, table, least, int(max(TIE * n * scale, 8.0)), left, total, found)
        whole = -float(table[end])
        for c in range(len(total)):
            whole += table[total[c]]
        found[VALUE] = (best - whole) / n / scale
    else:
        best, cuts = _gini_cuts(entries, end, rules, least, TIE * n, left, total, found)
        whole = 0.0
        for c in range(len(total)):
            whole += float(total[c]) * float(total[c])
        found[VALUE] = (best - whole / n) / n
    found[CUTS] = cuts
    found[INFORMATION] = information(found[INFORMATION], n - found[INFORMATION], _lost(absent, rules))


@kernel(_nrt=False)
def _by_function(entries, end, weight, rules, limits, table, goodness, limit, absent, fill, work, found):
    """Cuts between classes by the criterion's own function; `work` holds nothing and the whole in its first two rows."""
    shift, ids = rules.id_bits + rules.class_bits, (1 << rules.id_bits) - 1
    mask = (1 << rules.class_bits) - 1
    left, right = work[0], work[1]
    classes, lost = len(right), total_of(absent)
    n_left, n_right = 0.0, total_of(right)
    filled = lost > 0 and rules.missing <= CLASS_MODE
    either = lost > 0 and rules.missing == BRANCH
    skip = rules.boundary and not filled and not either
    best, cuts, previous, pure, at = -np.inf, 0, entries[0] >> shift, -1, 0.0
    for i in range(end):
        entry = entries[i]
        code, c = entry >> shift, (entry >> rules.id_bits) & mask
        w = 1.0 if rules.unit else weight[entry & ids]
        if code != previous:
            if filled:
                for k in range(classes):
                    if fill[k] == previous and absent[k] > 0:
                        left[k] += absent[k]
                        right[k] -= absent[k]
                        if right[k] < TIE * left[k]:
                            right[k] = 0.0
                        n_left, n_right = n_left + absent[k], n_right - absent[k]
            counted = False
            for side in range(2 if either else 1):
                more = lost if either else 0.0
                if n_left + (more if side == 0 else 0.0) < limit or n_right + (more if side == 1 else 0.0) < limit:
                    continue
                cuts += not counted
                counted = True
                alone = i + 1 == end or entries[i + 1] >> shift != code
                if skip and c == pure and alone and cuts > 1 and n_right - w >= limit:
                    continue
                if either:
                    for k in range(classes):
                        work[2, k], work[3, k] = left[k], right[k]
                        work[2 + side, k] += absent[k]
                    value = value_of(work, 2, 2, rules, limits, table, goodness)
                else:
                    value = value_of(work, 0, 2, rules, limits, table, goodness)
                if value > best + TIE:
                    best, at = value, n_left + (more if side == 0 else 0.0)
                    found[CODE], found[NEXT], found[SIDE] = previous, code, side
            previous, pure = code, c
        elif c != pure:
            pure = c if i == 0 else MIXED
        left[c] += w
        right[c] -= w
        if right[c] < TIE * left[c]:  # what rounding leaves of nothing
            right[c] = 0.0
        n_left, n_right = n_left + w, n_right - w
    found[CUTS], found[VALUE] = cuts, best
    total = n_left + n_right + (lost if either else 0.0)
    found[INFORMATION] = information(at, total - at, _lost(absent, rules))


@kernel(_nrt=False)
def _search(entries, weight, counts, missing, rules, limits, table, goodness, work, sides, fill, found):
    classes = len(counts)
    shift = rules.id_bits + rules.class_bits
    absent = work[4]
    for c in range(classes):
        absent[c] = 0.0
    for k in range(len(found)):
        found[k] = 0.0
    found[CODE] = -1.0
    end = _count_missing(entries, weight, missing, rules, absent)
    if end == 0 or entries[0] >> shift == entries[end - 1] >> shift:
        found[CUTS] = -1.0
        return
    known, lost = work[5], 0.0
    for c in range(classes):
        known[c] = counts[c] - absent[c]
        if known[c] < TIE * counts[c]:  # what rounding leaves of nothing
            known[c] = 0.0
        lost += absent[c]
    found[ABSENT] = lost
    modes = rules.missing <= CLASS_MODE
    if modes:
        _fill(entries, end, weight, rules, known, work[3], fill)
    limit = least_weight(rules, limits, total_of(known), classes)
    if rules.fused != GENERAL:
        for c in range(classes):
            sides[0, c] = 0
            sides[1, c] = int(counts[c] if modes else known[c])
        if lost > 0 and rules.missing == BRANCH:
            _either_by_table(entries, end, weight, rules, table, limits.scale, limit, absent, sides, found)
        elif rules.unit and (lost == 0 or not modes):
            _by_count(entries, end, rules, table, limits.scale, limit, absent, sides, found)
        else:
            _by_table(entries, end, weight, rules, table, limits.scale, limit, absent, fill, sides, found)
    else:
        for c in range(classes):
            work[0, c] = 0.0
            work[1, c] = counts[c] if modes else known[c]
        _by_function(entries, end, weight, rules, limits, table, goodness, limit, absent, fill, work, found)
    if rules.missing == FRACTIONAL:
        found[SIDE] = DIVIDED
    elif rules.missing == SURROGATE:
        found[SIDE] = BY_SURROGATES
    elif modes:
        found[SIDE] = 0.0 if fill[classes] <= found[CODE] else 1.0


@kernel(types.threshold_search.signature)
def search(entries, weight, counts, missing, rules, limits, table, goodness, work, sides, fill, found):
    """Write the best cut of a column into `found` (CODE < 0: none; CUTS < 0: the column is constant here)."""
    _search(entries, weight, counts, missing, rules, limits, table, goodness, work, sides, fill, found)
