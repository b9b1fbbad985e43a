"""All measures at once: who gets which, where they stand, and that they change nothing of the choice."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelsel
from modelsel.comparison.selection import affordable
from modelsel.core.types import Candidate
from modelsel.planning.make import Batch, Plan
from tests.api.conftest import QUICK

SPACE = {
    "tree": {"learner": "cart", "sweep": {"max_depth": [1, 2, 3], "min_leaf": [1, 5, 9]}},
    "bayes": {"learner": "naive_bayes"},
    "blind": {"learner": "majority"},
}
STUDY: dict[str, Any] = {**QUICK, "space": SPACE, "final_test": False}


@pytest.mark.slow
def test_counts_for_all_and_class_scores_for_the_best_of_each_entry_and_those_like_the_winner() -> None:
    outcome = modelsel.run("dataset=wine", **STUDY)
    board = outcome.leaderboard.set_index("id")
    assert board[["recall", "precision", "f1", "specificity", "mcc", "kappa"]].notna().all().all()
    best = board.groupby("entry")["rank"].idxmin()
    assert board.loc[best, ["auc", "log_loss", "brier", "lift"]].notna().all().all()
    won = outcome.winner
    assert won["measures"]["auc"] == board.loc[won["id"], "auc"]
    assert np.allclose(1 - board["balanced_error"], board["recall"])


@pytest.mark.slow
def test_class_scores_of_the_winner_are_on_record_and_give_the_measures() -> None:
    outcome = modelsel.run("dataset=breast_cancer", **STUDY)
    found = outcome.predictions
    wrong = sum((found[f"score_{label}"] - (found["truth"] == label)) ** 2 for label in outcome.classes)
    assert outcome.winner["measures"]["brier"] == pytest.approx(wrong.groupby(found["fold"]).mean().mean(), abs=1e-6)


@pytest.mark.slow
def test_all_means_all_and_the_choice_is_the_same() -> None:
    some, everything = modelsel.run("dataset=wine", **STUDY), modelsel.run("dataset=wine", **STUDY, measures="all")
    assert everything.leaderboard[["auc", "log_loss", "recall"]].notna().all().all()
    assert {k: v for k, v in everything.winner.items() if k != "measures"} == {
        k: v for k, v in some.winner.items() if k != "measures"
    }
    assert everything.winner["measures"] == pytest.approx(some.winner["measures"], abs=1e-12)


@pytest.mark.slow
def test_the_time_to_predict_is_in_no_digest_and_no_outcome() -> None:
    outcome = modelsel.run("dataset=wine", **STUDY)
    folder = Path(outcome.folder)
    times = json.loads((folder / "details.json").read_text())["predict_1000_rows"]
    assert len(times) == 3
    assert all(0 < seconds < 10 for seconds in times.values())
    assert outcome.winner["id"] in times
    assert "predict_1000" not in (folder / "study.json").read_text() + (folder / "candidates.csv").read_text()


@pytest.mark.slow
def test_the_report_has_them_in_one_table() -> None:
    outcome = modelsel.run("dataset=wine", **STUDY)
    page = (Path(outcome.folder) / "report.html").read_text()
    table = page[page.index('id="measures"') :].partition("</section>")[0]
    for name in ("balanced error", "recall", "auc", "log loss", "time to predict 1,000 rows"):
        assert f"<td>{name}</td>" in table
    assert f"{outcome.winner['measures']['auc']:.4f}" in table


@pytest.mark.slow
def test_a_resumed_study_computes_nothing_again_and_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = (modelsel.run("dataset=wine", **STUDY) for _ in range(2))
    assert first.winner == second.winner
    assert first.leaderboard.equals(second.leaderboard)
    with (Path(second.folder) / "study.log").open() as log:
        assert "to compute" not in log.read()


def test_those_like_the_winner_are_taken_as_long_as_a_twentieth_of_the_cells_is_enough() -> None:
    some = tuple(Candidate(place) for place in range(80))
    plan = Plan(some, tuple(Batch(str(place), (2 * place, 2 * place + 1)) for place in range(40)), 5, 100, "folds")
    assert affordable(plan, [0, 4, 1, 5, 6, 7, 8], 2) == [
        0,
        4,
        1,
        5,
    ]  # two of 40 batches; their members are free
    assert affordable(plan, [0, 1, 6, 7, 8], 1) == [0, 1, 6, 7]
    assert affordable(plan, [0, 2, 4, 6, 8], 4) == [0, 2, 4, 6]  # the winner and of a small table each entry's best always
