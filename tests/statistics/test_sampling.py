"""Dealing rows: exact where it can be, near where groups forbid it."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from modelsel.statistics.sampling import deal, deal_groups, draw, equal_rows


@settings(max_examples=50, deadline=None)
@given(rows=st.integers(1, 300), parts=st.integers(1, 12), classes=st.integers(1, 6), seed=st.integers(0, 99))
def test_dealing_is_exact_to_one_row_overall_and_per_class(rows: int, parts: int, classes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    strata = rng.integers(classes, size=rows).astype(np.int32)
    part = deal(rows, parts, rng, strata)
    assert np.ptp(np.bincount(part, minlength=parts)) <= 1
    for c in range(classes):
        assert np.ptp(np.bincount(part[strata == c], minlength=parts)) <= 1


@settings(max_examples=50, deadline=None)
@given(rows=st.integers(2, 300), classes=st.integers(1, 6), seed=st.integers(0, 99), data=st.data())
def test_drawing_is_exact_to_one_row_per_class(rows: int, classes: int, seed: int, data: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    size = data.draw(st.integers(0, rows))
    strata = rng.integers(classes, size=rows).astype(np.int32)
    marked = draw(rows, size, rng, strata)
    assert marked.sum() == size
    for c in range(classes):
        assert abs(marked[strata == c].sum() - size * (strata == c).sum() / rows) < 1


def test_every_row_is_as_likely_to_be_drawn() -> None:
    strata = np.repeat([0, 1, 2], [50, 9, 1]).astype(np.int32)
    times = sum(draw(60, 18, np.random.default_rng(seed), strata).astype(int) for seed in range(4000))
    assert np.allclose(times / 4000, 0.3, atol=0.035)  # nearly five standard errors


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 999))
def test_groups_stay_whole_and_parts_are_near_their_shares(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = rng.integers(40, size=200)
    strata = rng.integers(3, size=200).astype(np.int32)
    part = deal_groups(groups, [0.5, 0.3, 0.2], rng, strata)
    assert all(len(np.unique(part[groups == g])) == 1 for g in np.unique(groups))
    assert np.allclose(np.bincount(part, minlength=3) / 200, [0.5, 0.3, 0.2], atol=0.06)


def test_single_rows_as_groups_come_out_as_even_as_dealt_ones() -> None:
    rng = np.random.default_rng(0)
    strata = rng.integers(3, size=1003).astype(np.int32)
    part = deal_groups(np.arange(1003), [1.0] * 10, rng, strata)
    assert np.ptp(np.bincount(part)) <= 2
    assert max(np.ptp(np.bincount(part[strata == c], minlength=10)) for c in range(3)) <= 2


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 999), columns=st.integers(0, 3))
def test_equal_rows_are_those_that_compare_equal(seed: int, columns: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.choice([0.0, -0.0, 1.5, np.nan], size=(30, columns))
    same = equal_rows(values)
    for i in range(30):
        for j in range(30):
            assert (same[i] == same[j]) == np.array_equal(values[i], values[j], equal_nan=True)
