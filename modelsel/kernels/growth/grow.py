"""Grow a whole tree, depth first and without recursion, from columns that were sorted once.

A node owns a stretch of every sorted column (entries code | class | number in the node) and of the list of its rows. A
split copies each column, in order, into one stretch per child (a stable partition), so nothing is sorted while growing; a
row whose value is missing may be copied into several children with part of its weight (`parting`). Children that cannot be
split further are leaves at once and get no stretch. Features that are constant at a node are left out below it.
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.growth.records import (
    by_level,
    by_threshold,
    child_counts,
    extend,
    largest,
    move,
    place,
    roomier,
    send_by_mimics,
    wider,
    write_marks,
    write_mimics,
)
from modelsel.kernels.growth.tally import field_of, words_of
from modelsel.kernels.layout import (
    ABSENT,
    BRANCH,
    BRANCHES,
    BY_SURROGATES,
    CLASS_MODE,
    CODE,
    CUTS,
    DEPTH,
    END,
    FEATURE,
    FIRST,
    FRACTIONAL,
    GENERAL,
    LEFT,
    LEVELS,
    MIMIC,
    MISSING_TO,
    MULTIWAY,
    NEXT,
    NODE_MODE,
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
    VALUE,
    GrowthRules,
)
from modelsel.kernels.splits.split_competition import contest, longer, splittable


@kernel(_nrt=False)
def _classes(rows, y, own):
    """Classes of the node's rows, one after the other."""
    for i in range(len(rows)):
        own[i] = y[rows[i]]


@kernel(_nrt=False)
def _ones(weight):
    """Say whether all rows weigh one."""
    for i in range(len(weight)):
        if weight[i] != 1.0:
            return 0
    return 1


@kernel(_nrt=False)
def _with(rules, fused, unit):
    """The rules at a node whose rows weigh one, or not."""
    return GrowthRules(
        rules.missing, rules.nominal, fused, rules.formula, rules.boundary, rules.convex, rules.ratio, rules.average,
        rules.penalty, unit, rules.cautious, rules.max_depth, rules.id_bits, rules.class_bits, rules.by_count,
    )  # fmt: skip


@kernel(_nrt=False)
def _search(order, slot, codes, mine, start, end, y, words, field, weight, own, total, levels, rules, limits, units, steps,
            goodness, table, work, sides, room, fill, inside, alone, here, below, best_cut, best_level, found):  # fmt: skip
    """The best test of each feature offered here; those that are constant are not offered below.

    alone: features compete by goodness alone, so that a test worse than that of a feature before may be passed over.
    """
    bar = -np.inf
    for f in range(len(slot)):
        below[f] = 0
        if here[f]:
            found[f, VALUE] = bar
            if slot[f] < 0:
                best_level(codes[f], mine, y, words, field, weight, own, levels[f], rules, limits, units, goodness, table, work,
                           room, fill, inside[f], found[f])  # fmt: skip
            else:
                best_cut(order[slot[f], start:end], weight, own, levels[f], rules, limits, units, steps, goodness, work, sides,
                         fill, found[f])  # fmt: skip
            below[f] = found[f, CUTS] >= 0
            if alone and found[f, CODE] >= 0:
                known = (total - found[f, ABSENT]) / total if rules.missing in (FRACTIONAL, SURROGATE) else 1.0
                bar = max(bar, found[f, VALUE] * known)


@kernel(_nrt=False)
def _open(nodes, counts, node, first, branches, depth, rules, limits, child):
    """Write the children's records and their places among the open ones (last: leaves); how many are open, bits of a place."""
    opened, bits = 0, 0
    for b in range(branches):
        nodes[first + b, PARENT], nodes[first + b, DEPTH], child[b] = node, depth, -1
        if splittable(counts[first + b], depth, rules, limits):
            child[b] = opened
            opened += 1
    for b in range(branches):
        child[b] = child[b] if child[b] >= 0 else opened
    while min(opened + 1, branches) > 1 << bits:
        bits += 1
    return opened, bits


@kernel(_nrt=False)
def _steps(table, steps):
    """Compute the increase of each table entry to the next."""
    for i in range(len(steps)):
        steps[i] = table[i + 1] - table[i]


@kernel(
    types.of_grower(
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
    entry's code); y: class per data row; cost: of each feature, none where they compete by goodness alone; units: n·log2 n or
    n², as whole numbers.
    """
    features, classes, nominal, widest, n = len(slot), len(root), slot < 0, 2, len(rows)
    for f in range(features):
        if nominal[f]:
            widest = max(widest, levels[f])
    nodes, value, counts = np.zeros((64, RECORD), np.int64), np.zeros((64, 1)), np.zeros((64, classes))
    marks, marked = np.zeros((64, 1), np.uint8), 0
    mimics, agreement, mimicked = np.zeros((64, MIMIC), np.int64), np.zeros((64, 1)), 0
    level_sides, sided = np.zeros((64, 1), np.int64), 0
    offered = np.ones((8, features), np.uint8)  # per depth: which features are worth a search
    found, steps = np.zeros((features, 8)), np.zeros(len(units) - 1, np.int64)
    work, sides = np.zeros((widest + 4, classes)), np.zeros((3, classes), np.int64)
    table, room = np.zeros((widest + 2, classes + 2)), np.zeros((4, widest + 2), np.int64)
    fill, inside = np.zeros(classes + 1, np.int64), np.zeros((features, widest + 2), np.uint8)
    level_side, ranked = np.zeros((features, widest + 1), np.int64), np.zeros(SURROGATES + 1, np.int64)
    at, begin, child, shares = (
        np.zeros(widest + 2, np.int64), np.zeros(widest + 2, np.int64), np.zeros(widest + 2, np.int64), np.zeros(widest + 2),
    )  # fmt: skip
    lean, pair = np.zeros(n, np.int32), np.zeros(n, np.int64)
    branch, to, own_y, words = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int32), np.zeros(n, np.int64)
    spare, spare_rows, spare_weight, parts = np.zeros(n, np.int64), np.zeros(n, np.int32), np.zeros(n), np.zeros(1, np.int64)
    _steps(units, steps)
    alone = len(cost) == 0 and not (rules.ratio or rules.average or rules.penalty)
    nodes[0, PARENT], nodes[0, END] = -1, n
    for c in range(classes):
        counts[0, c] = root[c]
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
        size, total = end - start, 0.0
        for c in range(classes):
            total += counts[node, c]
        own_y, words = roomier(own_y, size), roomier(words, size)
        own, mine, mine_y, own_weight = counts[node], rows[start:end], own_y[:size], weight[start:end]
        node_rules = rules
        if rules.missing == FRACTIONAL:
            ones = _ones(own_weight)
            node_rules = _with(rules, rules.fused if ones else GENERAL, ones)
        _classes(mine, y, mine_y)
        field = 0
        if node_rules.unit or node_rules.fused != GENERAL:
            field = field_of(np.int64(total), classes)
            words_of(mine_y, own_weight, field, words[: size if field > 0 else 0])
        _search(order, slot, codes, mine, start, end, mine_y, words, field, own_weight, own, total, levels, node_rules, limits,
                units, steps, goodness, table, work, sides, room, fill, inside, alone, here, below, best_cut, best_level,
                found)  # fmt: skip
        f, best = contest(found, here, cost, total, rules, limits, nominal, levels, worth)
        if f < 0:
            continue
        best_of, code, side = found[f], int(found[f, CODE]), int(found[f, SIDE])
        if rules.missing == CLASS_MODE and best_of[ABSENT] > 0:  # once more, for `fill`
            if nominal[f]:
                best_level(codes[f], mine, mine_y, words, field, own_weight, own, levels[f], node_rules, limits, units,
                           goodness, table, work, room, fill, inside[f], best_of)  # fmt: skip
            else:
                best_cut(order[slot[f], start:end], own_weight, own, levels[f], node_rules, limits, units, steps, goodness,
                         work, sides, fill, best_of)  # fmt: skip
        test = rules.nominal if nominal[f] else THRESHOLD
        branches = 2
        if test == MULTIWAY:
            branches = levels[f] + (rules.missing == BRANCH and best_of[ABSENT] > 0)
            below[f] = 0
        first = made
        made += branches
        nodes, value, counts = longer(nodes, made), longer(value, made), longer(counts, made)
        branch, to = roomier(branch, size), roomier(to, size)
        mine_branch, goes = branch[:size], side if rules.missing in (NODE_MODE, BRANCH) else -1
        if test == THRESHOLD:
            by_threshold(order[slot[f], start:end], code, levels[f], rules, fill, goes, mine_branch)
        else:
            by_level(codes[f], mine, mine_y, test, code, rules, fill, inside[f], goes, mine_branch)
        if rules.missing == SURROGATE:
            mimic(order, slot, codes, levels, start, end, mine, own_weight, mine_branch, f, below, rules, lean, pair, room[1],
                  table, level_side, found, ranked)  # fmt: skip
            side = BY_SURROGATES - ranked[SURROGATES]
            mimics, agreement, level_sides, mimicked, sided = write_mimics(
                node, ranked, found, nominal, levels, level_side, mimics, agreement, level_sides, mimicked, sided
            )
            send_by_mimics(mine_branch, mine, ranked, found, codes, nominal, level_side)
        divided = child_counts(mine_branch, mine_y, own_weight, first, branches, counts, shares)
        if rules.missing == BRANCH and best_of[ABSENT] == 0:
            side = largest(counts, first, branches)
        record = nodes[node]
        record[TEST], record[FEATURE], record[FIRST], record[BRANCHES], record[MISSING_TO] = test, f, first, branches, side
        record[LEFT], record[RIGHT], value[node, 0] = code, int(best_of[NEXT]), best
        if test == SUBSET:
            absent = largest(counts, first, branches) == 0
            marks = write_marks(codes[f], mine, levels[f], inside[f], absent, marks, marked)
            record[LEVELS] = marked
            marked += levels[f]
        opened, bits = _open(nodes, counts, node, first, branches, depth + 1, rules, limits, child)
        if opened == 0:
            continue
        space = size + divided * opened
        parts, spare = roomier(parts, divided * opened), roomier(spare, space + size)
        spare_rows, spare_weight = roomier(spare_rows, space), roomier(spare_weight, space)
        own_parts = parts[: divided * opened].reshape((divided, opened))
        last = place(mine_branch, mine, own_weight, nodes, first, branches, child, opened, shares, start, bits, at, begin, to,
                     own_parts, spare_rows, spare_weight)  # fmt: skip
        order = wider(order, last)
        move(order, slot, below, to, own_parts, branches, opened, start, end, rules.id_bits, bits, begin, at, spare)
        rows, weight = extend(rows, spare_rows, start, last), extend(weight, spare_weight, start, last)
        stack = longer(stack, top + branches)
        for b in range(branches - 1, -1, -1):
            if child[b] < opened:
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
