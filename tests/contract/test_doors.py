"""The matrix of doors: a table made by a rule goes in by any of them and comes out by any other with the answers of the rule.

A label is a function of one column: high and missing values have the first, low ones the second. A tree that may ask as often
as it likes says it of every row, so the oracle of each cell is the table itself, and no door is judged by another. The cells
are those of a pairwise design: every pair of values of two dimensions stands in one.
"""

import csv
import io
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import modelsel
from modelsel.cli.predict import main as predict_main
from modelsel.core.errors import ModelselError
from modelsel.record.pyfunc import _load_pyfunc
from tests.extras import needs

ROWS = 48
BIG = 2**60
DAYS = [datetime(2020, month, 3 + month) for month in (1, 5, 9, 12)]
COLUMNS: dict[str, tuple[list[Any], int]] = {  # values, of which the last ones are high
    "text": (["basel", "bern", "chur", "zug"], 2),
    "number": ([-3.5, 1.25, 2.5, 10.75], 2),
    "boolean": ([False, True], 1),
    "category": (["low", "mid", "over", "top"], 1),
    "date": (DAYS, 2),
    "nullable": ([1, 2, 3, 4], 2),
    "Arrow": (["a", "b", "c", "d"], 3),
    "64 bits": ([BIG, BIG + 2**20, BIG + 2**21, BIG + 2**22], 2),
}
GAPS = ("", "?", "NA", "None", "NaN", "NaT")
SIGNS = (".", ",")
LABELS: dict[str, tuple[Any, Any, Any]] = {  # of high and missing values, of low ones, the type of the column
    "text": ("yes", "no", object),
    "texts of one number": ("01", "1", object),
    "whole": (3, 1, "int64"),
    "beyond 2**53": (BIG, BIG + 1, "int64"),
    "real": (2.0, 1.0, "float64"),
    "truth": (True, False, "bool"),
    "truth, nullable": (True, False, "boolean"),
    "truth, Arrow": (True, False, pd.ArrowDtype(pa.bool_())),
    "date": (date(2020, 1, 31), date(2021, 1, 1), object),
    "moment": (pd.Timestamp("2020-01-31"), pd.Timestamp("2021-01-01 10:30"), "datetime64[ns]"),
    "moment with a zone": (
        pd.Timestamp("2020-01-31", tz="Europe/Berlin"), pd.Timestamp("2021-01-01", tz="Europe/Berlin"), None,
    ),
    "decimal": (Decimal("1.50"), Decimal("2.25"), object),
}  # fmt: skip
TASKS = ("classes", "numbers")
DOUBT = {"MSEL-325"}  # a file of texts with 01 and 1


@dataclass(frozen=True)
class Cell:
    """A table, the door that it comes in by, and the one that it is asked at."""

    column: str
    gap: str
    sign: str
    labels: str
    task: str
    into: str
    out: str

    @property
    def typed(self) -> bool:
        """Say whether the column holds values of its own type, in which no word stands."""
        return self.column not in ("text", "category", "Arrow")

    @property
    def meant(self) -> list[tuple[Any, bool]]:
        """Value (None: missing) and height of each row."""
        values, high = COLUMNS[self.column]
        own = [(value, place >= len(values) - high) for place, value in enumerate(values)]
        return [(None, True) if row % 6 == 5 else own[row % len(own)] for row in range(ROWS)]

    @property
    def target(self) -> "pd.Series[Any]":
        """The labels as they are held, or the numbers."""
        one, other, kind = LABELS[self.labels] if self.task == "classes" else (10.5, -1.25, "float64")
        return pd.Series([one if high else other for _, high in self.meant], dtype=kind, name="y")

    @property
    def frame(self) -> pd.DataFrame:
        """The table in memory; a word for missing stands where the type of the column leaves room for it."""
        empty: Any = {"None": None, "NaN": None if self.column == "Arrow" else np.nan, "NaT": None}.get(self.gap, self.gap)
        cells = [(None if self.typed else empty) if value is None else value for value, _ in self.meant]
        kinds: dict[str, Any] = {
            "text": object, "number": "float64", "boolean": "boolean" if self.gap == "NaN" else object, "category": "category",
            "date": "datetime64[ns]", "nullable": "Int64", "Arrow": pd.ArrowDtype(pa.string()), "64 bits": "Int64",
        }  # fmt: skip
        beside = np.arange(ROWS) * 0.25
        return pd.DataFrame({"c": pd.Series(cells, dtype=kinds[self.column]), "beside": beside, "y": self.target})

    @property
    def lines(self) -> list[list[str]]:
        """The cells of a file of it, without the names."""
        gap = self.gap if self.gap in ("", "?", "NA") else ""
        return [
            [gap if value is None else self.text(value), self.text(row * 0.25), self.text(label)]
            for row, ((value, _), label) in enumerate(zip(self.meant, self.target, strict=True))
        ]

    def text(self, value: Any) -> str:
        """A value as a file has it."""
        said = value.isoformat() if isinstance(value, date) else str(value)
        return said.replace(".", self.sign) if isinstance(value, float) else said

    def write(self, path: Path) -> Path:
        with path.open("w", newline="") as out:
            csv.writer(out, delimiter=";" if self.sign == "," else ",").writerows([["c", "beside", "y"], *self.lines])
        return path


def settings(cell: Cell) -> dict[str, Any]:
    space = {"e": {"learner": "tree" if cell.task == "classes" else "cart", "splits.nominal": "subset", "missing": "branch"}}
    if cell.task == "numbers":
        space["e"] |= {"pruner": "unpruned", "criterion": "variance"}
    return {
        "space": space, "split": "none", "tracking": "off", "guard": "off", "name": "doors",
        "task": "classification" if cell.task == "classes" else "regression", "scheme": {"kind": "kfold", "folds": 2},
        "dataset": {"missing": ["", "?", "NA"]} if cell.gap == "NA" else {},
    }  # fmt: skip


def study(cell: Cell, data: object) -> Any:
    given = settings(cell)
    own = {f"dataset.{name}": value for name, value in given.pop("dataset").items()}
    with redirect_stderr(io.StringIO()):
        return modelsel.run(data=data, target="y", **given, **own)


def as_parquet(cell: Cell) -> str:
    cell.frame.to_parquet("t.parquet", index=False)
    return "t.parquet"


STUDIES: dict[str, Callable[[Cell], Any]] = {
    "CSV": lambda cell: str(cell.write(Path("t.csv"))),
    "Parquet": as_parquet,
    "pandas": lambda cell: cell.frame,
    "Polars": lambda cell: pl.from_arrow(arrow_of(cell.frame)),
    "Arrow": lambda cell: arrow_of(cell.frame),
}


def arrow_of(frame: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(frame, preserve_index=False)


def estimator(cell: Cell) -> Any:
    (entry,) = settings(cell)["space"].values()
    name, own = entry["learner"], {key: value for key, value in entry.items() if key != "learner"}
    make = modelsel.classifier if cell.task == "classes" else modelsel.regressor
    return make(name, **own)


def search(cell: Cell) -> Any:
    given = settings(cell)
    return modelsel.SelectionCV(given["space"], cv=2, task=given["task"])


ESTIMATORS: dict[str, Callable[[Cell], Any]] = {"classifier": estimator, "SelectionCV": search}


# Doors at which a model is asked: predictions as they are held, or as texts.


def in_sqlite(cell: Cell, outcome: Any, fill: Callable[[sqlite3.Connection], object]) -> Any:
    with sqlite3.connect(":memory:") as database:
        fill(database)
        return pd.read_sql(str(modelsel.export(outcome, "sql", table="t")), database)["prediction"]


def as_known(cell: Cell) -> Cell:
    """The cell for a database: decimal commas mean something to a model that has met them, and to no other."""
    return cell if cell.into == "CSV" else replace(cell, sign=".")


def by_csv(cell: Cell, outcome: Any) -> Any:
    def fill(database: sqlite3.Connection) -> None:
        database.execute("create table t(c, beside, y)")
        database.executemany("insert into t values(?, ?, ?)", as_known(cell).lines)

    return in_sqlite(cell, outcome, fill)


def by_to_sql(cell: Cell, outcome: Any) -> Any:
    rows = cell.frame.drop(columns="y").assign(
        c=cell.frame["c"].astype(object) if cell.column == "category" else cell.frame["c"]
    )
    return in_sqlite(cell, outcome, lambda database: rows.to_sql("t", database, index=False))


def in_duckdb(cell: Cell, outcome: Any) -> Any:
    database = needs("duckdb").connect()
    as_known(cell).write(Path("asked.csv"))
    database.execute("create table t as select * from read_csv('asked.csv', nullstr='nothing')")
    return database.execute(str(modelsel.export(outcome, "sql", table="t"))).df()["prediction"]


def in_onnx(cell: Cell, outcome: Any) -> Any:
    session = needs("onnxruntime").InferenceSession(modelsel.export(outcome, "onnx"))
    kinds = {one.name: one.type for one in session.get_inputs()}
    empty = {"None": None, "NaN": np.nan, "NaT": pd.NaT}.get(cell.gap, "")
    moments = [np.nan if value is None else value for value, _ in cell.meant]
    texts = [line[0] if value is not None or line[0] else empty for line, (value, _) in zip(cell.lines, cell.meant)]
    if kinds["c"] == "tensor(double)":
        made = [value.replace(tzinfo=None).timestamp() if isinstance(value, datetime) else float(value) for value in moments]
        if cell.column == "date":
            made = [np.nan if value is None else (value - datetime(1970, 1, 1)).total_seconds() for value, _ in cell.meant]
        column = np.array(made, np.float64)[:, None]
    else:
        column = np.array(texts, object)[:, None]
    given = {"c": column, "beside": (np.arange(ROWS) * 0.25)[:, None]}
    return session.run(["prediction"], {name: given[name] for name in kinds})[0]


def by_command(cell: Cell, outcome: Any) -> Any:
    assert predict_main([outcome.folder, str(cell.write(Path("new.csv"))), "-o", "said.csv"]) == 0
    with open("said.csv", newline="") as said:
        return [line["prediction"] for line in csv.DictReader(said)]


OUT: dict[str, Callable[[Cell, Any], Any]] = {
    "the command": by_command,
    "predict, a file": lambda cell, outcome: modelsel.predict(outcome, cell.write(Path("new.csv")))["prediction"],
    "predict, Parquet": lambda cell, outcome: modelsel.predict(outcome, as_parquet(cell))["prediction"],
    "predict, a frame": lambda cell, outcome: modelsel.predict(outcome, cell.frame)["prediction"],
    "model, Polars": lambda cell, outcome: outcome.model.predict(pl.from_arrow(arrow_of(cell.frame))),
    "model, Arrow": lambda cell, outcome: outcome.model.predict(arrow_of(cell.frame)),
    "record": lambda cell, outcome: modelsel.open_run(outcome.folder).model.predict(cell.frame),
    "candidate": lambda cell, outcome: modelsel.Outcome.candidate(outcome).fit().predict(cell.frame),
    "SQLite, csv": by_csv,
    "SQLite, to_sql": by_to_sql,
    "DuckDB": in_duckdb,
    "ONNX": in_onnx,
    "pyfunc": lambda cell, outcome: _load_pyfunc(str(Path(outcome.folder) / "model" / "data")).predict(
        cell.frame.drop(columns="y")
    ),
}
TEXTS = ("the command", "SQLite, csv", "SQLite, to_sql", "DuckDB", "ONNX")
DIMENSIONS: Mapping[str, tuple[str, ...]] = {
    "column": tuple(COLUMNS), "gap": GAPS, "sign": SIGNS, "labels": tuple(LABELS), "task": TASKS,
    "into": (*STUDIES, *ESTIMATORS), "out": tuple(OUT),
}  # fmt: skip


def pairwise(dimensions: Mapping[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Rows that have every pair of values of two dimensions: each begins with an uncovered pair and takes what covers most."""
    sizes = [range(len(values)) for values in dimensions.values()]
    places = range(len(sizes))
    left = {((a, i), (b, j)) for a, b in combinations(places, 2) for i, j in product(sizes[a], sizes[b])}
    rows = []
    while left:
        row = dict(min(left))
        for place in places:
            if place not in row:
                row[place] = max(
                    sizes[place],
                    key=lambda one: (sum(tuple(sorted(((place, one), other))) in left for other in row.items()), -one),
                )
        left -= set(combinations(sorted(row.items()), 2))
        rows.append(tuple(values[row[place]] for place, values in enumerate(dimensions.values())))
    return rows


CELLS = [Cell(*row) for row in pairwise(DIMENSIONS)]


def named(cell: Cell) -> str:
    return " - ".join(filter(None, vars(cell).values()))


def test_every_pair_of_values_stands_in_a_cell() -> None:
    rows = [tuple(vars(cell).values()) for cell in CELLS]
    for (a, ours), (b, theirs) in combinations(enumerate(DIMENSIONS.values()), 2):
        assert {(row[a], row[b]) for row in rows} == set(product(ours, theirs))


@pytest.mark.sampled(36)
@pytest.mark.parametrize("cell", CELLS, ids=named)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning", "ignore::DeprecationWarning")
def test_every_door_says_what_the_table_says(cell: Cell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    held = cell.target
    if cell.into in ESTIMATORS:
        if cell.gap == "NA" and not cell.typed:
            return  # an estimator knows no words but those of every study
        fitted = ESTIMATORS[cell.into](cell).fit(cell.frame.drop(columns="y"), held)
        demand(fitted.predict(cell.frame.drop(columns="y")), held)
        return
    try:
        outcome = study(cell, STUDIES[cell.into](cell))
    except ModelselError as error:
        if cell.into != "CSV" or not {problem.code for problem in error.problems} <= DOUBT:
            raise
        return
    said = OUT[cell.out](cell, outcome)
    if cell.task == "numbers":
        assert np.allclose(np.asarray(said, np.float64), held)
    elif cell.into == "CSV":  # a stored model gives what table readers take the texts for
        texts = [line[2] for line in cell.lines]
        read = [
            type(one)(text) if cell.out == "pyfunc" and not isinstance(one, bool | np.bool_) else text
            for one, text in zip(said, texts)
        ]
        assert list(map(str, said)) == list(map(str, read))
    elif cell.out in TEXTS:
        names = dict(zip(outcome.task["classes"], pd.Series(outcome.classes), strict=True))
        demand(pd.Series([names[one] for one in said], dtype=object).to_numpy(), held)
    else:
        demand(said, held)


def demand(said: Any, held: "pd.Series[Any]") -> None:
    """The labels, of the type that they had."""
    assert list(pd.Series(said)) == list(held)


# Doors at which a model is no table: rules that people read, an estimator of another library, a gate.


def one_by_one(names: tuple[str, ...], fast: str) -> list[Any]:
    """All of them; all but one are for the slow suite."""
    return [name if name == fast else pytest.param(name, marks=pytest.mark.slow) for name in names]


def holds(condition: str, value: Any) -> bool:
    """Say whether a value that is known meets a condition of a rule, by what stands there alone."""
    sign = next(sign for sign in (" in {", " <= ", " > ", " != ", " = ") if sign in condition)
    other = condition.partition(sign)[2]
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if sign in (" <= ", " > "):
        least = datetime.fromisoformat(other) if isinstance(value, datetime) else float(other)
        return (value <= least) == (sign == " <= ")
    levels = other.rstrip("}").split(", ")
    return (text in levels) == (sign != " != ")


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("column", one_by_one(tuple(COLUMNS), "date"))
def test_rules_say_what_the_table_says(column: str, task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what is known; the last line says what becomes of a missing value."""
    monkeypatch.chdir(tmp_path)
    cell = Cell(column, "", ".", "date", task, "pandas", "record")
    rules = [
        line[3:].partition("   [")[0].partition(" then ")
        for line in str(modelsel.export(study(cell, cell.frame), "rules")).splitlines()
        if line.startswith("if ")
    ]
    for (value, _), label in zip(cell.meant, cell.target, strict=True):
        if value is not None:
            said = [then for conditions, _, then in rules if all(holds(one, value) for one in conditions.split(" and "))]
            assert said == [str(label)]


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("column", one_by_one(tuple(COLUMNS), "boolean"))
def test_an_estimator_kept_by_skops_says_what_the_table_says(
    column: str, task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs("skops")
    monkeypatch.chdir(tmp_path)
    cell = Cell(column, "", ".", "truth, nullable", task, "pandas", "record")
    kind = "Classifier" if task == "classes" else "Regressor"
    given = settings(cell) | {"space": {"e": {"learner": "estimator", "estimator": f"sklearn.tree.DecisionTree{kind}"}}}
    with redirect_stderr(io.StringIO()):
        outcome = modelsel.run(
            data=cell.frame, target="y", **{"tracking.allow_skops": True, **{k: v for k, v in given.items() if k != "dataset"}}
        )
    held = cell.target
    for out in ("record", "predict, a frame", "predict, a file", "pyfunc"):
        said = OUT[out](cell, outcome)
        if task == "numbers":
            assert np.allclose(np.asarray(said, np.float64), held)
        else:
            demand(said, held)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("labels", one_by_one(tuple(LABELS), "date"))
def test_a_gate_takes_labels_as_they_are_held(labels: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    frame = Cell("number", "", ".", labels, "classes", "pandas", "record").frame.dropna(ignore_index=True)
    with redirect_stderr(io.StringIO()):
        gate = modelsel.create_gate(frame, tmp_path / "gate", "y", "task=classification")
        own = gate.development
        model = modelsel.classifier("tree").fit(own[["c", "beside"]], own["y"])
        said = model.predict(gate.questions[["c", "beside"]])
        assert gate.propose(said, "as an array").verdict == "keep"
        assert gate.propose(
            gate.questions[["token"]].assign(prediction=pd.Series(said)), "as a table"
        ).replay  # the same answers
        assert gate.close().errors == 0


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("labels", one_by_one(tuple(LABELS), "date"))
def test_an_exam_takes_labels_as_they_are_held(labels: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    frame = Cell("number", "", ".", labels, "classes", "pandas", "record").frame.dropna(ignore_index=True)
    with redirect_stderr(io.StringIO()):
        exam = modelsel.create_exam(frame, tmp_path / "exam", "y", "task=classification", all=True)
        model = modelsel.classifier("tree").fit(frame[["c", "beside"]], frame["y"])
        said = model.predict(exam.questions[["c", "beside"]])
        assert exam.answer(said, "as an array")["errors"] == 0
        assert exam.answer(exam.questions[["token"]].assign(prediction=pd.Series(said)), "as a table")["errors"] == 0
