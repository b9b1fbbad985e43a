"""The cells of a grid of scores, and what stands beside a score, over measures with bounds and without."""

from math import floor, inf, log, nan
from types import SimpleNamespace

import pytest

from modelsel.core.spec import make
from modelsel.guard.release import FAILED, LabelSummary, ScoreGridRelease, bounds_of, with_failure, worst_of
from modelsel.statistics import prices


def truth(score: float, errors: int = 30, classes: tuple[int, ...] = (120, 80)) -> LabelSummary:
    return LabelSummary(200, errors, score, classes, 200.0)


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-1.0, 1.0), (-3.0, 2.0)])
def test_a_value_is_shown_as_the_nearest_step_between_its_bounds(bounds: tuple[float, float]) -> None:
    grid = ScoreGridRelease("kappa", 200, 40, bounds, None, None)
    step = (bounds[1] - bounds[0]) / 40
    cells = [bounds[0] + step * index for index in range(41)]
    for score in (*(bounds[0] + 0.0131 * index for index in range(-20, 420)), -9.0, 9.0):
        shown = grid.release(truth(score))
        assert shown.score == pytest.approx(min(cells, key=lambda cell: abs(cell - score)))
        assert (shown.rounding, shown.bounds, shown.price) == (pytest.approx(step / 2), bounds, with_failure(log(41)))


def test_a_value_without_bounds_is_shown_in_steps_and_costs_more_the_larger_it_is() -> None:
    grid = ScoreGridRelease("log_loss", 200, 10, (0.0, inf), (0.4, 9), None)
    for score in (-0.3, 0.0, 0.04, 0.06, 0.42, 1.0, 7.77):
        cell = max(0, floor(score * 10 + 0.5))
        shown = grid.release(truth(score))
        assert shown.score == pytest.approx(cell / 10)
        assert (shown.half, shown.rounding, shown.bounds) == (None, 0.05, (0.0, 0.0))
        assert shown.price == pytest.approx(with_failure(log((cell + 1) * (cell + 2))), abs=1e-12)


@pytest.mark.parametrize("score", [nan, inf])
def test_what_is_no_number_is_undefined_and_costs_what_is_set_aside(score: float) -> None:
    shown = ScoreGridRelease("f1", 200, 10, (0.0, 1.0), None, None).release(truth(score))
    assert (shown.symbol, shown.score, shown.price) == ("undefined", None, -log(FAILED))


@pytest.mark.parametrize(
    ("kind", "rounded", "counted"),
    [
        ("error", False, True),
        ("cost_matrix", False, True),
        ("error", True, False),
        ("brier", False, False),
        ("brier", True, False),
    ],
)
def test_the_count_stands_beside_where_costs_or_weights_are_not_rounded(kind: str, rounded: bool, counted: bool) -> None:
    for foreseen, count in ((None, log(201)), ((0.2, 90), prices.price_of_count(30, 200, 0.2, 90))):
        grid = ScoreGridRelease(kind, 200, 10, (0.0, 1.0), None, foreseen, rounded)
        shown = grid.release(truth(0.2))
        assert (shown.errors, grid.numbers) == ((30, 2) if counted else (None, 1))
        assert shown.price == pytest.approx(with_failure(log(11) + (count if counted else 0)), abs=1e-12)
        assert grid.worst == pytest.approx(worst_of(log(110) + (log(2010) if counted else 0)))


@pytest.mark.parametrize(
    ("kind", "classes", "sizes"), [("auc", (120, 80), 1), ("balanced_error", (9, 9, 9, 9), 3), ("f1", (1, 2), 0)]
)
def test_the_sizes_of_all_classes_but_one_are_paid_for_where_the_width_shows_them(
    kind: str, classes: tuple[int, ...], sizes: int
) -> None:
    shown = ScoreGridRelease(kind, 200, 10, (0.0, 1.0), None, None).release(truth(0.2, classes=classes))
    assert shown.price == pytest.approx(with_failure(log(11) + sizes * log(201)), abs=1e-12)


@pytest.mark.parametrize(
    ("kind", "bounds", "classes", "known"),
    [("auc", (0.0, 1.0), (5, 6, 7), False), ("auc", (0.0, 1.0), (5, 6, 0), False), ("auc", (0.0, 1.0), (5, 6), True),
     ("auc", (0.0, 1.0), (5, 0), False), ("cost_matrix", (0.0, inf), (5, 6), False), ("cost_matrix", (0.0, 3.0), (5, 6), True),
     ("f1", (0.0, 1.0), (5, 6), False), ("balanced_error", (0.0, 1.0), (5, 0, 6), True)],
)  # fmt: skip
def test_a_width_is_known_where_a_bound_is(
    kind: str, bounds: tuple[float, float], classes: tuple[int, ...], known: bool
) -> None:
    shown = ScoreGridRelease(kind, 11, 10, bounds, None, None).release(truth(0.2, classes=classes))
    assert (shown.half is not None) == known


def test_a_foreseen_value_of_no_rows_is_spread_as_of_one() -> None:
    none, one = (ScoreGridRelease("brier", 200, 10, (0.0, 2.0), (0.3, rows), None).release(truth(0.3)) for rows in (0, 1))
    assert none == one


def test_the_bounds_of_a_measure_are_those_of_its_costs_or_of_its_kind() -> None:
    assert bounds_of(SimpleNamespace(costs=((0, 5), (-1, 2)))) == (-1.0, 5.0)
    assert bounds_of(make("measure", "mcc")) == (-1.0, 1.0)
    assert bounds_of(make("measure", "log_loss")) == (0.0, inf)
