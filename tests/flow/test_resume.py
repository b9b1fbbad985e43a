"""What one study has computed serves the next, as typed: the same again, more candidates, another measure, another folder."""

import shutil
from pathlib import Path
from typing import Any

import pytest

BASE = ("dataset=wine", "split=none", "scheme.folds=3", "pool=sequential")
BAYES = "space={bayes: {learner: naive_bayes}}"
FOUR = "space={bayes: {learner: naive_bayes}, trees: {learner: cart, sweep: {max_depth: 'range(1, 5)'}}}"
SIX = FOUR.replace("5", "7")


def said(done: Any) -> list[str]:
    assert done.code == 0, done.err
    return [line for line in done.err.splitlines() if "journal" in line or "to compute" in line]


@pytest.mark.slow
def test_the_same_command_again_computes_nothing_and_gives_the_same(modelsel: Any) -> None:
    first = modelsel("run", *BASE, FOUR)
    assert said(first) == []
    outcome = first.outcome
    again = modelsel("run", *BASE, FOUR)
    assert said(again) == ["6 of 6 cells were found in a journal"]
    assert again.outcome.winner == outcome.winner
    assert again.outcome.folder != outcome.folder


@pytest.mark.slow
def test_a_larger_space_computes_what_is_missing_and_says_why(modelsel: Any) -> None:
    modelsel("run", *BASE, FOUR)
    larger = modelsel("run", *BASE, SIX)
    assert said(larger) == ["3 of 6 cells were found in a journal", "3 to compute: 4 of 6 candidates were known"]
    known = larger.outcome.winner
    shutil.rmtree("runs")
    afresh = modelsel("run", *BASE, SIX)
    assert said(afresh) == []
    assert afresh.outcome.winner == known


@pytest.mark.slow
def test_another_measure_is_computed_from_what_was_predicted(modelsel: Any) -> None:
    modelsel("run", *BASE, FOUR)
    other = modelsel("run", *BASE, FOUR, "measure=balanced_error")
    assert said(other) == ["6 of 6 cells were found in a journal"]
    modelsel("run", *BASE, BAYES, "measure=log_loss")
    scores = modelsel("run", *BASE, FOUR, "measure=log_loss")
    lacking = "3 to compute: 1 of 4 candidates were known"  # the winner's class scores were asked for; the others' were not
    assert said(scores) == ["3 of 6 cells were found in a journal", lacking]


@pytest.mark.slow
def test_a_space_of_one_batch_that_has_grown_says_why_all_is_computed(modelsel: Any) -> None:
    """No cell is found whole: the reasons are said all the same."""
    tree = "space={trees: {learner: cart, sweep: {max_depth: 'range(1, 5)'}}}"
    modelsel("run", *BASE, tree)
    assert said(modelsel("run", *BASE, tree.replace("5", "7"))) == ["3 to compute: 4 of 6 candidates were known"]


@pytest.mark.slow
def test_a_deadline_before_anything_is_done_leaves_nobody_to_choose_and_without_it_the_study_goes_on(modelsel: Any) -> None:
    late = modelsel("run", *BASE, FOUR, "deadline=0.000001")
    assert late.code == 7
    assert "the deadline came: candidates with unfinished folds are skipped" in late.err
    assert "Traceback" not in late.err
    whole = modelsel("run", *BASE, FOUR)
    assert whole.code == 0
    assert whole.outcome.candidates["ok"] == 5


def test_a_deadline_and_nested_selections_are_refused_together(modelsel: Any) -> None:
    done = modelsel("run", *BASE, FOUR, "outer=kfold", "deadline=5")
    assert done.code == 2
    assert "MSEL-214" in done.err
    assert not Path("runs").exists()


@pytest.mark.slow
@pytest.mark.parametrize("where", ["folder", "name"])
def test_resume_names_a_run_that_is_asked_first_wherever_it_lies(modelsel: Any, where: str) -> None:
    modelsel("run", *BASE, FOUR, "name=first")
    if where == "folder":
        Path("runs").rename("elsewhere")
    run = str(next(Path("elsewhere/first").iterdir())) if where == "folder" else "first"
    again = modelsel("run", *BASE, FOUR, f"resume={run}")
    assert said(again) == ["6 of 6 cells were found in a journal"]


def test_resume_of_a_run_that_is_not_there_is_a_mistake(modelsel: Any) -> None:
    done = modelsel("run", *BASE, FOUR, "resume=nothing_here")
    assert done.code == 2
    assert "MSEL-610" in done.err
