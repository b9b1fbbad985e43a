"""A kind of column is one file: nobody asks which kind a column is of, but what its values can."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import modelsel
from modelsel.cli.dispatch import main
from modelsel.core import column_kind
from modelsel.core.column_kind.base import kind_named, kind_names
from modelsel.core.spec import kinds_of

ROOT = Path(__file__).parents[2]
WORDS = {"numeric", "ordered", "nominal"}
NAMED = {
    "where features of either sort are made": ("modelsel/core/reading.py",),
    "readers of declarations, and of formats that have these words themselves": (
        "modelsel/config/overrides.py", "modelsel/dataset/arff.py", "modelsel/dataset/arrow.py", "modelsel/dataset/base.py",
        "modelsel/dataset/read_table.py",
    ),
    "settings whose values they are": ("modelsel/preparer/binning.py", "modelsel/preparer/transform.py"),
    "keys of files and of kernels that are spelled alike": (
        "modelsel/learner/fitted_estimator.py", "modelsel/learner/naive_bayes.py", "modelsel/tree/growing/growth.py",
    ),
}  # fmt: skip
MADE = re.search(
    r"```python\n# modelsel/core/column_kind/(\w+)\.py\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL
)
SPACE = ("learner=cart", "learner.max_depth=2", "tracking=off", "pool=sequential")
PLACED = ("scheme=predefined", "dataset.fold=fold", "split=predefined", "dataset.held_out=held")  # draws differ by the rows


def names_a_kind(path: Path) -> bool:
    return any(isinstance(node, ast.Constant) and node.value in WORDS for node in ast.walk(ast.parse(path.read_text("utf-8"))))


def test_few_modules_name_a_kind() -> None:
    own = [*ROOT.glob("modelsel/**/*.py"), *ROOT.glob("packages/*/modelsel_*/**/*.py")]
    found = {path.relative_to(ROOT).as_posix() for path in own if names_a_kind(path)}
    assert found == {name for names in NAMED.values() for name in names}


def test_what_the_three_can() -> None:
    """Stevens (1946): nominal values are equal or not, ordinal ones compare too, numbers have differences as well."""
    assert [(name, kind_named(name).has_levels, kind_named(name).has_order) for name in ("numeric", "ordered", "nominal")] == [
        ("numeric", False, True), ("ordered", True, True), ("nominal", True, False),
    ]  # fmt: skip
    with pytest.raises(ValueError, match="'color' is not a kind of column: use one of"):
        kind_named("color")


# A kind that is new: the file of CONTRIBUTING.


def forget() -> None:
    for known in (kinds_of, kind_names, kind_named):
        known.cache_clear()


@pytest.fixture
def duration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    assert MADE is not None
    (tmp_path / "kinds").mkdir()
    (tmp_path / "kinds" / f"{MADE[1]}.py").write_text(MADE[2], "utf-8")
    monkeypatch.setattr(column_kind, "__path__", [*column_kind.__path__, str(tmp_path / "kinds")])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    forget()
    yield
    forget()


def rows(count: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    seconds = rng.integers(60, 9000, count)
    told = [f"{each // 3600}:{each // 60 % 60:02}:{each % 60:02}" for each in seconds.tolist()]
    late = np.where((seconds > 4000) ^ (rng.random(count) < 0.1), "late", "early")
    return pd.DataFrame({"waited": told, "seconds": seconds, "other": rng.normal(size=count).round(3), "class": late,
                         "fold": np.arange(count) % 3, "held": np.arange(count) % 5 == 4})  # fmt: skip


def write(name: str, kept: str, count: int = 120, seed: int = 0) -> str:
    """A table with the time in one of two forms, as the column `waited`."""
    table = rows(count, seed)
    table.assign(waited=table[kept]).drop(columns="seconds").to_csv(name, index=False)
    return name


def settings(file: str, kind: str) -> tuple[str, ...]:
    return ("dataset=csv", f"dataset.path={file}", "dataset.target=class", f"dataset.features.waited={kind}", *PLACED)


@pytest.mark.slow
@pytest.mark.usefixtures("duration")
def test_times_are_learned_as_their_seconds_are(capfd: pytest.CaptureFixture[str]) -> None:
    """Two studies of one table, once with times and once with their seconds, differ in words alone."""
    times = *settings(write("times.csv", "waited"), "duration"), *SPACE
    seconds = *settings(write("seconds.csv", "seconds"), "numeric"), *SPACE
    assert main(["plan", *times]) == 0
    told, plain = modelsel.run(*times), modelsel.run(*seconds)
    assert (told.winner["id"], told.winner["cv"]) == (plain.winner["id"], plain.winner["cv"])
    new, same = write("new.csv", "waited", seed=1), write("same.csv", "seconds", seed=1)
    assert modelsel.predict(told, new).equals(modelsel.predict(plain, same))
    assert re.search(r"waited <= 1:\d\d:\d\d\.5", str(modelsel.export(told, "rules")))
    capfd.readouterr()
    assert main(["export", str(told.folder), "--to", "sql"]) == 2
    assert "'waited' is read by the kind duration, which SQL cannot say" in capfd.readouterr().err


@pytest.mark.slow
@pytest.mark.usefixtures("duration")
@pytest.mark.parametrize("learner", ["naive_bayes", "knn", "logistic_regression"])
def test_other_learners_read_it_as_numbers_too(learner: str) -> None:
    changed = (f"learner={learner}", "tracking=off", "pool=sequential")
    times = settings(write("times.csv", "waited"), "duration")
    seconds = settings(write("seconds.csv", "seconds"), "numeric")
    assert modelsel.run(*times, *changed).winner["cv"] == modelsel.run(*seconds, *changed).winner["cv"]


@pytest.mark.usefixtures("duration")
def test_what_is_not_of_the_kind_is_refused_by_name(capfd: pytest.CaptureFixture[str]) -> None:
    table = rows(60, 0)
    table.loc[3, "waited"] = "soon"
    table.drop(columns="seconds").to_csv("times.csv", index=False)
    assert main(["plan", *settings("times.csv", "duration")]) == 3
    assert "not of the kind duration: 'soon' (row 3; the first row is 0), column 'waited'" in capfd.readouterr().err


def test_a_kind_that_is_not_there_is_refused_with_those_that_are(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rows(60, 0).drop(columns="seconds").to_csv(tmp_path / "times.csv", index=False)
    assert main(["plan", *settings(str(tmp_path / "times.csv"), "color")]) == 2
    assert "numeric, ordered, nominal, text, ignore" in capfd.readouterr().err
