"""How many looks are left: the same as by counting one after the other, in a moment also where rows are many."""

import time

import pytest

from modelsel.guard.reporting.forecast import MANY, LookForecast, _more
from modelsel.statistics import prices


@pytest.mark.parametrize("n", [40, 500, 3000])
@pytest.mark.parametrize("price", [0.0, 1.1, prices.grid(100)])
@pytest.mark.parametrize("width", [0.05, 0.1])
def test_halving_counts_what_stepping_counts(n: int, price: float, width: float) -> None:
    outlook = LookForecast(n, 2, 3.5, 0.2, 0.05, None)
    stepped = 0
    while stepped < MANY and _half(outlook, stepped, price) <= width:
        stepped += 1
    assert _more(outlook, price, width) == stepped


def test_a_large_test_set_is_forecast_in_a_moment() -> None:
    """At 90,000 rows each width asked for sums thousands of terms; a thousand of them took half a minute."""
    began = time.process_time()
    assert _more(LookForecast(90_000, 1, 0.0, 0.2, 0.05, None), prices.full(90_000), 0.05) > 20
    assert time.process_time() - began < 3


def _half(outlook: LookForecast, more: int, price: float) -> float:
    low, high = outlook.interval(more, price)
    return (high - low) / 2
