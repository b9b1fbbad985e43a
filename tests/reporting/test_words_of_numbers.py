"""How numbers are written."""

from dataclasses import replace

import numpy as np
import pytest

from modelsel.core.types import Scoreboard
from modelsel.record.candidates import Row
from modelsel.reporting.verdict import simpler
from modelsel.reporting.words import p_value
from modelsel.rule.one_standard_error import OneStandardError


def test_a_p_value_is_a_bound_below_its_last_digit_alone() -> None:
    assert [p_value(value) for value in (0.0001, 0.00009, 0.0)] == ["0.0001", "< 0.0001", "< 0.0001"]


def row(name: str, mean: float, se: float, size: float, unit: str = "leaves") -> Row:
    return Row(name, name, "cart", "ok", 1, mean, se, size, unit, 0.0, "", (mean,), {})


@pytest.mark.parametrize("higher", [False, True])
def test_what_the_one_standard_error_rule_would_choose_is_what_it_chooses(small, higher: bool) -> None:
    """On random candidates of two units, against the rule itself."""
    rng, said = np.random.default_rng(1), set()
    for _ in range(60):
        means, sizes = rng.integers(20, 40, 6) / 100, rng.integers(1, 9, 6).astype(float)
        units = tuple(rng.choice(["leaves", "columns"], 6))
        rows = [row(f"c{i}", means[i], 0.05, sizes[i], units[i]) for i in range(6)]
        board = Scoreboard(
            tuple(one.id for one in rows), means[:, None], means, np.full(6, 0.05), sizes, units, np.ones(6, bool), higher
        )
        best = int(board.cost.argmin())
        other = OneStandardError().choose(board)
        outcome = small.finished().outcome
        text = simpler(outcome.but(rule="best", winner={**outcome.winner, "id": rows[best].id}), rows, higher)
        smaller = sizes[other] < sizes[best] and units[other] == units[best]
        assert bool(text) == smaller
        assert not text or f"would choose c{other} c{other}: {sizes[other]:g} {units[best]} instead of" in text
        said.add(smaller)
    assert said == {True, False}


def test_nothing_simpler_is_told_where_another_rule_chose(small) -> None:
    outcome, rows = small.finished().outcome, [row("a", 0.2, 0.1, 9), row("b", 0.21, 0.1, 2)]
    best = outcome.but(rule="best", winner={**outcome.winner, "id": "a"})
    assert "b b: 2 leaves instead of 9, error +0.0100 (compared within leaves)" in simpler(best, rows, False)
    assert simpler(replace(best, rule="within_percent"), rows, False) == ""
