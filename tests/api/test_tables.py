"""Tables as people hold them: what is taken as it is meant, and what is answered with what to do."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from scipy import sparse

import modelsel
from modelsel.core.errors import ConfigurationError, DataError
from modelsel.core.types import Feature, Task
from tests.extras import needs

pl = needs("polars")
ROWS = 40
X = np.round(np.random.default_rng(0).normal(size=ROWS), 2)
C = np.random.default_rng(1).choice(["a", "b", "c"], ROWS)
Y = np.where(X > 0, "yes", "no")
FRAME = pd.DataFrame({"x": X, "c": C, "y": Y})
WORDS = Feature("c", "nominal", ("a", "b", "c"))


def read(data: Any, target: Any = "y", **roles: Any) -> Task:
    return modelsel.read_table(data, target=target, **roles)


def levels(task: Task, name: str = "c") -> list[Any]:
    """The cells of a nominal column, None where there is none."""
    feature = next(one for one in task.features if one.name == name)
    return [None if np.isnan(code) else feature.levels[int(code)] for code in task.column(name)]


ENUM = pl.DataFrame({"c": pl.Series(C, dtype=pl.Enum(["c", "b", "a"])), "y": Y})
CHUNKS = pa.chunked_array([pa.array(C[:20]).dictionary_encode(), pa.array(C[20:]).dictionary_encode()])
PRESENT = [None if cell == "a" else cell for cell in C]
KEPT: dict[str, tuple[Any, list[Any]]] = {
    "Polars, categorical with nulls": (pl.DataFrame({"c": pl.Series(PRESENT, dtype=pl.Categorical), "y": Y}), PRESENT),
    "Polars, enumeration": (ENUM, list(C)),
    "Arrow, dictionary": (pa.table({"c": pa.array(C).dictionary_encode(), "y": pa.array(Y).dictionary_encode()}), list(C)),
    "Arrow, a dictionary per chunk": (pa.table({"c": CHUNKS, "y": Y}), list(C)),
    "Arrow, null within the dictionary": (
        pa.table({"c": pa.DictionaryArray.from_arrays(pa.array([0, 1] * 20), pa.array(["p", None])), "y": Y}), ["p", None] * 20,
    ),
    "Arrow, run-end encoded": (pa.table({"c": pc.run_end_encode(pa.array(sorted(C))), "y": Y}), sorted(C)),
    "Arrow, text views": (pa.table({"c": pa.array(C.tolist(), pa.string_view()), "y": Y}), list(C)),
    "Arrow, a batch": (pa.RecordBatch.from_pydict({"c": C, "y": Y}), list(C)),
    "pandas, on Arrow": (FRAME[["c", "y"]].convert_dtypes(dtype_backend="pyarrow"), list(C)),
    "pandas, text with NA": (pd.DataFrame({"c": pd.array(PRESENT, dtype="string"), "y": Y}), PRESENT),
    "pandas, objects with None": (pd.DataFrame({"c": np.array(PRESENT, object), "y": Y}), PRESENT),
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_texts_are_the_levels_that_they_say(name: str) -> None:
    table, cells = KEPT[name]
    assert levels(read(table)) == cells


def _as_categories(frame: pd.DataFrame, order: list[str], classes: list[str]) -> pd.DataFrame:
    return frame.assign(c=pd.Categorical(frame["c"], order), y=pd.Categorical(frame["y"], classes))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("form", [lambda frame: frame, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "Polars", "Arrow"])
def test_categories_in_any_order_are_the_study_of_their_csv_file(form: Any, tmp_path: Path, monkeypatch: Any) -> None:
    """Folds, candidates and winner: the order of levels and classes is that of the file, unused ones are left out."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    FRAME.to_csv("rows.csv", index=False)
    categories = form(_as_categories(FRAME, ["z", "c", "b", "a"], ["yes", "no", "perhaps"]))
    quick = {"space": ["naive_bayes", "cart"], "scheme": {"folds": 3}, "tracking": "off", "final_test": False}
    file, frame = modelsel.run("rows.csv", "y", **quick), modelsel.run(categories, target="y", **quick)
    assert modelsel.read_table("rows.csv", target="y").fingerprint == read(categories).fingerprint
    assert file.winner["id"] == frame.winner["id"]
    assert file.leaderboard.equals(frame.leaderboard)
    assert file.classes.tolist() == frame.classes.tolist() == ["no", "yes"]
    (folds, ours) = (one.folds.drop(columns="seconds", errors="ignore") for one in (file, frame))
    assert folds.equals(ours)


def test_estimators_sort_categories_that_have_no_order() -> None:
    frame = _as_categories(FRAME, ["c", "b", "a"], ["yes", "no"])
    one, other = (modelsel.classifier("naive_bayes").fit(table[["x", "c"]], FRAME["y"]) for table in (FRAME, frame))
    assert one.final_.features == other.final_.features
    ordered = frame.assign(c=frame["c"].cat.as_ordered())
    assert modelsel.classifier("cart").fit(ordered[["c"]], FRAME["y"]).final_.features[0].levels == ("c", "b", "a")


def test_an_enumeration_keeps_its_order() -> None:
    assert read(ENUM).features[0] == Feature("c", "ordered", ("c", "b", "a"))


NUMBERS: dict[str, Any] = {
    "objects with None": np.array([*X[:-1], None], object), "nullable": pd.array([*X[:-1], pd.NA], dtype="Float64"),
    "decimals": pl.Series([*X[:-1].astype(str), None]).cast(pl.Decimal(10, 2)),
    "sparse": pd.arrays.SparseArray([*X[:-1], np.nan]),
}  # fmt: skip


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_the_numbers_that_they_are(name: str) -> None:
    form = pl.DataFrame if name == "decimals" else pd.DataFrame
    task = read(form({"x": NUMBERS[name], "y": Y}))
    assert np.array_equal(task.column("x"), [*X[:-1], np.nan], equal_nan=True)


def test_columns_may_be_called_by_numbers_and_by_pairs() -> None:
    assert read(FRAME.rename(columns={"x": 3, "y": 5}), target=5).features[0].name == "3"
    assert read(pd.concat({"top": FRAME}, axis=1), target=("top", "y")).features[0].name == "('top', 'x')"


@pytest.mark.parametrize(
    "target", [FRAME[["y"]], Y.reshape(-1, 1), pl.DataFrame({"y": Y}), list(Y), pl.Series(Y), pa.array(Y), pd.Categorical(Y)]
)
def test_a_target_may_be_anything_with_a_cell_per_row(target: Any) -> None:
    task = read((FRAME[["x"]], target), target=None)
    assert [task.classes[code] for code in task.target] == list(Y)


@pytest.mark.slow
def test_a_row_index_takes_no_part_and_one_with_a_name_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    quick: dict[str, Any] = {"space": "naive_bayes", "scheme": {"folds": 3}, "tracking": "off", "final_test": False}
    found = modelsel.run(FRAME.set_index(pd.Index(np.arange(ROWS)[::-1], name="customer")), target="y", **quick)
    assert "the row index 'customer' is not a column of the table and takes no part" in capfd.readouterr().err
    assert found.task["features"] == 2
    modelsel.run(FRAME[FRAME["x"] > -1], target="y", **quick)
    assert "row index" not in capfd.readouterr().err


def test_filtered_rows_go_with_an_array_of_their_length() -> None:
    some = FRAME[FRAME["x"] > -0.5]
    assert len(read((some[["x"]], pd.Series(some["y"].to_numpy())), target=None)) == len(some)


SHUFFLED = FRAME["y"].sample(frac=1, random_state=0)
ANSWERED: dict[str, tuple[Any, Any, str]] = {
    "the target is the row index": (FRAME.set_index("y"), "y", "'y' is the row index of the table.*reset_index"),
    "the target in another order": (FRAME[["x"]], SHUFFLED, r"target has the row index of the table in another order.*\.loc\["),
    "a target of two columns": (FRAME[["x"]], FRAME[["x", "y"]], "target has 2 columns"),
    "two columns of one name": (FRAME.set_axis(["x", "x", "y"], axis=1), "y", "several columns are called 'x'"),
    "two columns whose names read the same": (FRAME.set_axis([3, "3", "y"], axis=1), "y", "several columns are called '3'"),
    "two columns of one name in Arrow": (pa.table([X, X, Y], names=["x", "x", "y"]), "y", "several columns are called 'x'"),
    "labels missing in some rows": (FRAME.assign(y=FRAME["y"].where(X < 1)), "y", "missing label in . rows.*rows out"),
    "a label that is nullable": (FRAME.assign(y=pd.array([None, *(Y[1:] == "yes")], dtype="boolean")), "y", "missing label"),
    "lists of texts": (FRAME.assign(tags=[["a", "b"]] * ROWS), "y", "MSEL-365.*list.*column 'tags'"),
    "a column by itself": (FRAME["x"], Y, r"Series is not a table.*pandas\.DataFrame\(data\)"),
    "whole numbers of more than 64 bits": (FRAME.assign(z=[2**70] * ROWS), "y", r"MSEL-383.*column 'z'.*astype\(float\)"),
    "floats of more than 64 bits": (FRAME.assign(z=X.astype(np.longdouble)), "y", r"MSEL-383.*column 'z'.*astype\(float\)"),
    "complex numbers": (FRAME.assign(z=X * 1j), "y", "MSEL-383.*column 'z'"),
    "lengths of time": (FRAME.assign(z=pd.Timedelta("1D")), "y", "MSEL-365.*duration.*column 'z'"),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERED)
def test_what_cannot_be_meant_is_answered_with_what_to_do(name: str) -> None:
    data, target, said = ANSWERED[name]
    with pytest.raises((ConfigurationError, DataError), match=rf"(?s){said}") as raised:
        read(data, target=target)
    assert "; " in str(raised.value)


def test_two_columns_of_one_name_are_told_by_estimators_too() -> None:
    twice = pd.DataFrame({"x": X, "z": X}).set_axis(["x", "x"], axis=1)
    for estimator in (modelsel.classifier("cart"), modelsel.SelectionCV({"tree": "cart"})):
        with pytest.raises(ConfigurationError, match="MSEL-381: several columns are called 'x'"):
            estimator.fit(twice, Y)


def test_a_quantity_is_read_as_numbers_and_a_sparse_matrix_as_its_columns() -> None:
    assert read(FRAME.assign(y=X + np.arange(ROWS) / 7), target="y").kind == "numbers"
    assert np.array_equal(read((sparse.csr_matrix(np.eye(ROWS)), Y), target=None).values, np.eye(ROWS))


@pytest.mark.slow
def test_a_very_wide_table_is_a_table(folder: Any) -> None:
    wide = np.random.default_rng(0).normal(size=(60, 2_000))
    quick: dict[str, Any] = {"space": "naive_bayes", "scheme": {"folds": 3}, "tracking": "off", "final_test": False}
    found = modelsel.run((wide, wide[:, 7] > 0), **quick)
    assert found.task["features"] == 2_000
    assert found.model.predict(wide).dtype == bool


def test_several_values_without_a_sweep_are_told_where_they_go() -> None:
    with pytest.raises(
        ConfigurationError, match=r"found a list, space\.knn\.k.*several values go under sweep: \{k: \[\.\.\.\]\}"
    ):
        modelsel.plan(FRAME, target="y", space={"knn": {"k": [1, 3]}})
