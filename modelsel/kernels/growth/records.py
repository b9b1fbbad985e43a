"""The parts that general growers share: records of tests, room for them, and the rows of a node parted among its children."""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.layout import AGREED, CLASS_MODE, CODE, END, EQUALITY, FLIPPED, MULTIWAY, NEXT, START, SURROGATES, WHOLE
from modelsel.kernels.splits.split_competition import longer

# Arrays that are replaced by longer ones (loops copy them: the assignment of a slice takes seconds to compile).


@kernel()
def wider(array, size):
    """The same array with room for `size` columns."""
    if size <= array.shape[1]:
        return array
    longer = np.empty((array.shape[0], max(size, 2 * array.shape[1])), array.dtype)
    for i in range(array.shape[0]):
        for k in range(array.shape[1]):
            longer[i, k] = array[i, k]
    return longer


@kernel()
def roomier(array, size):
    """An array with room for `size`; what it held is lost."""
    return array if size <= len(array) else np.empty(2 * size, array.dtype)


@kernel()
def extend(array, more, start, end):
    """The array with `more` in its places from `start` to `end`, and room for them."""
    longer = array
    if end > len(array):
        longer = np.empty(2 * end, array.dtype)
        for i in range(start):
            longer[i] = array[i]
    for i in range(end - start):
        longer[start + i] = more[i]
    return longer


# Records that `grow` makes of a test's surrogates and of a set of levels, and the routes of rows that surrogates send.


@kernel(_nrt=False)
def send_by_mimics(branch, rows, ranked, found, codes, nominal, level_side):
    """Rows of missing value go where the first surrogate that is known sends them, or to the larger side."""
    for i in range(len(branch)):
        if branch[i] >= 0:
            continue
        branch[i] = ranked[SURROGATES]
        for g in ranked[:SURROGATES]:
            code = codes[g, rows[i]] if g >= 0 else -1
            side = -1
            if code >= 0:
                side = level_side[g, code] if nominal[g] else int((code <= found[g, CODE]) == (found[g, FLIPPED] == 1.0))
            if side >= 0:
                branch[i] = side
                break


@kernel()
def write_mimics(node, ranked, found, nominal, levels, level_side, mimics, agreement, sides, mimicked, sided):
    """Surrogates of a node, best first; returns the records with room for them, and how many there are."""
    mimics, agreement = longer(mimics, mimicked + SURROGATES), longer(agreement, mimicked + SURROGATES)
    for g in ranked[:SURROGATES]:
        if g < 0:
            break
        mimics[mimicked, 0], mimics[mimicked, 1], mimics[mimicked, 5] = node, g, -1
        agreement[mimicked, 0] = found[g, AGREED] / found[g, WHOLE]
        if nominal[g]:
            sides = longer(sides, sided + levels[g])
            for level in range(levels[g]):
                sides[sided + level, 0] = level_side[g, level]
            mimics[mimicked, 5] = sided
            sided += levels[g]
        else:
            mimics[mimicked, 2], mimics[mimicked, 3] = int(found[g, CODE]), int(found[g, NEXT])
            mimics[mimicked, 4] = int(found[g, FLIPPED])
        mimicked += 1
    return mimics, agreement, sides, mimicked, sided


@kernel()
def write_marks(codes, rows, levels, inside, absent, marks, marked):
    """Write the levels that the first branch takes: those of `inside` that occur, and all others if `absent`."""
    marks = longer(marks, marked + levels)
    for level in range(levels):
        marks[marked + level, 0] = absent
    for i in range(len(rows)):
        if codes[rows[i]] >= 0:
            marks[marked + codes[rows[i]], 0] = inside[codes[rows[i]]]
    return marks


@kernel(_nrt=False)
def largest(counts, first, branches):
    """Return the branch with the most weight; ties: the first."""
    best, most = 0, -1.0
    for b in range(branches):
        own = 0.0
        for c in range(counts.shape[1]):
            own += counts[first + b, c]
        if own > most + 1e-9:
            best, most = b, own
    return best


# The rows of a node parted among its children: who goes where, and every sorted column in order into the children's stretches.
#
# A row's number in its child and the child itself are one word, number << bits | child. Children that stay leaves need no
# place: as one child more they are written behind all others, where nobody reads. A divided row has a number in every open
# child.


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
