"""What every outer split in conf/split/ promises."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from modelsel.core.spec import make
from modelsel.core.types import Feature, Partition, Task

CONF = Path(__file__).parents[2] / "conf" / "split"
SPECS = {
    path.stem: {"kind": path.stem, **yaml.safe_load(path.read_text())}
    for path in sorted(CONF.glob("*.yaml"))
    if path.stem != "auto"  # begins from random
}


def task_for(name: str, rows: int = 101) -> Task:
    rng = np.random.default_rng(0)
    task = Task(name="t", features=(Feature("x", "numeric"),), values=rng.normal(size=(rows, 1)), rows=np.arange(rows),
                classes=("a", "b"), target=rng.integers(2, size=rows).astype(np.int32))  # fmt: skip
    extra: dict[str, object] = {
        "group": {"groups": np.arange(rows) // 4},
        "time": {"times": np.repeat(np.arange(rows), 3)[:rows].astype(float)},
        "predefined": {"held_out": np.arange(rows) % 5 == 0},
    }.get(name, {})
    return replace(task, **extra)  # type: ignore[arg-type]


def partition(name: str, task: Task, **changes: object) -> Partition:
    part = make("split", **{**SPECS[name], **changes})
    assert list(part.problems(task)) == []
    return part.partition(task)  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", SPECS)
def test_every_row_is_on_one_side(name: str) -> None:
    parts = partition(name, task_for(name))
    assert np.sort(np.concatenate([parts.development, parts.test])).tolist() == list(range(101))
    assert bool(len(parts.test)) == (name != "none")


@pytest.mark.parametrize("name", ["random", "group"])
def test_another_choice_of_columns_moves_no_test_row(name: str) -> None:
    task = task_for(name)
    other = task.with_features((Feature("z", "numeric"),), np.zeros((101, 1)))
    assert np.array_equal(partition(name, task).test, partition(name, other).test)
    assert not np.array_equal(partition(name, task).test, partition(name, task, seed=1).test)


def test_the_random_split_is_exact_to_one_row_per_class() -> None:
    task = task_for("random")
    parts = partition("random", task)
    assert len(parts.test) == 30
    want = np.bincount(task.target) * 30 / 101
    assert np.all(np.abs(np.bincount(task.target[parts.test]) - want) < 1)


def test_groups_are_on_one_side_and_the_future_is_sealed() -> None:
    task = task_for("group")
    parts = partition("group", task)
    assert task.groups is not None
    assert not np.intersect1d(task.groups[parts.test], task.groups[parts.development]).size
    assert abs(len(parts.test) - 30) <= 4
    task = task_for("time")
    parts = partition("time", task)
    assert task.times is not None
    assert task.times[parts.development].max() < task.times[parts.test].min()


def test_where_units_are_cut_by_some_moments_the_nearest_that_cuts_none_divides() -> None:
    """Units 0 … 3 last from 0 to 2, 3 to 4, 5 to 8 and 9 to 9: only 2, 4 and 8 cut none, and 5 is asked for."""
    times = np.array([0.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])
    units = np.array([0, 0, 1, 1, 2, 2, 2, 2, 3])
    task = replace(task_for("time", 9), times=times, groups=units, units=units, target=np.arange(9, dtype=np.int32) % 2)
    assert partition("time", task, test=0.4).test.tolist() == [4, 5, 6, 7, 8]
    assert partition("time", task, test=0.2).test.tolist() == [8]


@pytest.mark.parametrize("name", ["group", "time", "predefined"])
def test_a_column_that_is_needed_is_asked_for(name: str) -> None:
    assert "dataset." in "".join(make("split", **SPECS[name]).problems(task_for("random")))


@pytest.mark.parametrize("name", ["random", "time"])
def test_groups_that_would_be_ignored_are_refused(name: str) -> None:
    assert "groups" in "".join(make("split", **SPECS[name]).problems(replace(task_for(name), groups=np.arange(101))))
