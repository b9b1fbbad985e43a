"""Classes with fewer rows than folds are named with their counts."""

from dataclasses import replace

import numpy as np

from modelsel.core.spec import make
from modelsel.core.types import Feature, Task
from modelsel.scheme.partition import fewer_rows_than_folds

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
