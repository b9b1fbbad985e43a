"""What each way of showing an answer says, and what it costs, against counting by hand or over all counts there are."""

from fractions import Fraction
from math import log, log1p, sqrt
from typing import Any

import pytest

from modelsel.core.fingerprint import generator
from modelsel.guard.release import (
    BETTER,
    FAILED,
    FIRST,
    Better,
    CountGrid,
    Counts,
    LabelSummary,
    LadderRelease,
    LookTerms,
    NoisyThreshold,
    PassFail,
    Released,
    ReleaseMechanism,
    ShownAnswer,
    _best,
    _board,
    count_channel,
)
from modelsel.statistics import prices
from modelsel.statistics.certificate import interval

FAILURE = -log1p(-FAILED)  # what every answer pays for the probability of a failure
MANY = 10**7


def said(errors: int, n: int = 100) -> LabelSummary:
    return LabelSummary(n, errors, errors / n, (n,), float(n))


@pytest.mark.parametrize("low", [None, 10])
@pytest.mark.parametrize("high", [None, 20])
def test_an_interval_is_of_counts_where_both_ends_are_known_else_of_the_width(low: int | None, high: int | None) -> None:
    released = Released("x", 0.5, None, 1.0, low, high, half=0.001, rounding=0.01, bounds=(0.0, 0.56))
    expected = interval(10, 20, 100, 4.0) if low and high else (0.5 - sqrt(0.004) - 0.01, 0.56)
    assert released.interval(100, 4.0) == pytest.approx(expected)


def test_without_a_width_or_a_score_there_is_no_interval_and_one_that_is_held_stays() -> None:
    assert Released("x", 0.5, None, 1.0).interval(100, 4.0) is None
    assert Released("x", None, None, 1.0, half=0.1).interval(100, 4.0) is None
    assert Released("x", 0.5, None, 1.0, 1, 2, stays=True, held=(0.1, 0.2)).interval(100, 4.0) == (0.1, 0.2)


def test_a_count_costs_what_was_left_to_it() -> None:
    plain, told = Counts(100, None).release(said(30)), Counts(100, (0.3, 50)).release(said(30))
    assert (plain.score, plain.errors, plain.low, plain.high) == (0.3, 30, 30, 30)
    assert plain.price == pytest.approx(log(101) + FAILURE, abs=1e-12)
    assert told.price == pytest.approx(prices.price_of_count(30, 100, 0.3, 50) + FAILURE, abs=1e-12)


def test_a_rounded_count_is_known_to_its_cell() -> None:
    for foreseen in (None, (0.3, 50)):
        shown = CountGrid(100, 20, foreseen).release(said(32))
        assert (shown.score, shown.low, shown.high, shown.errors) == (0.3, 28, 32, None)
        free = log(21) if foreseen is None else prices.predicted_grid(6, 20, 100, 0.3, 50)
        assert shown.price == pytest.approx(free + FAILURE, abs=1e-12)


@pytest.mark.parametrize(
    ("channel", "most"),
    [(Counts(MANY, (0.1, 9)), log(10 * (MANY + 1))), (Counts(MANY, None), log(MANY + 1)), (Counts(9, None), 0.0),
     (CountGrid(9, MANY, (0.1, 9)), log(10 * (MANY + 1))), (CountGrid(9, MANY, None), log(MANY + 1)),
     (PassFail(9, 0.1), 0.0), (LadderRelease(9, MANY), log(MANY + 1)), (LadderRelease(9, 9), 0.0),
     (LadderRelease(9, 50, MANY, 1, 30), log(MANY / 0.5) + log(30)), (LadderRelease(9, 50, MANY, MANY, 1), log(MANY / 0.5)),
     (LadderRelease(9, 50, MANY, 1, 0), log(MANY / 0.5)), (Better(9, 9), 0.0), (Better(9, 9, MANY, 1), log(MANY / 0.5)),
     (Better(9, 9, MANY, MANY), log(MANY / 0.5)), (NoisyThreshold(MANY, 0.1, 0, 1), -log(0.1 / (MANY + 1)))],
)  # fmt: skip
def test_what_has_no_answer_costs_the_most_that_it_could_have(channel: ReleaseMechanism, most: float) -> None:
    assert channel.worst == pytest.approx(max(most + FAILURE, -log(FAILED)), abs=1e-9)


@pytest.mark.parametrize(("errors", "symbol", "low", "high"), [(28, "pass", 0, 29), (29, "pass", 0, 29), (30, "fail", 30, 100)])
def test_a_target_is_met_by_as_many_errors_as_it_allows(errors: int, symbol: str, low: int, high: int) -> None:
    shown = PassFail(100, 0.29).release(said(errors))  # 0.29 · 100 is a little below 29 to a computer
    assert (shown.symbol, shown.low, shown.high) == (symbol, low, high)
    assert shown.price == pytest.approx(log(2) + FAILURE, abs=1e-12)


@pytest.mark.parametrize(("n", "steps"), [(10, 10), (12, 5), (7, 20)])
def test_a_board_moves_for_counts_that_beat_it_by_more_than_a_step(n: int, steps: int) -> None:
    for board in range(1, steps + 1):
        ladder = LadderRelease(n, steps, 3, 2, board, (0.1, 0.9), 7)
        staying = [e for e in range(n + 1) if Fraction(e, n) >= Fraction(board - 1, steps)]
        for errors in range(n + 1):
            shown = ladder.release(said(errors, n))
            assert shown.stays == (errors in staying)
            if shown.stays:
                assert (shown.low, shown.high, shown.score, shown.set_by) == (staying[0], n, board / steps, 7)
                assert shown.price == pytest.approx(-log(1.5 / 3) + FAILURE, abs=1e-12)
            else:
                cell = round(Fraction(2 * errors * steps + n, 2 * n).__floor__())
                assert (shown.symbol, shown.score) == (f"board {cell}", cell / steps)
                assert shown.price == pytest.approx(-log(1.5 / 3) + log(board) + FAILURE, abs=1e-12)


def test_the_first_answer_sets_the_board_whatever_it_is() -> None:
    for errors in (0, 50, 100):
        shown = LadderRelease(100, 20).release(said(errors))
        assert (shown.symbol, shown.stays) == (f"board {errors // 5}", False)
        assert shown.price == pytest.approx(log(21) + FAILURE, abs=1e-12)


@pytest.mark.parametrize(("errors", "symbol"), [(24, BETTER), (25, "no better"), (26, "no better")])
def test_an_answer_is_better_by_more_than_a_step(errors: int, symbol: str) -> None:
    shown = Better(100, 20, 4, 1, "a", 30).release(said(errors))
    assert shown.symbol == symbol
    assert shown.price == pytest.approx(-log(0.125 if symbol == BETTER else 0.875) + FAILURE, abs=1e-12)


def test_an_answer_without_one_before_is_the_first() -> None:
    for channel in (Better(100, 20), Better(100, 20, 0, 0, "a", 30), Better(100, 20, 1, 1, "a", None)):
        assert channel.release(said(0)).symbol == FIRST


def test_thresholdout_says_what_was_foreseen_unless_the_test_differs_by_more_than_a_noisy_threshold() -> None:
    symbols = set()
    for look in range(40):
        noise = generator(5, f"thresholdout {look}").normal(0, 0.1, 2)
        for errors in (0, 30, 62, 75, 100):
            shown = NoisyThreshold(100, 0.3, 5, look).release(said(errors))
            near = abs(errors / 100 - 0.3) <= 0.4 + noise[0]
            symbols.add((errors, shown.symbol))
            assert shown.symbol == ("cross-validation" if near else "noisy")
            value = 0.3 if near else min(1.0, max(0.0, errors / 100 + noise[1]))
            assert shown.score == pytest.approx(value, abs=0.00501)
            assert shown.price == pytest.approx((-log(0.9) if near else log(1010)) + FAILURE, abs=1e-12)
    assert {(0, "cross-validation"), (75, "noisy"), (75, "cross-validation"), (100, "noisy")} <= symbols


@pytest.mark.parametrize(
    ("terms", "expected"),
    [({"release": "full"}, Counts(50, None)), ({"release": "predicted"}, Counts(50, (0.2, 9))),
     ({"release": "grid", "steps": 20}, CountGrid(50, 20, None)),
     ({"release": "predicted", "steps": 20}, CountGrid(50, 20, (0.2, 9))),
     ({"release": "passfail", "target": 0.1}, PassFail(50, 0.1)), ({"release": "ladder", "steps": 20}, LadderRelease(50, 20)),
     ({"release": "ladder"}, LadderRelease(50, 50)), ({"release": "better", "steps": 20}, Better(50, 20)),
     ({"release": "better"}, Better(50, 50)), ({"release": "thresholdout", "noise": 3}, NoisyThreshold(50, 0.2, 3, 4))],
)  # fmt: skip
def test_the_terms_say_how_a_count_is_shown(terms: dict[str, Any], expected: ReleaseMechanism) -> None:
    assert count_channel(LookTerms(**terms), 50, (0.2, 9), [], 4) == expected


def shown(symbol: str, score: float | None, look: int, interval: tuple[float, float] | None = (0.1, 0.4)) -> ShownAnswer:
    return ShownAnswer(look, 100, symbol, score, interval, str(look))


@pytest.mark.parametrize(
    ("past", "rounds", "updates", "cell", "set_by"),
    [([shown("board 30", 0.3, 1)], 1, 1, 30, 1),
     ([shown("board 30 stays", 0.3, 1)], 1, 1, 30, 1),  # what set it is not on record
     ([shown("board 30", 0.3, 1), shown("board 30 stays", 0.3, 2)], 2, 1, 30, 1),
     ([shown("board 30", 0.3, 1), shown("board 20", 0.2, 2), shown("board 20 stays", 0.2, 3)], 3, 2, 20, 2),
     ([shown("count", 0.3, 1), shown("count", 0.3, 2), shown("cell", 0.31, 3)], 1, 1, 30, 1),
     ([shown("count", 0.3, 1), shown("unguarded", 0.29, 2)], 1, 1, 29, 2),
     ([shown("board 30", 0.3, 1), shown("board 25", 0.25, 2), shown("count", 0.2, 3)], 2, 2, 20, 3),
     ([shown("noisy", 0.1, 1), shown("pass", None, 2), shown("count", None, 3)], 0, 0, 0, None)],
)  # fmt: skip
def test_the_board_is_the_best_that_was_shown(
    past: list[ShownAnswer], rounds: int, updates: int, cell: int, set_by: int | None
) -> None:
    board = _board(100, 100, past)
    assert (board.rounds, board.updates, board.board, board.set_by) == (rounds, updates, cell, set_by)
    assert board.held == (None if set_by is None else (0.1, 0.4))


def test_a_board_without_an_interval_holds_none_and_its_cells_are_of_the_steps() -> None:
    board = _board(100, 20, [shown("count", 0.32, 1, None)])
    assert (board.held, board.board) == (None, 6)
    assert _board(100, 20, [shown("board 6", 0.32, 1)]).board == 6


def test_the_best_answer_is_followed_through_those_that_were_not_better() -> None:
    past = [shown(symbol, None, look) for look, symbol in enumerate([FIRST, "no better", BETTER, "no better", "count"], 1)]
    best = _best(100, 20, past)
    assert (best.rounds, best.updates, best.best) == (4, 2, "3")
    assert _best(100, 20, past[:1]) == Better(100, 20, 1, 1, "1")
    assert best.worst == pytest.approx(-log(FAILED))
