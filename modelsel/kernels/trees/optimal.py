"""Least training errors of all trees of a depth, for every number of leaves at once, with a bound where work is limited.

E(S, d, ℓ): least weight of misclassified rows of S by a tree of depth ≤ d and ≤ ℓ leaves. S ⊂ S' ⇒ E(S, d, ℓ) ≤ E(S', d, ℓ),
so a cut c between evaluated cuts a < c < b costs at least min over ℓ₁ + ℓ₂ = ℓ of E(left of a, ℓ₁) + E(right of b, ℓ₂). The
middle of the open interval of least bound is evaluated next, until no ℓ can gain. Below, one pass per cut finds the best stumps
of both its sides, over all columns as lanes: for classes u, v, a running sum of [y = u] − [y = v] whose extremes are the best
stump with these two leaves. Sources: Demirović et al. (2022), MurTree; Brița et al. (2025), ConTree (bounds between cuts).
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel

NEVER = 1 << 60  # more than any cost


@kernel()
def _stumps(ranks, signs, ends, weights, cut, inside, least, sums, found):
    """Weights that the best stump on either side classifies rightly into `found`: left, right; the same with `min_leaf`.

    Two classes that have too few rows on either side to do better are passed over; returns how many pairs were looked at.

    ranks, ends, weights: positions × lanes (ends: −1 where a value ends, else 0); signs: pairs × positions × lanes.
    """
    kind, positions, lanes = signs.dtype.type, ranks.shape[0], ranks.shape[1]
    nought, classes = kind(0), inside.shape[1]
    for side in range(2):
        found[side] = found[2 + side] = inside[side].max()
    whole_left, whole_right = inside[0].sum(), inside[1].sum()
    left, right, most_left, least_left, most_right, least_right = sums[0], sums[1], sums[2], sums[3], sums[4], sums[5]
    pair, done, strict = 0, 0, 0 if least <= 1 else 2
    for u in range(classes):
        for v in range(u + 1, classes):
            pair += 1
            most_on_left, most_on_right = inside[0, u] + inside[0, v], inside[1, u] + inside[1, v]
            if most_on_left <= found[strict] and most_on_right <= found[strict + 1]:
                continue
            sums[:] = nought
            own = signs[pair - 1]
            done += 1
            if least <= 1:
                for p in range(positions):
                    for f in range(lanes):
                        x, stays = own[p, f], ranks[p, f] <= cut
                        on_left = kind(left[f] + (x if stays else nought))
                        on_right = kind(right[f] + (nought if stays else x))
                        left[f], right[f] = on_left, on_right
                        on_left, on_right = kind(on_left & ends[p, f]), kind(on_right & ends[p, f])
                        most_left[f], least_left[f] = max(most_left[f], on_left), min(least_left[f], on_left)
                        most_right[f], least_right[f] = max(most_right[f], on_right), min(least_right[f], on_right)
            else:
                for p in range(positions):
                    for f in range(lanes):
                        x, w, stays = own[p, f], weights[p, f], ranks[p, f] <= cut
                        left[f] = kind(left[f] + (x if stays else nought))
                        right[f] = kind(right[f] + (nought if stays else x))
                        sums[6, f] = kind(sums[6, f] + (w if stays else nought))
                        sums[7, f] = kind(sums[7, f] + (nought if stays else w))
                        if ends[p, f] == 0:
                            continue
                        most_left[f], least_left[f] = max(most_left[f], left[f]), min(least_left[f], left[f])
                        most_right[f], least_right[f] = max(most_right[f], right[f]), min(least_right[f], right[f])
                        if sums[6, f] >= least and whole_left - sums[6, f] >= least:
                            sums[8, f], sums[9, f] = max(sums[8, f], left[f]), min(sums[9, f], left[f])
                        if sums[7, f] >= least and whole_right - sums[7, f] >= least:
                            sums[10, f], sums[11, f] = max(sums[10, f], right[f]), min(sums[11, f], right[f])
                for side in range(2):
                    high, low = np.int64(sums[8 + 2 * side].max()), np.int64(sums[9 + 2 * side].min())
                    found[2 + side] = max(found[2 + side], inside[side, v] + high, inside[side, u] - low)
            found[0] = max(found[0], inside[0, v] + np.int64(most_left.max()), inside[0, u] - np.int64(least_left.min()))
            found[1] = max(found[1], inside[1, v] + np.int64(most_right.max()), inside[1, u] - np.int64(least_right.min()))
    if least <= 1:
        found[2], found[3] = found[0], found[1]
    return done


@kernel()
def _present(order, labels, weights, classes):
    """Numbers of the classes in a node, the heaviest first (−1: it has none), and how many it has."""
    counts = np.zeros(classes, np.int64)
    for p in range(order.shape[0]):
        counts[labels[order[p, 0]]] += weights[order[p, 0]]
    number, present = np.full(classes, -1, np.int64), 0
    for k in np.argsort(-counts, kind="mergesort"):
        if counts[k] > 0:
            number[k] = present
            present += 1
    return number, present


@kernel()
def _joined(left, right, out):
    """Least cost per number of leaves of a test whose sides cost these; left and right count from one leaf."""
    half = len(left)
    out[0] = NEVER
    for leaves in range(2, 2 * half + 1):
        least = NEVER
        for own in range(max(1, leaves - half), min(half, leaves - 1) + 1):
            least = min(least, left[own - 1] + right[leaves - own - 1])
        out[leaves - 1] = least


@kernel()
def _take(sides, feature, cut, best, chosen):
    """Keep a cut for the numbers of leaves for which it is better; ties keep the first by the order of the columns."""
    left, right = sides[0], sides[1]
    half = len(left)
    for leaves in range(2, 2 * half + 1):
        for own in range(max(1, leaves - half), min(half, leaves - 1) + 1):
            cost = left[own - 1] + right[leaves - own - 1]
            if cost < best[leaves - 1]:
                best[leaves - 1] = cost
                chosen[leaves - 1, 0], chosen[leaves - 1, 1], chosen[leaves - 1, 2] = feature, cut, own


@kernel()
def _start(order, labels, weights, classes, best, low, chosen):
    """Costs of a lone leaf everywhere; True where there is nothing to gain."""
    counts = np.zeros(classes, np.int64)
    for p in range(order.shape[0]):
        counts[labels[order[p, 0]]] += weights[order[p, 0]]
    best[:] = counts.sum() - counts.max()
    low[:] = best
    chosen[:] = -1
    return best[0] == 0


@kernel()
def _cuts(order, ranks):
    """Ranks after which the rows of a node may be cut, column after column, and where those of each column begin."""
    features, first, count = ranks.shape[0], np.zeros(ranks.shape[0] + 1, np.int64), 0
    cuts = np.empty(features * max(order.shape[0], 1), np.int64)
    for f in range(features):
        for p in range(order.shape[0] - 1):
            if ranks[f, order[p, f]] != ranks[f, order[p + 1, f]]:
                cuts[count] = ranks[f, order[p, f]]
                count += 1
        first[f + 1] = count
    return cuts[:count].copy(), first


@kernel()
def _may_gain(bound, best):
    """Say whether the bound of some number of leaves lies below the least cost that was found."""
    return (bound[1:] < best[1:]).any()


@kernel()
def _monotone(values):
    for i in range(1, len(values)):
        values[i] = min(values[i], values[i - 1])


@kernel()
def _two(order, ranks, labels, weights, classes, least, kind, work, best, low, chosen):
    """Solve depth 2: per column a stack of intervals of cuts, the medians of all columns first."""
    if _start(order, labels, weights, classes, best, low, chosen) or order.shape[0] < 2:
        return
    positions, lanes, features = order.shape[0], order.shape[1], ranks.shape[0]
    number, classes = _present(order, labels, weights, classes)
    pairs = classes * (classes - 1) // 2
    signs = np.empty((pairs, positions, lanes), kind.dtype)
    ends, heavy = np.empty((positions, lanes), kind.dtype), np.empty((positions, lanes), kind.dtype)
    turned = np.empty((positions, lanes), kind.dtype)
    for p in range(positions):
        for f in range(lanes):
            row, pair = order[p, f], 0
            heavy[p, f] = weights[row]
            more = f < features and p + 1 < positions
            ends[p, f] = -1 if more and ranks[f, row] != ranks[f, order[p + 1, f]] else 0
            for u in range(classes):
                for v in range(u + 1, classes):
                    own = number[labels[row]]
                    signs[pair, p, f] = weights[row] * ((own == u) - (own == v))
                    pair += 1
    cuts, first = _cuts(order, ranks)
    sums, found = np.zeros((12, lanes), kind.dtype), np.empty(4, np.int64)
    inside = np.empty((2, classes), np.int64)
    bound, sides, below = np.empty(4, np.int64), np.empty((2, 2), np.int64), np.empty((2, 2), np.int64)
    medians = np.zeros((features, 2, 2), np.int64)
    promise = np.full(features, NEVER, np.int64)
    done = np.zeros(features, np.bool_)
    stack, ends_of = np.empty((64, 2), np.int64), np.empty((64, 2, 2), np.int64)
    for turn in range(2 * features):
        phase, g = turn // features, turn % features
        if phase == 1:
            g = -1
            for f in range(features):
                if not done[f] and (g < 0 or promise[f] < promise[g]):
                    g = f
            done[g] = True
        start, stop = first[g], first[g + 1]
        if start == stop:
            continue
        for p in range(positions):
            for f in range(lanes):
                turned[p, f] = ranks[g, order[p, f]]
        height, median = 0, (start + stop) // 2
        if phase == 0:
            stack[0, 0], stack[0, 1], height = median, median + 1, 1
            ends_of[0] = 0
        else:
            stack[0, 0], stack[0, 1], stack[1, 0], stack[1, 1], height = start, median, median + 1, stop, 2
            ends_of[0, 0], ends_of[1, 1] = 0, 0
            ends_of[0, 1], ends_of[1, 0] = medians[g, 1], medians[g, 0]
        while height > 0:
            height -= 1
            begin, end = stack[height, 0], stack[height, 1]
            if begin >= end:
                continue
            from_left, from_right = ends_of[height, 0].copy(), ends_of[height, 1].copy()
            _joined(from_left, from_right, bound)
            if not _may_gain(bound, best):
                continue
            if work[0] >= work[1]:
                for leaves in range(1, 4):
                    low[leaves] = min(low[leaves], bound[leaves])
                if phase == 0:
                    medians[g] = 0
                continue
            middle = (begin + end) // 2
            inside[:] = 0
            for p in range(positions):
                row = order[p, 0]
                inside[0 if turned[p, 0] <= cuts[middle] else 1, number[labels[row]]] += weights[row]
            done_pairs = _stumps(turned, signs, ends, heavy, kind.dtype.type(cuts[middle]), inside, least, sums, found)
            work[0] += positions * lanes * done_pairs
            for side in range(2):
                whole = inside[side].sum()
                below[side, 0] = sides[side, 0] = whole - inside[side].max()
                below[side, 1], sides[side, 1] = whole - found[side], whole - found[2 + side]
            if inside[0].sum() >= least and inside[1].sum() >= least:
                _take(sides, g, cuts[middle], best, chosen)
            if least > 1:
                _joined(below[0], below[1], bound)
                for leaves in range(1, 4):
                    low[leaves] = min(low[leaves], bound[leaves])
            if phase == 0:
                medians[g], promise[g] = below, below[0, 1] + below[1, 1]
                continue
            stack[height, 0], stack[height, 1] = begin, middle
            ends_of[height, 0], ends_of[height, 1] = from_left, below[1]
            stack[height + 1, 0], stack[height + 1, 1] = middle + 1, end
            ends_of[height + 1, 0], ends_of[height + 1, 1] = below[0], from_right
            height += 2
    _settle(best, low, chosen)


@kernel()
def _settle(best, low, chosen):
    """At most ℓ leaves: what fewer leaves reach, more reach too; the bound is never above what was found."""
    for leaves in range(1, len(best)):
        if best[leaves - 1] <= best[leaves]:
            best[leaves] = best[leaves - 1]
            chosen[leaves] = chosen[leaves - 1]
        low[leaves] = min(low[leaves], best[leaves])
    _monotone(low)


@kernel()
def _part(order, ranks, feature, cut):
    """The rows on either side of a cut, each in every column's order."""
    count = 0
    for p in range(order.shape[0]):
        count += ranks[feature, order[p, 0]] <= cut
    left, right = np.empty((count, order.shape[1]), np.int64), np.empty((order.shape[0] - count, order.shape[1]), np.int64)
    for f in range(order.shape[1]):
        i, j = 0, 0
        for p in range(order.shape[0]):
            row = order[p, f]
            if ranks[feature, row] <= cut:
                left[i, f] = row
                i += 1
            else:
                right[j, f] = row
                j += 1
    return left, right


@kernel()
def _deep(depth, order, ranks, labels, weights, classes, least, kind, work, best, low, chosen):
    """Solve any depth from 2 on: the open interval of least bound first."""
    if depth == 2:
        _two(order, ranks, labels, weights, classes, least, kind, work, best, low, chosen)
        return 0
    if _start(order, labels, weights, classes, best, low, chosen) or order.shape[0] < 2:
        return 0
    half = len(best) // 2
    cuts, first = _cuts(order, ranks)
    features = ranks.shape[0]
    room = len(cuts) + features + 2
    spans, key = np.empty((room, 3), np.int64), np.empty(room, np.int64)
    ends_of = np.zeros((room, 2, half), np.int64)
    bound, under = np.empty(2 * half, np.int64), np.empty(2 * half, np.int64)
    sides, below = np.empty((2, half), np.int64), np.empty((2, half), np.int64)
    arguments = np.empty((half, 3), np.int64)
    count = 0
    for f in range(features):
        if first[f] < first[f + 1]:
            spans[count, 0], spans[count, 1], spans[count, 2], key[count] = f, first[f], first[f + 1], 0
            count += 1
    while count > 0:
        place = 0
        for i in range(1, count):
            if key[i] < key[place]:
                place = i
        f, begin, end = spans[place, 0], spans[place, 1], spans[place, 2]
        from_left, from_right = ends_of[place, 0].copy(), ends_of[place, 1].copy()
        count -= 1
        for i in range(place, count):
            spans[i], key[i] = spans[i + 1], key[i + 1]
            ends_of[i] = ends_of[i + 1]
        _joined(from_left, from_right, bound)
        if not _may_gain(bound, best):
            continue
        if work[0] >= work[1]:
            for leaves in range(1, 2 * half):
                low[leaves] = min(low[leaves], bound[leaves])
            continue
        middle = (begin + end) // 2
        cut = cuts[middle]
        parts = _part(order, ranks, f, cut)
        for side in range(2):
            _deep(
                depth - 1, parts[side], ranks, labels, weights, classes, least, kind, work, sides[side], below[side], arguments
            )
        heavy = True
        if least > 1:
            for part in parts:
                whole = 0
                for p in range(part.shape[0]):
                    whole += weights[part[p, 0]]
                heavy = heavy and whole >= least
        if heavy:
            _take(sides, f, cut, best, chosen)
        _joined(below[0], below[1], under)
        for leaves in range(1, 2 * half):
            low[leaves] = min(low[leaves], max(bound[leaves], under[leaves]))
        for leaves in range(half):  # a side whose search was cut short knows no less than its neighbour's
            below[0, leaves] = max(below[0, leaves], from_left[leaves])
            below[1, leaves] = max(below[1, leaves], from_right[leaves])
        if begin < middle:
            spans[count, 0], spans[count, 1], spans[count, 2] = f, begin, middle
            ends_of[count, 0], ends_of[count, 1] = from_left, below[1]
            key[count] = from_left[half - 1] + below[1, half - 1]
            count += 1
        if middle + 1 < end:
            spans[count, 0], spans[count, 1], spans[count, 2] = f, middle + 1, end
            ends_of[count, 0], ends_of[count, 1] = below[0], from_right
            key[count] = below[0, half - 1] + from_right[half - 1]
            count += 1
    _settle(best, low, chosen)
    return 0


_SIGNATURE = (types.whole, types.entries, types.entries, types.wholes, types.wholes, types.whole, types.whole, types.wholes)
_OUT = (types.wholes, types.wholes, types.entries)


@kernel(types.nothing(*_SIGNATURE, *_OUT))
def small(depth, order, ranks, labels, weights, classes, least, work, best, low, chosen):
    """Write least costs, bounds and tests (column, rank, leaves on the left) per number of leaves; total weight < 2¹⁵.

    order: positions × lanes, rows by each column's rank; lanes beyond the columns are copies that end nowhere. ranks: columns ×
    rows; work: done and allowed, in positions × lanes × pairs of classes that were looked at.
    """
    _deep(depth, order, ranks, labels, weights, classes, least, np.empty(0, np.int16), work, best, low, chosen)


@kernel(types.nothing(*_SIGNATURE, *_OUT))
def large(depth, order, ranks, labels, weights, classes, least, work, best, low, chosen):
    """The same of totals below 2³¹."""
    _deep(depth, order, ranks, labels, weights, classes, least, np.empty(0, np.int32), work, best, low, chosen)
