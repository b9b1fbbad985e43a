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


@kernel(_nrt=False)
def _together(leaf, ends, order):
    """Put rows in the order of their leaves, and say where those of each leaf end."""
    for node in range(len(ends)):
        ends[node] = 0
    for i in range(len(leaf)):
        ends[leaf[i]] += 1
    so_far = 0
    for node in range(len(ends)):
        ends[node], so_far = so_far, so_far + ends[node]
    for i in range(len(leaf)):
        order[ends[leaf[i]]] = i
        ends[leaf[i]] += 1


@kernel(forceinline=True, _nrt=False)
def _stand(node, parent, stops, stands):
    """Find where the way down to a leaf ends under each cut: the nodes above it are asked, each cut stops at one of them."""
    while node >= 0:
        for w in range(stops.shape[1]):
            bits = stops[np.uint64(node), np.uint64(w)]
            while bits != 0:
                low = bits & (~bits + np.uint64(1))
                stands[(w << 6) + PLACE[(low * HASH) >> TOP]] = node
                bits ^= low
        node = parent[np.uint64(node)]


@kernel(forceinline=True, _nrt=False)
def _say(at, node, sign, lists, dense, to):
    """Add what a node says, times `sign`, to the numbers from `at` on."""
    start, end, classes, shares = lists
    i, last, row, wide = np.uint64(start[node]), np.uint64(end[node]), dense[0][node], np.uint64(dense[1].shape[1])
    if row >= 0:
        for c in range(wide):
            to[at + c] += sign * dense[1][np.uint64(row), c]
    else:
        while i < last:
            to[at + np.uint64(classes[i])] += sign * shares[i]
            i += np.uint64(1)


@kernel(forceinline=True, _nrt=False)
def _changes(stands, pairs, lists, dense, touched, to):
    """Add what a row of a leaf says under each pair, less what it says under the base; returns how many pairs differ."""
    cut, base, way = pairs
    many, wide = 0, np.uint64(dense[1].shape[1])
    for k in range(np.uint64(len(cut))):
        here, b = np.uint64(stands[cut[k]]), base[k]
        if b >= 0:
            under = np.uint64(stands[cut[np.uint64(b)]])
            if under == here:
                continue
            _say(k * wide, np.uint64(way[k]) + under, -1, lists, dense, to)
        _say(k * wide, np.uint64(way[k]) + here, 1, lists, dense, to)
        touched[many] = k
        many += 1
    return many


@kernel(
    types.nothing(
        types.fixed_codes, types.fixed_flags, types.fixed_codes, types.fixed_words, types.fixed_wholes, types.fixed_wholes,
        types.fixed_wholes, types.fixed_codes, types.fixed_codes, types.fixed_codes, types.fixed_wholes, types.fixed_codes,
        types.fixed_entries, types.wholes, types.entries,
    ),
    _nrt=False,
)  # fmt: skip
def add(leaf, left_out, parent, stops, cut, base, way, start, end, classes, shares, row_of, dense, room, votes):
    """Add what a tree says to the votes (rows × pairs and classes).

    `stops`: nodes × words, a bit per cut that stops there first; `cut`, `base`: of each pair; `way`: where the nodes of its way
    of voting begin; `start`, `end`: lists of `classes` and `shares` per way and node; `row_of`: its row of `dense` where many
    classes have votes, else −1; `left_out`: rows that it does not vote for, if any; `room`: zeros for 64 cuts per word,
    pairs, pairs times classes, nodes, rows.
    """
    pairs, wide = len(cut), dense.shape[1]
    stands, room = room[: 64 * stops.shape[1]], room[64 * stops.shape[1] :]
    touched, own, room = room[:pairs], room[pairs : pairs + pairs * wide], room[pairs + pairs * wide :]
    ends, order = room[: len(parent)], room[len(parent) :]
    _together(leaf, ends, order)
    so_far = 0
    for node in range(len(parent)):
        if ends[node] == so_far:
            continue
        first, last, so_far = so_far, ends[node], ends[node]
        _stand(node, parent, stops, stands)
        lists, whole = (start, end, classes, shares), (row_of, dense)
        if last == first + 1 and not (len(left_out) and left_out[order[first]]):
            _changes(stands, (cut, base, way), lists, whole, touched, votes[order[first]])
            continue
        many = _changes(stands, (cut, base, way), lists, whole, touched, own)
        for i in range(first, last):
            row = order[np.uint64(i)]
            if len(left_out) and left_out[row]:
                continue
            to = votes[row]
            for t in range(many):
                at = np.uint64(touched[t]) * np.uint64(wide)
                for c in range(np.uint64(wide)):
                    to[at + c] += own[at + c]
        for t in range(many):
            at = np.uint64(touched[t]) * np.uint64(wide)
            for c in range(np.uint64(wide)):
                own[at + c] = 0


@kernel(types.nothing(types.fixed_entries, types.fixed_wholes, types.fixed_wholes, types.wholes, types.columns), _nrt=False)
def elect(votes, order, base, whole, elected):
    """Elect the class of most votes per pair and row, the first where they are equal.

    `order`: bases before those that need them; `whole`: room for the votes of a row.
    """
    pairs = len(order)
    wide = np.uint64(len(whole) // pairs)
    for i in range(len(votes)):
        own = votes[i]
        for place in range(pairs):
            k, b = np.uint64(order[place]), base[order[place]]
            at, under = k * wide, np.uint64(max(b, 0)) * wide
            kept = -np.int64(b >= 0)
            most = np.int64(-1)
            for c in range(wide):
                votes_of = own[at + c] + (whole[under + c] & kept)
                whole[at + c] = votes_of
                most = max(most, votes_of)
            best = at
            while whole[best] != most:
                best += np.uint64(1)
            elected[k, i] = best - at
