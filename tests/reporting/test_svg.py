"""Scales and ticks."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from modelsel.reporting.charts import Plot, Scale

numbers = st.floats(-1e6, 1e6, allow_nan=False)


@given(st.lists(numbers, min_size=1, max_size=20))
def test_every_value_lies_inside_and_order_is_kept(values):
    scale = Scale.of(values, 10, 110, log=False)
    at = [scale(value) for value in sorted(values)]
    assert all(10 - 1e-6 <= x <= 110 + 1e-6 for x in at)
    assert at == sorted(at)


@given(st.lists(st.floats(1e-9, 1e9), min_size=2, max_size=20))
def test_logarithmic_scales_hold_their_values_and_ticks(values):
    assume(max(values) / min(values) > 200)
    scale = Scale.of(values, 0, 100)
    assert scale.log
    assert all(-1e-6 <= scale(value) <= 100 + 1e-6 for value in values)
    assert all(scale.low <= tick <= scale.high for tick in scale.ticks())


@pytest.mark.slow
@given(numbers, st.floats(1e-6, 1e6))
def test_ticks_are_few_round_and_inside(low, width):
    assume(width > 1e-8 * abs(low))
    scale = Scale(low, low + width, 0, 100)
    ticks = scale.ticks()
    assert len(ticks) <= 8
    assert all(low - width * 1e-6 <= tick <= low + width * (1 + 1e-6) for tick in ticks)


def test_values_that_are_not_finite_do_not_move_the_scale():
    assert Scale.of([0.0, 1.0, math.nan, math.inf], 0, 1) == Scale.of([0.0, 1.0], 0, 1)
    assert math.isfinite(Scale.of([], 0, 1)(0.5))


def test_words_are_escaped():
    plot = Plot(10, 10, 'a "title" <b>')
    plot.text(1, 2, "<script> a & b")
    assert "<script>" not in plot.svg()
    assert "a &amp; b" in plot.svg()
    assert 'aria-label="a &quot;title&quot; &lt;b&gt;"' in plot.svg()
