"""A study sits an exam: it chooses on the development rows and hands in one answer."""

from collections.abc import Callable

import pytest

import modelsel
from exam_tests.conftest import truth
from modelsel.core.errors import ConfigurationError
from modelsel_exam.sit import ExamSession

Make = Callable[..., ExamSession]
SMALL = ("learner=naive_bayes", "scheme.folds=3", "tracking=off")


@pytest.mark.slow
def test_a_study_asks_once_and_its_answer_is_the_models(exam: Make) -> None:
    made = exam(release="full")
    outcome = modelsel.run(f"exam={made.folder}", *SMALL, "name=mine")
    handed = made.handed()
    assert [answer.asker for answer in handed] == ["mine"]
    assert outcome.task["rows"] == 210
    assert outcome.test is not None
    said = outcome.model.predict(modelsel.exam(made.folder).questions)
    assert outcome.test.errors == int((said != truth(made).to_numpy()).sum())
    assert outcome.test.look == 1
    again = modelsel.run(f"exam={made.folder}", *SMALL, "name=mine")
    assert again.test.replay
    assert len(made.history()) == 1


@pytest.mark.slow
def test_a_refusal_is_no_error_and_final_test_false_asks_nothing(exam: Make) -> None:
    made = exam(release="full", looks=1)
    assert modelsel.run(f"exam={made.folder}", *SMALL, "final_test=false").test is None
    assert made.history() == []
    modelsel.run(f"exam={made.folder}", *SMALL, "name=mine")
    refused = modelsel.run(f"exam={made.folder}", "learner=c45", "scheme.folds=3", "tracking=off", "name=mine").test
    assert refused is not None
    assert "the terms allow 1" in str(refused.refused)


def test_a_folder_without_an_exam(loans: object) -> None:
    with pytest.raises(ConfigurationError, match="no exam is there"):
        modelsel.run("exam=nowhere", *SMALL)
