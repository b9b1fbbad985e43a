"""Every cut of a sorted column by exact sums of table entries: entropy and Gini where all weights are whole numbers.

    entropy   Σ_c (l_c·log l_c + r_c·log r_c) − n_l·log n_l − n_r·log n_r, from a table of whole numbers
    Gini      Σ_c l_c² / n_l + Σ_c r_c² / n_r

of the class weights l_c left and r_c right of the cut. A row changes one table entry on either side, so that a cut costs O(1).
A missing value may be filled in (its row moves left with the value that stands for it) or be tried on both sides of every cut.
"""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.layout import BRANCH, CLASS_MODE, CODE, CUTS, ENTROPY, FRACTIONAL, INFORMATION, NEXT, TIE, VALUE
from modelsel.kernels.splits.either_cuts import either_by_steps, either_by_table
from modelsel.kernels.splits.split_competition import information, total_of
from modelsel.kernels.splits.unit_cuts import by_count


@kernel(_nrt=False)
def _by_table(entries, end, weight, rules, table, scale, limit, absent, fill, sides, found):
    """Rows of any whole weight; `sides` holds nothing and the whole, and ends as the scan does."""
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
        c, w = (entry >> rules.id_bits) & mask, int(weight[entry & ids])
        a, b = left[c], right[c]
        s_left += table[a + w] - table[a]
        s_right += table[b - w] - table[b]
        left[c], right[c] = a + w, b - w
        n_left, n_right = n_left + w, n_right - w
    found[CUTS] = cuts
    total = n_left + n_right
    found[VALUE] = (best - whole) / total / (scale if rules.fused == ENTROPY else 1.0)


@kernel(_nrt=False)
def cuts_by_table(entries, end, weight, known, rules, limits, table, steps, limit, absent, fill, sides, found):
    """Write the best cut among the first `end` entries (those not missing) into `found`."""
    lost, modes, n = total_of(absent), rules.missing <= CLASS_MODE, 0.0
    for c in range(len(known)):
        sides[0, c] = 0
        sides[1, c] = int(known[c] + (absent[c] if modes else 0.0))
        n += sides[1, c]
    if lost > 0 and rules.missing == BRANCH:
        n += lost
        if rules.unit and rules.fused == ENTROPY:
            least = np.int64(np.ceil(limit))
            either_by_steps(entries, end, rules, table, steps, limits.scale, least, absent, sides, found)
        else:
            either_by_table(entries, end, weight, rules, table, limits.scale, limit, absent, sides, found)
    elif rules.unit:
        by_count(entries, end, rules, table, steps, limits.scale, limit, absent, fill, modes and lost > 0, sides, found)
    else:
        _by_table(entries, end, weight, rules, table, limits.scale, limit, absent, fill, sides, found)
    if rules.ratio:
        apart = lost if rules.missing == FRACTIONAL else 0.0
        found[INFORMATION] = information(found[INFORMATION], n - found[INFORMATION], apart)
