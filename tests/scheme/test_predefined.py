"""Columns of folds: each a repeat of its own, with rows that take no part in it."""

from dataclasses import replace

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.core.types import ABSENT, Feature, Task
from modelsel.scheme.partition import fewer_rows_than_folds
from modelsel.scheme.predefined import Predefined

COLUMNS = np.array([[-1, ABSENT], [-1, ABSENT], [ABSENT, -1], [0, 0], [1, 0]])


def task_of(folds: np.ndarray, groups: list[int] | None = None) -> Task:
    rows = len(folds)
    return Task(name="t", features=(Feature("x", "numeric"),), values=np.zeros((rows, 1)), rows=np.arange(rows),
                classes=("a", "b"), target=np.zeros(rows, np.int32), folds=folds,
                groups=None if groups is None else np.array(groups))  # fmt: skip


def test_a_column_is_a_repeat_and_a_row_that_takes_no_part_is_in_neither_half() -> None:
    folds = Predefined().instantiate(task_of(COLUMNS), 0).folds
    assert [(fold.repeat, fold.analysis.tolist(), fold.assessment.tolist()) for fold in folds] == [
        (0, [0, 1, 4], [3]), (0, [0, 1, 3], [4]), (1, [2], [3, 4]),
    ]  # fmt: skip


def test_one_column_is_as_a_matrix_of_one() -> None:
    column = np.array([-1, 0, 1, 0])
    one, other = (Predefined().instantiate(task_of(folds), 0).folds for folds in (column, column[:, None]))
    assert [fold.fingerprint for fold in one] == [fold.fingerprint for fold in other]


@pytest.mark.parametrize(
    ("second", "words"),
    [([-1, -1, -1, -1, -1], "assesses no row"), ([ABSENT, ABSENT, ABSENT, 0, 0], "leaves nothing to analyse")],
)
def test_every_column_needs_both_halves(second: list[int], words: str) -> None:
    folds = np.column_stack([COLUMNS[:, 0], second])
    (problem,) = Predefined().problems(task_of(folds))
    assert words in problem


def test_a_group_crosses_only_where_it_takes_part() -> None:
    task = task_of(COLUMNS[:, 1:], groups=[0, 0, 1, 2, 2])
    assert not list(Predefined().problems(task))
    (problem,) = Predefined().problems(replace(task, groups=np.array([0, 0, 2, 2, 2])))
    assert "1 groups" in problem


# Classes with fewer rows than folds are named with their counts.


TASK = Task(
    name="t", features=(Feature("x", "numeric"),), values=np.arange(60.0)[:, None], rows=np.arange(60), classes=("a", "b", "c"),
    target=np.repeat([0, 1], [53, 7]).astype(np.int32),
)  # fmt: skip


def said(kind: str, task: Task = TASK, **fields: object) -> list[str]:
    resampling = make("scheme", kind, **fields).instantiate(task, 0)
    return [finding.message for finding in fewer_rows_than_folds(task, resampling)]


def test_the_class_and_its_rows_are_named() -> None:
    assert said("stratified_kfold") == ["classes with fewer development rows than the 10 folds: b (7)"]
    assert said("repeated_kfold", repeats=3) == said("stratified_kfold")


def test_enough_rows_are_not_worth_a_word() -> None:
    assert said("stratified_kfold", folds=7) == []
    assert said("holdout") == said("leave_one_out") == []
    assert said("stratified_kfold", replace(TASK, target=TASK.target * 0)) == []
