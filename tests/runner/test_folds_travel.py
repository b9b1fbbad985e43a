"""Folds reach a worker as small labels, and are there what they were here."""

import pickle

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modelsel.core.types import Fold, Resampling
from modelsel.runner.evaluation.context import RunContext
from tests import doubles

ROWS, FOLDS = 100_000, 50


def kfold(rows: int, folds: int, repeats: int = 1, seed: int = 0) -> Resampling:
    rng, made = np.random.default_rng(seed), []
    for repeat in range(repeats):
        part = rng.integers(folds, size=rows)
        made += [Fold(len(made) + k, repeat, np.flatnonzero(part != k), np.flatnonzero(part == k)) for k in range(folds)]
    return Resampling("kfold", "rows", tuple(made))


def alike(one: Resampling, other: Resampling) -> bool:
    pairs = list(zip(one.folds, other.folds, strict=True))
    same = all(a.analysis.tolist() == b.analysis.tolist() and a.assessment.tolist() == b.assessment.tolist() for a, b in pairs)
    names = all((a.index, a.repeat, a.fingerprint) == (b.index, b.repeat, b.fingerprint) for a, b in pairs)
    return same and names and one.fingerprint == other.fingerprint


@pytest.mark.slow
def test_fifty_folds_of_many_rows_travel_as_a_byte_per_row():
    whole = kfold(ROWS, FOLDS, 2)
    assert sum(fold.analysis.nbytes + fold.assessment.nbytes for fold in whole.folds) == 8 * ROWS * FOLDS * 2
    assert len(pickle.dumps(whole)) < 2 * ROWS + 10_000
    assert alike(whole, pickle.loads(pickle.dumps(whole)))


def test_so_do_they_within_the_work_that_processes_map(tmp_path):
    task = doubles.task(1_000)
    folds = doubles.folds(task, 20)
    joblib.dump(RunContext(task, folds, None, None), tmp_path / "work")
    assert (tmp_path / "work").stat().st_size < 100 * len(task)
    assert alike(folds, joblib.load(tmp_path / "work", mmap_mode="r").resampling)


rows = st.lists(st.integers(0, 30), max_size=20).map(lambda some: np.array(some, np.int64))


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), rows, rows), min_size=1, max_size=6))
def test_any_folds_arrive_as_they_were_also_a_bootstraps(some):
    made = Resampling(
        "any", "rows", tuple(Fold(7 + i, repeat, first, second) for i, (repeat, first, second) in enumerate(some))
    )
    assert alike(made, pickle.loads(pickle.dumps(made)))


def test_folds_that_leave_rows_out_or_are_fitted_on_some_arrive_as_they_were():
    time = tuple(Fold(k, 0, np.arange(10 * (k + 1)), np.arange(10 * (k + 1), 10 * (k + 2))) for k in range(4))
    holdout = (Fold(0, 0, np.arange(5, 20), np.arange(5)),)
    for folds in (time, holdout):
        made = Resampling("some", "rows", folds)
        assert alike(made, pickle.loads(pickle.dumps(made)))


def test_a_worker_holds_a_few_folds_at_a_time():
    there = pickle.loads(pickle.dumps(kfold(60, 6)))
    assert there.folds[-1].index == 5
    assert [fold.index for fold in there.folds[1:3]] == [1, 2]
    assert len(there.folds._held) <= 2
    with pytest.raises(IndexError):
        there.folds[6]
