"""What cells add up to, against plain NumPy and against rpart."""

import json

import numpy as np
import pytest

from modelsel.core.types import Fold, Resampling
from modelsel.runner import results as results_module
from modelsel.runner import run as run_module
from modelsel.runner.results import LossMatrix, fold_errors
from tests import doubles
from tests.doubles import Agreement, Double, Quadratic, candidates, spread
from tests.runner.studies import answer, study

SOME = (*spread(6), *spread(4, group=1, lean=1))


def test_the_loss_matrix_is_the_mean_over_repeats_of_every_rows_loss(tmp_path):
    task = doubles.task(weighted=True)
    results = study(tmp_path, SOME, task=task, repeats=2)
    for column, candidate in enumerate(SOME):
        losses = np.zeros(len(task))
        for fold in doubles.folds(task, 3, 2).folds:
            threshold = task.values[fold.analysis, 0].mean() + candidate.learner.cut
            predicted = (candidate.learner.lean + (task.values[fold.assessment, 0] > threshold)) % 2
            losses[fold.assessment] += (predicted != task.target[fold.assessment]) / 2
        np.testing.assert_allclose(results.losses.matrix[:, column], losses)
        mean = np.average(losses, weights=task.weights)
        assert results.board.se[column] == pytest.approx(
            np.sqrt(np.sum((task.weights * (losses - mean)) ** 2)) / task.weights.sum()
        )
    assert results.losses.ids == tuple(candidate.id for candidate in SOME)
    assert results.losses.fold[:, 1].max() == 5


def test_the_standard_error_of_an_error_rate_is_the_binomial_one(tmp_path):
    results = study(tmp_path, SOME)
    p = results.losses.matrix.mean(axis=0)
    np.testing.assert_allclose(results.board.se, np.sqrt(p * (1 - p) / 60), rtol=1e-6)


def test_standard_errors_equal_those_that_rpart_prints(reference):
    """xerror and xstd are relative to the root's errors."""
    cases = json.loads((reference / "rpart_xval.json").read_text())["cases"].values()
    for case in (case for case in cases if case["split"] == "gini"):
        n, root = case["n"], case["root_errors"]
        errors = [round(row[3] * root) for row in case["cptable"]]
        matrix = LossMatrix(task := doubles.task(n), doubles.folds(task, 1), len(errors))
        matrix.add(np.arange(n), np.arange(len(errors)), (np.arange(n) < np.array(errors)[:, None]).astype(float))
        matrix.finish(np.ones(len(errors), bool))
        np.testing.assert_allclose(matrix.standard_errors() * n / root, [row[4] for row in case["cptable"]], rtol=1e-5)


@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("grouped", [False, True])
def test_a_standard_error_is_the_same_to_the_last_bit_in_any_company(grouped, repeats):
    """Alone, beside one other, and where a block ends with it."""
    task = doubles.task(500, weighted=True)
    task = doubles.with_groups(task, np.repeat(np.arange(125), 4)) if grouped else task
    resampling, columns = doubles.folds(task, 5, repeats), results_module.BLOCK // 500 + 1
    losses = np.random.default_rng(0).random((columns, 500))

    def errors(which):
        matrix = LossMatrix(task, resampling, len(which))
        for fold in resampling.folds:
            matrix.add(fold.assessment, np.arange(len(which)), losses[np.ix_(which, fold.assessment)])
        matrix.finish(np.ones(len(which), bool))
        return matrix.standard_errors()

    together = errors(np.arange(columns))
    for which in ([0], [columns - 1], [3, columns - 1], [*range(17)]):
        np.testing.assert_array_equal(errors(np.array(which)), together[which])


def test_groups_count_as_one_observation_each():
    task = doubles.task(40)
    grouped = doubles.with_groups(task, np.repeat(np.arange(10), 4))
    resampling = doubles.folds(grouped, 2)
    rng = np.random.default_rng(0)
    losses = rng.random((3, 40))
    matrix = LossMatrix(grouped, resampling, 3)
    for fold in resampling.folds:
        matrix.add(fold.assessment, np.arange(3), losses[:, fold.assessment])
    matrix.finish(np.ones(3, bool))
    residuals = (losses - losses.mean(axis=1, keepdims=True)).reshape(3, 10, 4).sum(axis=2)
    np.testing.assert_allclose(matrix.standard_errors(), np.sqrt((residuals**2).sum(axis=1)) / 40, rtol=1e-5)


def test_rows_that_no_fold_assessed_are_nan_and_take_no_part(tmp_path):
    task = doubles.task(20)
    holdout = Resampling("holdout", task.fingerprint, (Fold(0, 0, np.arange(12), np.arange(12, 20)),))
    matrix = LossMatrix(task, holdout, 1)
    matrix.add(np.arange(12, 20), np.zeros(1, int), np.array([[1.0, 0, 0, 0, 0, 0, 0, 1]]))
    filled = matrix.finish(np.ones(1, bool))
    assert np.isnan(filled[:12]).all()
    assert matrix.standard_errors()[0] == pytest.approx(np.sqrt(0.25 * 0.75 / 8))


def test_repeats_do_not_make_fold_errors_smaller():
    scores = np.random.default_rng(0).random((5, 4))
    twice = doubles.folds(doubles.task(), 4, 2)
    once = doubles.folds(doubles.task(), 4, 1)
    np.testing.assert_allclose(fold_errors(np.hstack([scores, scores]), twice), fold_errors(scores, once))
    np.testing.assert_allclose(fold_errors(scores, once), scores.std(axis=1, ddof=1) / 2)


def test_out_of_fold_predictions_are_those_of_the_first_repeat(tmp_path):
    task = doubles.task()
    results = study(tmp_path, SOME, measure=Quadratic(), task=task, repeats=2)
    assessed = results.out_of_fold([7, 2])
    assert assessed.ids == (SOME[7].id, SOME[2].id)
    for fold in doubles.folds(task, 3).folds:
        threshold = task.values[fold.analysis, 0].mean() + SOME[2].learner.cut
        expected = (task.values[fold.assessment, 0] > threshold).astype(int)
        np.testing.assert_array_equal(assessed.predicted[1, fold.assessment], expected)
        np.testing.assert_allclose(assessed.scores[1, fold.assessment].sum(axis=1), 1)


def test_a_measure_that_is_undefined_on_a_fold_makes_the_candidate_ineligible(tmp_path):
    task = doubles.task()
    second = doubles.folds(task).folds[1].assessment
    lonely = doubles.with_target(task, second, np.zeros(len(second), np.int32))
    results = study(tmp_path, SOME, measure=Agreement(), task=lonely)
    assert set(results.status) == {"invalid_score"}
    assert not results.board.eligible.any()
    assert np.isnan(results.board.mean).all()
    assert "not defined on this fold (fold 1)" in results.reasons[0]
    assert results.losses.matrix is None


def test_scores_that_are_nan_are_no_answer(tmp_path):
    results = study(tmp_path, (*spread(3), *candidates(Double(cut=9.5, deed="nan"))), measure=Quadratic())
    assert results.status == ("ok", "ok", "ok", "invalid_score")
    assert np.isnan(results.losses.matrix[:, 3]).all()


def test_a_refusal_is_skipped_and_no_failure(tmp_path):
    results = study(tmp_path, (*spread(3), *candidates(Double(cut=9.5, deed="refuse"))))
    assert results.status[3] == "skipped"
    assert "asked to refuse" in results.reasons[3]
    assert results.counts == {"ok": 3, "failed": 0, "skipped": 1}


def test_in_very_large_spaces_rows_are_kept_for_the_best_and_scores_for_all(tmp_path, monkeypatch):
    whole = study(tmp_path, SOME, name="whole")
    monkeypatch.setattr(run_module, "ROWS_FOR_ALL", 5)
    monkeypatch.setattr(run_module, "ROWS_FOR_BEST", 3)
    large = study(tmp_path, SOME, name="large")
    np.testing.assert_array_equal(large.board.folds, whole.board.folds)
    best = sorted(np.lexsort((whole.board.complexity, whole.board.cost))[:3])
    assert list(large.kept) == best
    assert large.losses.ids == tuple(whole.board.ids[position] for position in best)
    np.testing.assert_array_equal(large.losses.matrix, whole.losses.matrix[:, best])
    np.testing.assert_array_equal(large.board.se[best], whole.board.se[best])
    np.testing.assert_array_equal(large.out_of_fold(range(10)).predicted, whole.out_of_fold(range(10)).predicted)
    again = study(tmp_path, SOME, name="again", older=[tmp_path / "large"])
    assert again.computed == 0
    assert answer(again) == answer(large)


@pytest.mark.parametrize("repeats", [1, 2])
def test_rows_that_were_not_kept_are_computed_again_when_they_are_wanted(tmp_path, monkeypatch, repeats):
    whole = study(tmp_path, SOME, name="whole", repeats=repeats)
    monkeypatch.setattr(run_module, "ROWS_FOR_ALL", 5)
    monkeypatch.setattr(run_module, "ROWS_FOR_BEST", 3)
    large = study(tmp_path, SOME, name="large", repeats=repeats)
    left = next(position for position in range(len(SOME)) if position not in large.kept)
    wider = large.including(left)
    assert list(wider.kept) == sorted([*large.kept, left])
    np.testing.assert_array_equal(wider.losses.matrix, whole.losses.matrix[:, wider.kept])
    np.testing.assert_allclose(wider.board.se[wider.kept], whole.board.se[wider.kept], rtol=1e-12)
    assert wider.losses.ids == tuple(SOME[position].id for position in wider.kept)
    assert wider.including(left) is wider
