"""An exam beside ordinary studies, and beside other exams, on the same rows: each counts the other, and ends for itself."""

from collections.abc import Callable
from math import log
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

import modelsel
from exam_tests.conftest import errors, guess, table
from exam_tests.test_exam import answer_of, make_any
from modelsel.core.errors import ConfigurationError, RefusedError
from modelsel.core.outcome import TestResult
from modelsel.guard.reporting.audit import audit
from modelsel.guard.reporting.page import markdown, reforms
from modelsel_exam import board as boards
from modelsel_exam.commands import exam as command
from modelsel_exam.sit import ExamSession

Make = Callable[..., ExamSession]
STUDY = ("dataset=csv", "dataset.target=default", "learner=naive_bayes", "scheme.folds=3", "tracking=off", "final_test=true")


def study(loans: Path, *settings: str) -> TestResult:
    """A look at the rows of the exam by an ordinary run."""
    test = modelsel.run(*STUDY, f"dataset.path={loans}", *settings).test
    assert test is not None
    return test


def clopper_pearson(wrong: int, n: int, side: float) -> list[float]:
    return [beta.ppf(side, wrong, n - wrong + 1), beta.ppf(1 - side, wrong + 1, n - wrong)]


@pytest.mark.slow
def test_a_run_and_the_answers_of_an_exam_count_each_other(exam: Make, loans: Path) -> None:
    made = exam(release="full")
    first = made.answer(guess(made), "ann")
    run = study(loans)
    second = made.answer(guess(made, 2.5), "ann")
    assert [first.look, run.look, second.look] == [1, 2, 3]
    assert run.spent == pytest.approx(first.price)
    assert second.spent == pytest.approx(first.price + run.price)
    boards.close(made)
    assert study(loans, "learner.smoothing=30").look >= 2


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.05, 0.01])
def test_at_the_close_half_of_delta_is_the_declared_spaces_and_a_stricter_seal_stays(
    exam: Make, loans: Path, tmp_path: Path, delta: float
) -> None:
    """A study that comes first declares its model: its share of δ is not spent again by the exam."""
    run = study(loans, f"guard.delta={delta}")
    made = exam(release="full", accept_overlap=True)
    answer = guess(made)
    assert made.answer(answer, "ann").look == 2
    (line,) = boards.close(made).board
    side = min(delta, 0.04) / 2 / 2 * 0.1 * np.exp(-run.price)  # the second of all indices
    assert line.interval == pytest.approx(clopper_pearson(errors(made, answer), 90, side), abs=1e-5)
    assert modelsel.verify(modelsel.certify(made.folder, tmp_path / "certificate.zip"))["faults"] == []


@pytest.mark.slow
def test_each_exam_of_the_same_rows_has_a_close_of_its_own(exam: Make, tmp_path: Path) -> None:
    made, other = exam(release="full"), exam(release="full", folder="other", accept_overlap=True)
    made.answer(guess(made), "ann")
    other.answer(guess(other, 2.5), "bob")
    boards.close(made)
    assert boards.status(other).state == "open"
    assert other.answer(guess(other, 2.0), "bob").look == 4
    closed = boards.close(other)
    assert {line.errors for line in closed.board} == {errors(other, guess(other, cut)) for cut in (2.5, 2.0)}
    assert boards.close(made).board == boards.board(made)
    assert [len(boards.board(one)) for one in (made, other)] == [1, 2]
    for one in (made, other):
        assert modelsel.verify(modelsel.certify(one.folder, tmp_path / f"{one.folder.name}.zip"))["faults"] == []
        with pytest.raises(RefusedError, match="closed"):
            one.answer(guess(one, 1.0), "late")


@pytest.mark.slow
def test_what_another_exam_answered_is_shown_again_at_no_price(exam: Make) -> None:
    made, other = exam(release="full"), exam(release="full", folder="other", accept_overlap=True)
    first, again = (one.answer(guess(one), "ann") for one in (made, other))
    assert (again.replay, again.look, again.errors, again.interval) == (True, first.look, first.errors, first.interval)
    assert len(other.history()) == 1


@pytest.mark.slow
def test_noise_is_not_told_while_another_exam_of_the_rows_is_open(exam: Make, loans: Path, tmp_path: Path) -> None:
    made = make_any(exam, "thresholdout")
    other = make_any(exam, "thresholdout", folder="other", accept_overlap=True)
    for one, cut in ((made, 3.0), (other, 2.5)):
        one.answer(answer_of(one, cut), "ann")
    boards.close(made)
    run = modelsel.run(*STUDY, f"dataset.path={loans}")
    for told in (made.folder, run):
        with pytest.raises(ConfigurationError, match="noise"):
            modelsel.certify(told, tmp_path / "certificate.zip")
    boards.close(other)
    assert modelsel.verify(modelsel.certify(made.folder, tmp_path / "certificate.zip"))["faults"] == []


@pytest.mark.slow
def test_a_run_on_the_rows_of_an_exam_is_told_and_is_no_fault(
    exam: Make, loans: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = exam(release="full")
    made.answer(guess(made), "ann")
    study(loans)
    assert boards.audit(made)["exam"]["others"] == 1
    capsys.readouterr()
    assert command.main(["audit", str(made.folder)]) == 0
    assert "no answers to the exam, and are charged: 1" in capsys.readouterr().out


@pytest.mark.slow
def test_an_audit_quotes_the_last_answer_and_not_the_close(exam: Make) -> None:
    made = exam(release="full")
    shown = made.answer(guess(made), "ann")
    boards.close(made)
    report = audit(made.gate)
    said = f"To quote: Test error {shown.score:.3f} ({shown.errors}/90), look 1 of this test set. 96% interval"
    assert said in markdown(report)
    (items,) = reforms(report).values()
    assert (items["performance metric"], items["uncertainty estimate"]) == ("error", list(shown.interval or ()))
    assert items["number of evaluations on the test set"] == 2
    alone = {**report, "test_sets": [{**report["test_sets"][0], "looks": report["test_sets"][0]["looks"][1:]}]}
    assert "To quote: Look 2 told every answer to an exam at its close" in markdown(alone)
    assert shown.price == pytest.approx(log(91), abs=1e-5)


@pytest.mark.slow
def test_a_second_exam_of_the_same_rows_that_shows_one_bit_compares_with_its_own_best(exam: Make, tmp_path: Path) -> None:
    """The best answer of the other exam is not in this one's store."""
    made, other = exam(release="better"), exam(release="better", folder="other", accept_overlap=True)
    first = [made.answer(guess(made, cut), "ann").said for cut in (1.8, 3.0, 2.0)]
    second = [other.answer(guess(other, cut), "bob").said for cut in (1.9, 2.9, 2.1)]
    assert first == second == [
        "the first answer: the best so far", "better than the best so far", "no better than the best so far"
    ]  # fmt: skip
    for one in (made, other):
        boards.close(one)
        assert modelsel.verify(modelsel.certify(one.folder, tmp_path / f"{one.folder.name}.zip"))["faults"] == []


@pytest.mark.slow
def test_no_verdict_stands_on_rows_that_everybody_may_know(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most questions were development rows before: who copies their labels has fewer errors, and has learnt nothing."""
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    modelsel.create_exam(table(300), tmp_path / "public", "default", "split.test=0.3")
    modelsel.create_exam(table(300), tmp_path / "exam", "default", "split.seed=1", release="full", accept_overlap=True)
    made = ExamSession(tmp_path / "exam")
    known = pd.read_csv(tmp_path / "public" / "development.csv").set_index("income").default
    asked = pd.read_csv(made.folder / "questions.csv")
    assert asked.income.isin(known.index).sum() > 50
    for name, turned in (("copies", False), ("errs", True)):
        said = asked.income.map(known).map({"yes": "no", "no": "yes"} if turned else {"yes": "yes", "no": "no"}).fillna("yes")
        made.answer(pd.DataFrame({"token": asked.token, "prediction": said}), name)
    assert boards.close(made).verdicts == []
    assert modelsel.verify(modelsel.certify(made.folder, tmp_path / "certificate.zip"))["faults"] == []
