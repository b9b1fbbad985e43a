"""Prices against the published figures; the ladder replayed by hand."""

from fractions import Fraction
from math import comb, exp, log, prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelsel.statistics import prices
from modelsel.statistics.certificate import SpendingState, interval


def test_what_agrees_with_cross_validation_is_cheap() -> None:
    assert [round(prices.predicted_grid(c, 100, 2000, 0.1, 2000), 3) for c in (10, 9, 12, 20)] == [1.013, 1.507, 2.950, 6.918]
    assert round(prices.price_of_count(200, 2000, 0.1, 2000), 2) == 3.97
    assert round(prices.price_of_count(260, 2000, 0.1, 2000), 2) == 8.34
    assert max(prices.price_of_count(e, 2000, 0.1, 2000) for e in range(2001)) <= log(10 * 2001)


def test_the_ladder_by_hand() -> None:
    n, steps, board, updates, spent = 4000, 100, 0, 0, 0.0
    boards, paid, shown = [], [], {}
    for rounds, errors in enumerate((1248, 1236, 1192, 1204, 1160, 1080, 1120, 1048)):
        improved = rounds == 0 or errors * steps < (board - 1) * n
        price = prices.ladder(rounds, updates, board, improved, steps)
        if improved:
            low, high = prices.counts_of(prices.cell_of(errors, n, steps), n, steps)
            shown[rounds + 1] = interval(low, high, n, SpendingState(rounds + 1, spent).nats(0.05))
            board, updates = prices.cell_of(errors, n, steps), updates + 1
        boards.append(board)
        paid.append(round(price, 4))
        spent += price
    assert boards == [31, 31, 30, 30, 30, 27, 27, 27]
    assert paid == [4.6151, 0.6931, 4.8203, 0.6931, 0.4700, 4.6052, 0.5390, 0.4418]
    assert round(spent, 4) == 16.8777
    limits = {look: [round(limit, 6) for limit in limits] for look, limits in shown.items()}
    assert limits == {1: [0.290084, 0.330098], 3: [0.263463, 0.337951], 6: [0.225314, 0.317596]}


@given(st.integers(2, 60), st.integers(1, 40), st.data())
def test_ladder_prices_sum_to_one(steps: int, rounds: int, data: st.DataObject) -> None:
    board, updates = data.draw(st.integers(1, steps)), data.draw(st.integers(1, rounds))
    stays = exp(-prices.ladder(rounds, updates, board, False, steps))
    assert stays + board * exp(-prices.ladder(rounds, updates, board, True, steps)) == pytest.approx(1)


@given(st.integers(1, 500), st.integers(1, 300))
def test_every_count_rounds_to_exactly_one_cell(n: int, steps: int) -> None:
    ranges = [prices.counts_of(cell, n, steps) for cell in range(steps + 1)]
    assert [count for low, high in ranges for count in range(low, high + 1)] == list(range(n + 1))
    assert all(prices.counts_of(prices.cell_of(e, n, steps), n, steps)[0] <= e for e in range(n + 1))


def exact(n: int, a: Fraction, b: Fraction) -> list[Fraction]:
    """The Beta-binomial distribution in fractions."""
    whole = prod(a + b + i for i in range(n))
    return [comb(n, e) * prod(a + i for i in range(e)) * prod(b + i for i in range(n - e)) / whole for e in range(n + 1)]


@pytest.mark.parametrize("rows", [1, 200, 10**9, 10**15, 10**18])
@pytest.mark.parametrize("rate", [0.0, 0.05, 0.5, 1.0])
def test_a_forecast_from_any_number_of_rows_is_a_distribution(rows: int, rate: float) -> None:
    """Whoever hands in an answer states the forecast: with 10**18 rows differences of ln Γ made every answer nearly free."""
    half = Fraction(1, 2)
    known = exact(40, max(half, rows * Fraction(rate)), max(half, rows * (1 - Fraction(rate))))
    assert prices.error_count_distribution(40, rate, rows) == pytest.approx([float(one) for one in known], abs=1e-12)
    assert sum(exp(-prices.price_of_count(e, 40, rate, rows)) for e in range(41)) == pytest.approx(1, abs=1e-9)
