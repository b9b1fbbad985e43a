"""A node of a forest whose target is a number: its sum, its middle, and the best cut of one feature in the usual case.

Usual are numeric features without missing values, and weights that are whole: a word per row then holds its number q (48 bits)
and its weight w (16 bits). u = (q − m)·w about the middle m of the node, as in `forest_goodness`.
"""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.forests.forest_goodness import CODE, FEATURE, FIELD, GOODNESS, LOW, MISSING, NEXT, keeps, sort, worth
from modelsel.kernels.forests.forest_look import draw_threshold, draw_value
from modelsel.kernels.forests.forest_usual import COMPARED, LAST, MOST_CELLS, MOST_WEIGHT, WHOLE_WEIGHT, extremes

NUMBER = np.int64(16)  # bits below a number in its word
COUNTED = 2  # codes per row up to which a column is counted
MOST_NUMBER = 2.0**46  # of |q| in its word
NEARLY, DOUBT = 1.0 - 1e-12, 1e-11  # what rounding may do to a comparison without division
LANES, FEW = 32, np.uint64(8)  # cuts that are judged side by side; so few are judged one by one


@kernel()
def numbers_in_words(amount, weight, rows):
    """Number and weight of each row in one word; none where they do not fit, as halves that are drawn twice."""
    words, whole = np.empty(len(rows), np.uint64), 0.0
    for i in range(len(rows)):
        w = weight[rows[i]]
        whole += w
        if w != np.floor(w) or w > MOST_WEIGHT:
            return words[:0]
        q = np.rint(amount[rows[i]] / w)
        if q * w != amount[rows[i]] or np.abs(q) > MOST_NUMBER:
            return words[:0]
        words[i] = np.uint64((np.int64(q) << NUMBER) | np.int64(w))
    return words if whole < WHOLE_WEIGHT else words[:0]


@kernel(forceinline=True, _nrt=False)
def deviation_of(word, middle):
    """u and w of a word."""
    w = np.int64(word & FIELD)
    return ((np.int64(word) >> NUMBER) - middle) * w, w


@kernel(_nrt=False)
def weigh_numbers(drawn, words, data, total, raw, centred):
    """Write Σ u and Σ w (`total`), Σ v and Σ w (`raw`) and the middle of a node; returns whether its numbers differ."""
    ranks, weight, amount, middle = data
    same = True
    raw[0], raw[1] = 0.0, 0.0
    for i in range(len(drawn)):
        row = np.uint64(drawn[i])
        same &= ranks[row] == ranks[np.uint64(drawn[0])]
        raw[0] += amount[row]
        raw[1] += weight[row]
    middle[0] = np.rint(raw[0] / raw[1]) if centred else 0.0
    total[0], total[1] = 0.0, raw[1]
    if same:
        return False
    if len(words):
        total[0] = raw[0] - middle[0] * raw[1]
        return True
    for i in range(len(drawn)):
        row = np.uint64(drawn[i])
        total[0] += amount[row] - np.rint(middle[0] * weight[row])
    return True


@kernel(forceinline=True, _nrt=False)
def keep_number(raw, first, held, weights, leaves):
    """Keep the sum and the weight of a leaf."""
    at = first[leaves]
    for c in range(2):
        held[at + c], weights[at + c] = c, raw[c]
    first[leaves + 1] = at + 2


# The best cut of a feature: the gain is Σ_b (Σ_b u)²/w_b over both branches, less U²/W of the node. Whether a cut may be better
# is asked without a division, and is settled with it.


@kernel(inline="always", _nrt=False)
def _promising(left, weight, total, asked):
    """A cut may exceed `asked`."""
    a, b, first, second = np.float64(left), total[0] - np.float64(left), np.float64(weight), total[1] - np.float64(weight)
    return a * a * second + b * b * first > asked * (first * second)


@kernel(inline="always", _nrt=False)
def _gain(left, weight, total, nothing):
    a, first = np.float64(left), np.float64(weight)
    return worth(a, first, total[0] - a, total[1] - first) - nothing


@kernel(inline="always", _nrt=False)
def _keeps_bounds(left, weight, total, ruler):
    """Say whether a cut keeps to the bounds of the node."""
    a, first = np.float64(left), np.float64(weight)
    return keeps(a, first, total[0] - a, total[1] - first, ruler)


@kernel(inline="always", _nrt=False)
def _bar(best, nothing, whole):
    return (best * (1.0 - DOUBT) - DOUBT * nothing) * whole


@kernel(inline="always", _nrt=False)
def _asked(best, nothing):
    return (best + nothing) * NEARLY


@kernel(_nrt=False)
def _count(codes, drawn, words, middle, cells, many, least):
    """Sums and weights per code; False where a value is missing."""
    weights, rows, sums = cells[0], cells[1], cells[4]
    lowest = np.int32(0)
    for code in range(many):
        weights[code], rows[code], sums[code] = 0, 0, 0
    for i in range(len(drawn)):
        code = codes[np.uint64(drawn[np.uint64(i)])]
        lowest = min(lowest, code)
        at = np.uint64(max(code, 0))
        u, w = deviation_of(words[np.uint64(i)], middle)
        sums[at] += u
        weights[at] += np.int32(w)
        if least > 1.0:
            rows[at] += 1
    return lowest == 0


@kernel(_nrt=False)
def _by_codes(cells, many, n, total, nothing, best, least, ruler):
    """Best gain of the cuts between codes that occur, codes before and after it (−1: none), its weight; how many occur."""
    weights, rows, sums = cells[0], cells[1], cells[4]
    left, weight, here, last, found = np.int64(0), np.int64(0), 0, -1, 0
    at, following, best_weight, asked = -1, -1, np.int64(0), _asked(best, nothing)
    for code in range(many):
        if weights[code] == 0:
            continue
        if last >= 0 and (least <= 1.0 or (here >= least and n - here >= least)) and _promising(left, weight, total, asked):
            gain = _gain(left, weight, total, nothing)
            if gain > best and _keeps_bounds(left, weight, total, ruler):
                best, at, following, best_weight, asked = gain, last, code, weight, _asked(gain, nothing)
        left += sums[code]
        weight += weights[code]
        here += rows[code]
        last = code
        found += 1
    return best, at, following, best_weight, found


@kernel(_nrt=False)
def _gather(codes, drawn, keys):
    """Keys code | place in the node; lowest and highest code."""
    lowest, highest = np.int32(2**31 - 1), np.int32(-1)
    for i in range(len(drawn)):
        code = codes[np.uint64(drawn[np.uint64(i)])]
        keys[np.uint64(i)] = (np.uint64(np.uint32(code)) << LOW) | np.uint64(i)
        lowest, highest = min(lowest, code), max(highest, code)
    return lowest, highest


@kernel(_nrt=False)
def _by_places(keys, n, words, middle, total, nothing, best, least, ruler, lefts, weights):
    """Best gain of the cuts of sorted keys, how many stand before it (0: none), and their weight.

    LANES cuts at a time are asked whether one of them may be better: with T, W of the node, a cut of sum a and weight w gains
    (aW − Tw)²/(W·w·(W − w)), which rounding moves by less than DOUBT of it and of T²/W.
    """
    left, weight, at, best_weight, cut = np.int64(0), np.int64(0), 0, np.int64(0), np.uint64(0)
    first, last = np.int64(np.ceil(least)), n - np.int64(np.ceil(least))
    amount, whole, asked = total[0], total[1], _bar(best, nothing, total[1])
    for start in range(0, min(n - 1, last), LANES):
        count = np.uint64(min(LANES, min(n - 1, last) - start))
        own = keys[start:]
        for i in range(count):
            u, w = deviation_of(words[own[np.uint64(i)] & LAST], middle)
            left += u
            weight += w
            lefts[np.uint64(i)], weights[np.uint64(i)] = left, weight
        if count > FEW:
            some = False
            for i in range(LANES):  # what stands behind the last cut is asked for nothing
                a, w = lefts[np.uint64(i)], weights[np.uint64(i)]
                apart = a * whole - amount * w
                some |= (apart * apart > asked * (w * (whole - w))) & (np.uint64(i) < count)
            if not some:
                continue
        for i in range(count):
            cut = np.uint64(i)
            if (own[cut + np.uint64(1)] ^ own[cut]) > LAST and start + i + 1 >= first:  # another code follows
                a, w = lefts[cut], weights[cut]
                apart = a * whole - amount * w
                if apart * apart > asked * (w * (whole - w)):
                    gain = worth(a, w, amount - a, whole - w) - nothing
                    if gain > best and keeps(a, w, amount - a, whole - w, ruler):
                        best, at, best_weight, asked = gain, start + i + 1, np.int64(w), _bar(gain, nothing, whole)
    return best, at, best_weight


@kernel(_nrt=False)
def _up_to(codes, drawn, words, middle, at):
    """Sum, weight and number of the rows whose code is at most `at`."""
    left, weight, rows = np.int64(0), np.int64(0), np.int64(0)
    for i in range(len(drawn)):
        inside = -np.int64(codes[np.uint64(drawn[np.uint64(i)])] <= at)  # all bits, or none
        u, w = deviation_of(words[np.uint64(i)], middle)
        left += u & inside
        weight += w & inside
        rows -= inside
    return left, weight, rows


@kernel(_nrt=False)
def _up_to_value(codes, drawn, words, middle, values, threshold):
    """The same of the rows whose value is at most a threshold; and the largest code of these."""
    left, weight, rows, at = np.int64(0), np.int64(0), np.int64(0), np.int64(-1)
    for i in range(len(drawn)):
        code = np.int64(codes[np.uint64(drawn[np.uint64(i)])])
        inside = -np.int64(values[np.uint64(code)] <= threshold)
        u, w = deviation_of(words[np.uint64(i)], middle)
        left += u & inside
        weight += w & inside
        rows -= inside
        at = max(at, code | ~inside)
    return left, weight, rows, at


@kernel(forceinline=True, _nrt=False)
def usual_draw(feature, key, drawn, words, total, middle, columns, work, best, least, ruler):
    """Try one threshold drawn between the extremes of a feature; as `usual_number`.

    In a node of few rows these are compared with it by their values: it need not be searched among all values of the column.
    """
    codes, n, nothing = columns[0][feature], len(drawn), total[0] * total[0] / total[1]
    lowest, highest = extremes(codes, drawn)
    if lowest < 0 or lowest == highest:
        return -1 if lowest < 0 else 0
    values = columns[3][columns[4][feature] :]
    threshold = draw_value(key, feature, values[lowest], values[highest])
    if n <= COMPARED and threshold < values[highest]:
        left, weight, rows, at = _up_to_value(codes, drawn, words, middle, values, threshold)
    else:
        at, threshold = draw_threshold(key, feature, np.int64(lowest), np.int64(highest), values)
        left, weight, rows = _up_to(codes, drawn, words, middle, at)
    gain = _gain(left, weight, total, nothing)
    fits = rows >= least and n - rows >= least
    if fits and gain > best[GOODNESS] and _keeps_bounds(left, weight, total, ruler):
        best[GOODNESS], best[FEATURE], best[CODE], best[NEXT] = gain, feature, at, at
        best[MISSING] = 0.0 if 2.0 * weight >= total[1] else 1.0
        work[12][0] = threshold
    return 1


@kernel(forceinline=True, _nrt=False)
def usual_number(feature, drawn, words, total, middle, columns, kept, work, cells, best, least, ruler):
    """Try a feature: 1 or 0 as its values differ here or not, −1 where a value is missing; `kept`: its sorted keys, or none."""
    codes, many, n, nothing = columns[0][feature], columns[1][feature], len(drawn), total[0] * total[0] / total[1]
    if len(kept) == 0 and many <= min(COUNTED * n, MOST_CELLS):
        if not _count(codes, drawn, words, middle, cells, many, least):
            return -1
        gain, at, following, weight, found = _by_codes(cells, many, n, total, nothing, best[GOODNESS], least, ruler)
        differs = np.int64(found > 1)
    else:
        ordered = kept
        if len(kept) == 0:
            lowest, highest = _gather(codes, drawn, work[0])
            if lowest < 0 or lowest == highest:
                return -1 if lowest < 0 else 0
            ordered = work[1] if sort(work[0], work[1], work[2], work[3], n, lowest, highest) else work[0]
        elif kept[0] >> LOW == kept[n - 1] >> LOW:
            return 0
        gain, cut, weight = _by_places(
            ordered, n, words, middle, total, nothing, best[GOODNESS], least, ruler, cells[5], cells[6]
        )
        differs, at, following = np.int64(1), -1, -1
        if cut > 0:
            at, following = np.int64(ordered[cut - 1] >> LOW), np.int64(ordered[cut] >> LOW)
    if at >= 0:
        best[GOODNESS], best[FEATURE], best[CODE], best[NEXT] = gain, feature, at, following
        best[MISSING] = 0.0 if 2.0 * weight >= total[1] else 1.0
        work[12][0] = np.nan  # halfway between two codes, written when the tree is grown
    return differs


# Keys of the columns of a tree, sorted once: those of a node stand at the places of its rows, and are divided as these are.

SORTED = 8  # rows per column that is looked at and column up to which a node sorts its keys itself
MOST_KEPT = 1 << 25  # keys of a tree


@kernel()
def keep_sorted(codes, levels, rows, work, wanted):
    """Sort the keys code | place of each column of many codes; and the column's place among these, −1 where it is not kept."""
    slots, many, m = np.full(len(levels), -1, np.int64), 0, len(rows)
    if wanted:
        for f in range(len(levels)):
            if levels[f] > min(m // 2, MOST_CELLS):  # fewer codes are counted
                slots[f] = many
                many += 1
    if many * m > MOST_KEPT:
        slots[:], many = -1, 0
    kept = np.empty((many, m if many else 0), np.uint64)
    for f in range(len(levels)):
        if slots[f] >= 0:
            lowest, highest = _gather(codes[f], rows, work[0])
            ordered = work[1] if sort(work[0], work[1], work[2], work[3], m, lowest, highest) else work[0]
            kept[slots[f]] = ordered[:m]
    return kept, slots


@kernel(_nrt=False)
def divide_sorted(kept, start, end, codes, at, rows, to, spare, few):
    """Divide the keys of a node as its rows will be; `to`: where each goes, and in its top bit to which branch."""
    first, second, side_bit = np.uint64(0), np.uint64(0), np.uint64(1 << 31)
    for i in range(len(rows)):
        side = np.uint64(codes[np.uint64(rows[np.uint64(i)])] > at)
        to[np.uint64(i)] = np.uint32(side * (second | side_bit) + (np.uint64(1) - side) * first)
        first += np.uint64(1) - side
        second += side
    if max(first, second) <= few:
        return
    for column in range(len(kept)):
        own, left, right = kept[column, start:end], np.uint64(0), np.uint64(0)
        for i in range(len(own)):
            key = own[np.uint64(i)]
            there = np.uint64(to[key & LAST])
            side = there >> np.uint64(31)
            key = (key & ~LAST) | (there & ~side_bit)
            own[left], spare[right] = key, key
            left += np.uint64(1) - side
            right += side
        for i in range(right):
            own[left + np.uint64(i)] = spare[np.uint64(i)]
