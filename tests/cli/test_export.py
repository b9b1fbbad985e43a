"""A model for other systems: the SQL of a tree, run by SQLite, says what the model says."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from modelsel.cli._sql import name, sql
from modelsel.config.build import learner
from modelsel.core.errors import ConfigurationError
from modelsel.core.types import Feature, Task, positions
from modelsel.record.model import Predictor

LEVELS = ("low", "it's", 'a "b"', "high")


def task(rng: np.random.Generator, rows: int = 300) -> Task:
    """Numeric, nominal and ordered features with missing values, three classes."""
    values = np.column_stack([rng.normal(size=rows).round(1), rng.integers(0, 4, rows), rng.integers(0, 4, rows)]).astype(float)
    target = ((values[:, 0] > 0).astype(np.int32) + (values[:, 1] == 2) + rng.integers(0, 2, rows) * (values[:, 2] > 1)) % 3
    values[rng.random(values.shape) < 0.1] = np.nan
    features = (Feature('the "size"', "numeric"), Feature("kind", "nominal", LEVELS), Feature("grade", "ordered", LEVELS))
    return Task(name="t", features=features, values=values, rows=np.arange(rows), classes=("no", "it's", "yes"),
                target=target.astype(np.int32))  # fmt: skip


def cell(feature: Feature, value: float) -> object:
    if np.isnan(value):
        return None
    return value if feature.kind == "numeric" else (*feature.levels, "unseen")[int(value)]


@pytest.mark.parametrize("nominal", ["multiway", "equality", "subset"])
@pytest.mark.parametrize("missing", ["node_mode", "class_mode", "branch"])
@pytest.mark.parametrize("depth", [1, 3, None])
def test_sqlite_predicts_what_the_model_predicts(nominal: str, missing: str, depth: int | None) -> None:
    known = task(np.random.default_rng(3))
    spec, _ = learner("tree", {"splits.nominal": nominal, "missing": missing, "max_depth": depth, "min_leaf": 3})
    model = spec.fit(known, positions(known), np.random.default_rng(0))
    predictor = Predictor(known.features, known.classes, (), model)
    new = task(np.random.default_rng(4))
    values = np.array(new.values)
    values[:20, 1] = len(LEVELS)  # levels that training had not declared
    rows = new.with_features(new.features, values)
    store = sqlite3.connect(":memory:")
    columns = ", ".join(name(feature.name) for feature in new.features)
    store.execute(f"CREATE TABLE rows ({columns})")
    cells = [[cell(feature, value) for feature, value in zip(new.features, row, strict=True)] for row in values]
    store.executemany("INSERT INTO rows VALUES (?, ?, ?)", cells)
    said = [row[-1] for row in store.execute(sql(predictor, "rows"))]
    assert said == predictor.predict(rows).tolist()
    assert len(set(said)) > 1


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"missing": "fractional"}, "divided"),
        ({"missing": "surrogate", "splits.nominal": "subset"}, "surrogates"),
        ({"softener": "range_fraction"}, "softened"),
    ],
)
def test_a_tree_without_such_an_expression_is_refused(settings: dict[str, str], why: str) -> None:
    known = task(np.random.default_rng(3))
    spec, _ = learner("tree", {**settings, "min_leaf": 3})
    predictor = Predictor(known.features, known.classes, (), spec.fit(known, positions(known), np.random.default_rng(0)))
    with pytest.raises(ConfigurationError, match=why):
        sql(predictor, "rows")


def test_every_format_of_a_study(modelsel: Callable[..., object], folder: Path, small: tuple[str, ...]) -> None:
    assert modelsel("run", "dataset=iris", *small[2:], "learner=tree", "learner.max_depth=2").code == 0
    assert json.loads(modelsel("export", "latest", "--to", "json").out)["classes"]
    assert modelsel("export", "latest", "--to", "dot").out.startswith("digraph")
    assert "petal" in modelsel("export", "latest", "--to", "rules").out
    assert modelsel("export", "latest", "--to", "sql", "-o", "model.sql").out == ""
    assert (folder / "model.sql").read_text().startswith("SELECT *")
    assert modelsel("run", "dataset=iris", *small[2:], "learner=naive_bayes").code == 0
    assert json.loads(modelsel("export", "latest", "--to", "json").out)["kind"] == "naive_bayes"
    assert modelsel("export", "latest", "--to", "sql").code == 2
