"""How well a test on another feature sends rows the way a two-branch test sends them (Breiman et al. 1984, section 5.3).

    agreement = weight sent the same way / weight, of the rows known in both features

What is found is written as weight, as if all rows of the node were known: features compete by their share. A cut may be
flipped: x ≤ θ then stands for the second branch. A level stands for the branch of most of its weight. θ lies below the next
larger value that any row of the node has, so that rows known in this feature alone part where they will when predicted (as
in rpart).
"""

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.layout import AGREED, CODE, FLIPPED, MAJORITY, NEXT, NOTHING, TIE, WHOLE


@kernel()
def _of_all(found, weight):
    """From the weight of the rows known in both features to that of all."""
    if found[WHOLE] > 0:
        scale = weight.sum() / found[WHOLE]
        found[MAJORITY] *= scale
        found[WHOLE] *= scale
        if found[AGREED] > 0:
            found[AGREED] *= scale


@kernel(types.nothing(types.wholes, types.wholes, types.reals, types.whole, types.rules, types.reals))
def mimic_cut(entries, branch, weight, missing, rules, found):
    """Write the cut of a sorted column that agrees best with `branch` (−1: not known) into `found`."""
    shift, ids = rules.id_bits + rules.class_bits, (1 << rules.id_bits) - 1
    found[:] = 0.0
    found[AGREED] = NOTHING
    zero, one, end = 0.0, 0.0, 0
    for i in range(len(entries)):
        if entries[i] >> shift == missing:
            break
        end += 1
        row = entries[i] & ids
        zero += weight[row] if branch[row] == 0 else 0.0
        one += weight[row] if branch[row] == 1 else 0.0
    whole, left_zero, left_one, previous, after = zero + one, 0.0, 0.0, -1, -1
    tie = TIE * whole
    for i in range(end):
        row, code = entries[i] & ids, entries[i] >> shift
        if after == previous:
            after = code
        if branch[row] < 0:
            continue
        if code != previous and previous >= 0:
            straight = left_zero + one - left_one
            for flipped in range(2):
                agreed = whole - straight if flipped else straight
                if agreed > found[AGREED] + tie:
                    found[AGREED], found[CODE], found[NEXT], found[FLIPPED] = agreed, previous, after, flipped
        previous = after = code
        left_zero += weight[row] if branch[row] == 0 else 0.0
        left_one += weight[row] if branch[row] == 1 else 0.0
    found[WHOLE], found[MAJORITY] = whole, max(zero, one)
    _of_all(found, weight)


@kernel(
    types.nothing(
        types.fixed_codes, types.codes, types.wholes, types.reals, types.whole, types.matrix, types.wholes, types.reals
    )
)
def mimic_levels(codes, rows, branch, weight, levels, table, sides, found):
    """Write the branch that each level stands for into `sides` (−1: it does not occur), and how well that agrees."""
    table[:levels, :2] = 0.0
    sides[:levels] = -1
    found[:] = 0.0
    zero, one = 0.0, 0.0
    for i in range(len(rows)):
        level = codes[rows[i]]
        if level >= 0 and branch[i] >= 0:
            table[level, branch[i]] += weight[i]
            zero += weight[i] if branch[i] == 0 else 0.0
            one += weight[i] if branch[i] == 1 else 0.0
            sides[level] = 0
    for level in range(levels):
        found[AGREED] += max(table[level, 0], table[level, 1])
        if table[level, 1] > table[level, 0] + TIE * (zero + one):
            sides[level] = 1
    found[WHOLE], found[MAJORITY] = zero + one, max(zero, one)
    _of_all(found, weight)
