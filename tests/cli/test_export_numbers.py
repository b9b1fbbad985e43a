"""Models of numbers, and forests, for other systems: they say what the model says, of gaps and of levels never declared too."""

import json
import re
import sqlite3
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import modelsel
from modelsel.config.build import BuildContext
from modelsel.config.build import build as learner
from modelsel.core.errors import ConfigurationError
from modelsel.core.types import Feature, NumberTask, Table, Task, positions
from modelsel.exports import sql as sql_module
from modelsel.exports.onnx import onnx
from modelsel.exports.sql import sql
from modelsel.exports.trees import forest_dot, forest_rules
from modelsel.record.model import Predictor
from modelsel.tree.nested import from_dict, to_dict, to_dot
from modelsel.tree.rules import rules_text
from tests.cli.test_export import LEVELS, asked_of_duckdb, asked_of_onnx, asked_of_sqlite, task
from tests.extras import needs

MANY_PATHS = ("fractional", "surrogate", "surrogate_count")
TREES = [
    {"missing": missing, "splits.nominal": nominal, "max_depth": depth, "pruner": "unpruned"}
    for missing, nominal, depth in product(("node_mode", "branch", *MANY_PATHS), ("equality", "subset"), (0, 2, None))
]
FORESTS = [
    {"missing": missing, "nominal": nominal, "max_depth": depth, "trees": trees}
    for missing, nominal, (depth, trees) in product(
        ("branch", "majority"), ("subset", "equality"), ((0, 2), (3, 12), (None, 7))
    )
]


def numbers(rows: int = 120) -> NumberTask:
    """The columns of classes with a target that their values, and gaps, tell something about."""
    known = task(np.random.default_rng(5), rows)
    gap = np.isnan(known.values[:, 0])
    target = np.where(gap, 400.0, np.nan_to_num(known.values[:, 0]) * 100) + 50 * known.target
    target += np.random.default_rng(8).normal(size=rows)
    return NumberTask(name="n", features=known.features, values=known.values, rows=known.rows, target=target)


def others() -> Table:
    """Rows of which a fifth of the cells are missing and some levels were never declared."""
    new = task(np.random.default_rng(6), 150)
    values = np.array(new.values)
    values[:20, 1] = values[20:40, 2] = len(LEVELS)
    values[np.random.default_rng(7).random(values.shape) < 0.2] = np.nan
    return new.with_features(new.features, values)


def fitted(known: Task, name: str, settings: dict[str, Any]) -> Predictor:
    spec, _ = learner(name, settings, context=BuildContext(task=known.kind))
    classes = () if isinstance(known, NumberTask) else known.classes
    return Predictor(known.features, classes, (), spec.fit(known, positions(known), np.random.default_rng(0)))


def in_databases(cases: list[dict[str, Any]]) -> list[Any]:
    """Each case written nested and flat; flat by default only the full-grown ones, which hold every kind of test."""
    return [
        pytest.param(one, flat, id=f"{one} {'flat' if flat else 'nested'}", marks=slow)
        for one in cases
        for flat in (False, True)
        for slow in [[pytest.mark.slow] if flat and one["max_depth"] is not None else []]
    ]


@pytest.mark.sampled(10)
@pytest.mark.parametrize(("settings", "flat"), in_databases(TREES))
def test_databases_say_the_number_that_a_tree_says(
    settings: dict[str, Any], flat: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql_module, "DEEPEST", 0 if flat else sql_module.DEEPEST)
    predictor, rows = fitted(numbers(), "cart", {"min_leaf": 3, **settings}), others()
    wanted = predictor.predict(rows)
    for asked in (asked_of_sqlite, asked_of_duckdb):
        said = np.array(asked(predictor, rows), np.float64)
        assert np.allclose(said, wanted, rtol=1e-12)
        assert settings["missing"] == "fractional" or (said == wanted).all()
    assert len(np.unique(wanted)) > (settings["max_depth"] != 0)
    cut = predictor.model.cut
    assert from_dict(json.loads(json.dumps(to_dict(cut)))).prediction.tolist() == cut.prediction.tolist()


@pytest.mark.parametrize("settings", TREES, ids=str)
def test_a_runtime_of_onnx_says_the_number_that_a_tree_says(settings: dict[str, Any]) -> None:
    predictor, rows = fitted(numbers(), "cart", {"min_leaf": 3, **settings}), others()
    if settings["missing"] in MANY_PATHS and settings["max_depth"] != 0:
        with pytest.raises(
            ConfigurationError, match=r"MSEL-255: .*\(missing=(fractional|surrogate)\), --to onnx; take --to sql"
        ):
            onnx(predictor)
        return
    assert asked_of_onnx(predictor, rows).tolist() == predictor.predict(rows).tolist()


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("settings", "flat"), in_databases(FORESTS))
def test_databases_and_onnx_say_the_number_that_a_forest_says(
    settings: dict[str, Any], flat: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the last bit: votes are whole numbers."""
    monkeypatch.setattr(sql_module, "DEEPEST", 0 if flat else sql_module.DEEPEST)
    predictor, rows = fitted(numbers(), "forest", settings), others()
    wanted = predictor.predict(rows).tolist()
    assert asked_of_sqlite(predictor, rows) == wanted
    assert asked_of_duckdb(predictor, rows) == wanted
    assert flat or asked_of_onnx(predictor, rows).tolist() == wanted
    assert len(set(wanted)) > (settings["max_depth"] != 0)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("settings", FORESTS, ids=str)
def test_databases_say_the_class_that_a_forest_says(settings: dict[str, Any]) -> None:
    predictor, rows = fitted(task(np.random.default_rng(5)), "forest", settings), others()
    wanted = predictor.predict(rows).tolist()
    assert asked_of_sqlite(predictor, rows) == wanted
    assert asked_of_duckdb(predictor, rows) == wanted
    assert len(set(wanted)) > (settings["max_depth"] != 0)


def test_extra_trees_and_many_trees_are_forests_too() -> None:
    for name, settings in (("extra_trees", {"trees": 5}), ("forest", {"trees": 150, "max_depth": 12, "min_leaf": 20})):
        predictor, rows = fitted(numbers(), name, settings), others()
        wanted = predictor.predict(rows).tolist()
        assert asked_of_sqlite(predictor, rows) == asked_of_onnx(predictor, rows).tolist() == wanted


def test_a_value_known_or_not_is_a_test_of_its_own_in_words_and_in_databases() -> None:
    predictor = fitted(numbers(), "forest", {"missing": "branch", "trees": 12})
    assert any(np.isinf(own).any() for own in predictor.model.votes.cuts)
    assert 'the "size" is missing' in forest_rules(predictor.model, ())
    assert '"the ""size""" IS NULL)' in sql(predictor, "rows")


def test_thresholds_are_doubles_and_numbers_have_all_their_digits() -> None:
    """Rows on both sides of a cut that 32-bit numbers cannot tell apart, and answers that they cannot either."""
    values, target = np.array([[1.0], [1.0 + 1e-12], [3.0], [4.0]]), np.array([1e9 + 0.123, 1e9 + 0.456, 5.0, 7.0])
    close = NumberTask(name="t", features=(Feature("x", "numeric"),), values=values, rows=np.arange(4), target=target)
    for name, settings in (("cart", {"missing": "branch", "pruner": "unpruned"}), ("forest", {"trees": 9})):
        predictor = fitted(close, name, {**settings, "min_leaf": 1})
        wanted = predictor.predict(close).tolist()
        assert wanted[0] != wanted[1]
        assert asked_of_onnx(predictor, close).tolist() == asked_of_sqlite(predictor, close) == wanted


# Rules and drawings, followed by a reader who knows nothing but their words.


def plain(rows: int, seed: int) -> NumberTask:
    """Columns without gaps, of names and levels without blanks; no number lies within twelve digits of a threshold."""
    rng = np.random.default_rng(seed)
    values = np.column_stack([rng.normal(size=rows), rng.integers(0, 4, rows), rng.integers(0, 4, rows)]).astype(float)
    features = (
        Feature("size", "numeric"),
        Feature("kind", "nominal", ("a", "b", "c", "d")),
        Feature("grade", "ordered", ("a", "b", "c", "d")),
    )
    target = values[:, 0] * 10 + 5 * (values[:, 1] == 2) + values[:, 2] * (values[:, 1] > 1)
    return NumberTask(name="t", features=features, values=values, rows=np.arange(rows), target=target)


def holds(condition: str, row: dict[str, object]) -> bool:
    """`a < x <= b`, `x > a`, `x = a`, `x not in {a, b}`, ...; ordered levels compare as letters do here."""
    if found := re.fullmatch(r"(?:(\S+) < )?(\w+) <= (\S+)", condition):
        low, column, high = found.groups()
        return (low is None or read(low) < row[column]) and row[column] <= read(high)
    column, sign, level = re.fullmatch(r"(\w+) (>|=|!=|in|not in) (.+)", condition).groups()
    if sign == ">":
        return row[column] > read(level)
    levels = level.strip("{}").split(", ")
    return (row[column] in levels) == (sign in ("=", "in"))


def read(word: str) -> object:
    return word if word.isalpha() else float(word)


def table(known: NumberTask) -> list[dict[str, object]]:
    return [
        {f.name: value if f.kind == "numeric" else f.levels[int(value)] for f, value in zip(known.features, row, strict=True)}
        for row in known.values.tolist()
    ]


def by_rules(text: str, row: dict[str, object]) -> float:
    """The mean over trees of the one rule that holds."""
    said = []
    for tree in re.split(r"tree \d+\n", text)[1:] or [text]:
        rules = re.findall(r"if (.+) then (\S+)", tree)
        (found,) = (float(number) for asked, number in rules if all(holds(one, row) for one in asked.split(" and ")))
        said.append(found)
    return float(np.mean(said))


def by_drawing(text: str, row: dict[str, object]) -> float:
    """The mean over trees of the end that the branches lead to."""
    labels = dict(re.findall(r'^ *(\w+) \[label="([^"]*)"', text, re.MULTILINE))
    branches: dict[str, list[tuple[str, str]]] = {}
    for one, other, asked in re.findall(r'(\w+) -> (\w+) \[label="([^"]*)"', text):
        branches.setdefault(one, []).append((other, asked))
    said = []
    for node in [name for name in labels if name.endswith("n0")]:
        while node in branches:
            (node,) = (other for other, asked in branches[node] if holds(asked, row))
        said.append(float(labels[node].split("\\n")[0]))
    return float(np.mean(said))


@pytest.mark.parametrize(
    ("name", "settings"), [("cart", {"min_leaf": 5}), ("forest", {"trees": 6}), ("extra_trees", {"trees": 3})]
)
def test_who_follows_rules_or_a_drawing_comes_to_the_prediction(name: str, settings: dict[str, Any]) -> None:
    known, new = plain(200, 0), plain(60, 1)
    model = fitted(known, name, settings).model
    rules, drawing = (
        (rules_text(model.cut), to_dot(model.cut)) if name == "cart" else (forest_rules(model, ()), forest_dot(model, ()))
    )
    wanted = model.predict(new)
    assert len(np.unique(wanted)) > 10
    np.testing.assert_allclose([by_rules(rules, row) for row in table(new)], wanted, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose([by_drawing(drawing, row) for row in table(new)], wanted, rtol=1e-5, atol=1e-5)


def test_rules_of_a_forest_of_classes_tell_the_votes_of_leaves() -> None:
    known = task(np.random.default_rng(5))
    model = fitted(known, "forest", {"trees": 2, "max_depth": 1}).model
    lines = forest_rules(model, known.classes).splitlines()
    assert [line for line in lines if line.startswith("tree")] == ["tree 1", "tree 2"]
    shares = re.findall(r"(?:no|it's|yes) (0\.\d+)", lines[1])
    assert np.isclose(sum(map(float, shares)), 1, atol=0.02)
    assert forest_dot(model, known.classes).count("subgraph") == 2


def test_a_transform_of_the_target_is_refused_by_name() -> None:
    known = plain(80, 0)
    above = NumberTask(name="t", features=known.features, values=known.values, rows=known.rows, target=np.exp(known.target / 9))
    for name in ("cart", "forest"):
        predictor = fitted(above, name, {"target.transform": "log"})
        for write in (lambda made: sql(made, "rows"), onnx):
            with pytest.raises(ConfigurationError, match=r"MSEL-255: .*target\.transform=log.*; take --to json"):
                write(predictor)


def test_a_study_of_numbers_exports_its_forest_to_every_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    known = plain(80, 0)
    frame = pd.DataFrame(table(known)).assign(y=known.target)
    asked = {"scheme": "holdout", "split": "none", "tracking": "off", "pool": "sequential"}
    outcome = modelsel.run(frame, target="y", space={"one": {"learner": {"kind": "forest", "trees": 3}}}, **asked)
    assert outcome.export("rules").startswith("tree 1\nif ")
    assert outcome.export("dot").startswith("digraph forest {")
    assert json.loads(outcome.export("json"))["kind"] == "forest"
    assert needs("onnx").load_from_string(outcome.export("onnx")).graph.output[0].name == "prediction"
    with closing(sqlite3.connect(":memory:")) as store:
        frame.to_sql("rows", store, index=False)
        said = [row[-1] for row in store.execute(outcome.export("sql"))]
    assert said == outcome.model.predict(frame.drop(columns="y")).tolist()
