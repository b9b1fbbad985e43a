"""Grow a whole tree, depth first and without recursion, from columns that were sorted once.

A node owns a stretch of every sorted column (entries code | class | number in the node) and of the list of its rows. A
split copies each column, in order, into one stretch per child (a stable partition), so nothing is sorted while growing; a
row whose value is missing may be copied into several children with part of its weight. Children that cannot be split
further are leaves at once and get no stretch. Features that are constant at a node are left out below it.
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.contest import contest, longer, splittable
from modelsel.kernels.layout import (
    ABSENT,
    AGREED,
    BRANCH,
    BRANCHES,
    BY_SURROGATES,
    CLASS_MODE,
    CODE,
    CUTS,
    DEPTH,
    END,
    EQUALITY,
    FEATURE,
    FIRST,
    FLIPPED,
    FRACTIONAL,
    GENERAL,
    LEFT,
    LEVELS,
    MIMIC,
    MISSING_TO,
    MULTIWAY,
    NEXT,
    PARENT,
    RECORD,
    RIGHT,
    SIDE,
    START,
    SUBSET,
    SURROGATE,
    SURROGATES,
    TEST,
    THRESHOLD,
    WHOLE,
    Rules,
)


@kernel()
def _wider(array, size):
    if size <= array.shape[1]:
        return array
    wider = np.empty((array.shape[0], max(size, 2 * array.shape[1])), array.dtype)
    wider[:, : array.shape[1]] = array
    return wider


@kernel(_nrt=False)
def _by_threshold(entries, code, missing, rules, fill, branch):
    """Branch of each row of a node; −1 where the value is missing and nothing stands in for it."""
    shift, ids, mask = rules.id_bits + rules.class_bits, (1 << rules.id_bits) - 1, (1 << rules.class_bits) - 1
    for i in range(len(entries)):
        entry = entries[i]
        value = entry >> shift
        if value == missing:
            if rules.missing >= FRACTIONAL:
                branch[entry & ids] = -1
                continue
            value = fill[(entry >> rules.id_bits) & mask]
        branch[entry & ids] = 0 if value <= code else 1


@kernel(_nrt=False)
def _by_level(codes, rows, y, test, code, rules, fill, inside, branch):
    for i in range(len(rows)):
        level = codes[rows[i]]
        if level < 0:
            if rules.missing >= FRACTIONAL:
                branch[i] = -1
                continue
            level = fill[y[rows[i]]]
        if test == MULTIWAY:
            branch[i] = level
        elif test == EQUALITY:
            branch[i] = 0 if level == code else 1
        else:
            branch[i] = 0 if inside[level] else 1


@kernel(_nrt=False)
def _send_missing(branch, to):
    """Rows of missing value join one branch."""
    for i in range(len(branch)):
        if branch[i] < 0:
            branch[i] = to


@kernel()
def _child_counts(branch, rows, y, weight, first, branches, counts):
    """Class weights of the children, divided rows in proportion to the known ones."""
    for i in range(len(branch)):
        if branch[i] >= 0:
            counts[first + branch[i], y[rows[i]]] += weight[i]
    shares = np.empty(branches)
    for b in range(branches):
        shares[b] = counts[first + b].sum()
    shares /= shares.sum()
    for i in range(len(branch)):
        if branch[i] < 0:
            for b in range(branches):
                counts[first + b, y[rows[i]]] += weight[i] * shares[b]
    return shares


@kernel()
def _largest(counts, first, branches):
    best = 0
    for b in range(branches):
        if counts[first + b].sum() > counts[first + best].sum() + 1e-9:
            best = b
    return best


@kernel(_nrt=False)
def _send_by_mimics(branch, rows, ranked, found, codes, nominal, level_side, fallback):
    """Rows of missing value go where the first surrogate that is known sends them, or to the larger side."""
    for i in range(len(branch)):
        if branch[i] >= 0:
            continue
        branch[i] = fallback
        for g in ranked:
            code = codes[g, rows[i]] if g >= 0 else -1
            side = -1
            if code >= 0:
                side = level_side[g, code] if nominal[g] else int((code <= found[g, CODE]) == (found[g, FLIPPED] == 1.0))
            if side >= 0:
                branch[i] = side
                break


@kernel()
def _place(branch, rows, weight, nodes, first, branches, open_, shares, start, to, parts, spare_rows, spare_weight):
    """Stretches of the open children above `start`, the first child's last, and each row's number in its child.

    `to` is that number (−1 where the row needs no place); for the m-th divided row it is −2 − m, and parts[m] has a number
    per branch. Returns the end of the stretches.
    """
    sizes = np.zeros(branches, np.int64)
    divided = 0
    for i in range(len(branch)):
        if branch[i] >= 0:
            sizes[branch[i]] += 1
        else:
            divided += 1
    end = start
    for b in range(branches - 1, -1, -1):
        nodes[first + b, START] = nodes[first + b, END] = end
        if open_[b]:
            end += sizes[b] + (divided if shares[b] > 0 else 0)
            nodes[first + b, END] = end
    fill = np.zeros(branches, np.int64)
    m = 0
    for i in range(len(branch)):
        b = branch[i]
        if b >= 0:
            to[i] = -1
            if open_[b]:
                to[i] = fill[b]
                at = nodes[first + b, START] - start + fill[b]
                spare_rows[at], spare_weight[at] = rows[i], weight[i]
                fill[b] += 1
            continue
        to[i] = -2 - m
        for k in range(branches):
            parts[m, k] = -1
            if open_[k] and shares[k] > 0:
                parts[m, k] = fill[k]
                at = nodes[first + k, START] - start + fill[k]
                spare_rows[at], spare_weight[at] = rows[i], weight[i] * shares[k]
                fill[k] += 1
        m += 1
    return end


@kernel(_nrt=False)
def _move(entries, branch, to, parts, nodes, first, branches, start, id_bits, at, spare):
    """One sorted column, in order, into the stretches of the children."""
    ids = (1 << id_bits) - 1
    for b in range(branches):
        at[b] = nodes[first + b, START] - start
    for i in range(len(entries)):
        entry = entries[i]
        number = to[entry & ids]
        if number >= 0:
            b = branch[entry & ids]
            spare[at[b]] = (entry & ~ids) | number
            at[b] += 1
        elif number <= -2:
            for b in range(branches):
                part = parts[-2 - number, b]
                if part >= 0:
                    spare[at[b]] = (entry & ~ids) | part
                    at[b] += 1


@kernel(_nrt=False)
def _move_apart(entries, to, begin, id_bits, spare):
    """The same for two children that both stay open, without a branch in the loop: `to` is number · 2 + child."""
    ids = (1 << id_bits) - 1
    left, right = begin, np.int64(0)  # the second child's stretch comes first
    for i in range(len(entries)):
        entry = entries[i]
        place = to[np.uint64(entry & ids)]
        side = place & 1
        spare[np.uint64(right if side else left)] = (entry & ~ids) | (place >> 1)
        right += side
        left += 1 - side


@kernel(_nrt=False)
def _move_all(order, slot, below, branch, to, parts, nodes, first, branches, start, end, last, id_bits, apart, at, spare):
    """The sorted columns that are of use below."""
    if apart:
        for i in range(end - start):
            to[i] = 2 * to[i] + branch[i]
    for g in range(len(slot)):
        if slot[g] >= 0 and below[g]:
            if apart:
                _move_apart(order[slot[g], start:end], to, nodes[first, START] - start, id_bits, spare)
            else:
                _move(order[slot[g], start:end], branch, to, parts, nodes, first, branches, start, id_bits, at, spare)
            column = order[slot[g]]
            for i in range(last - start):
                column[np.uint64(start + i)] = spare[np.uint64(i)]


@kernel(_nrt=False)
def _classes(rows, y, own):
    """Classes of the node's rows, one after the other."""
    for i in range(len(rows)):
        own[i] = y[rows[i]]


@kernel(_nrt=False)
def _ones(weight):
    """Do all rows weigh one."""
    for i in range(len(weight)):
        if weight[i] != 1.0:
            return 0
    return 1


@kernel(_nrt=False)
def _with(rules, fused, unit):
    """The rules at a node whose rows weigh one, or not."""
    return Rules(
        rules.missing, rules.nominal, fused, rules.formula, rules.boundary, rules.convex, rules.ratio, rules.average,
        rules.penalty, unit, rules.cautious, rules.max_depth, rules.id_bits, rules.class_bits,
    )  # fmt: skip


@kernel(_nrt=False)
def _search(order, slot, codes, mine, start, end, y, weight, own, levels, rules, limits, units, goodness, table, work, sides,
            seen, fill, inside, here, below, best_cut, best_level, found):  # fmt: skip
    """The best test of each feature offered here; those that are constant are not offered below."""
    for f in range(len(slot)):
        below[f] = 0
        if here[f]:
            if slot[f] < 0:
                best_level(codes[f], mine, y, weight, own, levels[f], rules, limits, units, goodness, table, work, seen, fill,
                           inside, found[f])  # fmt: skip
            else:
                best_cut(order[slot[f], start:end], weight, own, levels[f], rules, limits, units, goodness, work, sides, fill,
                         found[f])  # fmt: skip
            below[f] = found[f, CUTS] >= 0


@kernel(
    types.grown(
        types.entries,
        types.codes,
        types.reals,
        types.reals,
        types.fixed_wholes,
        types.fixed_columns,
        types.fixed_wholes,
        types.fixed_codes,
        types.fixed_reals,
        types.fixed_wholes,
        types.rules,
        types.limits,
        types.goodness,
        types.worth,
        types.threshold_search,
        types.level_search,
        types.mimics,
        types.flags,
    )
)
def grow(
    order, rows, weight, root, slot, codes, levels, y, cost, units, rules, limits, goodness, worth, best_cut, best_level,
    mimic, stop,
):  # fmt: skip
    """Node records, goodness, class weights and marks of levels; no records when it was stopped.

    order: sorted entries per threshold feature; rows, weight: of the root; root: its class weights; slot: row of `order`
    per feature, −1 where nominal; codes: features × data rows, −1 where missing; levels: codes per feature (a missing
    entry's code); y: class per data row; units: n·log2 n or n², as whole numbers.
    """
    features, classes, widest = len(slot), len(root), levels.max()
    nominal = slot < 0
    nodes, value, counts = np.zeros((64, RECORD), np.int64), np.zeros((64, 1)), np.zeros((64, classes))
    marks, marked = np.zeros((64, 1), np.uint8), 0
    offered = np.ones((8, features), np.uint8)  # per depth: which features are worth a search
    found = np.zeros((features, 8))
    work, sides = np.zeros((max(6, widest + 4), classes)), np.zeros((2, classes), np.int64)
    table, seen = np.zeros((widest + 2, classes + 1)), np.zeros(widest + 2, np.int64)
    fill, inside = np.zeros(classes + 1, np.int64), np.zeros(widest + 2, np.uint8)
    n = len(rows)
    mimics, agreement, mimicked = np.zeros((64, MIMIC), np.int64), np.zeros((64, 1)), 0
    level_sides, level_side = np.zeros((64, 1), np.int64), np.zeros((features, widest + 1), np.int64)
    sided, ranked = 0, np.zeros(SURROGATES + 1, np.int64)
    lean, pair, tally = np.zeros(n, np.int32), np.zeros(n, np.int64), np.zeros(widest + 2, np.int64)
    sizes, own_y = np.zeros(widest + 2, np.int64), np.zeros(n, np.int32)
    branch, to, parts = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros((1, 1), np.int64)
    spare, spare_rows, spare_weight = np.zeros(n, np.int64), np.zeros(n, np.int32), np.zeros(n)
    nodes[0, PARENT], nodes[0, END], counts[0] = -1, n, root
    stack, top, made = np.zeros((64, 1), np.int64), 1, 1
    if not splittable(root, 0, rules, limits):
        top = 0
    while top > 0:
        if stop[0]:
            made = 0
            break
        top -= 1
        node = stack[top, 0]
        start, end, depth = nodes[node, START], nodes[node, END], nodes[node, DEPTH]
        offered = longer(offered, depth + 2)
        here, below = offered[depth], offered[depth + 1]
        own, mine, own_weight = counts[node], rows[start:end], weight[start:end]
        if len(mine) > len(own_y):
            own_y = np.empty(2 * len(mine), np.int32)
        if rules.missing == FRACTIONAL:
            ones = _ones(own_weight)
            node_rules = _with(rules, rules.fused if ones else GENERAL, ones)
        else:
            node_rules = rules
        _classes(mine, y, own_y)
        _search(order, slot, codes, mine, start, end, own_y, own_weight, own, levels, node_rules, limits, units, goodness,
                table, work, sides, seen, fill, inside, here, below, best_cut, best_level, found)  # fmt: skip
        chosen, best = contest(found, here, cost, own.sum(), rules, limits, nominal, levels, worth)
        if chosen < 0:
            continue
        f, best_of = chosen, found[chosen]
        filled = rules.missing <= CLASS_MODE and best_of[ABSENT] > 0
        if nominal[f] and (filled or rules.nominal == SUBSET):  # once more, for `fill` and `inside`
            best_level(codes[f], mine, own_y, own_weight, own, levels[f], node_rules, limits, units, goodness, table, work,
                       seen, fill, inside, best_of)  # fmt: skip
        elif filled:
            best_cut(order[slot[f], start:end], own_weight, own, levels[f], node_rules, limits, units, goodness, work, sides,
                     fill, best_of)  # fmt: skip
        test = rules.nominal if nominal[f] else THRESHOLD
        branches = 2
        if test == MULTIWAY:
            branches = levels[f] + (rules.missing == BRANCH and best_of[ABSENT] > 0)
            below[f] = 0
        first = made
        made += branches
        nodes, value, counts = longer(nodes, made), longer(value, made), longer(counts, made)
        own = counts[node]
        chosen_branch = branch[: end - start]
        if test == THRESHOLD:
            _by_threshold(order[slot[f], start:end], int(best_of[CODE]), levels[f], rules, fill, chosen_branch)
        else:
            _by_level(codes[f], mine, y, test, int(best_of[CODE]), rules, fill, inside, chosen_branch)
        side = int(best_of[SIDE])
        if rules.missing == BRANCH and best_of[ABSENT] > 0:
            _send_missing(chosen_branch, side)
        if rules.missing == SURROGATE:
            mimic(order, slot, codes, levels, start, end, mine, own_weight, chosen_branch, f, below, rules, lean, pair, tally,
                  table, level_side, found, ranked)  # fmt: skip
            side = ranked[SURROGATES]
            mimics, agreement = longer(mimics, mimicked + SURROGATES), longer(agreement, mimicked + SURROGATES)
            for g in ranked[:SURROGATES]:
                if g < 0:
                    break
                mimics[mimicked, 0], mimics[mimicked, 1], mimics[mimicked, 5] = node, g, -1
                agreement[mimicked, 0] = found[g, AGREED] / found[g, WHOLE]
                if nominal[g]:
                    level_sides = longer(level_sides, sided + levels[g])
                    level_sides[sided : sided + levels[g], 0] = level_side[g, : levels[g]]
                    mimics[mimicked, 5] = sided
                    sided += levels[g]
                else:
                    mimics[mimicked, 2], mimics[mimicked, 3] = int(found[g, CODE]), int(found[g, NEXT])
                    mimics[mimicked, 4] = int(found[g, FLIPPED])
                mimicked += 1
            _send_by_mimics(chosen_branch, mine, ranked[:SURROGATES], found, codes, nominal, level_side, side)
            side = BY_SURROGATES - side
        shares = _child_counts(chosen_branch, mine, y, own_weight, first, branches, counts)
        if rules.missing == BRANCH and best_of[ABSENT] == 0:
            side = _largest(counts, first, branches)
        record = nodes[node]
        record[TEST], record[FEATURE], record[FIRST], record[BRANCHES], record[MISSING_TO] = test, f, first, branches, side
        record[LEFT], record[RIGHT], value[node, 0] = int(best_of[CODE]), int(best_of[NEXT]), best
        if test == SUBSET:
            marks = longer(marks, marked + levels[f])
            record[LEVELS] = marked
            absent_level = _largest(counts, first, branches) == 0
            for level in range(levels[f]):
                marks[marked + level, 0] = absent_level
            for i in range(len(mine)):
                if codes[f, mine[i]] >= 0:
                    marks[marked + codes[f, mine[i]], 0] = inside[codes[f, mine[i]]]
            marked += levels[f]
        open_ = np.zeros(branches, np.uint8)
        for b in range(branches):
            nodes[first + b, PARENT], nodes[first + b, DEPTH] = node, depth + 1
            open_[b] = splittable(counts[first + b], depth + 1, rules, limits)
        if not open_.any():
            continue
        divided = int((chosen_branch < 0).sum())
        room = (end - start) + divided * branches
        if divided > 0:
            parts = np.empty((divided, branches), np.int64)
        if room > len(spare):
            spare, spare_rows, spare_weight = np.empty(2 * room, np.int64), np.empty(2 * room, np.int32), np.empty(2 * room)
        last = _place(chosen_branch, mine, own_weight, nodes, first, branches, open_, shares, start, to, parts, spare_rows,
                      spare_weight)  # fmt: skip
        order = _wider(order, last)
        _move_all(order, slot, below, chosen_branch, to, parts, nodes, first, branches, start, end, last, rules.id_bits,
                  divided == 0 and branches == 2 and open_.all(), sizes, spare)  # fmt: skip
        if last > len(rows):
            more_rows, more_weight = np.empty(2 * last, np.int32), np.empty(2 * last)
            more_rows[: len(rows)], more_weight[: len(rows)] = rows, weight
            rows, weight = more_rows, more_weight
        rows[start:last], weight[start:last] = spare_rows[: last - start], spare_weight[: last - start]
        stack = longer(stack, top + branches)
        for b in range(branches - 1, -1, -1):
            if open_[b]:
                stack[top, 0] = first + b
                top += 1
    return (
        nodes[:made].copy(),
        value[:made, 0].copy(),
        counts[:made].copy(),
        marks[:marked, 0].copy(),
        mimics[:mimicked].copy(),
        agreement[:mimicked, 0].copy(),
        level_sides[:sided, 0].copy(),
    )
