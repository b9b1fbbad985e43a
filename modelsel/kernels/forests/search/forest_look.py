"""The best cut of one feature in any case: levels, missing values, any weights and criterion, cuts drawn at random.

`columns`: codes, numbers of levels, which are nominal, values and where those of a feature begin; `work`: room for all nodes.
"""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.forests.search.forest_cuts import (
    by_equality,
    by_order,
    by_subset,
    by_table,
    count,
    gather,
)
from modelsel.kernels.forests.search.forest_goodness import CODE, FEATURE, NEXT, gauge
from modelsel.kernels.forests.search.forest_random import draw_threshold, try_levels, try_threshold
from modelsel.kernels.forests.search.forest_sort import sort
from modelsel.kernels.layout import EQUALITY

SEEN = 32  # codes per row from which a column is sorted rather than counted


@kernel(_nrt=False)
def look(feature, key, drawn, total, columns, data, settings, work, best, state, judge, ruler):
    """Try a feature. Returns whether its values differ here; a better cut is written to `best`."""
    codes, levels, nominal, values, first = columns
    tests, apart, random, scale = settings
    keys, spare, buckets, places, tally, counts, order, lost, by, other, marks, fresh, threshold = work
    own, many, n = codes[feature], levels[feature], len(drawn)
    if nominal[feature] or many * tally.shape[1] <= SEEN + n:
        found = count(own, drawn, data, tally[: many + 1], counts[: many + 1], order)
        lost_rows = counts[many]
        for c in range(len(lost)):
            lost[c] = tally[many, c]
        if found + (lost_rows > 0) < 2:
            return False
        gauge(ruler, judge, total, lost, apart and lost_rows > 0, scale)
        some = tally[: many + 1], counts[: many + 1], order[:found], n - lost_rows, lost_rows, total, lost, apart
        if not nominal[feature]:
            if random:
                if found < 2:
                    return True
                at, drawn_value = draw_threshold(key, feature, order[0], order[found - 1], values[first[feature] :])
                if try_threshold(own, drawn, at, n - lost_rows, lost_rows, total, lost, apart, data, best, state, judge, ruler):
                    best[FEATURE], threshold[0] = feature, drawn_value
            elif by_table(*some, best, state, judge, ruler):
                best[FEATURE], threshold[0] = feature, between(values, first[feature], best)
        elif random:
            if found > 1 and try_levels(key, feature, tests == EQUALITY, *some, best, state, judge, ruler, fresh[:many]):
                best[FEATURE] = feature
                for level in range(many):
                    marks[level] = fresh[level]
        elif tests == EQUALITY:
            if by_equality(*some, best, state, judge, ruler):
                best[FEATURE] = feature
        elif by_subset(*some, best, state, judge, ruler, by, other, fresh[:many]):
            best[FEATURE] = feature
            for level in range(many):
                marks[level] = fresh[level]
        return True
    known, lowest, highest = gather(own, drawn, data, keys, lost)
    if known == 0 or (lowest == highest and known == n):
        return False
    gauge(ruler, judge, total, lost, apart and known < n, scale)
    if random:
        if lowest < highest:
            at, drawn_value = draw_threshold(key, feature, lowest, highest, values[first[feature] :])
            if try_threshold(own, drawn, at, known, n - known, total, lost, apart, data, best, state, judge, ruler):
                best[FEATURE], threshold[0] = feature, drawn_value
        return True
    ordered = spare if sort(keys, spare, buckets, places, known, lowest, highest) else keys
    if by_order(ordered, known, n - known, total, lost, apart, data, best, state, judge, ruler):
        best[FEATURE], threshold[0] = feature, between(values, first[feature], best)
    return True


@kernel(_nrt=False)
def between(values, first, best):
    """The middle between two values, the lower one where it cannot be told from the higher; none but missing ones above: ∞."""
    if best[CODE] == best[NEXT]:
        return np.inf
    low, high = values[first + np.int64(best[CODE])], values[first + np.int64(best[NEXT])]
    middle = low / 2.0 + high / 2.0
    return middle if low <= middle < high else low
