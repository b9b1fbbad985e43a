"""Every study shows what guessing costs on its folds, and what is chosen does not depend on it."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modelsel.record.folder import RunFolder
from modelsel.record.mlflow.runs import project
from modelsel.study import selection

SMALL = ("dataset=wine", "scheme.folds=3", "final_test=false")


@pytest.mark.slow
def test_a_space_without_it_shows_it_beside_the_candidates(modelsel: Any) -> None:
    done = modelsel("run", "-v", *SMALL, "space=[naive_bayes]")
    assert done.code == 0, done.err
    lines = {line["learner"]: line for line in done.outcome.extra["floor"]}
    assert set(lines) == {"majority", "prior_draw"}
    assert not any(line["candidate"] for line in lines.values())
    with np.load("runs/latest/losses.npz") as arrays:
        fold = arrays["fold"][:, 0]
    truth = RunFolder.open("latest").assessed().truth
    wrong = [1 - np.bincount(truth[fold != f]).argmax().__eq__(truth[fold == f]).mean() for f in range(3)]
    assert lines["majority"]["cv"]["folds"] == pytest.approx(wrong)
    assert lines["majority"]["cv"]["mean"] == pytest.approx(np.mean(wrong))
    assert f"majority {np.mean(wrong):.4f}" in done.out
    assert f"floor {{'majority': {np.mean(wrong)}, 'prior_draw': " in Path("runs/latest/study.log").read_text()
    page = Path("runs/latest/report.html").read_text()
    assert page.count('<tr class="floor">') == 2
    assert modelsel("report", "latest").code == 0
    assert Path("runs/latest/report.html").read_text().count('<tr class="floor">') == 2


@pytest.mark.slow
def test_it_is_no_candidate(modelsel: Any) -> None:
    outcome = modelsel("run", *SMALL, "space=[naive_bayes]").outcome
    with open("runs/latest/candidates.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["learner"] for row in rows} == {"naive_bayes"}
    assert outcome.candidates["distinct"] == outcome.candidates["ok"] == len(rows)
    assert outcome.fits["needed"] == 4
    runs = project(RunFolder.open("latest"))
    assert len(runs.children) == len(rows)
    metrics = {metric.name: metric.value for metric in runs.parent.metrics}
    mean = {line["learner"]: line["cv"]["mean"] for line in outcome.extra["floor"]}
    assert metrics["floor/majority/cv/error"] == mean["majority"]
    assert metrics["floor/prior_draw/cv/error"] == mean["prior_draw"]
    assert runs.parent.tags["mlflow.note.content"].count("| floor |") == 2


@pytest.mark.slow
def test_the_choice_does_not_know_of_it(modelsel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = modelsel("run", *SMALL, "space=[naive_bayes,cart]").outcome
    with np.load("runs/latest/losses.npz") as arrays:
        losses = arrays["losses"]
    monkeypatch.setattr(selection, "FLOOR", {"classes": ()})
    alone = modelsel("run", *SMALL, "space=[naive_bayes,cart]").outcome
    with np.load("runs/latest/losses.npz") as arrays:
        assert np.array_equal(losses, arrays["losses"], equal_nan=True)
    assert alone.extra["floor"] == []
    assert (shown.winner, shown.spec_id, shown.candidates, shown.fits) == (
        alone.winner, alone.spec_id, alone.candidates, alone.fits
    )  # fmt: skip


@pytest.mark.slow
def test_a_space_that_lists_it_has_it_once(modelsel: Any) -> None:
    outcome = modelsel("run", *SMALL, "space=[naive_bayes,majority]").outcome
    lines = {line["learner"]: line for line in outcome.extra["floor"]}
    assert lines["majority"]["candidate"]
    assert not lines["prior_draw"]["candidate"]
    with open("runs/latest/candidates.csv", newline="") as stream:
        row = next(row for row in csv.DictReader(stream) if row["learner"] == "majority")
    assert float(row["mean"]) == lines["majority"]["cv"]["mean"]
    assert row["id"] == lines["majority"]["id"]
    assert Path("runs/latest/report.html").read_text().count('<tr class="floor">') == 1


@pytest.mark.slow
def test_a_winner_that_only_guesses_is_said_so(modelsel: Any) -> None:
    done = modelsel("run", *SMALL, "space=[majority,prior_draw]")
    assert "the winner is no better than guessing" in " ".join(done.out.split())
    assert "no better than guessing" not in modelsel("run", *SMALL, "space=[naive_bayes]").out


@pytest.mark.slow
def test_a_measure_of_which_more_is_better_and_that_is_no_mean_over_rows(modelsel: Any) -> None:
    done = modelsel("run", *SMALL, "dataset=breast_cancer", "space=[naive_bayes]", "measure=auc")
    assert done.code == 0, done.err
    lines = {line["learner"]: line["cv"]["mean"] for line in done.outcome.extra["floor"]}
    assert lines["majority"] == 0.5  # it says the same of every row
    assert "no better than guessing" not in done.out


@pytest.mark.slow
def test_the_same_command_again_finds_it_in_the_journal(modelsel: Any) -> None:
    first = modelsel("run", *SMALL, "space=[naive_bayes]").outcome
    again = modelsel("run", *SMALL, "space=[naive_bayes]").outcome
    assert again.extra["floor"] == first.extra["floor"]
    wider = modelsel("run", *SMALL, "space=[naive_bayes,majority]")
    assert "6 of 6 cells were found in a journal" in wider.err
    assert wider.outcome.extra["floor"][0]["cv"]["folds"] == first.extra["floor"][0]["cv"]["folds"]


@pytest.mark.slow
def test_nested_cross_validation_does_not_choose_from_it(modelsel: Any) -> None:
    done = modelsel("run", *SMALL, "space=[naive_bayes]", "outer=kfold", "outer.folds=3")
    assert done.code == 0, done.err
    assert all(name.startswith("naive_bayes") for name in done.outcome.extra["nested"]["winners"])
    study = json.loads(Path("runs/latest/study.json").read_text())
    assert [line["learner"] for line in study["floor"]] == ["majority", "prior_draw"]
