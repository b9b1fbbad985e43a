"""The best cut x ≤ θ of one presorted column, in one pass.

An entry packs code | class | number of the row in its node, sorted by code; missing values have the largest code. With
integral weights cuts are compared by exact sums of table entries (`whole_cuts`: equal counts give equal goodness), otherwise by
formula or by the criterion's own function, within what `min_leaf` admits.
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
    FRACTIONAL,
    GENERAL,
    INFORMATION,
    NEXT,
    SIDE,
    SURROGATE,
    TIE,
    VALUE,
)
from modelsel.kernels.splits.split_competition import information, least_weight, total_of, value_of
from modelsel.kernels.splits.whole_cuts import cuts_by_table

# The best cut of a sorted column whose rows weigh real numbers, or by a criterion that has no table.
#
# A cut's goodness is that of its two rows of class weights, by formula or by the criterion's own function. For entropy and Gini
# most cuts are passed over, as they cannot be the best. With l_c, r_c the weights of class c left and right of the cut, T_c, L,
# R and N those of the class, of the sides and of all:
#
#     entropy   gain ≤ (Σ_c l_c² / (T_c L) + Σ_c r_c² / (T_c R) − 1) / ln 2: Kullback-Leibler and chi-square, as ln x ≤ x − 1
#     Gini      gain = (Σ_c l_c² / L + Σ_c r_c² / R − Σ_c T_c² / N) / N
#
# Both are (q/L + (W − 2p + q)/R − W/N) / unit with q = Σ_c a_c l_c², p = Σ_c b_c l_c, W = Σ_c b_c T_c, which costs no
# logarithm. What entropy's passes is tried by a closer one, ln x ≤ (x − 1)(x + 5) / (4x + 2): both sides meet at 1 up to the
# third power, and the derivative of their difference is 4(x − 1)³ / (x (4x + 2)²).


MIXED = -2
LN2 = np.log(2.0)
SLACK = 1e-9  # of a bound: rounding of its sums is far below


@kernel(_nrt=False)
def _by_function(entries, end, weight, rules, limits, table, goodness, limit, absent, fill, work, found):
    """Cuts between classes by the criterion's own function; `work` holds nothing and the whole in its first two rows.

    Missing rows that may be on either side are parted from all known ones last.
    """
    shift, ids = rules.id_bits + rules.class_bits, (1 << rules.id_bits) - 1
    mask = (1 << rules.class_bits) - 1
    left, right = work[0], work[1]
    classes, lost = len(right), total_of(absent)
    n_left, n_right = 0.0, total_of(right)
    filled = lost > 0 and rules.missing <= CLASS_MODE
    either = lost > 0 and rules.missing == BRANCH
    skip = rules.boundary and not filled and not either
    best, cuts, previous, pure, at = -np.inf, 0, entries[0] >> shift, -1, 0.0
    for i in range(end + either):
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
            if i == end:
                break
        elif c != pure:
            pure = c if i == 0 else MIXED
        left[c] += w
        right[c] -= w
        if right[c] < TIE * left[c]:  # what rounding leaves of nothing
            right[c] = 0.0
        n_left, n_right = n_left + w, n_right - w
    found[CUTS], found[VALUE], found[INFORMATION] = cuts, best, at


@kernel(_nrt=False)
def _factors(known, n, entropy, a, b):
    """a_c and b_c of the bound; returns W and `unit`."""
    whole = 0.0
    for c in range(len(known)):
        a[c], b[c] = 1.0, known[c]
        if entropy:
            a[c], b[c] = 1.0 / known[c] if known[c] > 0 else 0.0, 1.0
        whole += b[c] * known[c]
    return whole, LN2 if entropy else n


@kernel(_nrt=False)
def _at_most(part, size, share, n):
    """Bound a side's part of N · gain · ln 2: Σ_c n_c·(x − 1)(x + 5)/(4x + 2), x = n_c·N/(T_c·size); share: 1/T_c."""
    sums, scale = 0.0, n / size
    for c in range(len(part)):
        x = part[c] * share[c] * scale
        sums += part[c] * (x - 1.0) * (x + 5.0) / (4.0 * x + 2.0)
    return sums


@kernel(_nrt=False)
def _by_bound(entries, end, weight, known, rules, limits, table, goodness, limit, bar, work, found):
    """Entropy or Gini of missing values left out; `work` has room in its first four rows. Cuts not above `bar` may be lost."""
    shift, ids, entropy = rules.id_bits + rules.class_bits, (1 << rules.id_bits) - 1, rules.formula == ENTROPY
    mask = (1 << rules.class_bits) - 1
    left, right, a, b = work[0], work[1], work[2], work[3]
    n = total_of(known)
    whole, unit = _factors(known, n, entropy, a, b)
    base, slack, most = whole / n, SLACK * whole, n - limit
    for c in range(len(known)):
        left[c] = 0.0
    best, bar, cuts, at, at_left = -np.inf, max(bar, -1.0) - TIE, 0, 0, 0.0
    n_left, q, p = 0.0, 0.0, 0.0
    before = entries[0]
    for i in range(end):
        entry = entries[i]
        if (entry ^ before) >> shift != 0 and n_left >= limit and n_left <= most:
            cuts += 1
            n_right = n - n_left
            if q * n + (whole - 2.0 * p + slack) * n_left > (bar * unit + base) * n_left * n_right:
                for c in range(len(known)):
                    rest = known[c] - left[c]
                    right[c] = rest if rest >= TIE * left[c] else 0.0  # what rounding leaves of nothing is nothing
                if not entropy or _at_most(left, n_left, a, n) + _at_most(right, n_right, a, n) > (bar * unit - SLACK) * n:
                    value = value_of(work, 0, 2, rules, limits, table, goodness)
                    if value > best + TIE:
                        best, at, at_left = value, i, n_left
                        bar = max(bar, best - TIE)
        label, w = np.uint64((entry >> rules.id_bits) & mask), weight[np.uint64(entry & ids)]
        own = left[label]
        left[label] = own + w
        n_left += w
        q += a[label] * w * (own + own + w)
        p += b[label] * w
        before = entry
    found[CUTS], found[VALUE], found[INFORMATION] = cuts, best, at_left
    if at > 0:
        found[CODE], found[NEXT] = entries[at - 1] >> shift, entries[at] >> shift


@kernel(_nrt=False)
def cuts_by_weight(entries, end, weight, known, rules, limits, table, goodness, limit, absent, fill, bar, work, found):
    """Write the best cut among the first `end` entries (those not missing) into `found`."""
    lost, modes = total_of(absent), rules.missing <= CLASS_MODE
    if rules.formula != GENERAL and (lost == 0 or not (modes or rules.missing == BRANCH)):
        _by_bound(entries, end, weight, known, rules, limits, table, goodness, limit, bar, work, found)
    else:
        for c in range(len(known)):
            work[0, c] = 0.0
            work[1, c] = known[c] + (absent[c] if modes else 0.0)
        _by_function(entries, end, weight, rules, limits, table, goodness, limit, absent, fill, work, found)
    if rules.ratio:
        n = total_of(known) + (0.0 if rules.missing >= FRACTIONAL and rules.missing != BRANCH else lost)
        apart = lost if rules.missing == FRACTIONAL else 0.0
        found[INFORMATION] = information(found[INFORMATION], n - found[INFORMATION], apart)


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


@kernel(types.threshold_search.signature, _nrt=False)
def search(entries, weight, counts, missing, rules, limits, table, steps, goodness, work, sides, fill, found):
    """Write the best cut of a column into `found` (CODE < 0: none; CUTS < 0: the column is constant here).

    found[VALUE], before: what another feature has reached; a cut that stays below may be passed over. steps: of `table`.
    """
    classes = len(counts)
    shift = rules.id_bits + rules.class_bits
    absent, bar = work[4], found[VALUE]
    for c in range(classes):
        absent[c] = 0.0
    for k in range(len(found)):
        found[k] = 0.0
    found[CODE] = -1.0
    end = _count_missing(entries, weight, missing, rules, absent)
    parts_missing = rules.missing == BRANCH and end < len(entries)
    if end == 0 or (entries[0] >> shift == entries[end - 1] >> shift and not parts_missing):
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
        cuts_by_table(entries, end, weight, known, rules, limits, table, steps, limit, absent, fill, sides, found)
    else:
        share = total_of(known) / (total_of(known) + lost) if rules.missing >= FRACTIONAL and rules.missing != BRANCH else 1.0
        cuts_by_weight(entries, end, weight, known, rules, limits, table, goodness, limit, absent, fill, bar / share, work,
                       found)  # fmt: skip
    if rules.missing == FRACTIONAL:
        found[SIDE] = DIVIDED
    elif rules.missing == SURROGATE:
        found[SIDE] = BY_SURROGATES
    elif modes:
        found[SIDE] = 0.0 if fill[classes] <= found[CODE] else 1.0
