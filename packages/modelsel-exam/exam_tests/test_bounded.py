"""Bounded losses at an exam: predictions for development rows that come along say what the interval is planned from."""

from collections.abc import Callable
from math import sqrt
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import modelsel
from exam_tests.conftest import guess, table
from modelsel.core.errors import DataError
from modelsel.statistics.certificate import SpendingState
from modelsel_exam.sit import ExamSession

Make = Callable[..., ExamSession]


def answer(exam: ExamSession, known: bool = True, steep: float = 2.0) -> pd.DataFrame:
    """Chances by the income, for the questions, and for the development rows where `known`."""
    parts = [pd.read_csv(exam.folder / f"{side}.csv") for side in ("questions", "development")[: 1 + known]]
    rows = pd.concat(parts)
    chance = 1 / (1 + np.exp(-steep * (rows.income - 3)))
    return pd.DataFrame({"token": rows.token, "yes": chance, "no": 1 - chance})


@pytest.mark.parametrize("release", ["full", "predicted"])
def test_the_interval_is_narrower_than_that_of_the_range_and_its_certificate_holds(
    exam: Make, tmp_path: Path, release: str
) -> None:
    made = exam("measure=brier", release=release)
    shown = made.answer(answer(made), "ann")
    (look,) = (one for one in made.history() if one.metric.startswith("brier"))
    assert look.facts.plan.method in ("wealth", "chernoff", "hoeffding")
    assert shown.interval is not None
    half = (shown.interval[1] - shown.interval[0]) / 2
    assert half < 0.8 * 2 * sqrt(SpendingState(1, 0.0).nats(0.05) / (2 * shown.n))
    assert made.answer(answer(made, known=False), "bob").replay  # the answer is what it says of the questions
    found = modelsel.verify(modelsel.certify(made.folder, tmp_path / "certificate.zip"))
    assert (found["faults"], found["exit_code"]) == ([], 0)


def test_without_them_the_interval_is_that_of_the_range(exam: Make) -> None:
    made = exam("measure=brier", release="full")
    shown = made.answer(answer(made, known=False), "ann")
    assert shown.interval is not None
    assert shown.interval[1] - shown.interval[0] > 2 * sqrt(SpendingState(1, 0.0).nats(0.05) / (2 * shown.n))
    assert all(one.facts.plan is None for one in made.history())


def test_units_have_an_interval_with_them_and_none_without(exam: Make, loans: Path) -> None:
    table().assign(patient=np.arange(300) // 5).to_csv(loans, index=False)
    made = exam("measure=brier", "dataset.unit=patient", release="full")
    assert made.answer(answer(made, known=False, steep=1.0), "ann").interval is None
    assert made.answer(answer(made), "ann").interval is not None


def test_errors_on_development_rows_foresee_a_count(exam: Make) -> None:
    """The price is that of a forecast: less than of any count of ninety."""
    made = exam(release="predicted")
    known = pd.read_csv(made.folder / "development.csv")
    said = pd.DataFrame({"token": known.token, "prediction": np.where(known.income > 3, "yes", "no")})
    assert made.answer(pd.concat([guess(made), said]), "ann").price < np.log(1 + 90)


def test_who_predicts_one_development_row_predicts_all(exam: Make) -> None:
    made = exam(release="full")
    known = pd.read_csv(made.folder / "development.csv")[["token"]].head(2).assign(prediction="yes")
    with pytest.raises(DataError, match="missing rows"):
        made.answer(pd.concat([guess(made), known]), "ann")
    assert made.history() == []


@pytest.mark.slow
def test_a_study_hands_in_what_it_said_out_of_fold(exam: Make) -> None:
    made = exam("measure=brier", release="full")
    outcome = modelsel.run(f"exam={made.folder}", "learner=naive_bayes", "scheme.folds=3", "tracking=off", "measure=brier")
    assert outcome.test is not None
    assert outcome.test.interval is not None
    assert any(one.facts.plan for one in made.history())
