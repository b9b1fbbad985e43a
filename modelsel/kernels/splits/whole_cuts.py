"""Every cut of a sorted column by exact sums of table entries: entropy and Gini where all weights are whole numbers.

    entropy   Σ_c (l_c·log l_c + r_c·log r_c) − n_l·log n_l − n_r·log n_r, from a table of whole numbers
    Gini      Σ_c l_c² / n_l + Σ_c r_c² / n_r

of the class weights l_c left and r_c right of the cut. A row changes one table entry on either side, so that a cut costs O(1).
A missing value may be filled in (its row moves left with the value that stands for it) or be tried on both sides of every cut.
"""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.layout import BRANCH, CLASS_MODE, CODE, CUTS, ENTROPY, FRACTIONAL, INFORMATION, NEXT, SIDE, TIE, VALUE
from modelsel.kernels.splits.split_competition import information, total_of

# The best cut of a sorted column with the rows of missing value on its left or on its right, whichever scores better.
#
# By exact sums of table entries (`whole_cuts`), four of them: left of the cut and right of it, with the missing rows and
# without. Last comes the cut before the missing rows, which parts them from all known ones.


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
    for i in range(end + 1):
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
        if i == end:
            break
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
    for i in range(1, end + 1):
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


# The best cut of a sorted column whose rows weigh one, by exact sums of table entries (`whole_cuts`).
#
# Where missing values are filled in, their rows move left together with the value that stands for them: the column is taken in
# stretches between such values, and inside a stretch a row more costs two numbers that are looked up.


@kernel(_nrt=False)
def _entropy_cuts(entries, begin, end, more, n, rules, table, steps, least, tie, s, left, total, best, cuts, at):
    """Cuts left of the rows begin … end − 1 of weight one, `more` filled rows lying left of all of them.

    s: Σ_c (l_c·log l_c + r_c·log r_c). Returns it as it is right of these rows, the best sum, the number of cuts, the best cut.
    """
    shift, ids, mask = rules.id_bits + rules.class_bits, rules.id_bits, (1 << rules.class_bits) - 1
    bar, low, high = best + tie, least - more, n - least - more
    before = entries[max(begin - 1, 0)]
    for i in range(begin, end):
        entry = entries[i]
        if (entry ^ before) >> shift != 0 and i >= low and i <= high:
            cuts += 1
            value = s - table[np.uint64(i + more)] - table[np.uint64(n - i - more)]
            if value > bar:
                best, bar, at = value, value + tie, i
        label = np.uint64((entry >> ids) & mask)
        a = left[label]
        left[label] = a + 1
        s += steps[np.uint64(a)] - steps[np.uint64(total[label] - a - 1)]
        before = entry
    return s, best, cuts, at


@kernel(_nrt=False)
def _gini_cuts(entries, begin, end, more, n, rules, least, tie, s_left, s_right, left, total, best, cuts, at):
    """The same by Σ_c l_c² and Σ_c r_c², compared without dividing."""
    shift, ids, mask = rules.id_bits + rules.class_bits, rules.id_bits, (1 << rules.class_bits) - 1
    bar, low, high = best + tie, least - more, n - least - more
    n_left, n_right = float(begin + more), float(n - begin - more)
    before = entries[max(begin - 1, 0)]
    for i in range(begin, end):
        entry = entries[i]
        if (entry ^ before) >> shift != 0 and i >= low and i <= high:
            cuts += 1
            parts, whole = s_left * n_right + s_right * n_left, n_left * n_right
            if parts > bar * whole:
                best, at = parts / whole, i
                bar = best + tie
        label = np.uint64((entry >> ids) & mask)
        a = left[label]
        left[label] = a + 1
        s_left += float(2 * a + 1)
        s_right -= float(2 * (total[label] - a) - 1)
        n_left += 1.0
        n_right -= 1.0
        before = entry
    return s_left, s_right, best, cuts, at


@kernel(_nrt=False)
def _next_fill(fill, absent, filled, code):
    """The lowest code above `code` that stands for missing values; none: the largest number."""
    lowest = np.int64(2**62)
    for c in range(len(absent)):
        if filled and absent[c] > 0 and code < fill[c] < lowest:
            lowest = fill[c]
    return lowest


@kernel(_nrt=False)
def _first_above(entries, begin, end, code, shift):
    """The first entry whose code is larger, by bisection."""
    while begin < end:
        middle = (begin + end) >> 1
        if entries[middle] >> shift > code:
            end = middle
        else:
            begin = middle + 1
    return begin


@kernel(_nrt=False)
def by_count(entries, end, rules, table, steps, scale, limit, absent, fill, filled, sides, found):
    """Rows of weight one, in stretches between the values that stand for missing ones."""
    shift = rules.id_bits + rules.class_bits
    left, total, n, s = sides[0], sides[1], np.int64(0), np.int64(0)
    s_left, s_right, more, least = 0.0, 0.0, np.int64(0), np.int64(np.ceil(limit))
    for c in range(len(total)):
        n += total[c]
        s += table[total[c]]
        s_right += float(total[c]) * float(total[c])
    entropy = rules.fused == ENTROPY
    whole, squares = s - table[n], s_right / n
    tie, begin, cuts, at, at_more = int(max(TIE * n * scale, 8.0)), 0, 0, 0, np.int64(0)
    best, share = -(2**62), -1.0
    code = _next_fill(fill, absent, filled, np.int64(-1))
    while begin < end:
        stop = _first_above(entries, begin, end, code, shift) if filled else end
        before = at
        if entropy:
            s, best, cuts, at = _entropy_cuts(entries, begin, stop, more, n, rules, table, steps, least, tie, s, left, total,
                                              best, cuts, at)  # fmt: skip
        else:
            s_left, s_right, share, cuts, at = _gini_cuts(entries, begin, stop, more, n, rules, least, TIE * n, s_left, s_right,
                                                          left, total, share, cuts, at)  # fmt: skip
        at_more = more if at != before else at_more
        begin = stop
        if begin < end:
            for c in range(len(total)):
                if fill[c] == code and absent[c] > 0:
                    w, a = np.int64(absent[c]), left[c]
                    b = total[c] - a
                    s += table[a + w] - table[a] + table[b - w] - table[b]
                    s_left += float(w * (2 * a + w))
                    s_right -= float(w * (2 * b - w))
                    left[c] = a + w
                    more += w
            code = _next_fill(fill, absent, filled, code)
    found[CUTS] = cuts
    found[VALUE] = float(best - whole) / n / scale if entropy else (share - squares) / n
    if at > 0:
        found[CODE], found[NEXT], found[INFORMATION] = entries[at - 1] >> shift, entries[at] >> shift, at + at_more


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
