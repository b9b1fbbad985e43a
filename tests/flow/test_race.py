"""race=exact through the command line: the same winner and test, what is said of who was dropped, and the correction."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

CASE = ("dataset=breast_cancer", "space=[cart,knn,naive_bayes]", "scheme.folds=6", "pool=sequential")


def candidates() -> dict[str, dict[str, str]]:
    with Path("runs/latest/candidates.csv").open() as file:
        return {row["id"]: row for row in csv.DictReader(file)}


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [(), ("rule=one_standard_error",), ("measure=auc",)], ids=["best", "one_standard_error", "auc"]
)
def test_the_winner_and_its_test_are_those_of_the_full_study(modelsel: Any, words: tuple[str, ...]) -> None:
    whole = modelsel("run", *CASE, *words, "name=whole", "guard.remember=false")
    known, test = whole.outcome.winner, whole.outcome.test
    full = candidates()
    done = modelsel("run", *CASE, *words, "race=exact", "name=raced", "guard.remember=false")
    assert done.code == 0, done.err
    raced = done.outcome
    assert (raced.winner["id"], raced.winner["cv"]) == (known["id"], known["cv"])
    assert (raced.test.score, raced.test.n) == (test.score, test.n)
    assert raced.spec_id == whole.outcome.spec_id
    assert raced.candidates["distinct"] == whole.outcome.candidates["distinct"]
    out = {name for name, row in candidates().items() if row["status"] == "dropped"}
    assert len(out) == raced.candidates.get("dropped", 0)
    for name, row in candidates().items():
        assert (row["mean"] == "") == (name in out)
        assert name in out or row["mean"] == full[name]["mean"]
    assert not out & set(raced.winner["indistinguishable"])
    assert not {one["id"] for one in raced.failures} & out


@pytest.mark.slow
def test_the_corrected_score_is_withheld_with_the_reason_or_that_of_the_full_study(modelsel: Any) -> None:
    expected = modelsel("run", *CASE, "name=whole").outcome.winner["corrected"]
    raced = modelsel("run", *CASE, "race=exact", "name=raced")
    assert raced.outcome.candidates["dropped"] > 0
    assert raced.outcome.winner["corrected"] is None
    assert "NOT_CORRECTED" in [
        finding["code"] for finding in json.loads(Path("runs/latest/study.json").read_text())["findings"]
    ]
    assert "cells were not needed" in raced.err
    page = Path("runs/latest/report.html").read_text()
    assert "left the race" in page
    finished = modelsel("run", *CASE, "race=exact", "race.corrected=true", "name=corrected").outcome
    for key in ("mean", "low", "high", "same", "resamples"):
        assert finished.winner["corrected"][key] == pytest.approx(expected[key], abs=1e-12)


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (("on_failure=error",), "on_failure"),
        (("deadline=60",), "deadline"),
        (("race.corrected=true", "rule=one_standard_error"), "race.corrected"),
        (("race.corrected=true", "measure=auc"), "race.corrected"),
        (("rule.subject_to={balanced_error: '<= 0.9'}",), "rule.subject_to"),
    ],
)
def test_what_would_not_be_exact_is_refused(modelsel: Any, words: tuple[str, ...], place: str) -> None:
    refused = modelsel("run", *CASE, "race=exact", *words)
    assert refused.code == 2
    assert "MSEL-226" in refused.err
    assert place in refused.err
