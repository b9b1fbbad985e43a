"""`modelsel.run` on the tables that people hold, with settings by keyword."""

import gc
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import yaml

import modelsel
from modelsel.core.errors import ConfigurationError, DataError
from tests.extras import needs

QUICK: dict[str, Any] = {
    "tracking": "off", "pool": "sequential", "scheme": {"kind": "stratified_kfold", "folds": 3}, "space": "naive_bayes",
    "final_test": False,
}  # fmt: skip


def as_polars(frame: pd.DataFrame) -> Any:
    pl = needs("polars")
    columns = {name: frame[name] for name in frame if name not in ("colour", "size")}
    texts = {name: pl.Series(frame[name].astype(str).tolist()) for name in ("colour", "size")}
    return pl.DataFrame({**{k: pl.from_pandas(v) for k, v in columns.items()}, **texts}).select(frame.columns.tolist())


def as_arrow(frame: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(frame, preserve_index=False)


@pytest.mark.slow
@pytest.mark.parametrize("form", [lambda frame: frame, as_polars, as_arrow], ids=["pandas", "polars", "arrow"])
def test_every_kind_of_table_gives_the_same_study(people: pd.DataFrame, form: Any) -> None:
    people["colour"] = people["colour"].cat.set_categories(["green", "red"])  # a text column knows only what occurs
    features = {"colour": "nominal", "size": {"ordered": ["s", "m", "l"]}}
    found = modelsel.run(form(people), target="left", dataset={"features": features}, **QUICK)
    expected = modelsel.run(people, target="left", dataset={"features": features}, **QUICK)
    assert found.winner["cv"] == expected.winner["cv"]
    assert found.classes.tolist() == [False, True]
    assert found.model.predict(form(people)).tolist() == expected.model.predict(people).tolist()


@pytest.mark.slow
def test_data_may_be_given_by_name_or_first_and_roles_as_arrays(people: pd.DataFrame) -> None:
    features, labels = people.drop(columns="left"), people["left"]
    named = modelsel.run(data=people, target="left", **QUICK)
    pair = modelsel.run((features, labels), **QUICK)
    array = modelsel.run(data=features, target=labels.to_numpy(), **QUICK)
    assert named.winner["cv"] == pair.winner["cv"] == array.winner["cv"]


@pytest.mark.slow
def test_groups_weights_and_ids_may_be_arrays(people: pd.DataFrame) -> None:
    groups = np.arange(len(people)) // 4
    found = modelsel.run(
        people, target="left", groups=groups, weights=np.ones(len(people)), id=np.arange(len(people)) + 7,
        **{**QUICK, "scheme": {"kind": "group_kfold", "folds": 3}, "split": "group"},
    )  # fmt: skip
    held = found.predictions.assign(group=lambda frame: groups[frame["row"]])
    assert (held.groupby("group")["fold"].nunique() == 1).all()


@pytest.mark.slow
def test_an_array_and_a_task_are_tables_too(people: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = (X[:, 0] > 0).astype(int)
    from_array = modelsel.run((X, y), **QUICK)
    assert from_array.model.predict(X).dtype.kind == "i"
    task = modelsel.read_table((X, y))
    from_task = modelsel.run(task, **QUICK)
    assert from_task.winner["cv"] == from_array.winner["cv"]


@pytest.mark.slow
def test_a_path_is_read_by_its_ending(people: pd.DataFrame) -> None:
    people.to_csv("people.csv", index=False)
    assert modelsel.run(data=Path("people.csv"), target="left", **QUICK).task["rows"] == 120


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pd.Series([True, False] * 30), [False, True]),
        (pd.array([True, False] * 30, dtype="boolean"), [False, True]),
        (pd.Series([7, -1] * 30), [-1, 7]),
        (pd.array([7, -1] * 30, dtype="Int64"), [-1, 7]),
        (pd.Series([0.0, 1.0] * 30), [0.0, 1.0]),
        (pd.Series(["no", "yes"] * 30), ["no", "yes"]),
        (pd.Categorical([3, 1] * 30), [1, 3]),
    ],
)
def test_predictions_are_what_the_target_held(values: Any, expected: list[Any]) -> None:
    frame = pd.DataFrame({"x": np.tile([0.0, 1.0], 30) + np.linspace(0, 0.1, 60), "y": values})
    found = modelsel.run(frame, target="y", **QUICK)
    assert found.model.classes_.tolist() == expected
    assert {type(label) for label in found.model.classes_.tolist()} == {type(label) for label in expected}
    assert found.model.predict(frame[:2]).tolist() == values[:2].tolist()


def test_all_wrong_names_are_answered_in_one_error(people: pd.DataFrame) -> None:
    with pytest.raises(ConfigurationError) as raised:
        modelsel.run(people, target="lft", space=["tres", "knn"], rule="one_standrd_error", scheme={"fold": 3}, gard="warn")
    said = str(raised.value)
    for meant in ("'left'", "'trees'", "'one_standard_error'", "'folds'", "'guard'"):
        assert f"did you mean {meant}" in said
    assert raised.value.exit_code == 2
    with pytest.raises(ConfigurationError, match=r"unknown setting 'taget', taget; did you mean 'dataset.target'"):
        modelsel.run(people, taget="left")


@pytest.mark.slow
def test_keywords_and_overrides_describe_the_same_study(people: pd.DataFrame) -> None:
    people.to_parquet("people.parquet")
    words = ("dataset=parquet", "dataset.path=people.parquet", "dataset.target=left", "space=[majority,knn]")
    more = ("scheme=kfold", "scheme.folds=3", "rule=one_standard_error", "tracking=off", "final_test=false", "seed=3")
    typed = modelsel.run(*words, *more)
    named = modelsel.run(
        data="people.parquet", target="left", space=("majority", "knn"), scheme={"kind": "kfold", "folds": np.int64(3)},
        rule="one_standard_error", tracking="off", final_test=False, seed=3,
    )  # fmt: skip
    assert typed.spec_id == named.spec_id


@pytest.mark.slow
def test_lists_ranges_and_the_grammar_of_the_command_line_mean_the_same(people: pd.DataFrame) -> None:
    sizes = [
        modelsel.plan(people, target="left", space={"mine": {"learner": "knn", "sweep": {"k": values}}}).candidates
        for values in ([1, 3, 5], (1, 3, 5), range(1, 6, 2), np.array([1, 3, 5]), "choice(1, 3, 5)", "range(1, 6, 2)")
    ]
    assert sizes == [3] * 6


def test_what_is_no_plain_data_is_said(people: pd.DataFrame) -> None:
    with pytest.raises(ConfigurationError, match=r"MSEL-216: a function is not a setting, scheme\.folds"):
        modelsel.run(people, target="left", scheme={"folds": lambda: 3})


def test_a_space_and_a_learner_are_refused_together(people: pd.DataFrame) -> None:
    with pytest.raises(ConfigurationError, match="MSEL-244"):
        modelsel.run(people, target="left", space="trees", learner="knn")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (5, "MSEL-381: int is not a table"),
        (lambda: needs("polars").DataFrame({"a": [1]}).lazy(), "data.collect()"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "MSEL-381"),
        (np.zeros(3), "MSEL-381: an array of shape (3,)"),
        (pd.DataFrame({"m": [1, "a"], "y": ["p", "q"]}), "cells of several types (int, str), column 'm'"),
        (pd.DataFrame({"l": [[1], [2]], "y": ["p", "q"]}), "MSEL-365"),
        (pd.DataFrame({"x": [1.0, np.inf], "y": ["p", "q"]}), "MSEL-340"),
    ],
)
def test_what_cannot_be_read_is_said_with_what_to_do(data: Any, said: str) -> None:
    with pytest.raises((ConfigurationError, DataError)) as raised:
        modelsel.run(data() if callable(data) else data, target="y", **QUICK)
    assert said in str(raised.value)
    assert "; " in str(raised.value)


@pytest.mark.slow
def test_the_record_says_which_content_and_the_study_is_repeated_on_it(people: pd.DataFrame) -> None:
    first = modelsel.run(people, target="left", **QUICK)
    recorded = yaml.safe_load(Path(first.folder, "config.yaml").read_text())["dataset"]
    assert recorded["kind"] == "memory"
    assert len(recorded["content"]) == 32
    again = modelsel.run(config=first.folder, data=people.copy())
    assert (again.spec_id, again.winner["cv"]) == (first.spec_id, first.winner["cv"])
    other = modelsel.run(config=first.folder, data=people, seed=5)
    assert other.seed == 5


def changed(frame: pd.DataFrame, rows: list[int]) -> pd.DataFrame:
    frame = frame.copy()
    frame.loc[rows, "age"] = 1.0
    return frame


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda frame: changed(frame, [4, 7]), "cells of age in 2 rows (rows 4, 7"),
        (lambda frame: frame[:-2], "118 rows where there were 120"),
        (lambda frame: frame.drop(columns="age"), "columns that are gone: age"),
        (lambda frame: frame.assign(new=1), "new columns: new"),
    ],
    ids=["cells", "rows", "fewer columns", "more columns"],
)
def test_another_table_is_refused_with_what_changed(people: pd.DataFrame, change: Any, said: str) -> None:
    first = modelsel.run(people, target="left", **QUICK)
    with pytest.raises(DataError) as raised:
        modelsel.run(config=first.folder, data=change(people))
    assert said in str(raised.value)
    with pytest.raises(DataError):
        modelsel.open_run(first.folder, data=change(people))


@pytest.mark.slow
def test_a_table_that_is_gone_is_asked_for_and_may_be_handed_over_again(people: pd.DataFrame) -> None:
    place = modelsel.run(people, target="left", **QUICK).folder
    gc.collect()
    with pytest.raises(ConfigurationError, match="MSEL-380"):
        modelsel.open_run(place).open_test()
    assert modelsel.open_run(place, data=people).open_test().test is not None


def test_a_plan_fits_nothing_and_shows_what_is_wrong_with_the_data(people: pd.DataFrame, folder: Path) -> None:
    people["row"] = np.arange(len(people))
    people["same"] = 1
    plan = modelsel.plan(people, target="left", space="trees")
    assert {"ID_LIKE_COLUMN", "CONSTANT_COLUMN"} <= {finding.code for finding in plan.findings}
    assert "ID_LIKE_COLUMN" in str(plan)
    assert not (folder / "runs").exists()


@pytest.mark.parametrize("command", ["run", "plan"])
def test_a_long_reading_says_how_far_it_is(
    command: str, people: pd.DataFrame, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from modelsel.dataset import files as reading

    monkeypatch.setattr(reading, "EVERY", 0.0)
    people.to_csv("people.csv", index=False)
    getattr(modelsel, command)(data="people.csv", target="left", **QUICK)
    assert "reading people.csv: 100% of 0 MB" in capfd.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("form", ["memory", "memory of 32 bits", "Parquet", "CSV"])
def test_a_large_table_starts_within_seconds(form: str, folder: Path) -> None:
    """300,000 rows × 20, processor seconds until it is known, profiled and planned: most of them are the profile's."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300_000, 20)).round(4).astype(np.float32 if form == "memory of 32 bits" else np.float64)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(20)]).assign(y=np.where(X[:, 0] > 0, "a", "b"))
    data: Any = {"CSV": "t.csv", "Parquet": "t.parquet"}.get(form, frame)
    frame.to_csv("t.csv", index=False) if form == "CSV" else frame.to_parquet("t.parquet")
    modelsel.plan(frame[:500], target="y", **QUICK)
    began = time.process_time()
    plan = modelsel.plan(data=data, target="y", **QUICK)
    assert (plan.rows + plan.test_rows, time.process_time() - began < 30) == (300_000, True)


def test_an_estimator_that_stands_alone_is_a_space_of_one_and_elsewhere_is_told_where_it_belongs(people: pd.DataFrame) -> None:
    from sklearn.tree import DecisionTreeClassifier

    alone = modelsel.SelectionCV(DecisionTreeClassifier(), cv=3).fit([[0.0], [1.0], [2.0], [3.0]] * 3, [0, 1, 0, 1] * 3)
    assert isinstance(alone.best_estimator_, DecisionTreeClassifier)
    with pytest.raises(ConfigurationError, match=r"MSEL-216.*\(DecisionTreeClassifier\(\), "):
        modelsel.plan(people, target="left", space=DecisionTreeClassifier())


def test_all_that_is_wrong_with_a_table_in_memory_is_told_at_once(people: pd.DataFrame) -> None:
    """Mixed cells and lists, which Arrow cannot take in, beside infinite values, which are found in reading."""
    rows = len(people)
    table = people.assign(
        mixed=[1, "x"] * (rows // 2), lists=[[1]] * rows,
        far=[np.inf, *[1.0] * (rows - 1)],
    )  # fmt: skip
    for read in (lambda: modelsel.run(table, target="left", **QUICK), lambda: modelsel.read_table(table, target="left")):
        with pytest.raises(DataError) as error:
            read()
        assert [problem.code for problem in error.value.problems] == ["MSEL-383", "MSEL-365", "MSEL-340"]
        for name in ("mixed", "lists", "far"):
            assert f"column '{name}'" in str(error.value)


def test_a_target_that_cannot_be_read_is_told_alone(people: pd.DataFrame) -> None:
    table = people.assign(left=[1, "x"] * (len(people) // 2))
    with pytest.raises(DataError, match=r"MSEL-383: cells of several types \(int, str\), column 'left'"):
        modelsel.run(table, target="left", **QUICK)


@pytest.mark.slow
def test_a_file_is_handed_over_as_on_the_command_line(people: pd.DataFrame, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    people.to_csv("people.csv", index=False)
    expected = modelsel.run(data="people.csv", target="left", **QUICK).winner["cv"]
    assert modelsel.run("people.csv", target="left", **QUICK).winner["cv"] == expected
    assert modelsel.run("people.csv", "left", "seed=0", **QUICK).winner["cv"] == expected


def test_a_file_that_is_not_there_and_a_word_that_is_none_are_told_with_what_to_write() -> None:
    with pytest.raises(ConfigurationError, match=r"MSEL-302: there is no file 'nowhere\.csv'"):
        modelsel.run("nowhere.csv", target="left", **QUICK)
    with pytest.raises(ConfigurationError, match=r"in Python: data=FILE, target=NAME"):
        modelsel.run("nowhere", target="left", **QUICK)
