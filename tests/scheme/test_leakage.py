"""Data that leak by rule: folds that tear groups or moments apart score high, the scheme made for them scores as chance."""

from typing import Any

import numpy as np
import pytest

from modelsel import SelectionCV
from modelsel.core.spec import make
from modelsel.core.types import Feature, Task

ROWS = 600


def repeated_groups(seed: int) -> tuple[Any, Any, Any, Any]:
    """A class per group and a class per stretch of time, both by coin; features that name the group and the moment."""
    rng = np.random.default_rng(seed)
    groups, times = np.repeat(np.arange(60), 10), np.tile(np.arange(10.0), 60)
    by_group, by_time = rng.integers(0, 2, 60)[groups], rng.integers(0, 2, 10)[times.astype(int)]
    y = np.where(rng.random(ROWS) < 0.7, by_group, by_time)
    return np.column_stack([rng.normal(size=60)[groups], rng.normal(size=10)[times.astype(int)]]), y, groups, times


def overlapping(seed: int) -> tuple[Any, Any, Any]:
    """The sign of what the next 30 moments add up to: neighbours share nearly all of it, and distant rows nothing."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=ROWS + 30)
    sums = np.convolve(steps, np.ones(30), "valid")[:ROWS]
    return np.arange(ROWS, dtype=float)[:, None], (sums > 0).astype(int), np.arange(ROWS, dtype=float)


TREE, NEAREST = {"cart": {"min_leaf": 3}}, {"knn": {"k": 1}}


def mean_score(space: Any, scheme: Any, X: Any, y: Any, **roles: Any) -> float:
    return float(SelectionCV(space, scheme=scheme).fit(X, y, **roles).best_score_)


def test_group_time_split_is_chance_where_ordinary_folds_score_high() -> None:
    plain, both = [], []
    for seed in range(6):
        X, y, groups, times = repeated_groups(seed)
        plain.append(mean_score(TREE, {"kind": "kfold", "folds": 5}, X, y))
        both.append(mean_score(TREE, "group_time_split", X, y, groups=groups, times=times))
    assert np.mean(plain) > 0.65
    assert abs(np.mean(both) - 0.5) < 0.06


def test_purged_kfold_is_chance_where_ordinary_folds_score_high() -> None:
    plain, purged = [], []
    for seed in range(6):
        X, y, times = overlapping(seed)
        plain.append(mean_score(NEAREST, {"kind": "kfold", "folds": 5}, X, y))
        purged.append(mean_score(NEAREST, {"kind": "purged_kfold", "folds": 5, "gap": 30, "embargo": 30}, X, y, times=times))
    assert np.mean(plain) > 0.85
    assert abs(np.mean(purged) - 0.5) < 0.1


def task_of(seed: int = 0) -> Task:
    rng = np.random.default_rng(seed)
    return Task(name="t", features=(Feature("x", "numeric"),), values=rng.normal(size=(120, 1)), rows=np.arange(120),
                classes=("a", "b"), target=rng.integers(0, 2, 120).astype(np.int32), groups=rng.integers(0, 12, 120),
                times=rng.integers(0, 40, 120).astype(float))  # fmt: skip


def test_no_group_and_no_moment_is_on_both_sides() -> None:
    task = task_of()
    folds = make("scheme", "group_time_split", folds=3, parts=4, gap=2.0).instantiate(task, 0).folds
    assert len(folds) == 12
    for fold in folds:
        assert not set(task.groups[fold.analysis]) & set(task.groups[fold.assessment])
        assert task.times[fold.analysis].max() < task.times[fold.assessment].min() - 2.0


def test_gap_and_embargo_are_times_and_not_rows() -> None:
    task = Task(name="t", features=(Feature("x", "numeric"),), values=np.zeros((6, 1)), rows=np.arange(6), classes=("a", "b"),
                target=np.array([0, 1] * 3, np.int32), times=np.array([0.0, 10.0, 11.0, 12.0, 20.0, 100.0]))  # fmt: skip
    folds = make("scheme", "purged_kfold", folds=3, gap=1.5, embargo=8.0).instantiate(task, 0).folds
    assert [fold.assessment.tolist() for fold in folds] == [[0, 1], [2, 3], [4, 5]]
    assert [fold.analysis.tolist() for fold in folds] == [[4, 5], [0, 5], [0, 1, 2, 3]]


@pytest.mark.parametrize("kind", ["group_time_split", "purged_kfold"])
def test_what_misses_or_is_too_much_is_said(kind: str) -> None:
    task = task_of()
    bare = Task(name="t", features=task.features, values=task.values, rows=task.rows, classes=task.classes, target=task.target)
    assert any("needs times" in reason for reason in make("scheme", kind).problems(bare))
    timed = task if kind == "group_time_split" else Task(**{**vars(bare), "times": task.times})
    assert not list(make("scheme", kind).problems(timed))
    assert any("nothing to analyse" in reason for reason in make("scheme", kind, gap=1000.0).problems(timed))
    assert any("block empty" in reason for reason in make("scheme", kind, folds=90).problems(timed))
