"""What every scheme in conf/scheme/ promises, whatever its kind."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import KFold

from modelsel.core.spec import make
from modelsel.core.types import Feature, Resampling, Task
from modelsel.foreign.objects import hold

CONF = Path(__file__).parents[2] / "conf" / "scheme"
SPECS = {
    path.stem: {"kind": path.stem, **yaml.safe_load(path.read_text())}
    for path in sorted(CONF.glob("*.yaml"))
    if path.stem != "auto"
}  # auto is another one by its kind
STRATIFIED = ["stratified_kfold", "repeated_kfold", "holdout", "repeated_holdout"]


def scheme(name: str, **changes: object) -> object:
    spec = {**SPECS[name], **changes}
    if name == "splitter":
        spec |= {"identity": hold(KFold(4)), "splitter": "KFold(4)"}
    return make("scheme", **spec)


def fits(name: str, task: Task) -> Task:
    """The task with the columns that the scheme needs."""
    rows = np.arange(len(task))
    extra: dict[str, object] = {}
    if "group" in name:
        extra["groups"] = rows // 3
    if "time" in name or "purged" in name:
        extra["times"] = (rows // 2).astype(float)[::-1].copy()
    if name == "predefined":
        extra["folds"] = rows % 4 - 1
    return Task(name=task.name, features=task.features, values=task.values, rows=task.rows, classes=task.classes,
                target=task.target, **extra)  # type: ignore[arg-type]  # fmt: skip


def task_of(rows: int, seed: int = 0, values: int = 1000) -> Task:
    rng = np.random.default_rng(seed)
    target = rng.choice(3, rows, p=[0.6, 0.3, 0.1]).astype(np.int32)
    return Task(name="t", features=(Feature("x", "numeric"),), values=rng.integers(0, values, (rows, 1)).astype(float),
                rows=np.arange(rows), classes=("a", "b", "c"), target=target)  # fmt: skip


def made(name: str, task: Task, seed: int = 0, **changes: object) -> Resampling:
    part = scheme(name, **changes)
    assert list(part.problems(task)) == []  # type: ignore[attr-defined]
    return part.instantiate(task, seed)  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize("name", SPECS)
@settings(max_examples=10, deadline=None)
@given(rows=st.integers(40, 120), seed=st.integers(0, 5))
def test_no_row_is_in_both_halves_of_a_fold(name: str, rows: int, seed: int) -> None:
    task = fits(name, task_of(rows, seed))
    for fold in made(name, task, seed).folds:
        assert fold.judges_itself or not np.intersect1d(fold.analysis, fold.assessment).size
        assert len(fold.analysis)
        assert len(np.unique(fold.assessment)) == len(fold.assessment) > 0


@pytest.mark.parametrize("name", SPECS)
def test_folds_depend_on_the_seed_and_the_rows_alone(name: str) -> None:
    task = fits(name, task_of(90))
    first, again = made(name, task, 3), made(name, task, 3)
    assert first.fingerprint == again.fingerprint
    assert first.task_fingerprint == task.fingerprint
    assert first.scheme == name
    other = fits(name, task_of(90, 1))
    assert made(name, other, 3).fingerprint != first.fingerprint


@pytest.mark.parametrize("name", SPECS)
def test_fold_numbers_run_on_and_arrays_are_read_only(name: str) -> None:
    folds = made(name, fits(name, task_of(60))).folds
    assert [fold.index for fold in folds] == list(range(len(folds)))
    assert not any(array.flags.writeable for fold in folds for array in (fold.analysis, fold.assessment))


@pytest.mark.parametrize(
    "name", ["kfold", "stratified_kfold", "repeated_kfold", "group_kfold", "stratified_group_kfold", "leave_one_out"]
)
def test_every_row_is_assessed_once_per_repeat(name: str) -> None:
    task = fits(name, task_of(77))
    resampling = made(name, task)
    for repeat in range(resampling.repeats):
        assessed = np.concatenate([fold.assessment for fold in resampling.folds if fold.repeat == repeat])
        assert np.sort(assessed).tolist() == list(range(77))


@pytest.mark.parametrize("name", ["kfold", "stratified_kfold", "repeated_kfold"])
@settings(max_examples=20, deadline=None)
@given(rows=st.integers(20, 200), folds=st.integers(2, 20))
def test_fold_sizes_differ_by_at_most_one(name: str, rows: int, folds: int) -> None:
    sizes = [len(fold.assessment) for fold in made(name, task_of(rows), folds=folds).folds]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("name", STRATIFIED)
@settings(max_examples=20, deadline=None)
@given(rows=st.integers(30, 200), seed=st.integers(0, 100))
def test_stratified_parts_hold_every_class_exact_to_one_row(name: str, rows: int, seed: int) -> None:
    task = task_of(rows, seed)
    share = np.bincount(task.target, minlength=3) / rows
    for fold in made(name, task, seed).folds:
        counts = np.bincount(task.target[fold.assessment], minlength=3)
        assert np.all(np.abs(counts - share * len(fold.assessment)) < 2)


def test_stratified_folds_differ_by_at_most_one_row_per_class() -> None:
    task = task_of(203)
    table = np.array([np.bincount(task.target[f.assessment], minlength=3) for f in made("stratified_kfold", task).folds])
    assert np.all(table.max(axis=0) - table.min(axis=0) <= 1)


@pytest.mark.parametrize("name", ["group_kfold", "stratified_group_kfold"])
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000))
def test_groups_never_cross(name: str, seed: int) -> None:
    task = task_of(100, seed)
    groups = np.random.default_rng(seed).integers(0, 30, 100)
    grouped = Task(name="t", features=task.features, values=task.values, rows=task.rows, classes=task.classes,
                   target=task.target, groups=groups)  # fmt: skip
    for fold in made(name, grouped, seed, folds=5).folds:
        assert not np.intersect1d(groups[fold.analysis], groups[fold.assessment]).size


@pytest.mark.parametrize("name", [name for name, spec in SPECS.items() if "keep_duplicates_together" in spec])
def test_identical_rows_stay_together_when_asked(name: str) -> None:
    task = fits(name, task_of(90, values=25))
    changes = {"folds": 4} if "folds" in SPECS[name] else {}
    part = scheme(name, keep_duplicates_together=True, **changes)
    for fold in part.instantiate(task, 0).folds:  # type: ignore[attr-defined]
        assert not np.intersect1d(task.values[fold.analysis], task.values[fold.assessment]).size


@pytest.mark.parametrize("name", [name for name in SPECS if "group" not in name and name not in ("predefined", "splitter")])
def test_groups_that_would_be_ignored_are_refused(name: str) -> None:
    task = fits("group_kfold", task_of(60))
    assert any("groups" in problem for problem in scheme(name).problems(task))  # type: ignore[attr-defined]


def test_more_repeats_leave_the_first_ones_as_they_are() -> None:
    task = task_of(50)
    few, many = made("repeated_kfold", task, repeats=2), made("repeated_kfold", task, repeats=5)
    assert [fold.fingerprint for fold in few.folds] == [fold.fingerprint for fold in many.folds[:20]]
    assert made("stratified_kfold", task).folds[3].fingerprint == many.folds[3].fingerprint


def test_time_split_analyses_the_past_only() -> None:
    task = fits("time_split", task_of(101))
    assert task.times is not None
    for changes in ({}, {"window": "rolling"}, {"gap": 5}):
        for fold in made("time_split", task, **changes).folds:
            assert task.times[fold.analysis].max() < task.times[fold.assessment].min()


def test_bootstrap_leaves_out_what_it_did_not_draw() -> None:
    for fold in made("bootstrap", task_of(80)).folds:
        assert len(fold.analysis) == 80
        assert np.union1d(fold.analysis, fold.assessment).tolist() == list(range(80))


@pytest.mark.parametrize(
    ("name", "said"),
    [("group_kfold", "dataset.groups"), ("time_split", "dataset.time"), ("predefined", "dataset.fold"), ("kfold", "at most 7")],
)
def test_what_a_scheme_lacks_is_said(name: str, said: str) -> None:
    assert said in "".join(scheme(name).problems(task_of(7)))  # type: ignore[attr-defined]


def test_a_holdout_with_a_seed_of_its_own_follows_no_other() -> None:
    task = task_of(60)
    own = [scheme("holdout", seed=3).instantiate(task, seed).folds[0].assessment.tolist() for seed in (0, 1)]
    theirs = [made("holdout", task, seed).folds[0].assessment.tolist() for seed in (0, 3)]
    assert own[0] == own[1] == theirs[1] != theirs[0]
