"""Grow a whole tree of numbers by any loss: nominal features, missing values by any policy, any weights.

As `grow`, whose stretches of sorted columns and stable partitions these are: an entry is code | number in the node, and what is
added up are whole numbers (`kernels/growth/numbers`). For the loss of a quantile (`kernels/growth/quantile_cuts`) rows have to
stand in the order of their targets, and none is divided.
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.growth.number_cuts import best_cut, best_levels, centre, child_moments, round_weight, shares_of
from modelsel.kernels.growth.quantile_cuts import all_rows, best_cut_by_loss, best_levels_by_loss
from modelsel.kernels.growth.records import (
    by_level,
    by_threshold,
    extend,
    move,
    place,
    roomier,
    send_by_mimics,
    wider,
    write_marks,
    write_mimics,
)
from modelsel.kernels.layout import (
    ABSENT,
    BRANCH,
    BRANCHES,
    BY_SURROGATES,
    CODE,
    CUTS,
    DEPTH,
    END,
    FEATURE,
    FIRST,
    INFORMATION,
    LEFT,
    LEVELS,
    MIMIC,
    MISSING_TO,
    MULTIWAY,
    NEXT,
    NODE_MODE,
    PARENT,
    PINBALL,
    RECORD,
    RIGHT,
    SIDE,
    SQUARED,
    START,
    SUBSET,
    SURROGATE,
    SURROGATES,
    TEST,
    THRESHOLD,
    VALUE,
)
from modelsel.kernels.splits.split_competition import longer

WEIGHT, MEAN, SQUARES = range(3)  # of a node
LOW, HIGH, SIGN = range(3)  # of what branches are held to


@kernel(_nrt=False)
def _splittable(moments, depth, rules, limits):
    """A node is worth a search: two numbers, weight for two branches, and within the limits."""
    return moments[SQUARES] > 0.0 and moments[WEIGHT] >= limits.room and depth < rules.max_depth


@kernel(_nrt=False)
def _search(order, slot, codes, mine, start, end, u, weight, levels, rest, size, about, rules, needed, steps, sums, sizes, keys,
            seen, names, inside, here, below, signs, held, found):  # fmt: skip
    """The feature of the best test (−1: none); those that are constant are not offered below.

    What no test at all is worth differs where the rows with a value do; where it does not, equal tests tie exactly.
    """
    chosen, best, none = -1, -np.inf, 0.0
    for f in range(len(slot)):
        below[f] = 0
        if here[f]:
            if slot[f] < 0:
                best_levels(codes[f], mine, u, weight, levels[f], rest, size, about, rules, needed, steps, sums, sizes, keys,
                            seen, names, inside[f], held, found[f])  # fmt: skip
            else:
                held[SIGN] = signs[f] if len(signs) else 0.0
                best_cut(order[slot[f], start:end], u, weight, levels[f], rest, size, about, rules, needed, steps, held,
                         found[f])  # fmt: skip
            below[f] = found[f, CUTS] >= 0
            if found[f, CODE] >= 0 and found[f, VALUE] - best > found[f, INFORMATION] - none:
                chosen, best, none = f, found[f, VALUE], found[f, INFORMATION]
    return chosen


@kernel(_nrt=False)
def _search_by_loss(order, slot, codes, mine, start, end, u, weight, levels, whole, mean, rules, limits, needed, steps, parts,
                    sums, sizes, keys, seen, names, inside, here, below, value, place, ends, line, held, losses, start_sums,
                    start_sizes, found):  # fmt: skip
    """The same by the loss of a quantile."""
    chosen, best, none, q = -1, -np.inf, 0.0, limits.exponent
    for i in range(end - start):
        value[i] = float(whole[np.uint64(mine[i])]) * parts - mean
    all_rows(u, value, weight, rules.unit, q, steps, start_sums, start_sizes)
    for f in range(len(slot)):
        below[f] = 0
        if here[f]:
            if slot[f] < 0:
                best_levels_by_loss(codes[f], mine, start_sums, start_sizes, u, value, weight, levels[f], rules, q, needed,
                                    steps, sums, sizes, keys, seen, names, place, ends, inside[f], line, held, losses,
                                    found[f])  # fmt: skip
            else:
                best_cut_by_loss(order[slot[f], start:end], start_sums, start_sizes, u, value, weight, levels[f], rules, q,
                                 needed, steps, held, losses, found[f])  # fmt: skip
            below[f] = found[f, CUTS] >= 0
            if found[f, CODE] >= 0 and found[f, VALUE] - best > found[f, INFORMATION] - none:
                chosen, best, none = f, found[f, VALUE], found[f, INFORMATION]
    return chosen


@kernel(_nrt=False)
def _largest(moments, first, branches):
    """Return the branch with the most weight; ties: the first."""
    best, most = 0, -1.0
    for b in range(branches):
        if moments[first + b, WEIGHT] > most + 1e-9:
            best, most = b, moments[first + b, WEIGHT]
    return best


@kernel(_nrt=False)
def _open(nodes, moments, node, first, branches, depth, rules, limits, child):
    """Write the children's records and their places among the open ones (last: leaves); how many are open, bits of a place."""
    opened, bits = 0, 0
    for b in range(branches):
        nodes[first + b, PARENT], nodes[first + b, DEPTH], child[b] = node, depth, -1
        if _splittable(moments[first + b], depth, rules, limits):
            child[b] = opened
            opened += 1
    for b in range(branches):
        child[b] = child[b] if child[b] >= 0 else opened
    while min(opened + 1, branches) > 1 << bits:
        bits += 1
    return opened, bits


@kernel(_nrt=False)
def _hold(moments, bounds, node, first, branches, sign):
    """Write between which means all below each branch stays, the middle of both parting them, and hold the branches' own."""
    for b in range(branches):
        bounds[first + b, LOW], bounds[first + b, HIGH] = bounds[node, LOW], bounds[node, HIGH]
    if sign != 0:
        middle = moments[first, MEAN] / 2 + moments[first + 1, MEAN] / 2
        lower, upper = (first, first + 1) if sign > 0 else (first + 1, first)
        bounds[lower, HIGH], bounds[upper, LOW] = min(bounds[node, HIGH], middle), max(bounds[node, LOW], middle)
    for b in range(first, first + branches):
        mean = moments[b, MEAN]
        moments[b, MEAN] = bounds[b, LOW] if mean < bounds[b, LOW] else bounds[b, HIGH] if mean > bounds[b, HIGH] else mean


@kernel(
    types.of_grower(
        types.entries, types.codes, types.reals, types.fixed_wholes, types.fixed_columns, types.fixed_wholes,
        types.fixed_wholes, types.real, types.real, types.rules, types.limits, types.mimics, types.fixed_wholes,
        types.flags,
    )
)  # fmt: skip
def grow(order, rows, weight, slot, codes, levels, whole, steps, parts, rules, limits, mimic, signs, stop):
    """Node records, worth of tests, weight, mean and squares of nodes, marks of levels; surrogates, agreements, sides.

    No records when it was stopped. whole: q per data row; signs: per feature 1 where the answer may only rise with it, −1 where
    it may only fall, 0 else (none: no feature has any); other arguments as of `grow.grow` and in `numbers`.
    """
    features, nominal, widest, n = len(slot), slot < 0, 2, len(rows)
    for f in range(features):
        if nominal[f]:
            widest = max(widest, levels[f])
    nodes, value, moments = np.zeros((64, RECORD), np.int64), np.zeros((64, 1)), np.zeros((64, 3))
    marks, marked = np.zeros((64, 1), np.uint8), 0
    mimics, agreement, mimicked = np.zeros((64, MIMIC), np.int64), np.zeros((64, 1)), 0
    level_sides, sided = np.zeros((64, 1), np.int64), 0
    offered, found = np.ones((8, features), np.uint8), np.zeros((features, 8))
    sums, sizes, keys = np.zeros(widest + 2, np.int64), np.zeros(widest + 2), np.zeros(widest + 2)
    seen, names, tally = np.zeros(widest + 2, np.int64), np.zeros(widest + 2, np.int64), np.zeros(widest + 2, np.int64)
    table, inside = np.zeros((widest + 2, 3)), np.zeros((features, widest + 2), np.uint8)
    level_side, ranked = np.zeros((features, widest + 1), np.int64), np.zeros(SURROGATES + 1, np.int64)
    at, begin, child, shares = (
        np.zeros(widest + 2, np.int64), np.zeros(widest + 2, np.int64), np.zeros(widest + 2, np.int64), np.zeros(widest + 2),
    )  # fmt: skip
    fill, lean, pair, u = np.zeros(2, np.int64), np.zeros(n, np.int32), np.zeros(n, np.int64), np.zeros(n, np.int64)
    branch, to, zeros = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int32)
    spare, spare_rows, spare_weight, places = np.zeros(n, np.int64), np.zeros(n, np.int32), np.zeros(n), np.zeros(1, np.int64)
    needed, in_order = limits.least, n if rules.formula == PINBALL else 0
    values, line, losses = np.zeros(in_order), np.zeros(in_order, np.int64), np.zeros((4, in_order + 1))
    held, start_sums, start_sizes = np.zeros((2, in_order // 64 + 2), np.uint64), np.zeros(3, np.int64), np.zeros(3)
    place_of, ends = np.zeros(widest + 2, np.int64), np.zeros(widest + 2, np.int64)
    bounds, between = np.zeros((64, 2)), np.zeros(3)
    bounds[0, LOW], bounds[0, HIGH], between[LOW], between[HIGH] = -np.inf, np.inf, -np.inf, np.inf
    nodes[0, PARENT], nodes[0, END] = -1, n
    moments[0, WEIGHT], moments[0, MEAN], moments[0, SQUARES] = child_moments(
        branch, rows, weight, whole, shares, 0, steps, parts, 0
    )
    stack, top, made = np.zeros((64, 1), np.int64), 1, 1
    if not _splittable(moments[0], 0, rules, limits):
        top = 0
    while top > 0:
        if stop[0]:
            made = 0
            break
        top -= 1
        node = stack[top, 0]
        start, end, depth = nodes[node, START], nodes[node, END], nodes[node, DEPTH]
        size = end - start
        offered = longer(offered, depth + 2)
        here, below = offered[depth], offered[depth + 1]
        u, zeros = roomier(u, size), zeros if size <= len(zeros) else np.zeros(2 * size, np.int32)
        mine, own_weight, own_u = rows[start:end], weight[start:end], u[:size]
        rest, total, mean = centre(mine, own_weight, whole, steps, parts, own_u)
        if rules.formula == PINBALL:
            f = _search_by_loss(order, slot, codes, mine, start, end, own_u, own_weight, levels, whole, mean, rules, limits,
                                needed, steps, parts, sums, sizes, keys, seen, names, inside, here, below, values, place_of,
                                ends, line, held, losses, start_sums, start_sizes, found)  # fmt: skip
        else:
            about = np.nan if rules.formula == SQUARED else mean + limits.exponent * parts
            if len(signs):
                between[LOW], between[HIGH] = bounds[node, LOW] * parts - mean, bounds[node, HIGH] * parts - mean
            f = _search(order, slot, codes, mine, start, end, own_u, own_weight, levels, rest, total, about, rules, needed,
                        steps, sums, sizes, keys, seen, names, inside, here, below, signs, between, found)  # fmt: skip
        if f < 0:
            continue
        best_of, code, side = found[f], int(found[f, CODE]), int(found[f, SIDE])
        after, best, absent_here = int(best_of[NEXT]), best_of[VALUE] - best_of[INFORMATION], best_of[ABSENT] > 0
        test = rules.nominal if nominal[f] else THRESHOLD
        branches = 2
        if test == MULTIWAY:
            branches = levels[f] + (rules.missing == BRANCH and absent_here)
            below[f] = 0
        first = made
        made += branches
        nodes, value, moments = longer(nodes, made), longer(value, made), longer(moments, made)
        branch, to = roomier(branch, size), roomier(to, size)
        mine_branch, goes = branch[:size], side if rules.missing in (NODE_MODE, BRANCH) else -1
        if test == THRESHOLD:
            by_threshold(order[slot[f], start:end], code, levels[f], rules, fill, goes, mine_branch)
        else:
            by_level(codes[f], mine, zeros, test, code, rules, fill, inside[f], goes, mine_branch)
        if rules.missing == SURROGATE:
            lean, pair = roomier(lean, size), roomier(pair, size)
            mimic(order, slot, codes, levels, start, end, mine, own_weight, mine_branch, f, below, rules, lean, pair, tally,
                  table, level_side, found, ranked)  # fmt: skip
            side = BY_SURROGATES - ranked[SURROGATES]
            mimics, agreement, level_sides, mimicked, sided = write_mimics(
                node, ranked, found, nominal, levels, level_side, mimics, agreement, level_sides, mimicked, sided
            )
            send_by_mimics(mine_branch, mine, ranked, found, codes, nominal, level_side)
        divided = shares_of(mine_branch, own_weight, branches, shares)
        for b in range(branches):
            own = moments[first + b]
            own[WEIGHT], own[MEAN], own[SQUARES] = child_moments(
                mine_branch, mine, own_weight, whole, shares, b, steps, parts, divided
            )
        if len(signs):
            bounds = longer(bounds, made)
            _hold(moments, bounds, node, first, branches, signs[f] if test == THRESHOLD else 0)
        if rules.missing == BRANCH and not absent_here:
            side = _largest(moments, first, branches)
        record = nodes[node]
        record[TEST], record[FEATURE], record[FIRST], record[BRANCHES], record[MISSING_TO] = test, f, first, branches, side
        record[LEFT], record[RIGHT], value[node, 0] = code, after, best
        if test == SUBSET:
            absent = _largest(moments, first, branches) == 0
            marks = write_marks(codes[f], mine, levels[f], inside[f], absent, marks, marked)
            record[LEVELS] = marked
            marked += levels[f]
        opened, bits = _open(nodes, moments, node, first, branches, depth + 1, rules, limits, child)
        if opened == 0:
            continue
        space = size + divided * opened
        places, spare = roomier(places, divided * opened), roomier(spare, space + size)
        spare_rows, spare_weight = roomier(spare_rows, space), roomier(spare_weight, space)
        own_places = places[: divided * opened].reshape((divided, opened))
        last = place(mine_branch, mine, own_weight, nodes, first, branches, child, opened, shares, start, bits, at, begin, to,
                     own_places, spare_rows, spare_weight)  # fmt: skip
        for i in range(last - start if divided > 0 else 0):
            spare_weight[i] = round_weight(spare_weight[i], steps)
        order = wider(order, last)
        move(order, slot, below, to, own_places, branches, opened, start, end, rules.id_bits, bits, begin, at, spare)
        rows, weight = extend(rows, spare_rows, start, last), extend(weight, spare_weight, start, last)
        stack = longer(stack, top + branches)
        for b in range(branches - 1, -1, -1):
            if child[b] < opened:
                stack[top, 0] = first + b
                top += 1
    return (
        nodes[:made].copy(),
        value[:made, 0].copy(),
        moments[:made].copy(),
        marks[:marked, 0].copy(),
        mimics[:mimicked].copy(),
        agreement[:mimicked, 0].copy(),
        level_sides[:sided, 0].copy(),
    )
