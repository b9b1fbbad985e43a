"""The cut of a sorted column that sends most weight the way another test sends it, and the best of such cuts (`surrogates`).

Weights that are whole numbers are added as such: a cut then costs one addition, as the two agreements of a cut are

    straight = one + d,   flipped = zero − d,   d = weight of the first branch less that of the second, left of the cut
"""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.layout import AGREED, CODE, FLIPPED, KNOWN, MAJORITY, NEXT, NOTHING, SURROGATES, TIE, WHOLE


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
