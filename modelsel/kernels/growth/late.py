"""Surrogates of a tree that is grown already: thresholds alone, no value missing, every row of weight one.

Sorted columns are parted down the tree as when it grew, and at each test the other columns are asked for their best cut
(`agreement`). Nodes stand in preorder, so that a first child follows its parent.
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.growth.surrogates import rank, whole_cut
from modelsel.kernels.layout import AGREED, CODE, FLIPPED, MIMIC, NEXT, NOTHING, SURROGATES, WHOLE


@kernel(_nrt=False)
def _lean(column, cut, shift, ids, lean):
    """1 for rows of the first branch, −1 for those of the second; how many go first."""
    first = 0
    for entry in column:
        inside = entry >> shift <= cut
        lean[entry & ids] = 1 if inside else -1
        first += inside
    return first


@kernel(_nrt=False)
def _part(column, lean, ids, first, spare):
    """Rows of the first branch before those of the second, each in their order."""
    left, right = 0, first
    for i in range(len(column)):
        entry = column[i]
        inside = lean[entry & ids] > 0
        spare[left if inside else right] = entry
        left += inside
        right += not inside
    for i in range(len(column)):
        column[i] = spare[i]


@kernel(types.late(
    types.entries, types.fixed_codes, types.fixed_wholes, types.fixed_codes, types.fixed_wholes, types.whole,
    types.whole,
))  # fmt: skip
def find(order, feature, cut, second, levels, id_bits, class_bits):
    """Records of surrogates, node after node, and their agreements.

    order: sorted entries per feature, which are moved; feature: −1 at leaves; cut: its code; second: the second child.
    """
    features, rows = order.shape
    shift, ids = id_bits + class_bits, (1 << id_bits) - 1
    records, agreement, many = np.zeros((len(cut) // 2 * SURROGATES, MIMIC), np.int64), np.zeros(len(cut) // 2 * SURROGATES), 0
    lean, spare, found = np.zeros(rows, np.int32), np.zeros(rows, np.int64), np.zeros((features, 8))
    ranked, starts, ends = np.zeros(SURROGATES + 1, np.int64), np.zeros(len(cut), np.int64), np.zeros(len(cut), np.int64)
    ends[0] = rows
    for node in range(len(cut)):
        if feature[node] < 0:
            continue
        start, end = starts[node], ends[node]
        zero = _lean(order[feature[node], start:end], cut[node], shift, ids, lean)
        for g in range(features):
            found[g, AGREED], column = NOTHING, order[g, start:end]
            if g != feature[node] and column[0] >> shift != column[-1] >> shift:
                whole_cut(column, lean, zero, end - start - zero, float(end - start), levels[g], shift, id_bits, found[g])
        rank(found, float(end - start), ranked)
        for g in ranked[:SURROGATES]:
            if g < 0:
                break
            record, own = records[many], found[g]
            record[0], record[1], record[2], record[3] = node, g, int(own[CODE]), int(own[NEXT])
            record[4], record[5] = int(own[FLIPPED]), -1
            agreement[many] = own[AGREED] / own[WHOLE]
            many += 1
        for g in range(features):
            _part(order[g, start:end], lean, ids, zero, spare)
        starts[node + 1], ends[node + 1] = start, start + zero
        starts[second[node]], ends[second[node]] = start + zero, end
    return records[:many].copy(), agreement[:many].copy()
