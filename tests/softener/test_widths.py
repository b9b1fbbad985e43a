"""Widths by range and by C4.5's limits, against the sentences that define them."""

import numpy as np
import pytest

from modelsel.softener.c45 import C45, limits, standard_error
from modelsel.softener.hard import Hard
from modelsel.softener.range_fraction import RangeFraction
from modelsel.tree.softening import ramps


def rows_at(cut, task):
    """Rows that reach each node, walking one row at a time; a missing value stops it where it is divided."""
    found = {node: [] for node in range(len(cut.tree))}
    for row in range(len(task)):
        node = 0
        while True:
            found[node].append(row)
            if cut.leaf[node]:
                break
            value = task.values[row, cut.tree.feature[node]]
            to = cut.tree.missing_to[node] if np.isnan(value) else _position(cut.tree, node, value)
            if to < 0:
                break
            node = int(cut.tree.children(node)[to])
    return found


def _position(tree, node, value):
    return int(value) if tree.test[node] == 3 else int(value > tree.threshold[node])


def test_hard_has_no_widths(table, grown):
    task = table(np.random.default_rng(0))
    widths = Hard().widths(grown(task), task, np.arange(len(task)))
    assert not widths.below.any()
    assert not widths.above.any()


@pytest.mark.parametrize("missing", ["node_mode", "fractional", "branch"])
def test_range_fraction_takes_its_part_of_the_range_on_either_side(table, grown, missing):
    task = table(np.random.default_rng(1), missing=0.1)
    cut = grown(task, missing)
    at = rows_at(cut, task)
    for q in (0.0, 1.0, 3.0):
        widths = RangeFraction(q).widths(cut, task, np.arange(len(task)))
        for node in range(len(cut.tree)):
            a = b = 0.0
            if ramps(cut.tree)[node]:
                values = task.values[at[node], cut.tree.feature[node]]
                a = 2**-q * (cut.tree.threshold[node] - np.nanmin(values))
                b = 2**-q * (np.nanmax(values) - cut.tree.threshold[node])
            assert (widths.below[node], widths.above[node]) == pytest.approx((a, b))


def test_levels_are_no_distances(table, grown):
    task = table(np.random.default_rng(2))
    cut = grown(task, depth=6)
    hard = [node for node in np.flatnonzero(~cut.leaf) if task.features[cut.tree.feature[node]].kind != "numeric"]
    assert hard
    for softener in (RangeFraction(0), C45()):
        widths = softener.widths(cut, task, np.arange(len(task)))
        assert not widths.below[hard].any()
        assert not widths.above[hard].any()


def test_the_iris_limit_by_hand():
    """Errors 5 up to .4, 4 up to .5 and 3 up to .6 of 150 rows: the bar 4.84902 is crossed at .415098; and .705658 above."""
    values = np.repeat([0.4, 0.5, 0.6, 1.0, 2.0], [48, 1, 1, 7, 93])
    left = np.repeat([False, False, False, True, True], [48, 1, 1, 7, 93])
    right = ~left
    right[-3:] = True
    found = limits(values, np.ones(150), left, right, 0.6)
    assert found == pytest.approx((0.415098, 0.705658), abs=1e-6)


def test_limits_count_errors_row_by_row():
    """Against E(t) counted anew at every value."""
    rng = np.random.default_rng(3)
    for _ in range(300):
        n = int(rng.integers(2, 25))
        values, threshold = rng.integers(0, 8, n).astype(float), float(rng.integers(0, 8))
        left, right = rng.random(n) < 0.4, rng.random(n) < 0.4
        if values.min() > threshold:
            continue
        seen = np.unique(values)
        errors = [sum(left[values <= t]) + sum(right[values > t]) for t in seen]
        base = sum(left[values <= threshold]) + sum(right[values > threshold])
        bar = base + standard_error(base, n)

        def crossing(inside, outside, seen=seen, errors=errors, bar=bar):
            rise = errors[outside] - errors[inside]
            return seen[inside] + (seen[outside] - seen[inside]) * (bar - errors[inside]) / rise

        inside = [t <= threshold for t in seen]
        here = max(k for k, t in enumerate(inside) if t)
        falls = [k for k in range(1, here + 1) if errors[k - 1] > bar >= errors[k]]
        rises = [k for k in range(here, len(seen) - 1) if errors[k] <= bar < errors[k + 1]]
        lower = crossing(falls[0], falls[0] - 1) if falls else seen[0]
        upper = crossing(rises[-1], rises[-1] + 1) if rises else seen[-1]
        expected = (min(lower, threshold), max(upper, threshold))
        assert limits(values, np.ones(n), left, right, threshold) == pytest.approx(expected)


def test_weights_are_repeats(table, grown):
    task = table(np.random.default_rng(4), weighted=True)
    repeated = np.repeat(np.arange(len(task)), task.weights.astype(int))
    alone = table(np.random.default_rng(4))
    cut = grown(task)
    for softener in (C45(), RangeFraction(1.0)):
        weighted = softener.widths(cut, task, np.arange(len(task)))
        spelled_out = softener.widths(cut, alone, repeated)
        assert weighted.below == pytest.approx(spelled_out.below)
        assert weighted.above == pytest.approx(spelled_out.above)
