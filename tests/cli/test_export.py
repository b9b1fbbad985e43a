"""A model for other systems: the SQL of a tree, run by SQLite, and its ONNX, run by a runtime, say what the model says."""

import json
import sqlite3
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from modelsel.config.build import build as learner
from modelsel.core.errors import ConfigurationError
from modelsel.core.types import Feature, Floats, Table, Task, positions
from modelsel.exports import sql as sql_module
from modelsel.exports.onnx import onnx
from modelsel.exports.sql import name, sql
from modelsel.record.model import Predictor
from tests.extras import needs

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


every_tree = pytest.mark.parametrize(
    ("nominal", "missing", "depth"),
    list(product(["multiway", "equality", "subset"], ["node_mode", "class_mode", "branch"], [0, 1, 3, None])),
)


def fitted(nominal: str, missing: str, depth: int | None) -> tuple[Predictor, Table]:
    """A tree, and rows with missing values and levels that training had not declared."""
    known = task(np.random.default_rng(3))
    spec, _ = learner("tree", {"splits.nominal": nominal, "missing": missing, "max_depth": depth, "min_leaf": 3})
    model = spec.fit(known, positions(known), np.random.default_rng(0))
    new = task(np.random.default_rng(4))
    values = np.array(new.values)
    values[:20, 1] = len(LEVELS)
    values[20:40, 2] = len(LEVELS)
    return Predictor(known.features, known.classes, (), model), new.with_features(new.features, values)


@every_tree
def test_a_runtime_of_onnx_says_what_the_model_says(nominal: str, missing: str, depth: int | None) -> None:
    predictor, rows = fitted(nominal, missing, depth)
    session = needs("onnxruntime").InferenceSession(onnx(predictor))
    columns = zip(rows.features, rows.values.T, strict=True)
    said, scores = session.run(None, {feature.name: cells_of(feature, column) for feature, column in columns})
    assert said.tolist() == predictor.predict(rows).tolist()
    np.testing.assert_allclose(scores, predictor.scores(rows), rtol=1e-6)


@pytest.mark.parametrize("nominal", ["subset", "equality"])
@pytest.mark.parametrize("missing", ["branch", "majority"])
@pytest.mark.parametrize("depth", [0, 4, None])
def test_a_runtime_of_onnx_says_what_a_forest_says(nominal: str, missing: str, depth: int | None) -> None:
    known = task(np.random.default_rng(3))
    spec, _ = learner("forest", {"trees": 12, "nominal": nominal, "missing": missing, "max_depth": depth, "features": 2})
    predictor = Predictor(known.features, known.classes, (), spec.fit(known, positions(known), np.random.default_rng(0)))
    _, rows = fitted("subset", "branch", 1)
    session = needs("onnxruntime").InferenceSession(onnx(predictor))
    columns = zip(rows.features, rows.values.T, strict=True)
    said, scores = session.run(None, {feature.name: cells_of(feature, column) for feature, column in columns})
    ours = predictor.scores(rows)
    np.testing.assert_allclose(scores, ours, atol=1e-6)
    plain = np.sort(ours, axis=1)[:, -1] - np.sort(ours, axis=1)[:, -2] > 1e-6
    assert plain.sum() > len(rows.values) / 2 or depth == 0
    assert said[plain].tolist() == predictor.predict(rows)[plain].tolist()


def cells_of(feature: Feature, column: Floats) -> np.ndarray:
    cells = [cell(feature, value) for value in column]
    if feature.kind == "numeric":
        return np.array([[np.nan if one is None else one] for one in cells], np.float64)
    return np.array([["" if one is None else one] for one in cells], object)


def test_thresholds_of_onnx_are_doubles() -> None:
    """Rows on both sides of a cut that 32-bit numbers cannot tell apart."""
    values = np.array([[1.0], [1.0 + 1e-12], [1.0], [1.0 + 1e-12]])
    close = Task(name="t", features=(Feature("x", "numeric"),), values=values, rows=np.arange(4), classes=("a", "b"),
                 target=np.array([0, 1, 0, 1], np.int32))  # fmt: skip
    model = learner("tree", {"min_leaf": 1})[0].fit(close, positions(close), np.random.default_rng(0))
    session = needs("onnxruntime").InferenceSession(onnx(Predictor(close.features, close.classes, (), model)))
    assert session.run(["prediction"], {"x": values})[0].tolist() == ["a", "b", "a", "b"]


@every_tree
def test_sqlite_predicts_what_the_model_predicts(nominal: str, missing: str, depth: int | None) -> None:
    predictor, rows = fitted(nominal, missing, depth)
    store = sqlite3.connect(":memory:")
    columns = ", ".join(name(feature.name) for feature in rows.features)
    store.execute(f"CREATE TABLE rows ({columns})")
    cells = [[cell(feature, value) for feature, value in zip(rows.features, row, strict=True)] for row in rows.values]
    store.executemany("INSERT INTO rows VALUES (?, ?, ?)", cells)
    said = [row[-1] for row in store.execute(sql(predictor, "rows"))]
    assert said == predictor.predict(rows).tolist()
    assert len(set(said)) > (depth != 0)


HOLES = [
    ({"missing": "fractional", "splits.nominal": nominal, **more}, depth)
    for nominal, more, depth in product(
        ("multiway", "equality", "subset"), ({}, {"leaf.score": "laplace"}, {"pruner": "error_based"}), (1, 3, None)
    )
] + [
    ({"missing": "surrogate", "splits.nominal": nominal}, depth)
    for nominal, depth in product(("equality", "subset"), (1, 3, None))
]


def holed(settings: dict[str, object], depth: int | None, grown_with_holes: bool = True) -> tuple[Predictor, Table]:
    """A tree, and 400 rows of which every third cell is missing and some levels were never declared."""
    known = task(np.random.default_rng(5))
    if not grown_with_holes:
        known = known.take(np.flatnonzero(~np.isnan(known.values).any(axis=1)))
    spec, _ = learner("tree", {"max_depth": depth, "min_leaf": 3, **settings})
    new = task(np.random.default_rng(6), 400)
    values = np.array(new.values)
    values[:20, 1] = values[20:40, 2] = len(LEVELS)
    values[np.random.default_rng(7).random(values.shape) < 0.3] = np.nan
    predictor = Predictor(known.features, known.classes, (), spec.fit(known, positions(known), np.random.default_rng(0)))
    return predictor, new.with_features(new.features, values)


def asked_of_sqlite(predictor: Predictor, rows: Table) -> list[str]:
    store = sqlite3.connect(":memory:")
    store.execute(f"CREATE TABLE rows ({', '.join(name(feature.name) for feature in rows.features)})")
    cells = [[cell(feature, value) for feature, value in zip(rows.features, row, strict=True)] for row in rows.values]
    row = f"({', '.join('?' * len(rows.features))})"  # one statement of all rows: one of each takes DuckDB a millisecond
    store.execute(f"INSERT INTO rows VALUES {', '.join([row] * len(cells))}", [value for one in cells for value in one])
    return [row[-1] for row in store.execute(sql(predictor, "rows"))]


def asked_of_duckdb(predictor: Predictor, rows: Table) -> list[str]:
    store = needs("duckdb").connect()
    columns = ", ".join(f"{name(f.name)} {'DOUBLE' if f.kind == 'numeric' else 'VARCHAR'}" for f in rows.features)
    store.execute(f"CREATE TABLE rows ({columns})")
    cells = [[cell(feature, value) for feature, value in zip(rows.features, row, strict=True)] for row in rows.values]
    row = f"({', '.join('?' * len(rows.features))})"  # one statement of all rows: one of each takes DuckDB a millisecond
    store.execute(f"INSERT INTO rows VALUES {', '.join([row] * len(cells))}", [value for one in cells for value in one])
    return [row[-1] for row in store.execute(sql(predictor, "rows")).fetchall()]


def asked_of_onnx(predictor: Predictor, rows: Table) -> Floats:
    session = needs("onnxruntime").InferenceSession(onnx(predictor))
    columns = zip(rows.features, rows.values.T, strict=True)
    return session.run(["prediction"], {feature.name: cells_of(feature, column) for feature, column in columns})[0]


@pytest.mark.sampled(26)
@pytest.mark.parametrize("grown_with_holes", [True, False])
@pytest.mark.parametrize(("settings", "depth"), HOLES)
def test_sqlite_sends_rows_with_holes_as_the_model_does(settings: dict[str, object], depth: int | None, grown_with_holes: bool):
    """Divided rows by the sums of their parts, others by the first surrogate that is known."""
    predictor, rows = holed(settings, depth, grown_with_holes)
    assert asked_of_sqlite(predictor, rows) == predictor.predict(rows).tolist()


@pytest.mark.sampled(11)
@pytest.mark.parametrize(("settings", "depth"), [*HOLES, *(({"missing": one}, None) for one in ("node_mode", "branch"))])
def test_a_flat_expression_says_what_the_nested_one_says(
    settings: dict[str, object], depth: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql_module, "DEEPEST", 0)
    predictor, rows = holed(settings, depth)
    assert asked_of_sqlite(predictor, rows) == predictor.predict(rows).tolist()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("missing", ["node_mode", "branch", "surrogate", "fractional"])
def test_sqlite_takes_a_tree_of_more_than_a_hundred_tests_on_a_path(missing: str) -> None:
    """Three classes in turns: every test cuts off one row."""
    x = np.arange(130.0)
    deep = Task(name="t", features=(Feature("x", "numeric"), Feature("y", "numeric")), values=np.column_stack([x, -x // 2]),
                rows=np.arange(130), classes=("a", "b", "c"), target=(np.arange(130) % 3).astype(np.int32))  # fmt: skip
    spec, _ = learner("tree", {"missing": missing, "splits.nominal": "subset", "criterion": "gini"})
    predictor = Predictor(deep.features, deep.classes, (), spec.fit(deep, positions(deep), np.random.default_rng(0)))
    assert predictor.model.cut.tree.depth.max() > 100
    holes = np.array(deep.values)
    holes[np.random.default_rng(1).random(holes.shape) < 0.2] = np.nan
    rows = deep.with_features(deep.features, holes)
    assert asked_of_sqlite(predictor, rows) == predictor.predict(rows).tolist()


@pytest.mark.parametrize("missing", ["fractional", "surrogate"])
def test_costs_decide_in_sql_as_in_the_model(missing: str) -> None:
    costs = [[0, 1, 5], [1, 0, 1], [9, 1, 0]]
    predictor, rows = holed({"missing": missing, "splits.nominal": "subset", "costs": costs}, 3)
    assert asked_of_sqlite(predictor, rows) == predictor.predict(rows).tolist()


@pytest.mark.parametrize("missing", ["fractional", "surrogate"])
def test_duckdb_says_the_same(missing: str) -> None:
    predictor, rows = holed({"missing": missing, "splits.nominal": "equality"}, None)
    assert asked_of_duckdb(predictor, rows) == predictor.predict(rows).tolist()


@pytest.mark.parametrize(
    ("settings", "why", "too"),
    [
        ({"missing": "fractional"}, "missing=fractional", False),
        ({"missing": "surrogate", "splits.nominal": "subset"}, "missing=surrogate", False),
        ({"softener": "range_fraction"}, "softener", True),
    ],
)
def test_a_tree_without_such_an_expression_is_refused_by_the_setting(settings: dict[str, str], why: str, too: bool) -> None:
    predictor, _ = holed(settings, None)
    with pytest.raises(ConfigurationError, match=why):
        onnx(predictor)
    if too:
        with pytest.raises(ConfigurationError, match=why):
            sql(predictor, "rows")


@pytest.mark.slow
def test_every_format_of_a_study(modelsel: Callable[..., object], folder: Path, small: tuple[str, ...]) -> None:
    assert modelsel("run", "dataset=iris", *small[2:], "learner=tree", "learner.max_depth=2").code == 0
    assert json.loads(modelsel("export", "latest", "--to", "json").out)["classes"]
    assert modelsel("export", "latest", "--to", "dot").out.startswith("digraph")
    assert "petal" in modelsel("export", "latest", "--to", "rules").out
    assert modelsel("export", "latest", "--to", "sql", "-o", "model.sql").out == ""
    assert (folder / "model.sql").read_text().startswith("SELECT *")
    assert modelsel("export", "latest", "--to", "onnx").code == 2
    assert modelsel("export", "latest", "--to", "onnx", "-o", "model.onnx").out == ""
    inputs = needs("onnxruntime").InferenceSession(folder / "model.onnx").get_inputs()
    assert [one.name for one in inputs] == ["sepal length (cm)", "sepal width (cm)", "petal length (cm)", "petal width (cm)"]
    assert modelsel("run", "dataset=iris", *small[2:], "learner=naive_bayes").code == 0
    assert json.loads(modelsel("export", "latest", "--to", "json").out)["kind"] == "naive_bayes"
    assert modelsel("export", "latest", "--to", "sql").code == 2


def test_a_forest_of_leaves_alone_answers_whatever_kind_its_first_column_is() -> None:
    known = task(np.random.default_rng(3))
    turned = Task(name="t", features=known.features[1:], values=known.values[:, 1:], rows=known.rows, classes=known.classes,
                  target=known.target)  # fmt: skip
    spec, _ = learner("forest", {"trees": 3, "max_depth": 0})
    predictor = Predictor(turned.features, turned.classes, (), spec.fit(turned, positions(turned), np.random.default_rng(0)))
    session = needs("onnxruntime").InferenceSession(onnx(predictor))
    columns = zip(turned.features, turned.values.T, strict=True)
    said, _ = session.run(None, {feature.name: cells_of(feature, column) for feature, column in columns})
    assert said.tolist() == predictor.predict(turned).tolist()
