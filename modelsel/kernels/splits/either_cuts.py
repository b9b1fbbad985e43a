"""The best cut of a sorted column with the rows of missing value on its left or on its right, whichever scores better.

By exact sums of table entries (`whole_cuts`), four of them: left of the cut and right of it, with the missing rows and without.
"""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.layout import CODE, CUTS, ENTROPY, INFORMATION, NEXT, SIDE, TIE, VALUE


@kernel(_nrt=False)
def either_by_table(entries, end, weight, rules, table, scale, limit, absent, sides, found):
    """Rows of any whole weight; `sides` holds nothing and the known ones, and ends as the scan does."""
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
        c, w = (entry >> rules.id_bits) & mask, int(weight[entry & ids])
        a, b, more = left[c], right[c], int(absent[c])
        joined_left += table[a + w + more] - table[a + more]
        alone += table[a + w] - table[a]
        rest += table[b - w] - table[b]
        joined_right += table[b - w + more] - table[b + more]
        left[c], right[c] = a + w, b - w
        n_left, n_right = n_left + w, n_right - w
    found[CUTS] = cuts
    found[VALUE] = (best - (float(whole - table[n]) if entropy else whole / n)) / unit


@kernel(_nrt=False)
def either_by_steps(entries, end, rules, table, steps, scale, least, absent, sides, found):
    """The same by entropy for rows of weight one; left_with: Σ n_c·log n_c of both sides, the missing rows being left."""
    shift, ids, mask = rules.id_bits + rules.class_bits, rules.id_bits, (1 << rules.class_bits) - 1
    left, total, more = sides[0], sides[1], sides[2]
    lost, whole, left_with, right_with = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for c in range(len(total)):
        more[c] = np.int64(absent[c])
        lost += more[c]
        whole += table[total[c] + more[c]]
        left_with += table[more[c]] + table[total[c]]
    right_with, n = whole, end + lost
    tie = int(max(TIE * n * scale, 8.0))
    best, bar, cuts, at, side = -(2**62), -(2**62), 0, 0, 0
    entry = entries[0]
    for i in range(1, end):
        label = np.uint64((entry >> ids) & mask)
        a, m = left[label], more[label]
        b = total[label] - a
        left[label] = a + 1
        left_with += steps[np.uint64(a + m)] - steps[np.uint64(b - 1)]
        right_with += steps[np.uint64(a)] - steps[np.uint64(b - 1 + m)]
        after = entries[i]
        if (entry ^ after) >> shift != 0:
            on_left, on_right = i + lost >= least and end - i >= least, i >= least and n - i >= least
            value = left_with - table[np.uint64(i + lost)] - table[np.uint64(end - i)]
            if value > bar and on_left:
                best, bar, at, side = value, value + tie, i, 0
            value = right_with - table[np.uint64(i)] - table[np.uint64(n - i)]
            if value > bar and on_right:
                best, bar, at, side = value, value + tie, i, 1
            cuts += on_left or on_right
        entry = after
    found[CUTS] = cuts
    found[VALUE] = float(best - whole + table[n]) / (n * scale)
    if at > 0:
        found[CODE], found[NEXT], found[SIDE] = entries[at - 1] >> shift, entries[at] >> shift, side
        found[INFORMATION] = at if side else at + lost
