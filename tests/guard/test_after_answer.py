"""An error that follows an answer carries it; what has no answer carries nothing. And what a justification has to say."""

from math import log, sqrt
from pathlib import Path

import pytest

import modelsel
from modelsel.core.outcome import TestResult
from modelsel.guard.gate import keep_answer, sentence
from modelsel.guard.policy.base import _says_something
from modelsel.guard.release import LabelSummary, ScoreGridRelease
from modelsel.measure.base import BaseMeasure

SHOWN = TestResult(0.1, 12, 120, 1, False, 4.0, 0.0, (0.05, 0.2), 0.95, "warn", "predicted")


def notes(test: TestResult | None) -> list[str]:
    with pytest.raises(ValueError) as caught, keep_answer(test):
        raise ValueError
    return getattr(caught.value, "__notes__", [])


def test_an_error_after_an_answer_carries_it() -> None:
    assert notes(SHOWN) == [sentence(SHOWN)]
    assert notes(None) == []


def test_an_answer_that_cannot_be_worded_is_shown_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(test: TestResult, measure: BaseMeasure) -> TestResult:
        raise ValueError(measure)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("modelsel.study.perform.word_answer", fails)
    with pytest.raises(ValueError) as caught:
        modelsel.run("dataset=iris", "learner=naive_bayes", "tracking=off", "pool=sequential")
    assert "the test set was opened before that: look 1, score" in caught.value.__notes__[0]


@pytest.mark.parametrize(("text", "says"), [
    ("bad bag bad cab", False),  # six letters, three words
    ("abe cad fig hug", True),
    ("ab cd ef gh", True),  # eight letters
    ("ab cd ef ga", False),  # seven
])  # fmt: skip
def test_a_justification_needs_four_words_of_eight_letters(text: str, says: bool) -> None:
    assert _says_something(text) == says


def test_the_half_width_of_balanced_errors_is_the_mean_of_the_classes_own_at_the_least_level() -> None:
    channel = ScoreGridRelease("balanced_error", 60, 60, (0.0, 1.0), None, None)
    half = channel.release(LabelSummary(60, 9, 0.2, (10, 20, 30), 60.0)).half
    alone = [sqrt((log(2) + log(3)) / (2 * count)) for count in (10, 20, 30)]  # Hoeffding, each class at a third of the level
    assert half is not None
    assert sqrt(half * log(2)) == pytest.approx(sum(alone) / 3)
