"""Votes of a forest's trees under many cuts at once, summed in whole numbers: no order changes a bit.

Most cuts end a row's way where another cut does. So each pair of a cut and a way of voting has a base, another pair or none
(−1), and what is summed is the difference to it: nothing where both end at one node. `elect` adds the bases up again.
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel

HASH, TOP = np.uint64(0x03F79D71B4CB0A89), np.uint64(58)  # de Bruijn: each six bits of it stand in one place
PLACE = np.zeros(64, np.int64)
for _bit in range(64):
    PLACE[((int(HASH) << _bit) & ((1 << 64) - 1)) >> 58] = _bit


@kernel()
def _together(leaf, nodes):
    """Rows in the order of their leaves, and where those of each leaf end."""
    ends, order = np.zeros(nodes, np.int64), np.empty(len(leaf), np.int64)
    for node in leaf:
        ends[node] += 1
    so_far = 0
    for node in range(nodes):
        ends[node], so_far = so_far, so_far + ends[node]
    for i in range(len(leaf)):
        order[ends[leaf[i]]] = i
        ends[leaf[i]] += 1
    return ends, order


@kernel(forceinline=True, _nrt=False)
def _stand(node, parent, stops, stands):
    """Where the way down to a leaf ends under each cut: the nodes above it are asked, each cut stops at one of them."""
    while node >= 0:
        for w in range(stops.shape[1]):
            bits = stops[np.uint64(node), np.uint64(w)]
            while bits != 0:
                low = bits & (~bits + np.uint64(1))
                stands[(w << 6) + PLACE[(low * HASH) >> TOP]] = node
                bits ^= low
        node = parent[np.uint64(node)]


@kernel(forceinline=True, _nrt=False)
def _changes(stands, cut, base, way, start, end, classes, shares, wide, place, change):
    """What a row of a leaf adds to its votes, and where; returns how many numbers."""
    many = 0
    for k in range(len(cut)):
        here, under, b = np.uint64(stands[cut[k]]), np.uint64(0), base[k]
        i, to = np.uint64(start[way[k], here]), np.uint64(end[way[k], here])
        j, last = np.uint64(0), np.uint64(0)
        if b >= 0:
            under = np.uint64(stands[cut[b]])
            if under == here:
                continue
            j, last = np.uint64(start[way[b], under]), np.uint64(end[way[b], under])
        while i < to or j < last:
            if j >= last or (i < to and classes[i] < classes[j]):
                place[many], change[many] = k * wide + classes[i], shares[i]
                i += np.uint64(1)
            elif i >= to or classes[j] < classes[i]:
                place[many], change[many] = k * wide + classes[j], -shares[j]
                j += np.uint64(1)
            else:
                place[many], change[many] = k * wide + classes[i], shares[i] - shares[j]
                i += np.uint64(1)
                j += np.uint64(1)
            many += 1
    return many


@kernel(
    types.nothing(
        types.fixed_codes, types.fixed_flags, types.fixed_codes, types.fixed_words, types.fixed_wholes, types.fixed_wholes,
        types.fixed_wholes, types.fixed_columns, types.fixed_columns, types.fixed_codes, types.fixed_wholes, types.votes,
    )
)  # fmt: skip
def add(leaf, left_out, parent, stops, cut, base, way, start, end, classes, shares, votes):
    """Add what a tree says. `stops`: nodes × words, a bit per cut that stops there first; `cut`, `base`, `way`: of each pair;
    `start`, `end`: ways × nodes, lists of `classes` and `shares`; `left_out`: rows that it does not vote for, if any."""
    rows, pairs, wide = votes.shape
    flat = votes.reshape(rows, pairs * wide)
    stands = np.zeros(64 * stops.shape[1], np.int64)
    place, change = np.empty(2 * pairs * wide, np.int64), np.empty(2 * pairs * wide, np.int64)
    ends, order = _together(leaf, len(parent))
    so_far = 0
    for node in range(len(parent)):
        if ends[node] == so_far:
            continue
        _stand(node, parent, stops, stands)
        many = _changes(stands, cut, base, way, start, end, classes, shares, wide, place, change)
        for i in range(so_far, ends[node]):
            row = order[np.uint64(i)]
            if len(left_out) and left_out[row]:
                continue
            to = flat[row]
            for j in range(many):
                to[np.uint64(place[np.uint64(j)])] += change[np.uint64(j)]
        so_far = ends[node]


@kernel(types.nothing(types.fixed_votes, types.fixed_wholes, types.fixed_wholes, types.columns))
def elect(votes, order, base, elected):
    """The class of most votes per pair and row, the first where they are equal; `order`: bases before those that need them."""
    rows, pairs, classes = votes.shape
    whole = np.zeros((pairs, classes), np.int64)
    for i in range(rows):
        for place in range(pairs):
            k = order[place]
            own, change = whole[k], votes[i, k]
            if base[k] >= 0:
                under = whole[base[k]]
                for c in range(classes):
                    own[c] = under[c] + change[c]
            else:
                for c in range(classes):
                    own[c] = change[c]
            most = own[0]
            for c in range(1, classes):
                most = max(most, own[c])
            best = 0
            while own[best] != most:
                best += 1
            elected[k, i] = best
