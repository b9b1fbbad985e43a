"""Error-based pruning with subtree raising, of a tree whose training rows all go whole.

The rows of a node are a slice of one order, so a node knows those of its smaller branches: only they are sent down the
largest one, to see what it would cost in the node's place. Nodes are judged deepest first; where a branch is raised, the
slice of the node is ordered anew and what is below judged again (Quinlan 1993, *C4.5*, section 4.1).
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.layout import BY_BETA, EQUALITY, NOTHING_MORE, SUBSET, THRESHOLD

ALMOST_ALL, CONFIDENCE, DEVIATE, SLACK, TIE = range(5)  # of the numbers that say how leaves are charged


@kernel(_nrt=False)
def _wilson(n, e, rule):
    """Compute the errors that the upper end of Wilson's interval adds to a leaf."""
    deviate = rule[DEVIATE]
    if not e + 0.5 < n:
        return rule[ALMOST_ALL] * max(n - e, 0.0)
    square, f = deviate**2, (e + 0.5) / n
    spread = deviate * np.sqrt(f / n - f * f / n + square / (4.0 * n * n))
    return n * (f + square / (2.0 * n) + spread) / (1.0 + square / n) - e


@kernel(_nrt=False)
def _charge(counts, how, rule, inverse):
    """Errors expected of a leaf with these class weights (`pruner.error_based`)."""
    n, most = 0.0, 0.0
    for weight in counts:
        n += weight
        most = max(most, weight)
    e = max(n - most, 0.0)
    if how == NOTHING_MORE or n == 0.0:
        return e
    if how == BY_BETA:
        return e + max(n * inverse(e + 1.0, n - e, 1.0 - rule[CONFIDENCE], np.int32(0)) - e, 0.0) if e < n else e
    if e < 0.9999:
        none = n * (1.0 - rule[CONFIDENCE] ** (1.0 / n))
        return e + (none if e == 0.0 else none + e * (_wilson(n, 1.0, rule) - none))
    return e + _wilson(n, e, rule)


@kernel(_nrt=False)
def _end(node, row, values, grown, child, leaf):
    """The leaf that a row reaches from a node; −1 where its value does not say the way."""
    test, feature, threshold, first, missing_to, majority, at, marks, levels, _ = grown
    while not leaf[node]:
        value, kind = values[feature[node], row], test[node]
        if value != value:
            branch = missing_to[node]
            if branch < 0:
                return np.int64(-1)
        elif kind == THRESHOLD:
            branch = 0 if value <= threshold[node] else 1
        elif value >= levels[feature[node]]:
            branch = majority[node]
        elif kind == EQUALITY:
            branch = 0 if value == threshold[node] else 1
        elif kind == SUBSET:
            branch = 0 if marks[at[node] + np.int64(value)] else 1
        else:
            branch = np.int64(value)
        node = np.int64(child[first[node] + branch])
    return node


@kernel(_nrt=False)
def _count(top, grown, standing, arrived, charges, how, rule, inverse):
    """Rows and class weights of the inner nodes from `top` on, from those of the leaves; what each would cost as a leaf."""
    size, (_, above, stands, _), (_, _, many, counts) = grown[-1], standing, arrived
    for node in range(top + size[top] - 1, top - 1, -1):
        if stands[node]:
            charges[node] = _charge(counts[node], how, rule, inverse)
            if node > top:
                many[above[node]] += many[node]
                for c in range(counts.shape[1]):
                    counts[above[node], c] += counts[node, c]


@kernel(_nrt=False)
def _place(top, start, sent, grown, standing, arrived, spare):
    """Order a slice by the leaves that its rows have reached."""
    size, (_, _, stands, leaf), (order, starts, many, _) = grown[-1], standing, arrived
    at, n = start, len(order)
    for node in range(top, top + size[top]):
        if stands[node]:
            starts[node] = at
            at += many[node] if leaf[node] else 0
    for i in range(start, start + sent):
        end = spare[n + i]
        order[starts[end]] = spare[i]
        starts[end] += 1
    for node in range(top, top + size[top]):
        if stands[node] and leaf[node]:
            starts[node] -= many[node]


@kernel(_nrt=False)
def _send(top, start, sent, rows, grown, standing, arrived, spare):
    """Send rows of a slice down from a node, to be counted at the leaves; returns whether all went whole."""
    (values, number, target, weight), (child, _, _, leaf), (order, _, many, counts) = rows, standing, arrived
    for node in range(top, top + grown[-1][top]):
        many[node] = 0
        for c in range(counts.shape[1]):
            counts[node, c] = 0.0
    for i in range(start, start + sent):
        own = order[i]
        end = _end(top, number[own], values, grown, child, leaf)
        if end < 0:
            return False
        spare[i], spare[len(order) + i] = own, end
        many[end] += 1
        counts[end, target[own]] += weight[own]
    return True


@kernel(_nrt=False)
def _largest(node, first, child, many, counts):
    """The branch with most weight, the last of those that tie; only of those where a row arrived, if any did."""
    found, most = child[first[node + 1] - 1], -1.0
    for k in range(first[node + 1] - 1, first[node] - 1, -1):
        weight = 0.0
        for part in counts[child[k]]:
            weight += part
        weight = np.rint(weight * 1e9)
        if many[child[k]] > 0 and weight > most:
            found, most = child[k], weight
    return np.int64(found)


@kernel(_nrt=False)
def _instead(node, branch, rows, grown, standing, arrived, more, charges, how, rule, inverse):
    """Compute the cost of a branch with all rows of its node; −1 where one of them is not whole."""
    (values, number, target, weight), (child, _, stands, leaf), (order, starts, many, counts) = rows, standing, arrived
    start, stop = starts[branch], starts[branch] + many[branch]
    for i in range(starts[node], starts[node] + many[node]):
        if start <= i < stop:
            continue
        own = order[i]
        end = _end(branch, number[own], values, grown, child, leaf)
        if end < 0:
            return -1.0
        more[end, target[own]] += weight[own]
        more[end, -1] = 1.0
    total, at, last = 0.0, branch, branch + grown[-1][branch]
    while at < last:
        if not (stands[at] and leaf[at]):
            at += 1
            continue
        if more[at, -1] == 0.0:
            total += charges[at]
        else:
            for c in range(counts.shape[1]):
                more[at, c] += counts[at, c]
            total += _charge(more[at, :-1], how, rule, inverse)
            for c in range(more.shape[1]):
                more[at, c] = 0.0
        at += grown[-1][at]
    return total


@kernel(_nrt=False)
def _close(low, high, stands):
    for node in range(low, high):
        stands[node] = False


@kernel(types.of_raising(
    types.fixed_rows, types.fixed_wholes, types.fixed_codes, types.fixed_reals, types.grown_tree, types.fixed_codes,
    types.fixed_codes, types.fixed_booleans, types.fixed_booleans, types.fixed_rows, types.whole, types.fixed_reals,
    types.upper,
))  # fmt: skip
def prune(values, number, target, weight, grown, child, parent, stands, leaf, like, how, rule, inverse):
    """Prune by raising: the nodes left, the leaves among them, their new parents, class weights, and whether any was raised.

    values: features × rows; number: a row per training row; like: nodes × classes. Nothing is left where a row is not whole.
    """
    first, size, n = grown[3], grown[-1], len(leaf)
    standing = child.copy(), parent.copy(), stands.copy(), leaf.copy()
    arrived = np.arange(len(number)), np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(like.shape)
    rows, spare, more = (values, number, target, weight), np.empty(2 * len(number), np.int64), np.zeros((n, like.shape[1] + 1))
    (child_, above, stands_, leaf_), (_, starts, many, counts) = standing, arrived
    slot, charges, errors, nothing = np.empty(n, np.int64), np.zeros(n), np.zeros(n), np.zeros(0, np.bool_)
    for k in range(len(child)):
        slot[child[k]] = k
    if not _send(0, 0, len(number), rows, grown, standing, arrived, spare):
        return nothing, nothing, above, counts, False
    _count(0, grown, standing, arrived, charges, how, rule, inverse)
    _place(0, 0, len(number), grown, standing, arrived, spare)
    node, moved = np.int64(n - 1), False
    while node >= 0:
        if not stands_[node] or leaf_[node]:
            errors[node] = charges[node]
            node -= 1
            continue
        below = 0.0
        for k in range(first[node], first[node + 1]):
            below += errors[child_[k]]
        branch = _largest(node, first, child_, many, counts)
        bar, instead, alone = below * (1.0 + rule[TIE]) + rule[SLACK], charges[node], charges[node]
        if not leaf_[branch]:
            instead = _instead(node, branch, rows, grown, standing, arrived, more, charges, how, rule, inverse)
            if instead < 0.0:
                return nothing, nothing, above, counts, False
        errors[node] = below
        if alone <= bar and alone <= instead * (1.0 + rule[TIE]) + rule[SLACK]:
            leaf_[node], errors[node] = True, alone
            _close(node + 1, node + size[node], stands_)
        elif instead <= bar:
            _close(node, branch, stands_)
            _close(branch + size[branch], node + size[node], stands_)
            above[branch], start, sent = above[node], starts[node], many[node]
            if node > 0 and above[node] >= 0:
                child_[slot[node]], slot[branch] = branch, slot[node]
            if not _send(branch, start, sent, rows, grown, standing, arrived, spare):
                return nothing, nothing, above, counts, False
            _count(branch, grown, standing, arrived, charges, how, rule, inverse)
            _place(branch, start, sent, grown, standing, arrived, spare)
            node, moved = np.int64(branch + size[branch]), True
        node -= 1
    return stands_, leaf_, above, counts, moved
