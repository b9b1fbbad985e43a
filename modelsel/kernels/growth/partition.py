"""The rows of a node parted among its children: who goes where, and every sorted column in order into the children's stretches.

A row's number in its child and the child itself are one word, number << bits | child. Children that stay leaves need no place:
as one child more they are written behind all others, where nobody reads. A divided row has a number in every open child.
"""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.layout import CLASS_MODE, END, EQUALITY, MULTIWAY, START


@kernel(_nrt=False)
def by_threshold(entries, code, missing, rules, fill, to, branch):
    """Branch of each row of a node; rows of missing value go to `to` (−1: none), or where the value of their class goes."""
    shift, ids, mask = rules.id_bits + rules.class_bits, (1 << rules.id_bits) - 1, (1 << rules.class_bits) - 1
    for i in range(len(entries)):
        entry = entries[i]
        value = entry >> shift
        own = np.int64(value > code)
        if value == missing:
            own = to
            if rules.missing == CLASS_MODE:
                own = np.int64(fill[(entry >> rules.id_bits) & mask] > code)
        branch[np.uint64(entry & ids)] = own


@kernel(_nrt=False)
def by_level(codes, rows, y, test, code, rules, fill, inside, to, branch):
    """The same by the level of a nominal feature."""
    for i in range(len(rows)):
        level = np.int64(codes[np.uint64(rows[i])])
        if level < 0:
            if rules.missing != CLASS_MODE:
                branch[i] = to
                continue
            level = fill[y[i]]
        if test == MULTIWAY:
            branch[i] = level
        elif test == EQUALITY:
            branch[i] = 0 if level == code else 1
        else:
            branch[i] = 0 if inside[level] else 1


@kernel(_nrt=False)
def child_counts(branch, y, weight, first, branches, counts, shares):
    """Class weights of the children, divided rows in proportion to the known ones; returns how many rows are divided."""
    divided, total = 0, 0.0
    for i in range(len(branch)):
        if branch[i] >= 0:
            counts[np.uint64(first + branch[i]), np.uint64(y[i])] += weight[i]
        else:
            divided += 1
    for b in range(branches):
        shares[b] = 0.0
        for c in range(counts.shape[1]):
            shares[b] += counts[first + b, c]
        total += shares[b]
    for b in range(branches):
        shares[b] /= total
    for i in range(len(branch) if divided > 0 else 0):
        if branch[i] < 0:
            for b in range(branches):
                counts[first + b, y[i]] += weight[i] * shares[b]
    return divided


@kernel(_nrt=False)
def place(branch, rows, weight, nodes, first, branches, child, opened, shares, start, bits, at, begin, to, parts, spare_rows,
          spare_weight):  # fmt: skip
    """Stretches of the open children above `start`, the first child's last, and each row's word.

    child: of each branch its place among the open ones, `opened` where it stays a leaf. The m-th divided row has −1 − m instead
    of a word, and parts[m] its number in each open child. begin: where their stretches begin, counted from `start`, and last
    the end. at: room for a number per branch. Returns the end of the stretches.
    """
    divided, end, m = np.int64(0), start, np.int64(0)
    for b in range(branches):
        at[b] = 0
    for i in range(len(branch)):
        if branch[i] >= 0:
            at[branch[i]] += 1
        else:
            divided += 1
    for b in range(branches - 1, -1, -1):
        nodes[first + b, START] = nodes[first + b, END] = end
        if child[b] < opened:
            begin[child[b]] = end - start
            end += at[b] + divided
            nodes[first + b, END] = end
    begin[opened] = end - start
    for j in range(opened + 1):
        at[j] = 0
    for i in range(len(branch)):
        b = branch[i]
        if b >= 0:
            j = child[b]
            to[i] = (at[j] << bits) | j
            if j < opened:
                k = begin[j] + at[j]
                spare_rows[k], spare_weight[k] = rows[i], weight[i]
                at[j] += 1
            continue
        to[i] = -1 - m
        for b in range(branches):
            j = child[b]
            if j < opened:
                parts[m, j] = at[j]
                k = begin[j] + at[j]
                spare_rows[k], spare_weight[k] = rows[i], weight[i] * shares[b]
                at[j] += 1
        m += 1
    return end


@kernel(_nrt=False)
def _move(entries, to, at, bits, id_bits, spare):
    """One sorted column, in order, where no row is divided; `at` has the next place of each child."""
    ids, own = (1 << id_bits) - 1, (1 << bits) - 1
    for i in range(len(entries)):
        entry = entries[i]
        word = to[np.uint64(entry & ids)]
        j = np.uint64(word & own)
        k = at[j]
        spare[np.uint64(k)] = (entry & ~ids) | (word >> bits)
        at[j] = k + 1


@kernel(_nrt=False)
def _move_divided(entries, to, opened, parts, at, bits, id_bits, spare):
    """The same where rows may be divided."""
    ids, own = (1 << id_bits) - 1, (1 << bits) - 1
    for i in range(len(entries)):
        entry = entries[i]
        word, rest = to[np.uint64(entry & ids)], entry & ~ids
        if word >= 0:
            j = np.uint64(word & own)
            k = at[j]
            spare[np.uint64(k)] = rest | (word >> bits)
            at[j] = k + 1
            continue
        numbers = parts[np.uint64(-1 - word)]
        for m in range(opened):
            j = np.uint64(m)
            k = at[j]
            spare[np.uint64(k)] = rest | numbers[j]
            at[j] = k + 1


@kernel(_nrt=False)
def _move_apart(entries, to, begin, id_bits, spare):
    """The same for two children that both stay open, without a branch in the loop: a row's word is number · 2 + child."""
    ids = (1 << id_bits) - 1
    left, right = begin, np.int64(0)  # the second child's stretch comes first
    for i in range(len(entries)):
        entry = entries[i]
        word = to[np.uint64(entry & ids)]
        side = word & 1
        spare[np.uint64(right if side else left)] = (entry & ~ids) | (word >> 1)
        right += side
        left += 1 - side


@kernel(_nrt=False)
def move(order, slot, below, to, parts, branches, opened, start, end, id_bits, bits, begin, at, spare):
    """The sorted columns that are of use below; `spare` has room for all rows behind the last stretch."""
    divided, last = len(parts) > 0, start + begin[opened]
    for g in range(len(slot)):
        if slot[g] < 0 or not below[g]:
            continue
        column = order[slot[g]]
        if not divided and branches == 2 and opened == 2:
            _move_apart(column[start:end], to, begin[0], id_bits, spare)
        else:
            for j in range(opened + 1):
                at[j] = begin[j]
            if divided:
                _move_divided(column[start:end], to, opened, parts, at, bits, id_bits, spare)
            else:
                _move(column[start:end], to, at, bits, id_bits, spare)
        for i in range(last - start):
            column[np.uint64(start + i)] = spare[np.uint64(i)]
