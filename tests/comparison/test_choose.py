"""The choice on real runs of doubles: corrected from losses or from answers, runners-up, pairs."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from modelsel.comparison.bbc import bbc
from modelsel.comparison.fold_predictions import FoldPredictions, bbc_of_folds
from modelsel.comparison.indistinguishable import pairs
from modelsel.comparison.selection import choose, rank
from modelsel.core.errors import NoCandidateError
from modelsel.core.fingerprint import generator
from modelsel.core.spec import make
from modelsel.core.types import Outputs, Scoreboard
from modelsel.planning.make import make as make_plan
from modelsel.runner import run as run_module
from modelsel.runner.evaluation.cell_result import OK
from modelsel.runner.journal import Journal
from tests import doubles
from tests.doubles import Double, candidates, spread
from tests.runner.studies import ALONE, study

BEST = make("rule", "best")
SOME = (*spread(5), *(replace(candidate, entry="leaning") for candidate in spread(4, lean=1)))


def test_the_winner_is_the_rule_s_and_its_score_is_corrected_from_the_loss_matrix(tmp_path: Path) -> None:
    task = doubles.task(weighted=True)
    results, resampling = study(tmp_path, SOME, task=task, measure=make("measure", "error")), doubles.folds(task)
    selection = choose(results, BEST, resampling, seed=3)
    assert selection.winner == BEST.choose(results.board) == rank(results.board)[0]
    rng = generator(3, resampling.drawn_by(task), "bbc")
    settings = {"weights": task.weights, "rng": rng, "zero_one": True}
    direct = bbc(results.losses.matrix, results.board, BEST, winner=selection.winner, **settings)
    assert direct is not None
    assert selection.corrected is not None
    assert direct.to_dict().items() <= selection.corrected.items()
    assert selection.corrected["tibshirani"] >= results.board.mean[selection.winner]
    assert selection.winner not in selection.indistinguishable
    assert selection.assessed.ids[0] == results.board.ids[selection.winner]


def test_the_same_choice_twice_is_the_same_value(tmp_path: Path) -> None:
    task = doubles.task()
    results, resampling = study(tmp_path, SOME, task=task), doubles.folds(task)
    first, second = (choose(results, BEST, resampling, seed=1) for _ in range(2))
    assert first.corrected == second.corrected
    assert first.indistinguishable == second.indistinguishable


@pytest.mark.parametrize("name", ["auc", "balanced_error"])
def test_measures_that_are_no_mean_are_corrected_from_the_answers(tmp_path: Path, name: str) -> None:
    task, measure = doubles.task(), make("measure", name)
    results, resampling = study(tmp_path, SOME, task=task, measure=measure, repeats=2), doubles.folds(task, 3, 2)
    selection = choose(results, BEST, resampling, seed=3)
    folds = []
    for fold in resampling.folds:
        predicted = np.zeros((len(SOME), len(fold.assessment)), np.int32)
        scores = np.zeros((len(SOME), len(fold.assessment), 2))
        for of, members, answers in results.book.records(range(len(SOME))):
            if of.index == fold.index:
                assert (answers.status == OK).all()
                predicted[members] = answers.predicted
                if answers.scores is not None:
                    scores[members] = answers.scores
        outputs = Outputs(predicted, scores if measure.needs_scores else None)
        folds.append(FoldPredictions(fold.assessment, task.target[fold.assessment], outputs, fold.repeat))
    rng = generator(3, resampling.fingerprint, "bbc")
    direct = bbc_of_folds(folds, np.arange(len(SOME)), results.board, BEST, measure, 2, winner=selection.winner, rng=rng)
    assert direct is not None
    assert selection.corrected is not None
    assert direct.to_dict().items() <= selection.corrected.items()


def test_failed_candidates_take_no_part(tmp_path: Path) -> None:
    some = (*spread(4), *candidates(Double(cut=9.5, deed="raise")))
    task = doubles.task()
    results = study(tmp_path, some, task=task)
    selection = choose(results, BEST, doubles.folds(task), seed=0)
    assert 4 not in (selection.winner, *selection.indistinguishable)
    assert selection.corrected is not None


def test_nobody_eligible_is_said_with_the_first_reason(tmp_path: Path) -> None:
    task = doubles.task()
    later = (int(doubles.folds(task).folds[1].analysis[0]),)
    results = study(tmp_path, candidates(Double(deed="raise", first_rows=later)), task=task)
    with pytest.raises(NoCandidateError, match="MSEL-701: none of 1 candidates is eligible"):
        choose(results, BEST, doubles.folds(task), seed=0)


def test_the_winner_is_paired_with_the_best_of_every_other_entry(tmp_path: Path) -> None:
    task = doubles.task()
    results, resampling = study(tmp_path, SOME, task=task), doubles.folds(task)
    selection = choose(results, BEST, resampling, seed=0)
    found = pairs(selection, resampling)
    assert len(found) == 1
    assert found[0]["first"] == results.board.ids[selection.winner]
    assert SOME[results.board.ids.index(found[0]["second"])].entry != SOME[selection.winner].entry
    assert found[0]["low"] <= found[0]["difference"] <= found[0]["high"]
    assert found[0]["method"] == "corrected resampled t"


def test_five_repeats_of_two_folds_are_compared_by_their_own_test(tmp_path: Path) -> None:
    """F = Σ d_ij² / (2 Σ s_i²), written out (Alpaydin 1999); other folds keep the corrected t."""
    task = doubles.task(80)
    results, resampling = study(tmp_path, SOME, task=task, folds=2, repeats=5), doubles.folds(task, 2, 5)
    found = pairs(choose(results, BEST, resampling, seed=0), resampling)
    assert [pair["method"] for pair in found] == ["5 × 2 cv F"]
    place = {name: number for number, name in enumerate(results.board.ids)}
    d = (results.board.folds[place[found[0]["second"]]] - results.board.folds[place[found[0]["first"]]]).reshape(5, 2)
    spread_ = sum((one - (one + two) / 2) ** 2 + (two - (one + two) / 2) ** 2 for one, two in d)
    assert found[0]["p"] == pytest.approx(stats.f.sf((d**2).sum() / (2 * spread_), 10, 5))
    longer = doubles.folds(task, 2, 4)
    other = study(tmp_path / "longer", SOME, task=task, folds=2, repeats=4)
    assert pairs(choose(other, BEST, longer, seed=0), longer)[0]["method"] == "corrected resampled t"


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are kept for the best four only, as in spaces above ten thousand."""
    monkeypatch.setattr(run_module, "ROWS_FOR_ALL", 5)
    monkeypatch.setattr(run_module, "ROWS_FOR_BEST", 4)


@dataclass(frozen=True)
class Last:
    """A rule that chooses a candidate whose rows nobody kept."""

    def choose(self, board: Scoreboard) -> int:
        return int(np.flatnonzero(board.eligible)[np.argmax(board.cost[board.eligible])])


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("measure", ["error", "auc"])
def test_where_rows_are_kept_for_the_best_the_choice_is_corrected_among_those(tmp_path: Path, measure: str) -> None:
    task = doubles.task()
    results, resampling = study(tmp_path, SOME, task=task, measure=make("measure", measure)), doubles.folds(task)
    assert len(results.kept) < len(SOME)
    selection = choose(results, BEST, resampling, seed=3)
    best = tuple(SOME[position] for position in results.kept)
    alone = choose(study(tmp_path, best, task=task, measure=make("measure", measure), name="alone"), BEST, resampling, seed=3)
    assert selection.board.ids[selection.winner] == alone.board.ids[alone.winner]
    assert selection.corrected is not None
    assert alone.corrected is not None
    for key in ("mean", "low", "high", "same"):
        assert selection.corrected[key] == alone.corrected[key]
    assert selection.assessed.ids[0] == alone.assessed.ids[0]
    assert {pair["second"] for pair in pairs(selection, resampling)} == {*selection.assessed.ids[1:]}


@pytest.mark.usefixtures("few")
def test_with_one_holdout_those_whose_rows_were_kept_are_compared(tmp_path: Path) -> None:
    task = doubles.task()
    resampling = replace(thirds := doubles.folds(task), folds=thirds.folds[:1])
    with Journal(tmp_path) as journal:
        results = run_module.run(make_plan(SOME, task, resampling), task, resampling, make("measure", "error"), ALONE, journal)
    selection = choose(results, BEST, resampling, seed=3)
    assert {*selection.indistinguishable} <= {*results.kept} - {selection.winner}
    assert [pair["second"] for pair in pairs(selection, resampling)] == [*selection.assessed.ids[1:]]


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("measure", ["error", "auc"])
def test_a_winner_whose_rows_were_not_kept_is_given_its_rows(tmp_path: Path, measure: str) -> None:
    task = doubles.task()
    results, resampling = study(tmp_path, SOME, task=task, measure=make("measure", measure)), doubles.folds(task)
    selection = choose(results, Last(), resampling, seed=3)
    assert selection.winner not in results.kept
    assert selection.corrected is not None
    assert np.isfinite(selection.board.se[selection.winner])
    if measure == "error":
        column = selection.losses.ids.index(selection.board.ids[selection.winner])
        wrong = selection.assessed.predicted[0] != selection.assessed.truth
        np.testing.assert_array_equal(selection.losses.matrix[:, column], wrong)
