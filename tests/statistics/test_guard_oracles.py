"""Figures that were stated for the statistics of test reuse beforehand, and that no other file checks."""

from math import exp, log

import pytest

from modelsel.guard.checks.post_release import log_most_candidates
from modelsel.statistics import leaderboard
from modelsel.statistics.bounds import agnostic_excess
from modelsel.statistics.optimism import best_of
from modelsel.statistics.reuse import prices
from modelsel.statistics.reuse.certificate import SpendingState, hoeffding, interval

DELTA = 0.05


@pytest.mark.parametrize(
    ("n", "rounds", "steps", "tight", "published", "error", "published_error"),
    [
        (2000, 100, 100, 136.422, 1081.857, 0.1972, 0.5308),
        (4000, 400, 100, 250.058, 1223.259, 0.1881, 0.4015),
        (4000, 1000, 20, 103.729, 249.375, 0.1659, 0.2276),
    ],
)
def test_how_far_a_board_may_lie_from_the_truth(
    n: int, rounds: int, steps: int, tight: float, published: float, error: float, published_error: float
) -> None:
    assert round(leaderboard.transcripts(rounds, steps), 3) == tight
    assert round(leaderboard.published(rounds, steps), 3) == published
    assert round(leaderboard.board_error(n, rounds, steps), 4) == error
    assert round(leaderboard.published_error(n, rounds, steps), 4) == published_error


def test_the_best_step_of_a_board() -> None:
    """.1513 was stated at a step of .0385: the count of the last round's transcripts alone, C(k + M, M), gives it."""

    def last_round(steps: int) -> float:
        histories = leaderboard.transcripts(400, steps) + log((steps + 2) / 400)
        return hoeffding(histories + log(2 / DELTA), 4000) + 1 / steps

    assert min(range(2, 200), key=lambda steps: leaderboard.board_error(4000, 400, steps)) == 26
    assert round(last_round(26), 4) == 0.1513
    assert round(leaderboard.board_error(4000, 400, 26), 4) == 0.1527  # for all rounds at once
    best = min(range(2, 200), key=lambda steps: leaderboard.published_error(4000, 400, steps))
    assert (best, round(leaderboard.published_error(4000, 400, best), 4)) == (14, 0.2147)


def test_transcripts_are_counted_one_by_one() -> None:
    """What can have been seen before each of 4 rounds: none of 4 values yet, or one of them, and it never rises."""

    def longer(boards: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
        return [(*board, value) for board in boards for value in range((board[-1] if board else 4) + 1)]

    grown: list[list[tuple[int, ...]]] = [[()]]
    for _ in range(3):
        grown.append(longer(grown[-1]))
    assert leaderboard.transcripts(4, 3) == pytest.approx(log(sum(map(len, grown))))


@pytest.mark.parametrize(
    ("looks", "limits"), [(10, [0.082059, 0.120213]), (100, [0.078111, 0.125296]), (1000, [0.074837, 0.129727])]
)
def test_looks_that_do_not_depend_on_answers_may_share_the_level(looks: int, limits: list[float]) -> None:
    assert [round(limit, 6) for limit in interval(200, 200, 2000, log(2 * looks / DELTA))] == limits


def test_the_tenth_look_beside_ten_shards() -> None:
    assert round(leaderboard.shard(2000, 10), 5) == 0.12239
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
