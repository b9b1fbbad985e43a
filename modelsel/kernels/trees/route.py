"""Send rows down a tree: each to the leaf it reaches, or to several with parts of its weight.

A missing value goes to the child that the node names, or down all branches by their shares, or where the first surrogate
that is known sends it. A level that was not declared goes with the majority and is counted.

Eight rows go down side by side, so that one waits for memory while the others move, over nodes of 32 bytes each (`pack`). A
row that meets a test which its value alone does not answer ends in the sink and walks again by itself. Rows of a table that
came row by row are read where they lie; of others the tested columns are brought together.
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.layout import BY_SURROGATES, DIVIDED, EQUALITY, LEAF, MULTIWAY, SUBSET, THRESHOLD

LANES, ROWS = 8, 256  # rows side by side; rows that are brought together at a time
BLIND = 3  # steps down before it is asked whether all have arrived
SHALLOW = 8  # depth up to which nobody asks: all steps are taken
WORD = 8  # numbers of 32 bits per packed node, of which the first two are its threshold
COLUMN, LEFT, RIGHT, MISSING, HOW, AT = range(2, 8)  # MISSING after RIGHT after LEFT: the child is an offset
DEPTH = AT  # of the tree, in the sink, which has no levels
BY_VALUE, BY_LEVEL, BY_ONE = range(3)  # compare; look the child up; one level against the rest


@kernel()
def _room(test, feature, levels):
    """Count the children that are looked up by level."""
    room = 0
    for node in range(len(test)):
        if test[node] == EQUALITY:
            room += 2
        elif test[node] == MULTIWAY or test[node] == SUBSET:
            room += levels[feature[node]] + 1
    return room


@kernel()
def _columns(test, feature, features):
    """The columns that are tested, in order; the place of each among them."""
    tested, place, many = np.zeros(features, np.bool_), np.zeros(features, np.int32), 0
    for node in range(len(test)):
        if test[node] != LEAF:
            tested[feature[node]] = True
    columns = np.empty(features, np.int64)
    for f in range(features):
        if tested[f]:
            columns[many], place[f] = f, many
            many += 1
    return columns[:many].copy(), place


@kernel()
def _depth(first, child):
    """The most tests on a way down; parents come before their children."""
    depth, most = np.zeros(len(first) - 1, np.int32), 0
    for node in range(len(depth)):
        for k in range(first[node], first[node + 1]):
            depth[child[k]] = depth[node] + 1
            most = max(most, depth[child[k]])
    return most


@kernel(types.of_packer(
    types.fixed_bytes, types.fixed_codes, types.fixed_reals, types.fixed_codes, types.fixed_codes, types.fixed_codes,
    types.fixed_codes, types.fixed_codes, types.fixed_flags, types.fixed_codes, types.codes, types.reals, types.truth,
))  # fmt: skip
def pack(test, feature, threshold, first, child, missing_to, majority, at, marks, levels, nodes, reals, in_place):
    """Write (nodes + 1) × WORD numbers, the last node being the sink; the columns that are tested, children by level.

    nodes, reals: the same bytes, all 0; in_place: the nodes name columns of the table, not places among the tested ones.
    """
    sink, table, end = len(test), np.empty(_room(test, feature, levels), np.int32), 0
    columns, column = _columns(test, feature, len(levels))
    if in_place:
        column = np.arange(len(levels)).astype(np.int32)
    nodes[sink * WORD + DEPTH] = _depth(first, child)
    for node in range(sink + 1):
        own, f = node * WORD, 0 if node == sink or test[node] == LEAF else feature[node]
        for k in (LEFT, RIGHT, MISSING):
            nodes[own + k] = node
        if node == sink or test[node] == LEAF:
            reals[own // 2] = np.inf
            continue
        start, to, reals[own // 2] = first[node], missing_to[node], threshold[node]
        nodes[own + COLUMN] = column[f]
        nodes[own + LEFT], nodes[own + RIGHT] = child[start], child[start + 1] if start + 1 < first[node + 1] else child[start]
        nodes[own + MISSING] = child[start + to] if to >= 0 else sink
        if test[node] == THRESHOLD:
            continue
        nodes[own + AT], nodes[own + HOW] = end, BY_ONE if test[node] == EQUALITY else BY_LEVEL
        if test[node] == EQUALITY:
            table[end], table[end + 1] = child[start + majority[node]], levels[f]
            end += 2
            continue
        reals[own // 2] = levels[f]
        for level in range(levels[f]):
            to = level if test[node] == MULTIWAY else (0 if marks[at[node] + level] else 1)
            table[end + level] = child[start + to]
        table[end + levels[f]] = child[start + majority[node]]
        end += levels[f] + 1
    return columns, table


@kernel(_nrt=False)
def _bring(values, rows, columns, block):
    """The tested columns of some rows, row by row."""
    for k in range(len(columns)):
        source = values[columns[k]]
        for i in range(len(rows)):
            block[i, k] = source[np.uint64(rows[i])]


@kernel(_nrt=False)
def _infinite(some):
    """Say whether one of these numbers is infinite."""
    found = 0
    for i in range(len(some)):
        found += int(abs(some[i]) == np.inf)
    return found > 0


@kernel(_nrt=False)
def _below(nodes, reals, value, own):
    """The child of a node (its first number: `own`) that takes a value."""
    right = np.uint64(not value <= reals[own >> np.uint64(1)]) + np.uint64(value != value)
    return np.uint64(nodes[own + np.uint64(LEFT) + right])


@kernel(_nrt=False)
def _by_thresholds(nodes, reals, flat, begin, depth, at):
    """LANES rows down a tree of thresholds, all to a leaf or the sink; whether they are there is asked seldom."""
    for k in range(LANES):
        at[k] = 0
    blind, moved = depth if depth <= SHALLOW else BLIND, np.uint64(1)
    while moved != 0:
        for _ in range(blind):
            for k in range(LANES):
                own = at[k] * np.uint64(WORD)
                value = flat[begin[k] + np.uint64(nodes[own + np.uint64(COLUMN)])]
                at[k] = _below(nodes, reals, value, own)
        if depth <= SHALLOW:
            return
        moved = np.uint64(0)
        for k in range(LANES):
            own = at[k] * np.uint64(WORD)
            value = flat[begin[k] + np.uint64(nodes[own + np.uint64(COLUMN)])]
            to = _below(nodes, reals, value, own)
            moved |= to ^ at[k]
            at[k] = to


@kernel(_nrt=False)
def _by_any(nodes, reals, table, flat, begin, at, met):
    """Send rows down as `_by_thresholds` does where some tests are by levels; met: rows with an undeclared level."""
    for k in range(LANES):
        at[k], met[k] = 0, 0
    moved = True
    while moved:
        moved = False
        for k in range(LANES):
            own = np.int64(at[k]) * WORD
            value, how = flat[begin[k] + np.uint64(nodes[own + COLUMN])], nodes[own + HOW]
            if how == BY_VALUE or value != value:
                to = nodes[own + LEFT + int(not value <= reals[own // 2]) + int(value != value)]
            elif how == BY_LEVEL:
                last = reals[own // 2]
                to = table[nodes[own + AT] + int(min(value, last))]
                met[k] |= value >= last
            elif value >= table[nodes[own + AT] + 1]:
                to, met[k] = table[nodes[own + AT]], 1
            else:
                to = nodes[own + LEFT] if value == reals[own // 2] else nodes[own + RIGHT]
            moved |= np.uint64(to) != at[k]
            at[k] = np.uint64(to)


@kernel(_nrt=False)
def _send(nodes, reals, table, flat, begin, at, met):
    """LANES rows, which begin there among the numbers, each to a leaf or the sink."""
    if len(table):
        _by_any(nodes, reals, table, flat, begin, at, met)
    else:
        _by_thresholds(nodes, reals, flat, begin, nodes[len(nodes) - WORD + DEPTH], at)


@kernel()
def _value_of(values, by_row, row, feature):
    return by_row[row, feature] if len(by_row) else values[feature, row]


@kernel()
def _by_surrogate(row, node, values, by_row, surrogates, fallback):
    """Child by the first surrogate whose value is known, else the larger side."""
    levels, first, feature, threshold, flipped, at, sides = surrogates
    for s in range(first[node], first[node + 1]):
        value = _value_of(values, by_row, row, feature[s])
        if np.isnan(value):
            continue
        if at[s] < 0:
            return 1 if (value <= threshold[s]) == (flipped[s] == 1) else 0
        if value < levels[feature[s]] and sides[at[s] + int(value)] >= 0:
            return sides[at[s] + int(value)]
    return fallback


@kernel()
def _branch(test, value, threshold, at, marks):
    """Position of the child that takes a known value."""
    if test == THRESHOLD:
        return 0 if value <= threshold else 1
    if test == EQUALITY:
        return 0 if value == threshold else 1
    if test == SUBSET:
        return 0 if marks[at + int(value)] else 1
    return int(value)


@kernel()
def _longer(array, size):
    longer = np.zeros(max(size, 2 * len(array)), array.dtype)
    longer[: len(array)] = array
    return longer


@kernel()
def _roomy(found, made):
    """Make the arrays longer where they are full."""
    owner, leaf, part = found
    if made < len(leaf):
        return owner, leaf, part
    return _longer(owner, made + 1), _longer(leaf, made + 1), _longer(part, made + 1)


@kernel()
def _spelt(leaf, many):
    """Positions and parts of rows that are whole, written down as far as they were left out."""
    owner, part = np.empty(len(leaf), np.int64), np.empty(len(leaf))
    for i in range(many):
        owner[i], part[i] = i, 1.0
    return owner, leaf, part


@kernel()
def _alone(i, row, values, by_row, tree, surrogates, shares, found, room, made):
    """One row by itself: its fragments are written from `made` on; returns what was found, the room, the new end and more."""
    test, feature, threshold, first, child, missing_to, majority, at, marks = tree
    owner, leaf, part = found
    nodes, weights = room
    levels, met, top = surrogates[0], False, 1
    nodes[0], weights[0] = 0, 1.0
    while top > 0:
        top -= 1
        node, weight = nodes[top], weights[top]
        while test[node] != LEAF:
            f = feature[node]
            value = _value_of(values, by_row, row, f)
            if np.isnan(value):
                to = missing_to[node]
                if to == DIVIDED:
                    break
                if to < 0:
                    to = _by_surrogate(row, node, values, by_row, surrogates, BY_SURROGATES - to)
            elif test[node] != THRESHOLD and value >= levels[f]:
                to, met = majority[node], True
            else:
                to = _branch(test[node], value, threshold[node], at[node], marks)
            node = child[first[node] + to]
        if test[node] == LEAF:
            owner, leaf, part = _roomy((owner, leaf, part), made)
            owner[made], leaf[made], part[made] = i, node, weight
            made += 1
            continue
        branches = first[node + 1] - first[node]
        if top + branches > len(nodes):
            nodes, weights = _longer(nodes, top + branches), _longer(weights, top + branches)
        for k in range(first[node + 1] - 1, first[node] - 1, -1):
            if shares[child[k]] > 0:
                nodes[top], weights[top] = child[k], weight * shares[child[k]]
                top += 1
    return (owner, leaf, part), (nodes, weights), made, met


@kernel(types.of_walk(
    types.fixed_rows, types.fixed_rows, types.fixed_wholes, types.fixed_codes, types.fixed_reals, types.fixed_wholes,
    types.fixed_codes, types.plain_tree, types.surrogates, types.fixed_reals, types.truth,
))  # fmt: skip
def walk(values, by_row, rows, nodes, reals, columns, table, tree, surrogates, shares, checked):
    """Per fragment, row after row: position in `rows`, leaf, part of the weight; and how many rows met an unseen level.

    values: features × rows, or, where it has rows, by_row: rows × features. nodes, reals, columns, table: as packed. Positions
    and parts are left out where no row is divided, which is to say that they are 0, 1, 2 ... and 1. −1 rows: surrogates are
    wanted, and were not given. −2: all rows are asked for in their order, not `checked` before, and one has infinity.
    """
    n, width, sink, whole = len(rows), len(columns), np.uint64(len(tree[0])), True
    found, made, unseen = (np.empty(0, np.int64), np.empty(n, np.int32), np.empty(0)), 0, 0
    room = np.empty(64, np.int64), np.empty(64)
    block, at, met = np.zeros((ROWS, max(width, 1))), np.zeros(LANES, np.uint64), np.zeros(LANES, np.uint8)
    begin, brought, in_place = np.zeros(LANES, np.uint64), block.reshape(block.size), by_row.reshape(by_row.size)
    for low in range(0, n, ROWS):
        high = min(n, low + ROWS)
        if len(by_row) == 0:
            _bring(values, rows[low:high], columns, block)
        elif not checked and _infinite(in_place[low * by_row.shape[1] : high * by_row.shape[1]]):
            return found[0], found[1], found[2], -2
        for first in range(0, high - low, LANES):
            if len(by_row) == 0:
                for k in range(LANES):
                    begin[k] = (first + k) * width
                _send(nodes, reals, table, brought, begin, at, met)
            else:
                for k in range(LANES):
                    begin[k] = rows[min(low + first + k, high - 1)] * by_row.shape[1]
                _send(nodes, reals, table, in_place, begin, at, met)
            start, many = low + first, min(LANES, high - low - first)
            lost = False
            for k in range(many):
                lost |= at[k] == sink
                unseen += met[k]
            if lost and len(surrogates[1]) == 0:
                return found[0], found[1], found[2], -1
            if whole and not lost:
                leaf = found[1]
                for k in range(many):
                    leaf[start + k] = at[k]
                continue
            if whole:
                found, made, whole = _spelt(found[1], start), start, False
            for k in range(many):
                if at[k] == sink:
                    unseen -= met[k]
                    found, room, made, strange = _alone(
                        start + k, rows[start + k], values, by_row, tree, surrogates, shares, found, room, made
                    )
                    unseen += strange
                else:
                    found = _roomy(found, made)
                    found[0][made], found[1][made], found[2][made] = start + k, at[k], 1.0
                    made += 1
    owner, leaf, part = found
    return owner[:made], leaf[: n if whole else made], part[:made], unseen


@kernel(types.of_ends(types.fixed_codes, types.fixed_marks))
def ends(parent, leaf):
    """Per tree and node: where a row that comes by ends when the marked nodes are leaves; and how many leaves stand."""
    trees, nodes = leaf.shape
    end, leaves = np.empty((trees, nodes), np.int32), np.zeros(trees, np.int64)
    for tree in range(trees):
        marks, to = leaf[tree], end[tree]
        for node in range(nodes):
            above = parent[node]
            # a node above that ends elsewhere, or is itself marked, closes this one
            if above >= 0 and (marks[above] or to[above] != above):
                to[node] = to[above]
            else:
                to[node] = node
                leaves[tree] += marks[node]
    return end, leaves
