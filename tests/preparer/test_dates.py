"""Dates in parts, as pandas takes them apart."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelsel.core.spec import make
from modelsel.core.types import Description, Feature, positions
from modelsel.preparer.dates import ALL, LEVELS, Dates, DatesInParts, part_of

NOW = 1_700_000_000.0


def fitted(task, parts=ALL, rows=None):
    return make("preparer", "dates", parts=parts).fit(task, positions(task) if rows is None else rows, np.random.default_rng(0))


@pytest.fixture
def visits(task_of):
    moments = np.array([NOW, NOW - 86_400 * 400.5, np.nan, 0.0, NOW + 3_600])
    features = [Feature("x", "numeric"), Feature("when", "numeric", dates=True), Feature("n", "nominal", ("a", "b"))]
    return task_of(features, np.column_stack([np.arange(5.0), moments, [0, 1, 0, 1, np.nan]]), [0, 1, 0, 1, 0])


@given(st.lists(st.integers(-(10**10), 10**11), min_size=1, max_size=20))
def test_parts_are_those_of_the_calendar(seconds):
    when = np.array(seconds, np.float64)
    index = pd.DatetimeIndex(np.array(seconds, "datetime64[s]"))
    want = {"year": index.year, "month": index.month - 1, "weekday": index.day_of_week, "hour": index.hour}
    for part, expected in want.items():
        assert np.array_equal(part_of(when, part, 0.0), expected), part


def test_parts_stand_where_the_date_stood_and_age_counts_from_the_latest_analysis_row(visits):
    made = fitted(visits, rows=np.array([0, 1, 2])).apply(visits)
    assert [one.name for one in made.features] == ["x", *(f"when.{part}" for part in ALL), "n"]
    assert [one.kind for one in made.features[1:6]] == ["numeric", "nominal", "nominal", "numeric", "numeric"]
    assert made.features[3].levels == LEVELS["weekday"]
    assert np.isnan(made.values[2, 1:6]).all()
    assert made.column("when.age")[[0, 1, 4]].tolist() == [0.0, 400.5, -1 / 24]
    assert np.array_equal(made.values[:, [0, -1]], visits.values[:, [0, -1]], equal_nan=True)
    assert not any(feature.dates for feature in made.features)


def test_a_restored_step_does_the_same_and_half_of_one_is_refused(visits):
    step = fitted(visits, ("year", "age"))
    told = step.describe()
    again = Dates.restore(told).apply(visits)
    assert [one.name for one in again.features] == ["x", "when.year", "when.age", "n"]
    assert np.array_equal(again.values, step.apply(visits).values, equal_nan=True)
    with pytest.raises(ValueError, match="is missing"):
        Dates.restore(Description("dates", told.facts, {"dates": told.arrays["dates"]}))
    with pytest.raises(ValueError, match="known parts"):
        DatesInParts(("minute",), step.dates, step.latest)


def test_what_cannot_be_taken_apart_is_said(visits, mixed):
    assert "no part 'minute'" in "".join(Dates(("minute",)).problems())
    assert "leaves nothing" in "".join(Dates(()).problems())
    assert list(Dates().problems(visits)) == []
    assert "no feature is a date" in "".join(Dates().problems(mixed(0)))
