"""The best cut x ≤ θ of one presorted column, in one pass.

An entry packs code | class | number of the row in its node, sorted by code; missing values have the largest code. With
integral weights cuts are compared by exact sums of table entries (`whole_cuts`: equal counts give equal goodness), otherwise by
formula or by the criterion's own function (`real_cuts`), within what `min_leaf` admits.
"""

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
    FRACTIONAL,
    GENERAL,
    SIDE,
    SURROGATE,
    TIE,
    VALUE,
)
from modelsel.kernels.splits.real_cuts import cuts_by_weight
from modelsel.kernels.splits.split_competition import least_weight, total_of
from modelsel.kernels.splits.whole_cuts import cuts_by_table


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
