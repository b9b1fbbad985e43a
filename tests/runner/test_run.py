"""Whole runs on doubles: answers, failures as records, resume."""

import numpy as np
import pytest

from tests import doubles
from tests.doubles import Double, candidates, spread
from tests.runner.studies import study


def by_hand(task, resampling, candidate):
    """Fold scores of one candidate, fitted alone by plain NumPy."""
    scores = []
    for fold in resampling.folds:
        threshold = task.values[fold.analysis, 0].mean() + candidate.learner.cut
        predicted = (candidate.learner.lean + (task.values[fold.assessment, 0] > threshold)) % len(task.classes)
        scores.append(np.mean(predicted != task.target[fold.assessment]))
    return scores


def test_scores_are_those_of_a_loop_that_fits_every_candidate_on_every_fold(tmp_path):
    task = doubles.task()
    some = (*spread(7), *spread(5, group=1, lean=1))
    results = study(tmp_path, some, task=task, repeats=2)
    expected = [by_hand(task, doubles.folds(task, 3, 2), candidate) for candidate in some]
    np.testing.assert_allclose(results.board.folds, expected)
    np.testing.assert_allclose(results.board.mean, np.mean(expected, axis=1))
    assert results.board.eligible.all()
    assert results.computed == 12
    assert set(results.status) == {"ok"}


@pytest.mark.parametrize("deed", ["raise", "quit", "wrong_shape", "exhaust"])
def test_one_poisoned_candidate_among_forty_of_a_batch_leaves_thirty_nine(tmp_path, deed):
    poison = Double(cut=9.5, deed=deed)
    some = (*spread(20), *candidates(poison), *spread(19, lean=1))
    clean = study(tmp_path, tuple(c for c in some if c.learner != poison), name="clean")
    results = study(tmp_path, some, name="poisoned")
    assert len(some) == 40
    assert [status != "ok" for status in results.status] == [position == 20 for position in range(40)]
    np.testing.assert_array_equal(np.delete(results.board.folds, 20, axis=0), clean.board.folds)
    assert np.isnan(results.board.mean[20])
    assert results.counts == {"ok": 39, "failed": 1, "skipped": 0}
    assert results.status[20] == ("memory" if deed == "exhaust" else "error")


def test_a_candidate_that_fails_on_one_fold_is_not_averaged_over_the_others(tmp_path):
    task = doubles.task()
    first = int(doubles.folds(task).folds[1].analysis[0])
    results = study(tmp_path, candidates(Double(), Double(cut=1.0, deed="raise", first_rows=(first,))), task=task)
    assert results.status[1] == "error"
    assert "asked to raise" in results.reasons[1]
    assert np.isnan(results.board.mean[1])
    assert not results.board.eligible[1]
    assert any("asked to raise" in text for text in results.tracebacks)


def test_what_fails_while_growing_is_blamed_on_the_candidate_that_led(tmp_path):
    results = study(tmp_path, (*candidates(Double(cut=9.5, deed="raise_growing")), *spread(39)))
    assert [status == "ok" for status in results.status] == [False] + [True] * 39
