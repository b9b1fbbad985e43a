"""Figures that were stated for the statistics of test reuse beforehand, and that no other file checks."""

from math import exp, log

import pytest

from modelsel.guard.checks.review import log_most_candidates
from modelsel.statistics import prices
from modelsel.statistics.bounds import agnostic_excess, best_of
from modelsel.statistics.certificate import SpendingState, hoeffding, interval

DELTA = 0.05


@pytest.mark.parametrize(
    ("looks", "limits"), [(10, [0.082059, 0.120213]), (100, [0.078111, 0.125296]), (1000, [0.074837, 0.129727])]
)
def test_looks_that_do_not_depend_on_answers_may_share_the_level(looks: int, limits: list[float]) -> None:
    assert [round(limit, 6) for limit in interval(200, 200, 2000, log(2 * looks / DELTA))] == limits


def test_the_tenth_look() -> None:
    paid = {
        "full": prices.full(2000),
        "grid": prices.grid(100),
        "foreseen": prices.predicted_grid(10, 100, 2000, 0.1, 2000),
        "committed": 0.0,
    }
    widths = {name: hoeffding(SpendingState(10, 9 * price).nats(DELTA), 2000) for name, price in paid.items()}
    assert {name: round(width, 3) for name, width in widths.items()} == {
        "full": 0.140, "grid": 0.113, "foreseen": 0.069, "committed": 0.049,
    }  # fmt: skip


def test_the_area_under_the_curve_has_the_width_of_its_smaller_class() -> None:
    assert round(hoeffding(log(2 / DELTA), 300), 5) == 0.07841


@pytest.mark.parametrize(
    ("rows", "widths"),
    [(200, (0.08654, 0.11509, 0.13785, 0.15735)), (1000, (0.0387, 0.05147, 0.06165, 0.07037))],
)
def test_what_the_number_of_candidates_costs(rows: int, widths: tuple[float, ...]) -> None:
    assert tuple(round(agnostic_excess(count, rows, DELTA), 5) for count in (1, 10, 100, 1000)) == widths


def test_how_many_candidates_a_validation_set_carries() -> None:
    assert round(agnostic_excess(1000, 5000, DELTA), 5) == 0.03147
    assert log_most_candidates(200, 0.05) < 0
    assert [round(exp(log_most_candidates(rows, 0.05)), 2) for rows in (1000, 2000)] == [7.42, 1101.32]
    assert exp(log_most_candidates(5000, 0.05)) == pytest.approx(3.6e9, rel=0.01)


def test_how_lucky_the_best_of_many_is() -> None:
    assert [round(best_of(count), 4) for count in (2, 5, 10, 20, 100, 1000)] == [0.5642, 1.1630, 1.5388, 1.8675, 2.5076, 3.2414]


def test_a_confusion_matrix_costs_the_counts_of_both_classes() -> None:
    assert round(prices.confusion((1700, 300)), 2) == 13.15
