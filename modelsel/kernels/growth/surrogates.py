"""Find surrogates: tests on other features that send rows the way a two-branch test does (Breiman et al. 1984, section 5.3).

    agreement = weight sent the same way / weight, of the rows known in both features

What is found is written as weight, as if all rows of the node were known: features compete by their share (rpart's
`surrogatestyle=1`), or with `by_count` by the weight itself, so that gaps count against a surrogate (its default). A cut may be
flipped: x ≤ θ then stands for the second branch. A level stands for the branch of most of its weight. θ lies below the next
larger value that any row of the node has, so that rows known in this feature alone part where they will when predicted (as
in rpart). A test that agrees on no more than the larger side is none, and is not looked for.
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.layout import AGREED, CODE, FLIPPED, KNOWN, MAJORITY, NEXT, NOTHING, SURROGATES, TIE, WHOLE

# The cut of a sorted column that sends most weight the way another test sends it, and the best of such cuts (`surrogates`).
#
# Weights that are whole numbers are added as such: a cut then costs one addition, as the two agreements of a cut are
#
#     straight = one + d,   flipped = zero − d,   d = weight of the first branch less that of the second, left of the cut


@kernel(_nrt=False)
def of_all(zero, one, total, found):
    """From the weight of the rows known in both features to that of all."""
    found[WHOLE] = found[KNOWN] = zero + one
    found[MAJORITY] = max(zero, one)
    if found[WHOLE] > 0:
        scale = total / found[WHOLE]
        found[MAJORITY] *= scale
        found[WHOLE] *= scale
        if found[AGREED] > 0:
            found[AGREED] *= scale


@kernel(_nrt=False)
def by_count(zero, one, found):
    """Take the agreement of all rows known to the test, of which those not known to the surrogate agree with nothing."""
    if found[AGREED] > 0:
        found[AGREED] *= found[KNOWN] / found[WHOLE]
    found[WHOLE], found[MAJORITY] = zero + one, max(zero, one)


@kernel(_nrt=False)
def whole_cut(entries, lean, zero, one, total, missing, shift, id_bits, found):
    """Write the cut of a sorted column that agrees best into `found`; zero, one: weight in the branches."""
    ids = (1 << id_bits) - 1
    end = len(entries)
    while end > 0 and entries[end - 1] >> shift == missing:
        end -= 1
        w = np.int64(lean[np.uint64(entries[end] & ids)])
        zero -= max(w, 0)
        one += min(w, 0)
    most, least, at_most, at_least, d = max(zero - one, 0), min(zero - one, 0), 0, 0, np.int64(0)
    entry = entries[0]
    for i in range(1, end):
        d += lean[np.uint64(entry & ids)]
        after = entries[np.uint64(i)]
        if (d > most or d < least) and (entry ^ after) >> shift != 0:
            if d > most:
                most, at_most = d, i
            else:
                least, at_least = d, i
        entry = after
    straight, flipped = one + most, zero - least
    flip = flipped > straight or (flipped == straight and at_least < at_most)
    at = at_least if flip else at_most
    found[AGREED] = NOTHING
    if at > 0:
        found[AGREED], found[FLIPPED] = float(flipped if flip else straight), 1.0 if flip else 0.0
        found[CODE], found[NEXT] = entries[at - 1] >> shift, entries[at] >> shift
    of_all(float(zero), float(one), total, found)


@kernel(_nrt=False)
def rank(found, total, best):
    """Features whose surrogates agree on more than the larger side, best first; −1 fills up."""
    ranked = 0
    for k in range(SURROGATES):
        best[k] = -1
    for g in range(len(found)):
        if found[g, AGREED] <= found[g, MAJORITY] + TIE * total:
            continue
        place = ranked
        while place > 0 and found[g, AGREED] > found[best[place - 1], AGREED] + TIE * total:
            place -= 1
        if place < SURROGATES:
            ranked = min(ranked + 1, SURROGATES)
            for k in range(ranked - 1, place, -1):
                best[k] = best[k - 1]
            best[place] = g


HALF = 31  # bits of a whole weight


@kernel(_nrt=False)
def _total(weight):
    """Sum of the weights and whether they may be added as whole numbers."""
    total, exact = 0.0, True
    for i in range(len(weight)):
        total += weight[i]
        exact &= weight[i] == np.floor(weight[i])
    return total, exact and total < 1 << HALF


@kernel(_nrt=False)
def _sums(branch, weight):
    """Weight in the first and in the second branch."""
    zero, one = 0.0, 0.0
    for i in range(len(branch)):
        zero += weight[i] if branch[i] == 0 else 0.0
        one += weight[i] if branch[i] == 1 else 0.0
    return zero, one


@kernel(_nrt=False)
def _lean(branch, weight, lean, pair):
    """Write per row its weight, negative in the second branch, and both branches' weights as one number."""
    for i in range(len(branch)):
        w, b = np.int64(weight[i]), branch[i]
        known = np.int64(b >= 0)
        lean[i] = w * (known - 2 * known * b)
        pair[i] = w * known * ((np.int64(1) << HALF) + b)


@kernel(_nrt=False)
def _cut(entries, branch, weight, total, missing, rules, found):
    """The same for weights of any kind; `branch` is −1 where it is not known."""
    shift, ids = rules.id_bits + rules.class_bits, (1 << rules.id_bits) - 1
    found[AGREED] = NOTHING
    zero, one, end = 0.0, 0.0, 0
    for i in range(len(entries)):
        if entries[i] >> shift == missing:
            break
        end += 1
        row = entries[i] & ids
        zero += weight[row] if branch[row] == 0 else 0.0
        one += weight[row] if branch[row] == 1 else 0.0
    whole, left_zero, left_one, previous, after = zero + one, 0.0, 0.0, np.int64(-1), np.int64(-1)
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
    of_all(zero, one, total, found)


@kernel(_nrt=False)
def _whole_levels(codes, rows, pair, total, levels, tally, sides, found):
    """Write the branch that each level stands for into `sides` (−1: it does not occur), and how well that agrees."""
    for level in range(levels + 1):
        tally[level] = 0
    for i in range(len(rows)):
        tally[np.uint64(codes[np.uint64(rows[i])] + 1)] += pair[i]
    agreed, whole, ones = np.int64(0), np.int64(0), np.int64(0)
    for level in range(levels):
        both, one = tally[level + 1] >> HALF, tally[level + 1] & ((np.int64(1) << HALF) - 1)
        whole += both
        ones += one
        agreed += max(one, both - one)
        sides[level] = -1 if both == 0 else np.int64(one > both - one)
    found[AGREED] = float(agreed)
    of_all(float(whole - ones), float(ones), total, found)


@kernel(_nrt=False)
def _levels(codes, rows, branch, weight, total, levels, table, sides, found):
    """The same for weights of any kind."""
    for level in range(levels):
        table[level, 0], table[level, 1], sides[level] = 0.0, 0.0, -1
    zero, one = 0.0, 0.0
    for i in range(len(rows)):
        level = codes[rows[i]]
        if level >= 0 and branch[i] >= 0:
            table[level, branch[i]] += weight[i]
            zero += weight[i] if branch[i] == 0 else 0.0
            one += weight[i] if branch[i] == 1 else 0.0
            sides[level] = 0
    found[AGREED] = 0.0
    for level in range(levels):
        found[AGREED] += max(table[level, 0], table[level, 1])
        if table[level, 1] > table[level, 0] + TIE * (zero + one):
            sides[level] = 1
    of_all(zero, one, total, found)


@kernel(types.mimics.signature, _nrt=False)
def mimics(order, slot, codes, levels, start, end, rows, weight, branch, f, below, rules, lean, pair, tally, table, sides,
           found, ranked):  # fmt: skip
    """The best surrogate by each feature of the test on `f`, which sends rows into `branch` (−1: not known), into `found`.

    ranked: the features of the best surrogates (−1 fills up), and last the branch of most weight (ties: the first).
    lean, pair, tally, table: room to work.
    """
    total, exact = _total(weight)
    zero, one = _sums(branch, weight)
    if exact:
        _lean(branch, weight, lean, pair)
    for g in range(len(slot)):
        found[g, AGREED] = NOTHING
        if g == f or not below[g]:
            continue
        if slot[g] < 0 and exact:
            _whole_levels(codes[g], rows, pair, total, levels[g], tally, sides[g], found[g])
        elif slot[g] < 0:
            _levels(codes[g], rows, branch, weight, total, levels[g], table, sides[g], found[g])
        elif exact:
            whole_cut(order[slot[g], start:end], lean, np.int64(zero), np.int64(one), total, levels[g],
                      rules.id_bits + rules.class_bits, rules.id_bits, found[g])  # fmt: skip
        else:
            _cut(order[slot[g], start:end], branch, weight, total, levels[g], rules, found[g])
        if rules.by_count:
            by_count(zero, one, found[g])
    rank(found, total, ranked)
    ranked[SURROGATES] = 1 if one > zero + 1e-9 else 0
