"""The best test of one feature of a target that is a number: a cut of a sorted column, or a test of a nominal feature's levels.

By squared error a test is worth Σ_b (Σ_b u)² / w_b over its branches; sums of u are whole numbers, so that the first of the
best wins whatever the order of rows. Where missing values take no part, sums are taken about the mean of the rows that do.

By Poisson deviance it is worth Σ_b t_b log(t_b / w_b), t_b = Σ_b u + c·w_b: `centre` c is what u was taken about, counted from
the number 0 (NaN: squared error).

`held`: between which means of u those of branches have to lie, and 1 or −1 where the second's has to be no smaller or no larger
than the first's (−∞, ∞ and 0: anything goes).
"""

import math

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.growth.tally import ascend, side_of
from modelsel.kernels.layout import (
    ABSENT,
    BRANCH,
    BY_SURROGATES,
    CODE,
    CUTS,
    DIVIDED,
    EQUALITY,
    FRACTIONAL,
    INFORMATION,
    MULTIWAY,
    NEXT,
    NODE_MODE,
    NOTHING,
    SIDE,
    SURROGATE,
    VALUE,
)

# Sums of whole numbers at a node and its children, for a target that is a number.
#
# A row counts u = v − m·w: v its weighted whole number, m the node's mean, w its weight. With weights that are whole numbers
# all of them are (`steps` = 0); else v and m·w are rounded once per row, and weights are multiples of 1 / `steps`.


PART = 42  # binary digits of a square among the squares of a node


@kernel(_nrt=False)
def weigh(q, weight, steps, parts):
    """v of a row."""
    if steps == 0.0:
        return q * np.int64(weight)
    return np.int64(np.rint(q * weight * parts))


@kernel(_nrt=False)
def round_weight(weight, steps):
    """A weight as a multiple of a step."""
    return weight if steps == 0.0 else np.rint(weight * steps) / steps


@kernel(_nrt=False)
def shift_of(total, size, weight, steps):
    """m·w, where Σ v = total and Σ w = size."""
    if steps == 0.0:
        return (total // np.int64(size)) * np.int64(weight)
    return np.int64(np.rint((float(total) / size) * weight))


@kernel(_nrt=False)
def mean_of(total, size, steps):
    """The mean m that sums are taken about."""
    return float(total // np.int64(size)) if steps == 0.0 else float(total) / size


@kernel(_nrt=False)
def centre(rows, weight, whole, steps, parts, u):
    """u of the rows of a node; returns Σ u, Σ w and the mean that u is about."""
    total, size, rest = np.int64(0), 0.0, np.int64(0)
    for i in range(len(rows)):
        u[i] = weigh(whole[np.uint64(rows[i])], weight[i], steps, parts)
        total += u[i]
        size += weight[i]
    for i in range(len(rows)):
        u[i] -= shift_of(total, size, weight[i], steps)
        rest += u[i]
    return rest, size, mean_of(total, size, steps)


@kernel(_nrt=False)
def shares_of(branch, weight, branches, shares):
    """Shares of the known weight that the branches have; returns how many rows are in none."""
    divided, total = 0, 0.0
    for b in range(branches):
        shares[b] = 0.0
    for i in range(len(branch)):
        if branch[i] >= 0:
            shares[branch[i]] += weight[i]
            total += weight[i]
        else:
            divided += 1
    for b in range(branches):
        shares[b] /= total
    return divided


@kernel(_nrt=False)
def child_moments(branch, rows, weight, whole, shares, child, steps, parts, divided):
    """Weight, mean and Σ w (q − mean)² of the rows of a child (mean: NaN where there are none)."""
    total, size, low, high = np.int64(0), 0.0, np.int64(2**62), np.int64(-(2**62))
    for i in range(len(branch)):
        if branch[i] == child or branch[i] < 0:
            own = weight[i] if branch[i] == child else round_weight(weight[i] * shares[child], steps)
            if own > 0.0:
                q = whole[np.uint64(rows[i])]
                total += weigh(q, own, steps, parts)
                size += own
                low, high = min(low, q), max(high, q)
    if size == 0.0:
        return 0.0, np.nan, 0.0
    if low == high:
        return size, float(low), 0.0
    mean = float(total) / size / parts
    return size, mean, _squares(branch, rows, weight, whole, shares, child, steps, mean, divided)


@kernel(_nrt=False)
def _squares(branch, rows, weight, whole, shares, child, steps, mean, divided):
    """Σ w (q − mean)², each part rounded to 2^-42 of the largest."""
    largest, exponent, sums = 0.0, 0, np.int64(0)
    for again in range(2):
        for i in range(len(branch)):
            if branch[i] == child or (divided > 0 and branch[i] < 0):
                own = weight[i] if branch[i] == child else round_weight(weight[i] * shares[child], steps)
                off = float(whole[np.uint64(rows[i])]) - mean
                part = own * (off * off)
                if again:
                    sums += np.int64(np.rint(math.ldexp(part, PART - exponent)))
                else:
                    largest = max(largest, part)
        exponent = math.frexp(largest)[1]
    return math.ldexp(float(sums), exponent - PART)


@kernel(_nrt=False)
def worth(own, size, centre):
    """What a branch is worth."""
    a = float(own)
    if centre != centre:
        return a * a * (1.0 / size)
    total = a + centre * size
    return total * math.log(total / size) if total > 0.0 else 0.0


@kernel(_nrt=False)
def clear(found):
    """Forget the best test: nothing was found yet."""
    for k in range(len(found)):
        found[k] = 0.0
    found[CODE], found[VALUE] = NOTHING, -np.inf


@kernel(_nrt=False)
def _keeps(first, second, low, high, sign):
    """Means of two branches keep to what they are held to."""
    return min(first, second) >= low and max(first, second) <= high and sign * (second - first) >= 0.0


@kernel(_nrt=False)
def _take(found, left, total, n_left, size, centre, needed, code, after, side, low, high, sign):
    """Keep a test of two branches if it is admissible and better than the best so far."""
    n_right = size - n_left
    if n_left >= needed and n_right >= needed and n_left > 0.0 and n_right > 0.0:
        value = worth(left, n_left, centre) + worth(total - left, n_right, centre)
        if value > found[VALUE] and _keeps(float(left) / n_left, float(total - left) / n_right, low, high, sign):
            found[VALUE], found[CODE], found[NEXT], found[SIDE] = value, code, after, side


@kernel(_nrt=False)
def median_code(entries, end, weight, shift, ids, size):
    """The lower median of the known values."""
    half, so_far = size / 2, 0.0
    for i in range(end):
        so_far += weight[entries[i] & ids]
        if so_far >= half:
            return entries[i] >> shift
    return entries[end - 1] >> shift


@kernel(_nrt=False)
def _sum_about(entries, end, u, weight, shift, ids, total, size, steps, fill, lost, lost_weight):
    """Σ over values of (Σ u − m·w), as the pass over cuts will add it up."""
    if steps == 0.0:
        return total - shift_of(total, size, size, steps)
    all_, i = np.int64(0), 0
    while i < end:
        code, own, own_weight = entries[i] >> shift, np.int64(0), 0.0
        while i < end and entries[i] >> shift == code:
            own += u[entries[i] & ids]
            own_weight += weight[entries[i] & ids]
            i += 1
        if code == fill:
            own += lost
            own_weight += lost_weight
        all_ += own - shift_of(total, size, own_weight, steps)
    return all_


@kernel(_nrt=False)
def best_cut(entries, u, weight, missing, rest, all_weight, centre, rules, needed, steps, held, found):
    """Write the best cut of a sorted column into `found` (CODE < 0: none; CUTS < 0: the column is constant here)."""
    shift, ids, end = rules.id_bits, (np.int64(1) << rules.id_bits) - 1, len(entries)
    clear(found)
    lost, lost_weight = np.int64(0), 0.0
    while end > 0 and entries[end - 1] >> shift == missing:
        end -= 1
        lost += u[entries[end] & ids]
        lost_weight += weight[entries[end] & ids]
    found[ABSENT] = lost_weight
    if end == 0 or (entries[0] >> shift == entries[end - 1] >> shift and not (rules.missing == BRANCH and end < len(entries))):
        found[CUTS] = NOTHING
        return
    total, size, fill, either = rest - lost, all_weight - lost_weight, np.int64(-1), rules.missing == BRANCH
    if rules.missing == NODE_MODE:
        fill = entries[(end - 1) // 2] >> shift if rules.unit else median_code(entries, end, weight, shift, ids, size)
        total, size = rest, all_weight
    about = not either
    whole, full = total, size
    low, high, sign = held[0], held[1], held[2]
    if about:
        middle = mean_of(total, size, steps)
        centre, low, high = centre + middle, low - middle, high - middle
        whole = _sum_about(entries, end, u, weight, shift, ids, total, size, steps, fill, lost, lost_weight)
    elif lost_weight > 0.0:
        whole, full = rest, all_weight
    left, n_left, before, i = np.int64(0), 0.0, np.int64(-1), 0
    while i < end:
        code, own, own_weight = entries[i] >> shift, np.int64(0), 0.0
        while i < end and entries[i] >> shift == code:
            at = np.uint64(entries[i] & ids)
            own += u[at]
            own_weight += weight[at]
            i += 1
        if code == fill:
            own += lost
            own_weight += lost_weight
        if own_weight == 0.0:
            continue
        if before >= 0:
            if either and lost_weight > 0.0:
                _take(found, left + lost, whole, n_left + lost_weight, full, centre, needed, before, code, 0.0, low, high, sign)
                _take(found, left, whole, n_left, full, centre, needed, before, code, 1.0, low, high, sign)
            else:
                _take(found, left, whole, n_left, full, centre, needed, before, code, 0.0, low, high, sign)
        left += own - (shift_of(total, size, own_weight, steps) if about else 0)
        n_left += own_weight
        before = code
    if either and lost_weight > 0.0 and before >= 0:  # known values from missing ones
        _take(found, left, whole, n_left, full, centre, needed, before, missing, 1.0, low, high, sign)
    found[INFORMATION] = worth(whole, full, centre)
    if rules.missing == NODE_MODE:
        found[SIDE] = 0.0 if fill <= found[CODE] else 1.0
    elif rules.missing == FRACTIONAL:
        found[SIDE] = DIVIDED
    elif rules.missing == SURROGATE:
        found[SIDE] = BY_SURROGATES


@kernel(_nrt=False)
def count(codes, rows, u, weight, levels, sums, sizes, seen):
    """Sums per level; returns how many levels occur, in order in `seen`. The missing ones are level `levels`."""
    present, few = 0, levels <= len(rows)
    for each in range(levels + 1 if few else 0):
        sums[each], sizes[each] = 0, 0.0
    if not few:
        sums[levels], sizes[levels] = 0, 0.0
        for i in range(len(rows)):
            if codes[rows[i]] >= 0:
                sums[codes[rows[i]]], sizes[codes[rows[i]]] = 0, 0.0
    for i in range(len(rows)):
        level = np.int64(codes[np.uint64(rows[i])])
        if level < 0:
            level = np.int64(levels)
        if not few and level < levels and sizes[level] == 0.0 and weight[i] > 0.0:
            seen[present] = level
            present += 1
        sums[level] += u[i]
        sizes[level] += weight[i]
    if not few:
        ascend(seen, present)
    for each in range(levels if few else 0):
        if sizes[each] > 0.0:
            seen[present] = each
            present += 1
    return present


@kernel(_nrt=False)
def by_key(names, keys):
    """Sort names by their keys, equals as they stand (insertion over halving gaps, Shell 1959)."""
    gap = len(names) // 2
    while gap > 0:
        for i in range(gap, len(names)):
            name, j = names[i], i
            while j >= gap and (
                keys[names[j - gap]] > keys[name] or (keys[names[j - gap]] == keys[name] and names[j - gap] > name)
            ):
                names[j] = names[j - gap]
                j -= gap
            names[j] = name
        gap //= 2


@kernel(_nrt=False)
def mode_level(sizes, seen):
    """The level of most weight; ties: the first."""
    most = 0.0
    for level in seen:
        most = max(most, sizes[level])
    for level in seen:
        if sizes[level] > most - 1e-9:
            return level
    return seen[0]


@kernel(_nrt=False)
def _subset(sums, sizes, pieces, names, keys, total, size, centre, needed, levels, low, high, found, inside):
    """Levels in the order of their means; the best prefix."""
    for k in range(len(pieces)):
        names[k] = pieces[k]
        keys[pieces[k]] = float(sums[pieces[k]]) / sizes[pieces[k]]
    by_key(names[: len(pieces)], keys)
    left, n_left = np.int64(0), 0.0
    for k in range(len(pieces) - 1):
        left += sums[names[k]]
        n_left += sizes[names[k]]
        _take(found, left, total, n_left, size, centre, needed, k, 0, 0.0, low, high, 0.0)
    first_branch(names[: len(pieces)], pieces, levels, found, inside)


@kernel(_nrt=False)
def first_branch(names, pieces, levels, found, inside):
    """Write the levels of the first branch, those in order up to the cut; the first of all levels is one of them."""
    if found[CODE] < 0:
        return
    for level in range(levels + 1):
        inside[level] = 0
    for k in range(int(found[CODE]) + 1):
        inside[names[k]] = 1
    if not inside[pieces[0]]:
        for k in range(len(pieces)):
            inside[pieces[k]] = 1 - inside[pieces[k]]
    found[CODE] = 0.0


@kernel(_nrt=False)
def _multiway(sums, sizes, pieces, centre, needed, low, high, found):
    """A branch per piece."""
    large, value = 0, 0.0
    for level in pieces:
        mean = float(sums[level]) / sizes[level]
        if mean < low or mean > high:
            return
        large += sizes[level] >= needed
        value += worth(sums[level], sizes[level], centre)
    if large >= 2:
        found[CODE], found[VALUE] = 0.0, value


@kernel(_nrt=False)
def best_levels(codes, rows, u, weight, levels, rest, all_weight, centre, rules, needed, steps, sums, sizes, keys, seen, names,
                inside, held, found):  # fmt: skip
    """Write the best test of a nominal feature into `found`, and the levels of its first branch into `inside`."""
    clear(found)
    present = count(codes, rows, u, weight, levels, sums, sizes, seen)
    lost, lost_weight, fill = sums[levels], sizes[levels], np.int64(-1)
    found[ABSENT] = lost_weight
    joins = rules.missing == BRANCH and lost_weight > 0.0
    pieces = present + joins
    if present == 0 or pieces < 2:
        found[CUTS] = NOTHING
        return
    if rules.nominal == EQUALITY:
        pieces = present
    if rules.missing == NODE_MODE:
        fill = mode_level(sizes, seen[:present])
        sums[fill] += lost
        sizes[fill] += lost_weight
    total, size, low, high = np.int64(0), 0.0, held[0], held[1]
    for level in seen[:present]:
        total += sums[level]
        size += sizes[level]
    if rules.missing != BRANCH:
        whole, about = np.int64(0), mean_of(total, size, steps)
        for level in seen[:present]:
            sums[level] -= shift_of(total, size, sizes[level], steps)
            whole += sums[level]
        total = whole
        centre, low, high = centre + about, low - about, high - about
    elif joins:
        total, size = rest, all_weight
    if pieces > present:
        seen[present] = levels
    found[INFORMATION] = worth(total, size, centre)
    if rules.nominal == MULTIWAY:
        _multiway(sums, sizes, seen[:pieces], centre, needed, low, high, found)
    elif rules.nominal == EQUALITY:
        for level in seen[:present]:
            if joins:
                joined, more = sums[level] + lost, sizes[level] + lost_weight
                _take(found, joined, total, more, size, centre, needed, level, 0, 0.0, low, high, 0.0)
                _take(found, sums[level], total, sizes[level], size, centre, needed, level, 0, 1.0, low, high, 0.0)
            else:
                _take(found, sums[level], total, sizes[level], size, centre, needed, level, 0, 0.0, low, high, 0.0)
    else:
        _subset(sums, sizes, seen[:pieces], names, keys, total, size, centre, needed, levels, low, high, found, inside)
    found[SIDE] = side_of(rules, fill, inside, found, levels)
