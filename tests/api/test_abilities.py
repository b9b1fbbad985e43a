"""A learner of one's own whose models can say more than predictions gets the same report and exports as a tree."""

import sqlite3
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

import modelsel
from modelsel.core.types import Codes, Floats, Integers, Table, Task
from modelsel.learner.base import BaseLearner, FittedModel


@dataclass(frozen=True, eq=False)
class StumpModel(FittedModel):
    """One threshold on the first feature."""

    cut: float

    def scores(self, table: Table) -> Floats:
        above = np.asarray(table.values)[:, 0] > self.cut
        return np.column_stack([~above, above]).astype(float)

    def predict(self, table: Table) -> Codes:
        return np.argmax(self.scores(table), axis=1).astype(np.int32)

    def draw(self, shipped: Any) -> str:
        return f"<figure class='stump'>{shipped.features[0].name} over {self.cut:g}</figure>"

    def picture(self, shipped: Any) -> str:
        return "<svg class='stump'></svg>"

    def rules(self, shipped: Any, most: int | None = None) -> str:
        return f"if {shipped.features[0].name} > {self.cut:g} then {shipped.classes[1]}\n"

    def structure(self, shipped: Any) -> dict[str, object]:
        return {"cut": self.cut}

    def to_sql(self, shipped: Any, table: str) -> str:
        column, (low, high) = shipped.features[0].name, shipped.classes
        return f"SELECT *, CASE WHEN {column} > {self.cut!r} THEN '{high}' ELSE '{low}' END AS prediction FROM {table};\n"

    def to_onnx(self, shipped: Any) -> bytes:
        return b"a graph"


@dataclass(frozen=True)
class MiddleCut(BaseLearner):
    """The middle between the means of both classes."""

    drawable: ClassVar[bool] = True

    def fit(self, task: Task, rows: Integers, rng: np.random.Generator) -> StumpModel:
        first, labels = np.asarray(task.values)[rows, 0], np.asarray(task.target)[rows]
        return StumpModel(float((first[labels == 0].mean() + first[labels == 1].mean()) / 2))


class Entry(EntryPoint):
    """An entry point whose class stands here: a file of tests cannot be imported by its name."""

    def load(self) -> Any:
        return MiddleCut


@pytest.fixture
def outcome(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    import importlib.metadata

    found = importlib.metadata.entry_points
    mine = Entry("middle_cut", "plug_in:MiddleCut", "modelsel.learner")

    def entry_points(**asked: Any) -> Any:
        return (mine,) if asked.get("group") == "modelsel.learner" else found(**asked)

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(0)
    x = draw.normal(size=120)
    pd.DataFrame({"x": x, "z": draw.normal(size=120), "y": np.where(x > 0.2, "up", "down")}).to_csv("t.csv", index=False)
    words = ["plugins=[middle_cut]", "learner.kind=middle_cut", "scheme.folds=3", "tracking=off", "pool=sequential"]
    return modelsel.run("t.csv", "y", *words, name="plug", final_test=False)


@pytest.mark.slow
def test_it_is_drawn_ruled_and_exported(outcome: Any) -> None:
    page = (Path(outcome.folder) / "report.html").read_text("utf-8")
    assert "<figure class='stump'>x over" in page
    assert "if x &gt; " in page
    assert outcome.plot.tree().svg.startswith("<svg")
    assert modelsel.export(outcome, "rules").startswith("if x > ")
    assert '"cut"' in str(modelsel.export(outcome, "json"))
    assert modelsel.export(outcome, "onnx") == b"a graph"
    with sqlite3.connect(":memory:") as database:
        rows = pd.read_csv("t.csv")
        rows.to_sql("rows", database, index=False)
        told = [row[-1] for row in database.execute(str(modelsel.export(outcome, "sql")))]
    assert told == modelsel.predict(outcome, rows.drop(columns="y"))["prediction"].tolist()


@pytest.mark.slow
def test_what_it_does_not_offer_is_refused(outcome: Any) -> None:
    with pytest.raises(modelsel.ModelselError, match="MSEL-257"):
        modelsel.export(outcome, "dot")
