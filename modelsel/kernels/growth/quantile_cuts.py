"""The best test of one feature by absolute error, or by the pinball loss of a quantile τ.

    loss(S) = min_a Σ_S w (τ (y − a)⁺ + (1 − τ) (a − y)⁺)

a is the smallest y of S that has, with what is below, the share τ of the weight. Rows of a node are numbered in the order of
their targets, so that a set of rows is a set of bits and a its bit. Rows are taken out in the order of the feature, from either
end: that moves a by a few bits, and a column costs O(n). Sums of u = w y about the node's mean are whole numbers, so that a
loss depends on the set alone.
"""

import numpy as np

from modelsel.kernels.compiler import interprets, kernel
from modelsel.kernels.growth.number_cuts import by_key, clear, count, first_branch, median_code, mode_level
from modelsel.kernels.growth.tally import side_of
from modelsel.kernels.layout import (
    ABSENT,
    BRANCH,
    BY_SURROGATES,
    CODE,
    CUTS,
    EQUALITY,
    INFORMATION,
    MULTIWAY,
    NEXT,
    NODE_MODE,
    NOTHING,
    SIDE,
    SURROGATE,
    VALUE,
)

if interprets():
    leading_zeros, trailing_zeros = (
        lambda word: 64 - int(word).bit_length(),
        lambda word: (int(word) & -int(word)).bit_length() - 1,
    )
else:
    from numba.cpython.unsafe import numbers

    leading_zeros, trailing_zeros = numbers.leading_zeros, numbers.trailing_zeros

EVERY = ~np.uint64(0)
ONE = np.uint64(1)


@kernel(_nrt=False)
def _fill(bits, n):
    """Every row is in; a second row of words marks the words that are not empty."""
    for k in range(2):
        words = (n + 63) >> 6
        for j in range(words):
            bits[k, j] = EVERY
        if n & 63:
            bits[k, words - 1] = (ONE << np.uint64(n & 63)) - ONE
        n = words


@kernel(inline="always", _nrt=False)
def _drop(bits, row):
    """Take a row out of the set of bits."""
    word = np.uint64(row) >> np.uint64(6)
    left = bits[0, word] & ~(ONE << np.uint64(row & 63))
    bits[0, word] = left
    if left == 0:
        bits[1, word >> np.uint64(6)] &= ~(ONE << (word & np.uint64(63)))


@kernel(inline="always", _nrt=False)
def _put(bits, row):
    word = np.uint64(row) >> np.uint64(6)
    bits[0, word] |= ONE << np.uint64(row & 63)
    bits[1, word >> np.uint64(6)] |= ONE << (word & np.uint64(63))


@kernel(_nrt=False)
def _next(words, place):
    """The first bit at `place` or above in the word of `place`; −1 where there is none."""
    left = words[place >> 6] & (EVERY << np.uint64(place & 63))
    return (place & ~63) + np.int64(trailing_zeros(left)) if left else -1


@kernel(_nrt=False)
def _last(words, place):
    """The last bit at `place` or below in the word of `place`; −1 where there is none."""
    left = words[place >> 6] & (EVERY >> np.uint64(63 - (place & 63)))
    return (place & ~63) + 63 - np.int64(leading_zeros(left)) if left else -1


@kernel(_nrt=False)
def _above(bits, row):
    """The row of the set behind `row`; there is one."""
    found = _next(bits[0], row + 1) if (row + 1) & 63 else -1
    if found >= 0:
        return found
    word = (row + 1 + 63) >> 6 if (row + 1) & 63 else (row + 1) >> 6
    found = _next(bits[1], word)
    block = (word >> 6) + 1
    while found < 0:
        found = _next(bits[1], block << 6)
        block += 1
    return (found << 6) + np.int64(trailing_zeros(bits[0, found]))


@kernel(_nrt=False)
def _below(bits, row):
    """The row of the set before `row`; there is one."""
    found = _last(bits[0], row - 1) if row & 63 else -1
    if found >= 0:
        return found
    word = (row >> 6) - 1
    found = _last(bits[1], word)
    block = (word >> 6) - 1
    while found < 0:
        found = _last(bits[1], (block << 6) + 63)
        block -= 1
    return (found << 6) + 63 - np.int64(leading_zeros(bits[0, found]))


@kernel(_nrt=False)
def two_sided(total, size, sum_to, up_to, value, q, steps):
    """Loss of a set (Σ u, Σ w; both up to its quantile) about a value: what lies above at q, what lies below at 1 − q."""
    if steps == 0.0:
        at = np.int64(value)
        above = float((total - sum_to) - at * np.int64(size - up_to))
        return q * above + (1.0 - q) * float(at * np.int64(up_to) - sum_to)
    above = float(total - sum_to) - value * (size - up_to)
    return q * above + (1.0 - q) * (value * up_to - float(sum_to))


@kernel(inline="always", _nrt=False)
def _settle(bits, at, sum_to, up_to, needed, u, weight, unit):
    """Move to the quantile of a set from a place near by, of which the sums up to there are right."""
    while up_to < needed:
        at = _above(bits, at)
        up_to += 1.0 if unit else weight[at]
        sum_to += u[at]
    if at < 0 or not (bits[0, at >> 6] >> np.uint64(at & 63)) & ONE:
        at = _below(bits, at)
    while up_to - (1.0 if unit else weight[at]) >= needed:
        up_to -= 1.0 if unit else weight[at]
        sum_to -= u[at]
        at = _below(bits, at)
    return at, sum_to, up_to


@kernel(_nrt=False)
def all_rows(u, value, weight, unit, q, steps, start_sums, start_sizes):
    """Find the quantile of all rows of a node: Σ u, the same up to there and its row; Σ w, the same up to there; the loss."""
    total, size = np.int64(0), 0.0
    for i in range(len(u)):
        total += u[i]
        size += weight[i]
    at, sum_to, up_to = np.int64(-1), np.int64(0), 0.0
    while up_to < q * size:
        at += 1
        up_to += 1.0 if unit else weight[at]
        sum_to += u[at]
    start_sums[0], start_sums[1], start_sums[2] = total, sum_to, at
    start_sizes[0], start_sizes[1] = size, up_to
    start_sizes[2] = two_sided(total, size, sum_to, up_to, value[at], q, steps)


@kernel(_nrt=False)
def _peel(entries, end, forward, fill, stay, start_sums, start_sizes, u, value, weight, unit, q, steps, id_bits, bits, losses):
    """Take the values of a sorted column out of a node one by one, and write the loss of what is left at each boundary.

    Rows of missing value, from `end` on, stay in, or leave with the value `fill` (−1: before all others).
    The loss of those that stay alone stands at `end`.
    """
    ids, missing = (np.int64(1) << id_bits) - 1, len(entries) > end
    total, sum_to, at, size, up_to = start_sums[0], start_sums[1], start_sums[2], start_sizes[0], start_sizes[1]
    _fill(bits, len(u))
    i, code = 0 if forward else end, np.int64(-1)
    while True:
        first, last = i, i
        if code >= 0:
            if forward:
                while last < end and entries[last] >> id_bits == code:
                    last += 1
                i = last
            else:
                while first > 0 and entries[first - 1] >> id_bits == code:
                    first -= 1
                i = first
        for again in range(2 if missing and not stay and code == fill else 1):
            low, high = (end, len(entries)) if again else (first, last)
            for k in range(low, high):
                row = entries[np.uint64(k)] & ids
                _drop(bits, row)
                own, one = u[np.uint64(row)], 1.0 if unit else weight[np.uint64(row)]
                total -= own
                size -= one
                if row <= at:
                    sum_to -= own
                    up_to -= one
        done = i >= end if forward else i <= 0
        if done and not (forward and stay):
            break
        at, sum_to, up_to = _settle(bits, at, sum_to, up_to, q * size, u, weight, unit)
        losses[i] = two_sided(total, size, sum_to, up_to, value[at], q, steps)
        if done:
            break
        code = entries[i if forward else i - 1] >> id_bits


@kernel(_nrt=False)
def _take(found, left, right, n_left, n_right, needed, code, after, side):
    """Keep a test of two branches if it is admissible and leaves less loss than the best so far."""
    if n_left >= needed and n_right >= needed and n_left > 0.0 and n_right > 0.0:
        value = -(left + right)
        if value > found[VALUE]:
            found[VALUE], found[CODE], found[NEXT], found[SIDE] = value, code, after, side


@kernel(_nrt=False)
def _cuts(entries, end, fill, either, start_sums, start_sizes, u, value, weight, unit, q, steps, id_bits, needed, bits, losses,
          found):  # fmt: skip
    """The best cut of entries by code; rows of missing value behind `end` are tried in either branch, or go with `fill`."""
    ids, joins, lost, n_left, i = (np.int64(1) << id_bits) - 1, either and end < len(entries), 0.0, 0.0, 0
    for k in range(2 if joins else 1):
        stay = joins and k == 1
        for forward in range(2):
            _peel(entries, end, forward == 1, fill, stay, start_sums, start_sizes, u, value, weight, unit, q, steps, id_bits,
                  bits, losses[2 * forward + k])  # fmt: skip
    for k in range(end, len(entries)):
        lost += weight[entries[k] & ids]
    found[INFORMATION] = -losses[3 if joins else 2, 0]
    size = start_sizes[0] - (0.0 if fill >= 0 else lost)
    while True:
        code = entries[i] >> id_bits
        while i < end and entries[i] >> id_bits == code:
            n_left += weight[entries[i] & ids]
            i += 1
        if i == end:
            if joins:  # known values from missing ones
                _take(found, losses[0, i], losses[3, i], n_left, lost, needed, code, entries[i] >> id_bits, 1.0)
            return
        own, after = n_left + (lost if code >= fill >= 0 else 0.0), entries[i] >> id_bits
        if joins:
            _take(found, losses[1, i], losses[2, i], own + lost, size - own, needed, code, after, 0.0)
            _take(found, losses[0, i], losses[3, i], own, size - own + lost, needed, code, after, 1.0)
        else:
            _take(found, losses[0, i], losses[2, i], own, size - own, needed, code, after, 0.0)


@kernel(inline="always", _nrt=False)
def _step(held, row, at, sum_to, up_to, wanted, u, many):
    """Take a row of weight one out of a set, and move to its quantile, which is the row `wanted`-th in order: a step at most.

    Written without branches but for bits that stand in other words: which way it goes is as good as drawn.
    """
    before, gone = row <= at, row == at
    up_to -= np.int64(before)
    sum_to -= u[np.uint64(row)] * np.int64(before)
    word = np.uint64(row) >> np.uint64(6)
    left = held[0, word] & ~(ONE << np.uint64(row & 63))
    held[0, word] = left
    if many and left == 0:
        held[1, word >> np.uint64(6)] &= ~(ONE << (word & np.uint64(63)))
    up, down = up_to < wanted, up_to > wanted
    place, own = np.uint64(at & 63), held[0, np.uint64(at) >> np.uint64(6)]
    higher, lower = own & (EVERY << place) & ~(ONE << place), own & ((ONE << place) - ONE)
    above = (at & ~63) + np.int64(trailing_zeros(higher | (ONE << np.uint64(63))))
    below = (at & ~63) + 63 - np.int64(leading_zeros(lower | ONE))
    if many and ((up and higher == 0) or ((down or gone) and not up and lower == 0)):
        above = _above(held, at) if up else above
        below = below if up else _below(held, at)
    sum_to -= u[np.uint64(at)] * np.int64(down)
    up_to += np.int64(up) - np.int64(down)
    at = above if up else below if down or gone else at
    sum_to += u[np.uint64(at)] * np.int64(up)
    return at, sum_to, up_to


@kernel(_nrt=False)
def _best_of_units(entries, start_sums, start_sizes, u, q, id_bits, needed, held, losses, found):
    """The best cut of a column without missing values, of rows of weight one."""
    ids, n, many = (np.int64(1) << id_bits) - 1, len(entries), len(entries) > 64
    least = max(np.int64(np.ceil(needed)), 1)
    rest, kept = 1.0 - q, losses[0]
    total, sum_to, at, up_to = start_sums[0], start_sums[1], start_sums[2], np.int64(start_sizes[1])
    _fill(held, n)
    for i in range(n - 1, least - 1, -1):
        row = entries[np.uint64(i)] & ids
        total -= u[np.uint64(row)]
        at, sum_to, up_to = _step(held, row, at, sum_to, up_to, np.int64(np.ceil(q * float(i))), u, many)
        value = u[np.uint64(at)]
        kept[np.uint64(i)] = q * float((total - sum_to) - value * (i - up_to)) + rest * float(value * up_to - sum_to)
    total, sum_to, at, up_to = start_sums[0], start_sums[1], start_sums[2], np.int64(start_sizes[1])
    _fill(held, n)
    best, found_at = np.inf, 0
    for i in range(1, n - least + 1):
        entry = entries[np.uint64(i - 1)]
        row, size = entry & ids, n - i
        total -= u[np.uint64(row)]
        at, sum_to, up_to = _step(held, row, at, sum_to, up_to, np.int64(np.ceil(q * float(size))), u, many)
        value = u[np.uint64(at)]
        loss = q * float((total - sum_to) - value * (size - up_to)) + rest * float(value * up_to - sum_to)
        if i >= least and kept[np.uint64(i)] + loss < best and entry >> id_bits != entries[np.uint64(i)] >> id_bits:
            best, found_at = kept[np.uint64(i)] + loss, i
    found[INFORMATION] = -start_sizes[2]
    if found_at > 0:
        found[VALUE], found[CODE], found[NEXT] = -best, entries[found_at - 1] >> id_bits, entries[found_at] >> id_bits


@kernel(_nrt=False)
def best_cut_by_loss(entries, start_sums, start_sizes, u, value, weight, missing, rules, q, needed, steps, bits, losses, found):
    """Write the best cut of a sorted column into `found`, as `number_cuts.best_cut` does."""
    shift, end, size, fill = rules.id_bits, len(entries), start_sizes[0], np.int64(-1)
    clear(found)
    while end > 0 and entries[end - 1] >> shift == missing:
        end -= 1
        found[ABSENT] += weight[entries[end] & ((np.int64(1) << shift) - 1)]
    if end == 0 or (entries[0] >> shift == entries[end - 1] >> shift and not (rules.missing == BRANCH and end < len(entries))):
        found[CUTS] = NOTHING
        return
    if rules.missing == NODE_MODE:
        ids = (np.int64(1) << shift) - 1
        fill = entries[(end - 1) // 2] >> shift
        if not rules.unit:
            fill = median_code(entries, end, weight, shift, ids, size - found[ABSENT])
    if rules.unit and steps == 0.0 and end == len(entries):
        _best_of_units(entries, start_sums, start_sizes, u, q, shift, needed, bits, losses, found)
    else:
        _cuts(entries, end, fill, rules.missing == BRANCH, start_sums, start_sizes, u, value, weight, rules.unit, q, steps,
              shift, needed, bits, losses, found)  # fmt: skip
    if rules.missing == NODE_MODE:
        found[SIDE] = 0.0 if fill <= found[CODE] else 1.0
    elif rules.missing == SURROGATE:
        found[SIDE] = BY_SURROGATES


@kernel(_nrt=False)
def _line_up(codes, rows, levels, fill, place, at, line, id_bits):
    """Rows by the place of their level, then in order of the target: entries place | row; at[k]: where place k ends."""
    for k in range(len(at)):
        at[k] = 0
    for again in range(2):
        for i in range(len(rows)):
            level = np.int64(codes[np.uint64(rows[i])])
            own = place[level if level >= 0 else fill if fill >= 0 else levels]
            if again:
                line[at[own]] = (own << id_bits) | i
                at[own] += 1
            elif own + 1 < len(at):
                at[own + 1] += 1
        for k in range(1, 0 if again else len(at)):
            at[k] += at[k - 1]


@kernel(_nrt=False)
def _of_line(line, low, total, size, u, value, weight, ids, q, steps):
    """Quantile of rows from `low` on that weigh `size`, in order of the target, and their loss about it."""
    sum_to, up_to, row, k = np.int64(0), 0.0, np.int64(0), low
    while up_to < q * size:
        row = line[k] & ids
        sum_to += u[row]
        up_to += weight[row]
        k += 1
    return value[row], two_sided(total, size, sum_to, up_to, value[row], q, steps)


@kernel(_nrt=False)
def _without(line, parts, start_sums, start_sizes, u, value, weight, unit, q, steps, ids, bits):
    """Loss of a node's rows without those of one or two stretches of a line; `bits` holds all rows, before and afterwards."""
    total, sum_to, at, size, up_to = start_sums[0], start_sums[1], start_sums[2], start_sizes[0], start_sizes[1]
    for low, high in parts:
        for k in range(low, high):
            row = line[k] & ids
            _drop(bits, row)
            total -= u[row]
            size -= weight[row]
            if row <= at:
                sum_to -= u[row]
                up_to -= weight[row]
    loss = 0.0
    if size > 0.0:
        at, sum_to, up_to = _settle(bits, at, sum_to, up_to, q * size, u, weight, unit)
        loss = two_sided(total, size, sum_to, up_to, value[at], q, steps)
    for low, high in parts:
        for k in range(low, high):
            _put(bits, line[k] & ids)
    return loss


@kernel(_nrt=False)
def _both(line, parts, total, size, u, value, weight, ids, q, steps):
    """Loss of the rows of two stretches together, each in order of the target."""
    (i, end), (j, last) = parts
    sum_to, up_to, row = np.int64(0), 0.0, np.int64(0)
    while up_to < q * size:
        if j == last or (i < end and line[i] & ids < line[j] & ids):
            row = line[i] & ids
            i += 1
        else:
            row = line[j] & ids
            j += 1
        sum_to += u[row]
        up_to += weight[row]
    return two_sided(total, size, sum_to, up_to, value[row], q, steps)


@kernel(_nrt=False)
def _one_level(line, ends, seen, present, lost, sums, sizes, start_sums, start_sizes, u, value, weight, rules, q, needed, steps,
               bits, found):  # fmt: skip
    """The best level against the others; missing values, which stand last, in either branch or in none (lost: their level)."""
    ids, unit, joins = (np.int64(1) << rules.id_bits) - 1, rules.unit, rules.missing == BRANCH and lost >= 0
    last, all_ = ends[len(ends) - 1], start_sizes[0]
    gap, absent = (ends[present - 1], last) if lost >= 0 else (last, last), sizes[lost] if lost >= 0 else 0.0
    nothing = (last, last)
    _fill(bits, len(u))
    known = _without(line, (gap, nothing), start_sums, start_sizes, u, value, weight, unit, q, steps, ids, bits)
    found[INFORMATION] = -start_sizes[2] if joins else -known
    for k in range(present):
        own, level = (ends[k - 1] if k > 0 else 0, ends[k]), seen[k]
        size = sizes[level]
        one = _both(line, (own, nothing), sums[level], size, u, value, weight, ids, q, steps)
        rest = _without(line, (own, gap), start_sums, start_sizes, u, value, weight, unit, q, steps, ids, bits)
        if not joins:
            _take(found, one, rest, size, all_ - absent - size, needed, level, 0, 0.0)
            continue
        two = _both(line, (own, gap), sums[level] + sums[lost], size + absent, u, value, weight, ids, q, steps)
        most = _without(line, (own, nothing), start_sums, start_sizes, u, value, weight, unit, q, steps, ids, bits)
        _take(found, two, rest, size + absent, all_ - absent - size, needed, level, 0, 0.0)
        _take(found, one, most, size, all_ - size, needed, level, 0, 1.0)


@kernel(_nrt=False)
def best_levels_by_loss(codes, rows, start_sums, start_sizes, u, value, weight, levels, rules, q, needed, steps, sums, sizes,
                        keys, seen, names, place, ends, inside, line, bits, losses, found):  # fmt: skip
    """Write the best test of a nominal feature into `found`, and the levels of its first branch into `inside`.

    Sets of levels are the prefixes of the levels in the order of their quantiles: not always the best of all sets.
    """
    clear(found)
    present = count(codes, rows, u, weight, levels, sums, sizes, seen)
    found[ABSENT], fill = sizes[levels], np.int64(-1)
    missing = sizes[levels] > 0.0
    joins = rules.missing == BRANCH and missing
    pieces = present + joins
    if present == 0 or pieces < 2:
        found[CUTS] = NOTHING
        return
    if rules.nominal == EQUALITY:
        pieces = present
    if rules.missing == NODE_MODE:
        fill = mode_level(sizes, seen[:present])
        sums[fill] += sums[levels]
        sizes[fill] += sizes[levels]
    lost = np.int64(levels) if missing and fill < 0 else np.int64(-1)
    if lost >= 0:
        seen[present] = levels
    stretches, ids = present + (lost >= 0), (np.int64(1) << rules.id_bits) - 1
    for k in range(stretches):
        place[seen[k]] = k
    _line_up(codes, rows, levels, fill, place, ends[:stretches], line, rules.id_bits)
    if rules.nominal == EQUALITY:
        _one_level(line, ends[:stretches], seen, present, lost, sums, sizes, start_sums, start_sizes, u, value, weight, rules,
                   q, needed, steps, bits, found)  # fmt: skip
    else:
        large, worth = 0, 0.0
        for k in range(pieces):
            level, low = seen[k], ends[k - 1] if k > 0 else 0
            key, loss = _of_line(line, low, sums[level], sizes[level], u, value, weight, ids, q, steps)
            names[k], keys[level] = level, key
            large += sizes[level] >= needed
            worth -= loss
        if rules.nominal == MULTIWAY:
            found[INFORMATION] = -start_sizes[2]
            if large >= 2:
                found[CODE], found[VALUE] = 0.0, worth
        else:
            by_key(names[:pieces], keys)
            for k in range(pieces):
                place[names[k]] = k
            _line_up(codes, rows, levels, fill, place, ends[:stretches], line, rules.id_bits)
            end = ends[pieces - 1]
            _cuts(line[: len(rows)], end, np.int64(-1), False, start_sums, start_sizes, u, value, weight, rules.unit, q, steps,
                  rules.id_bits, needed, bits, losses, found)  # fmt: skip
            first_branch(names[:pieces], seen[:pieces], levels, found, inside)
            found[NEXT] = 0.0
    found[SIDE] = side_of(rules, fill, inside, found, levels)
