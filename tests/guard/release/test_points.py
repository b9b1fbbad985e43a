"""A released score is a point of its interval, or is not shown as one; what is not exact says what it is."""

from dataclasses import replace
from pathlib import Path

import pytest

from modelsel.guard.facts import Reveal
from modelsel.guard.release import LabelSummary, LookTerms, ShownAnswer, ShownPoint, count_channel, shown_point
from modelsel.guard.reporting.audit import _shown
from modelsel.guard.reporting.page import sentence
from modelsel.guard.reporting.report import LookLine
from modelsel.record.mlflow.runs import _note_test
from modelsel.reporting.verdict import say_score
from tests.guard.studies import Study, numbers


def test_a_board_that_an_exact_count_has_set_is_a_step_and_no_score(home: Path) -> None:
    """Six of 300 rows were wrong, exactly; a later model does not beat them, and the board stays in its step, at nought."""
    ends = (0.0026, 0.0575)
    past = [ShownAnswer(1, 300, "count", 6 / 300, ends)]
    board = count_channel(LookTerms("ladder", steps=20), 300, (0.02, 700), past, 2)
    told = board.release(LabelSummary(300, 150, 0.5, (150, 150), 300.0))
    assert (told.score, told.interval(300, 4.0)) == (0.0, ends)
    point = shown_point(told.symbol, told.score, ends)
    assert point == ShownPoint(None, 0.0, "a step of the ladder")
    usual = Study(numbers(1000), home).look()
    stays = replace(usual, errors=None, interval=ends, score=point.score, step=point.step, read_as=point.read_as)
    assert stays.released == 0.0
    assert say_score(stays).startswith("not shown as a point (a step of the ladder: 0.0000), 95 % interval [0.0026, 0.0575]")
    assert "0.0000 (a step of the ladder, no point of its interval)" in _note_test(stays)
    line = {"status": "revealed", "errors": None, "n": 300, "look": 2, "spent": 2.0, "price": 1.0, "metric": "error",
            "interval": ends, "as_first": None, "changes": [], "replay": False}  # fmt: skip
    answer = Reveal.read({"symbol": told.symbol, "score": told.score, "interval": ends})
    assert "is not shown as a point (a step of the ladder: 0.000)" in sentence(LookLine(**{**line, **_shown(answer)}), 300)


@pytest.mark.parametrize(("policy", "settings", "read_as"), [
    ("ladder", {"resolution": 0.05}, "a step of the ladder"), ("warn", {"resolution": 0.01}, "rounded to a grid"),
    ("thresholdout", {"budget": 1}, "cross-validation's, which the test does not contradict"), ("warn", {}, ""),
])  # fmt: skip
def test_a_point_of_a_grid_says_so_and_lies_in_its_interval(
    policy: str, settings: dict[str, object], read_as: str, home: Path
) -> None:
    shown = Study(numbers(1000), home, policy=policy, settings=settings).look()
    assert shown.read_as == read_as
    assert shown.score is not None
    assert shown.interval is None or shown.interval[0] <= shown.score <= shown.interval[1]
    assert (f"({read_as})" in say_score(shown)) == bool(read_as)
