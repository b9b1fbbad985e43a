"""An exam from creation to close: what it gives away, what it shows, what it refuses."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import modelsel
from exam_tests.conftest import errors, guess, questions, table, truth
from modelsel.core.errors import DataError, LedgerError, ModelselError, RefusedError
from modelsel.statistics.certificate import SpendingState, interval
from modelsel.statistics.unit_intervals import chernoff_limits
from modelsel_exam import board as boards
from modelsel_exam.create import _cells
from modelsel_exam.sit import MOST_ROWS, ExamSession, answer_problems
from modelsel_exam.terms import LEAST, no_answer
from tests.extras import needs

Make = Callable[..., ExamSession]
SHOWING = ("full", "grid", "predicted", "ladder", "passfail", "better", "thresholdout")
TERMS = {"grid": {"resolution": 0.05}, "passfail": {"target_rate": 0.3}, "ladder": {"resolution": 0.05}}


def make_any(exam: Make, release: str, **more: object) -> ExamSession:
    return exam(release=release, **TERMS.get(release, {}), **more)  # type: ignore[arg-type]


def answer_of(exam: ExamSession, cut: float) -> pd.DataFrame:
    """With predictions for the development rows, where the terms ask for them."""
    said = guess(exam, cut)
    if exam.terms.release != "thresholdout":
        return said
    known = pd.read_csv(exam.folder / "development.csv")
    return pd.concat([said, pd.DataFrame({"token": known.token, "prediction": np.where(known.income > cut, "yes", "no")})])


def test_what_askers_get_has_no_label_of_a_question_and_no_trace_of_the_order(exam: Make, loans: Path) -> None:
    made = exam()
    asked, known = questions(made), pd.read_csv(made.folder / "development.csv")
    assert list(asked.columns) == ["token", "age", "income", "city"]
    assert list(known.columns) == ["token", "age", "income", "city", "default"]
    whole = table()
    assert sorted([*asked.income, *known.income]) == sorted(whole.income)
    order = [int(np.flatnonzero(whole.income == value)[0]) for value in asked.income]
    assert abs(np.corrcoef(order, np.arange(len(order)))[0, 1]) < 0.35
    assert len({*asked.token, *known.token}) == 300
    assert asked.token.is_monotonic_increasing


@pytest.mark.slow
def test_the_labels_are_nowhere_but_encrypted(exam: Make, loans: Path) -> None:
    made = exam()
    said = json.dumps(
        dict(zip(made.store.tokens().tolist(), (truth(made) == "yes").astype(int).tolist())), separators=(",", ":")
    )
    home = loans.parent / "home"
    files = [path for folder in (home, made.folder) for path in folder.rglob("*") if path.is_file()]
    assert (made.store.folder / "labels.box") in files
    assert all(said[:200].encode() not in path.read_bytes() for path in files)
    with np.load(made.store.folder / "rows.npz") as stored:
        assert "questions.target" not in stored.files
    (home / "exam.key").write_bytes(bytes(32))
    with pytest.raises(ModelselError):
        ExamSession(made.folder).answer(guess(made), "ann")
    assert made.history()[-1].status == "failed"  # the look is on record, and charged


@pytest.mark.slow
def test_the_score_is_the_count_of_errors_and_its_interval_the_formula(exam: Make) -> None:
    made = exam(release="full")
    for number, cut in enumerate((3.0, 2.8, 3.3), 1):
        shown = made.answer(guess(made, cut), "ann")
        wrong = errors(made, guess(made, cut))
        spent = (number - 1) * np.log(shown.n + 1)
        low, high = interval(wrong, wrong, shown.n, SpendingState(number, spent).nats(0.04))
        assert (shown.errors, shown.look, shown.n) == (wrong, number, 90)
        assert shown.interval == pytest.approx((low, high), abs=1e-5)
        assert shown.level == 0.96


@pytest.mark.slow
@pytest.mark.parametrize("release", SHOWING)
def test_each_policy_shows_what_it_says_and_a_replay_costs_nothing(exam: Make, release: str) -> None:
    made = make_any(exam, release)
    first, second = (made.answer(answer_of(made, cut), "ann") for cut in (3.0, 2.0))
    again = made.answer(answer_of(made, 3.0).sample(frac=1, random_state=1), "bob")
    assert (again.replay, again.price, again.look, again.score) == (True, 0.0, first.look, first.score)
    assert len(made.history()) == 2
    assert second.look == 2
    if release == "full":
        assert first.errors == errors(made, guess(made))
    if release in ("passfail", "better"):
        assert first.score is None
        assert first.errors is None
    if release == "better":
        assert (first.said, first.interval) == ("the first answer: the best so far", None)
        assert second.said == "no better than the best so far"
        assert made.answer(truth(made).rename("prediction").reset_index(), "bob").said == "better than the best so far"
    if release == "passfail":
        assert first.said.startswith("pass") == (errors(made, guess(made)) <= 27)
    if release == "ladder":
        assert "stays" in second.said
    if release == "grid":
        assert first.score is not None
        assert first.score * 20 == pytest.approx(round(first.score * 20))
        assert first.errors is None


def test_a_forecast_makes_an_answer_cheap(exam: Make) -> None:
    made = exam()
    rate = errors(made, guess(made)) / 90
    foreseen = made.answer(guess(made), "ann", (rate, 2000)).price
    surprising = made.answer(guess(made, 2.0), "ann", (0.01, 2000)).price
    assert foreseen < 3 < surprising


@pytest.mark.slow
def test_closed_shows_nothing_before_the_close_and_shares_delta_then(exam: Make) -> None:
    made = exam(release="closed")
    for cut in (3.0, 2.8, 3.3):
        shown = made.answer(guess(made, cut), "ann")
        assert (shown.score, shown.errors, shown.interval, shown.look) == (None, None, None, None)
    assert made.answer(guess(made, 2.8), "bob").replay
    assert made.history() == []
    assert all(line.score is None for line in boards.board(made))
    done = boards.close(made)
    for line, cut in zip(done.answers, (3.0, 2.8, 3.3), strict=True):
        wrong = errors(made, guess(made, cut))
        nats = SpendingState(1, np.log(3)).nats(0.04)
        assert line.errors == wrong
        assert line.interval == pytest.approx(interval(wrong, wrong, 90, nats), abs=1e-5)
    with pytest.raises(RefusedError):
        made.answer(guess(made, 2.5), "ann")
    assert boards.close(ExamSession(made.folder)).answers == done.answers


def test_a_closed_exam_says_which_answer_was_handed_in_and_the_same_one_again(exam: Make) -> None:
    made = exam(release="closed")
    said = [made.answer(guess(made, cut), "ann").said for cut in (3.0, 2.8, 3.0)]
    assert [one.split(";")[0] for one in said] == [f"answer {place} is on record" for place in (1, 2, 1)]


@pytest.mark.slow
def test_at_the_close_every_answer_has_its_own_index(exam: Make) -> None:
    made = exam(release="better")
    shown = [made.answer(guess(made, cut), "ann") for cut in (3.0, 2.9, 2.0)]
    done = boards.close(made)
    for line, cut, before in zip(done.answers, (3.0, 2.9, 2.0), shown, strict=True):
        wrong = errors(made, guess(made, cut))
        nats = SpendingState(before.look or 0, before.spent).nats(0.04)
        assert line.interval == pytest.approx(interval(wrong, wrong, 90, nats), abs=1e-5)
    assert {verdict.says for verdict in done.verdicts} <= {"cannot be told apart", "fewer errors", "more errors"}
    assert not {"discordant", "b", "c"} & vars(done.verdicts[0]).keys()
    with pytest.raises(RefusedError):
        made.answer(guess(made, 2.5), "ann")


def test_a_line_of_the_board_is_told_apart_by_its_verdict_and_before_the_close_by_its_interval() -> None:
    ends: tuple[Any, ...] = ((0.0, 0.2), (0.2, 0.3), (0.21, 0.3), None)
    above, line, far, bare = (SimpleNamespace(answer=name, interval=one) for name, one in zip("abbb", ends, strict=True))
    said = {verdict: boards._stands_to(above, line, {frozenset("ab"): verdict}) for verdict in (boards.TOGETHER, "more errors")}
    assert said == {boards.TOGETHER: boards.TOGETHER, "more errors": boards.APART}
    assert boards._stands_to(above, line, {}) is None
    assert [boards._stands_to(above, one, None) for one in (line, far, bare)] == [boards.TOGETHER, boards.APART, None]


def test_whole_numbers_have_no_point_as_far_as_floats_count_them() -> None:
    assert [str(_cells(np.array([1.0, end]), None).dtype) for end in (np.nan, 2.0**53 - 1, 2.0**53, 1.5)] == [
        "Int64", "Int64", "float64", "float64",
    ]  # fmt: skip


def test_the_ends_of_what_is_allowed_are_allowed() -> None:
    assert [len([*no_answer(nats)]) for nats in (None, 0.0, LEAST / 2, LEAST)] == [0, 0, 1, 0]
    forecasts = ((0.0, 1), (1.0, MOST_ROWS), (0.5, 0), (0.5, MOST_ROWS + 1), (-0.1, 9), (1.1, 9))
    assert [len([*answer_problems("ann", forecast)]) for forecast in forecasts] == [0, 0, 1, 1, 1, 1]


def test_verdicts_tell_a_good_answer_from_a_bad_one(exam: Make) -> None:
    made = exam(release="closed")
    good, bad = truth(made).rename("prediction").reset_index(), guess(made, 9.0)
    made.answer(bad, "bob")
    made.answer(good, "ann")
    done = boards.close(made)
    assert [verdict.says for verdict in done.verdicts] == ["fewer errors"]
    assert [line.asker for line in done.board] == ["ann", "bob"]


@pytest.mark.slow
def test_budgets_are_each_askers_and_nats_are_everybodys(exam: Make) -> None:
    made = exam(looks=2, release="full")
    made.answer(guess(made, 3.0), "ann")
    made.answer(guess(made, 2.9), "ann")
    with pytest.raises(RefusedError, match="the terms allow 2"):
        made.answer(guess(made, 2.8), "ann")
    assert len([*(made.store.folder / "answers").iterdir()]) == 2  # what is refused is not kept
    assert made.answer(guess(made, 2.9), "ann").replay
    shown = made.answer(guess(made, 2.8), "bob")
    assert shown.spent == pytest.approx(2 * np.log(91), abs=1e-4)
    assert boards.status(made).askers["ann"].looks_left == 0
    poor = exam(nats=14.0, release="full", folder="poor", accept_overlap=True)
    poor.answer(guess(poor, 2.1), "ann")
    with pytest.raises(RefusedError, match="nats"):
        poor.answer(guess(poor, 2.2), "ann")


@pytest.mark.slow
def test_rows_that_were_tested_before_are_found_at_creation(exam: Make) -> None:
    made, said = exam(release="full"), []
    for folder in ("other", "another"):  # a refused exam seals nothing, so the second attempt hears what the first did
        with pytest.raises(RefusedError, match="G021") as refused:
            exam("split.seed=1", folder=folder)
        said.append([one.what for one in refused.value.problems])
    assert said[0] == said[1]
    made.answer(guess(made), "ann")
    with pytest.raises(RefusedError, match="G020"):
        exam(folder="again")
    again = exam(folder="accepted", accept_overlap=True, release="full")
    assert again.answer(guess(again, 2.0), "bob").spent > 4


@pytest.mark.slow
def test_the_whole_table_can_be_the_exam(exam: Make) -> None:
    made = exam(all=True, release="full")
    assert len(questions(made)) == 300
    assert made.answer(guess(made), "ann").errors == errors(made, guess(made))


def test_class_counts_are_told_only_where_the_terms_say_so_and_are_priced(exam: Make) -> None:
    made = exam(class_counts=True, release="full")
    told = made.terms.class_counts
    assert told["counts"] == truth(made).value_counts().sort_index().to_dict()
    assert told["price"] == pytest.approx(sum(np.log(count + 1) for count in told["counts"].values()))
    assert made.answer(guess(made), "ann").spent == pytest.approx(told["price"], abs=1e-4)


@pytest.mark.slow
def test_measures_weights_and_scores_are_as_in_studies(exam: Make, loans: Path) -> None:
    made = exam("measure=auc", release="full")
    asked = questions(made)
    p = 1 / (1 + np.exp(3 - asked.income))
    with pytest.raises(DataError, match="reads scores"):
        made.answer(guess(made), "ann")
    shown = made.answer(pd.DataFrame({"token": asked.token, "yes": p, "no": 1 - p}), "ann")
    from sklearn.metrics import roc_auc_score

    assert shown.score == pytest.approx(roc_auc_score(truth(made) == "yes", p), abs=0.02)
    frame = table()
    frame["w"] = np.arange(300) % 5 + 1.0
    frame.to_csv(loans, index=False)
    weighted = exam("dataset.weights=w", folder="weighted", release="full", accept_overlap=True)
    assert "weight" in questions(weighted)
    said = guess(weighted)
    wrong = (said.set_index("token").prediction != truth(weighted)).to_numpy()
    shown = weighted.answer(said, "ann")
    assert shown.score == pytest.approx(np.average(wrong, weights=questions(weighted).weight), abs=0.01)


def test_whole_groups_are_asked(exam: Make, loans: Path) -> None:
    frame = table()
    frame["patient"] = np.arange(300) // 5
    frame.to_csv(loans, index=False)
    made = exam("dataset.groups=patient", "split=group")
    known = pd.read_csv(made.folder / "development.csv")
    assert "group" in known
    assert "group" not in questions(made)
    assert known.group.value_counts().eq(5).all()


def test_declared_units_are_counted_while_an_exam_is_open_and_at_its_close(exam: Make, loans: Path) -> None:
    frame = table()
    frame["patient"] = np.arange(300) // 5
    frame.to_csv(loans, index=False)
    made = exam("dataset.unit=patient", release="closed")
    assert made.terms.unit == "patient"
    good, bad = truth(made).rename("prediction").reset_index(), guess(made, 9.0)
    made.answer(good, "ann")
    made.answer(bad, "bob")
    done = boards.close(made)
    nats = SpendingState(1, np.log(2)).nats(0.04)
    for line, wrong in zip(done.answers, (0, errors(made, bad)), strict=True):
        assert line.interval == pytest.approx(chernoff_limits(wrong / 90, 18, nats), abs=1e-5)
    assert [verdict.says for verdict in done.verdicts] == ["cannot be told apart"]  # 40 % of 18 patients is no proof
    assert modelsel.verify(modelsel.certify(made.folder, loans.parent / "c.zip"))["faults"] == []


@pytest.mark.slow
def test_open_answers_about_units_name_them_and_rows_in_time_have_no_interval(exam: Make, loans: Path) -> None:
    frame = table()
    frame["patient"], frame["at"] = np.arange(300) // 5, np.arange(300)
    frame.to_csv(loans, index=False)
    units = exam("dataset.unit=patient", "dataset.features.at=ignore", release="full")
    shown = units.answer(guess(units), "ann")
    assert shown.interval == pytest.approx(
        chernoff_limits((shown.errors or 0) / 90, 18, SpendingState(1, 0.0).nats(0.04)), abs=1e-5
    )
    timed = exam("dataset.time=at", "split=time", "dataset.features.patient=ignore", folder="later", release="full",
                 accept_overlap=True)  # fmt: skip
    assert timed.terms.split == "time"
    assert timed.answer(guess(timed), "ann").interval is None


def test_terms_that_were_changed_are_not_believed(exam: Make) -> None:
    made = exam()
    path = made.folder / "exam.json"
    path.write_text(path.read_text().replace('"looks": 20', '"looks": 2000'))
    with pytest.raises(LedgerError, match="not those that were signed"):
        ExamSession(made.folder)


@pytest.mark.slow
def test_the_audit_says_whether_all_is_as_it_was_given_out(exam: Make) -> None:
    made = exam(release="full")
    made.answer(guess(made), "ann")
    made.answer(guess(made, 2.0), "ann")
    report = boards.audit(made)
    assert report["exam"]["whole"]
    assert report["ledger"]["intact"]
    assert [look["look"] for look in report["test_sets"][0]["looks"]] == [1, 2]
    (made.folder / "questions.csv").write_text("token\n")
    assert not boards.audit(made)["exam"]["whole"]


@pytest.mark.slow
def test_the_board_has_released_numbers_alone(exam: Make) -> None:
    made = exam(release="full")
    made.answer(guess(made, 3.0), "ann")
    made.answer(guess(made, 9.0), "bob")
    lines = boards.board(made)
    assert [line.asker for line in lines] == ["ann", "bob"]
    assert lines[1].beside in ("fewer errors", "cannot be told apart")
    (low, high), (first, last) = lines[0].interval, lines[1].interval
    assert (lines[1].beside == "cannot be told apart") == (first <= high and low <= last)


@pytest.mark.slow
def test_a_teams_ledger_holds_looks_and_no_label(exam: Make) -> None:
    """In PostgreSQL too: labels are in the examiner's store, so that no role of the database can read them."""
    needs("psycopg")
    from sqlalchemy import create_engine, text

    from tests.ledger.postgresql import Server

    with Server() as server:
        made = exam(release="full", ledger=server.url)
        shown = made.answer(guess(made), "ann")
        assert shown.errors == errors(made, guess(made))
        assert [look.facts.look for look in ExamSession(made.folder).history()] == [1]
        engine = create_engine(server.url.replace("postgresql:", "postgresql+psycopg:"))
        with engine.connect() as connection:
            bodies = connection.execute(text("SELECT body FROM entries")).scalars().all()
        assert len(bodies) >= 4
        assert not any(token in body for body in bodies for token in made.store.tokens().tolist())
