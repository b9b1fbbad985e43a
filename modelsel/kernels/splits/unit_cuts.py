"""The best cut of a sorted column whose rows weigh one, by exact sums of table entries (`whole_cuts`).

Where missing values are filled in, their rows move left together with the value that stands for them: the column is taken in
stretches between such values, and inside a stretch a row more costs two numbers that are looked up.
"""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.layout import CODE, CUTS, ENTROPY, INFORMATION, NEXT, TIE, VALUE


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
