"""Labels come back as they were held, whatever door they came in by; what differs is a label of its own."""

import datetime as dt
import io
from contextlib import redirect_stderr
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.tree import DecisionTreeClassifier

import modelsel
from modelsel.core.errors import DataError

FIRST = np.arange(40) < 15
X = pd.DataFrame({"x": np.where(FIRST, -1.0, 1.0) * (1 + np.arange(40))})
NEW_YEAR, MAY = pd.Timestamp("2020-01-01"), pd.Timestamp("2021-05-01 10:30")


def of(one: object, other: object) -> list[object]:
    return [one if first else other for first in FIRST]


HELD: dict[str, Any] = {
    "text": pd.Series(of("yes", "no"), dtype="string"),
    "texts of one number": pd.Series(of("01", "1"), dtype=object),
    "whole": np.where(FIRST, 3, 1),
    "whole, nullable": pd.array(of(3, 1), dtype="Int64"),
    "whole beyond 2**53": np.where(FIRST, 2**60 + 1, 2**60),
    "whole beyond 2**63": np.array(of(2**63 + 3, 2**63 + 1), np.uint64),
    "single precision": np.array(of(2.0, 1.0), np.float32),
    "truth": FIRST,
    "truth, nullable": pd.array(FIRST, dtype="boolean"),
    "truth, Arrow": pd.Series(FIRST, dtype=pd.ArrowDtype(pa.bool_())),
    "truth, objects": pd.Series(FIRST, dtype=object),
    "category of truth": pd.Categorical(FIRST),
    "category of numbers": pd.Categorical(of(7, 3)),
    "date": of(dt.date(2021, 1, 1), dt.date(2020, 1, 1)),
    "moment": pd.Series(of(MAY, NEW_YEAR)),
    "moment with a zone": pd.Series(of(MAY, NEW_YEAR)).dt.tz_localize("Europe/Berlin"),
    "decimal": of(Decimal("2.25"), Decimal("1.50")),
    "decimal beyond 2**53": of(Decimal(2**60 + 1), Decimal(2**60)),
    "time": of(dt.time(2), dt.time(1)),
}  # fmt: skip
SPACE = {"e": {"learner": "tree"}}
KINDS = pytest.mark.parametrize("kind", HELD)


def run(data: object) -> Any:
    with redirect_stderr(io.StringIO()):
        return modelsel.run(
            data=data, target="y", space=SPACE, split="none", tracking="off", guard="off", task="classification", name="labels",
            scheme={"kind": "kfold", "folds": 2},
        )  # fmt: skip


def demand_held(said: np.ndarray, held: "pd.Series[Any]") -> None:
    assert (np.asarray(said, object) == np.asarray(held, object)).all()
    assert {type(one) for one in said.tolist()} == {type(one) for one in np.asarray(held).astype(said.dtype).tolist()}


@KINDS
def test_estimators_and_searches_give_them_back(kind: str) -> None:
    held = pd.Series(HELD[kind], name="y")
    demand_held(modelsel.classifier("tree").fit(X, held).predict(X), held)
    task = "classification" if kind == "decimal" else "auto"  # unsaid, fractions are numbers
    demand_held(modelsel.SelectionCV(SPACE, cv=2, task=task).fit(X, held).predict(X), held)


@pytest.mark.parametrize("kind", ["truth, nullable", "truth, Arrow", "truth, objects", "category of truth", "whole, nullable"])
def test_an_object_is_given_what_it_can_take(kind: str) -> None:
    held = pd.Series(HELD[kind], name="y")
    demand_held(modelsel.SelectionCV(DecisionTreeClassifier(), cv=2).fit(X, held).predict(X), held)


SAMPLE = ("texts of one number", "whole beyond 2**53", "truth, nullable", "moment with a zone", "decimal beyond 2**53")


@pytest.mark.parametrize("kind", [kind if kind in SAMPLE else pytest.param(kind, marks=pytest.mark.slow) for kind in HELD])
def test_a_study_gives_them_back(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    frame = X.assign(y=HELD[kind])
    outcome = run(frame)
    demand_held(outcome.model.predict(X), frame["y"])
    demand_held(modelsel.open_run(outcome.folder).model.predict(X), frame["y"])
    frame.to_parquet("t.parquet", index=False)
    demand_held(run("t.parquet").model.predict(X), frame["y"])


def test_a_file_of_texts_asks_about_two_ways_to_write_one_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    X.assign(y=HELD["texts of one number"]).to_csv("t.csv", index=False)
    with pytest.raises(DataError, match="MSEL-325"):
        run("t.csv")
    X.assign(y=HELD["whole beyond 2**53"]).to_csv("t.csv", index=False)
    assert run("t.csv").classes.tolist() == [str(2**60), str(2**60 + 1)]


def test_a_missing_label_is_refused() -> None:
    held = pd.Series(pd.array([True, None] * 20, dtype="boolean"))
    with pytest.raises(ValueError, match="20 labels are missing"):
        modelsel.classifier("tree").fit(X, held)
