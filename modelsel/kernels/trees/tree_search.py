"""The search of a best tree of a depth, whatever its leaves cost: pieces of `optimal` and `optimal_numbers`.

E(S, d, ℓ): least cost of the rows of S by a tree of depth ≤ d and ≤ ℓ leaves. S ⊂ S' ⇒ E(S, d, ℓ) ≤ E(S', d, ℓ), so a cut c
between evaluated cuts a < c < b costs at least min over ℓ₁ + ℓ₂ = ℓ of E(left of a, ℓ₁) + E(right of b, ℓ₂). The middle of the
open interval of least bound is evaluated next, until no ℓ can gain. What leaves cost is told by three functions, which read
`rows`, whatever that is:

    leaf(order, rows)              cost of a node without a test
    ready(order, ranks, rows)      the rows of a node as lanes
    stumps(order, turned, cut, rows, lanes, least, below, sides)
                                   costs of both sides of a cut without and with a test: `below` whatever their leaves weigh,
                                   `sides` with leaves of weight `least` (NEVER: a side is too light); returns its steps

Costs are whole numbers, or real ones of which `slack` is as good as nothing. Sources: Demirović et al. (2022), MurTree; Brița
et al. (2025), ConTree (bounds between cuts).
"""

import numpy as np

from modelsel.kernels.compiler import kernel

NEVER = 1 << 60  # more than any cost


@kernel()
def _join(left, right, out):
    """Least cost per number of leaves of a test whose sides cost these; left and right count from one leaf."""
    half = len(left)
    out[0] = NEVER
    for leaves in range(2, 2 * half + 1):
        least = left[0] * 0 + NEVER
        for own in range(max(1, leaves - half), min(half, leaves - 1) + 1):
            least = min(least, left[own - 1] + right[leaves - own - 1])
        out[leaves - 1] = least


@kernel()
def _take(sides, feature, cut, slack, best, chosen):
    """Keep a cut for the numbers of leaves for which it is better; ties keep the first by the order of the columns."""
    left, right = sides[0], sides[1]
    half = len(left)
    for leaves in range(2, 2 * half + 1):
        for own in range(max(1, leaves - half), min(half, leaves - 1) + 1):
            cost = left[own - 1] + right[leaves - own - 1]
            if cost < best[leaves - 1] - slack:
                best[leaves - 1] = cost
                chosen[leaves - 1, 0], chosen[leaves - 1, 1], chosen[leaves - 1, 2] = feature, cut, own


@kernel()
def _start(alone, best, low, chosen):
    """Costs of a lone leaf everywhere; True where there is nothing to gain."""
    best[:] = alone
    low[:] = alone
    chosen[:] = -1
    return alone <= 0


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
def _may_gain(bound, best, slack):
    """Say whether the bound of some number of leaves lies below the least cost that was found."""
    return (bound[1:] < best[1:] - slack).any()


@kernel()
def _monotone(values):
    for i in range(1, len(values)):
        values[i] = min(values[i], values[i - 1])


@kernel()
def _settle(slack, best, low, chosen):
    """At most ℓ leaves: what fewer leaves reach, more reach too; the bound is never above what was found."""
    for leaves in range(1, len(best)):
        if best[leaves - 1] <= best[leaves] + slack:
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


def search_by(leaf, ready, stumps):
    """The compiled search for leaves whose cost these three tell; they become pieces of it."""

    @kernel()
    def two(order, ranks, rows, least, slack, kind, work, best, low, chosen):
        """Solve depth 2: per column a stack of intervals of cuts, the medians of all columns first."""
        if _start(leaf(order, rows), best, low, chosen) or order.shape[0] < 2:
            return
        positions, lanes, features = order.shape[0], order.shape[1], ranks.shape[0]
        side_by_side = ready(order, ranks, rows)
        turned = np.empty((positions, lanes), kind.dtype)
        cuts, first = _cuts(order, ranks)
        bound, sides, below = np.empty(4, best.dtype), np.empty((2, 2), best.dtype), np.empty((2, 2), best.dtype)
        medians = np.zeros((features, 2, 2), best.dtype)
        promise = np.full(features, NEVER, best.dtype)
        done = np.zeros(features, np.bool_)
        stack, ends_of = np.empty((64, 2), np.int64), np.empty((64, 2, 2), best.dtype)
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
                _join(from_left, from_right, bound)
                if not _may_gain(bound, best, slack):
                    continue
                if work[0] >= work[1]:
                    for leaves in range(1, 4):
                        low[leaves] = min(low[leaves], bound[leaves])
                    if phase == 0:
                        medians[g] = 0
                    continue
                middle = (begin + end) // 2
                work[0] += stumps(order, turned, cuts[middle], rows, side_by_side, least, below, sides)
                _take(sides, g, cuts[middle], slack, best, chosen)
                if least > 1:
                    _join(below[0], below[1], bound)
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
        _settle(slack, best, low, chosen)

    @kernel()
    def search(depth, order, ranks, rows, weights, least, slack, kind, work, best, low, chosen):
        """Solve any depth from 2 on: the open interval of least bound first."""
        if depth == 2:
            two(order, ranks, rows, least, slack, kind, work, best, low, chosen)
            return 0
        if _start(leaf(order, rows), best, low, chosen) or order.shape[0] < 2:
            return 0
        half = len(best) // 2
        cuts, first = _cuts(order, ranks)
        features = ranks.shape[0]
        room = len(cuts) + features + 2
        spans, key = np.empty((room, 3), np.int64), np.empty(room, best.dtype)
        ends_of = np.zeros((room, 2, half), best.dtype)
        bound, under = np.empty(2 * half, best.dtype), np.empty(2 * half, best.dtype)
        sides, below = np.empty((2, half), best.dtype), np.empty((2, half), best.dtype)
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
            _join(from_left, from_right, bound)
            if not _may_gain(bound, best, slack):
                continue
            if work[0] >= work[1]:
                for leaves in range(1, 2 * half):
                    low[leaves] = min(low[leaves], bound[leaves])
                continue
            middle = (begin + end) // 2
            cut = cuts[middle]
            parts = _part(order, ranks, f, cut)
            for side in range(2):
                own, under_own = sides[side], below[side]
                search(depth - 1, parts[side], ranks, rows, weights, least, slack, kind, work, own, under_own, arguments)
            heavy = True
            if least > 1:
                for part in parts:
                    whole = weights[0] * 0
                    for p in range(part.shape[0]):
                        whole += weights[part[p, 0]]
                    heavy = heavy and whole >= least
            if heavy:
                _take(sides, f, cut, slack, best, chosen)
            _join(below[0], below[1], under)
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
        _settle(slack, best, low, chosen)
        return 0

    return search
