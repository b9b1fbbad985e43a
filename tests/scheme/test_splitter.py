"""A splitter object of one's own as the scheme of a study: its folds are what it says of the development rows."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold, KFold, RepeatedStratifiedKFold, StratifiedGroupKFold, TimeSeriesSplit

import modelsel
from modelsel.core.errors import ConfigurationError
from modelsel.core.spec import make
from modelsel.core.types import Feature, Task
from modelsel.foreign.objects import describe_object, hold

QUICK = {"tracking": "off", "pool": "sequential", "final_test": False, "space": {"tree": {"learner": "cart", "max_depth": 2}}}


class ByTown:
    """Leaves out a town after the other: it reads a column."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Any]:
        for town in sorted(set(X["town"])):
            yield np.flatnonzero(X["town"] != town), np.flatnonzero(X["town"] == town)


class Torn:
    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Any]:
        yield np.arange(5), np.arange(3, 8)


def scheme(splitter: Any) -> Any:
    return make("scheme", "splitter", identity=hold(splitter), splitter=describe_object(splitter))


def task(rows: int = 60, groups: bool = False) -> Task:
    rng = np.random.default_rng(0)
    return Task(
        name="t", features=(Feature("x", "numeric"),), values=rng.normal(size=(rows, 1)), rows=np.arange(rows),
        classes=("a", "b"), target=(np.arange(rows) % 2).astype(np.int32), groups=np.arange(rows) // 4 if groups else None,
    )  # fmt: skip


@pytest.mark.parametrize(
    "splitter",
    [
        KFold(4, shuffle=True, random_state=1), TimeSeriesSplit(3), GroupKFold(5), StratifiedGroupKFold(3),
        RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
    ],
)  # fmt: skip
def test_its_folds_are_the_splitters_own(splitter: Any) -> None:
    rows = task(groups="Group" in repr(splitter))
    part = scheme(splitter)
    assert list(part.problems(rows)) == []
    found = part.instantiate(rows, 0)
    theirs = list(splitter.split(rows.values, np.array(rows.class_names)[rows.target], rows.groups))
    assert [[fold.analysis.tolist(), fold.assessment.tolist()] for fold in found.folds] == [
        [one.tolist(), other.tolist()] for one, other in theirs
    ]
    assert found.repeats == (2 if "Repeated" in repr(splitter) else 1)


@pytest.mark.parametrize(
    ("splitter", "groups", "said"),
    [
        (KFold(3, shuffle=True), False, "draws other folds each time: give it random_state=NUMBER"),
        (KFold(4), True, "groups are on both sides of fold"),
        (Torn(), False, "2 rows are in both halves of fold 0"),
        (GroupKFold(3), False, "cannot divide these rows: The 'groups' parameter should not be None"),
        (KFold(100), False, "cannot divide these rows"),
    ],
)
def test_what_makes_no_folds_is_refused_in_words(splitter: Any, groups: bool, said: str) -> None:
    assert said in " ".join(scheme(splitter).problems(task(groups=groups)))


def test_one_that_was_changed_or_is_not_here_is_refused() -> None:
    splitter = KFold(7)  # no other test holds an equal one
    part = scheme(splitter)
    splitter.n_splits = 4
    assert "has changed since" in " ".join(part.problems(task()))
    assert "in the memory of the process" in " ".join(make("scheme", "splitter", identity="0" * 32).problems(task()))
    assert "hand it over in Python" in " ".join(make("scheme", "splitter").problems(task()))


@pytest.mark.slow
def test_a_study_divides_its_development_rows_by_it_and_goes_on(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=90), "town": np.array(["ulm", "bonn", "kiel"])[np.arange(90) % 3]})
    frame["y"] = np.where(frame["x"] > 0, "yes", "no")
    outcome = modelsel.run(frame, target="y", scheme=ByTown(), **QUICK)
    assert modelsel.plan(frame, target="y", scheme=ByTown(), **QUICK).cells == 3
    assert set(outcome.leaderboard["status"]) == {"ok"}
    assert [one["code"] for one in outcome.findings].count("NOT_PORTABLE") == 1
    again = modelsel.run(frame, target="y", scheme=ByTown(), **QUICK)
    assert again.winner["cv"] == outcome.winner["cv"]
    with pytest.raises(ConfigurationError, match=r"MSEL-240.*draws other folds each time"):
        modelsel.run(frame, target="y", scheme=KFold(3, shuffle=True), **QUICK)
