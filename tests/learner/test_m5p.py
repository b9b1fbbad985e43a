"""M5' as Weka has it, in all its settings; one grown tree answers every candidate as if alone; what other programs read."""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from modelsel.config.build import build
from modelsel.core.errors import ConfigurationError
from modelsel.core.types import Description, Feature, NumberTask, Table, positions
from modelsel.dataset.read_table import read_table
from modelsel.dataset.targets import read_as
from modelsel.exports.onnx import onnx
from modelsel.exports.sql import name as quoted
from modelsel.exports.sql import sql
from modelsel.learner.m5p import M5p
from modelsel.learner.trees.model import ModelTree
from modelsel.record.model import Predictor
from modelsel.tree.draw import to_html, to_svg
from modelsel.tree.model_tree import fit_models, grow_models
from modelsel.tree.nested import from_dict, to_dict, to_dot
from modelsel.tree.rules import rules_text, to_text
from tests.extras import needs
from tests.learner.m5p_tables import SETTINGS, made, options, weka, weka_is_there
from tests.tree.number_tables import drawn, number_task

RNG = np.random.default_rng(0)
FIGURES = Path(__file__).parents[1] / "figures/m5p/weka.json"
TABLES = ("mixed", "whole", "collinear")
MOST = 1e-9  # of the target's range


def off(task: NumberTask, said: np.ndarray, wanted: np.ndarray) -> float:
    return float(np.abs(said - wanted).max() / np.ptp(task.target))


# Beside Weka.


@pytest.mark.parametrize("name", TABLES)
def test_predictions_are_those_that_weka_printed(name: str) -> None:
    """Eight settings of -N, -U and -R, and three smallest sizes; gaps, levels, ties, a constant column, two that are one."""
    task, jobs = made(name), json.loads(FIGURES.read_text())["tables"][name]
    asked = {(options(learner), half): learner for learner in SETTINGS for half in ("all", "every second")}
    assert {(job["options"], job["rows"]) for job in jobs} == set(asked)
    for job in jobs:
        rows = positions(task) if job["rows"] == "all" else positions(task)[::2]
        model = asked[job["options"], job["rows"]].fit(task, rows, RNG)
        assert off(task, model.predict(task), np.array(job["said"])) < MOST, job["options"]


def random_table(seed: int) -> NumberTask:
    """Whole numbers as target, so that Weka's sums are exact too; few values, many ties, levels of equal means."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 120))
    X = np.column_stack([rng.integers(0, 6, n), rng.integers(0, 30, n), rng.integers(0, 7, n), rng.normal(size=n)]).astype(
        float
    )
    if seed % 2:
        X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0]) * 3 + np.where(np.nan_to_num(X[:, 2]) > 3, 4, 0) + rng.integers(0, 5, n)
    names = Feature("level", "nominal", tuple("abcdefg"))
    features = (Feature("few", "ordered", tuple("uvwxyz")), Feature("b", "numeric"), names, Feature("c", "numeric"))
    return NumberTask(name="r", features=features, values=np.asfortranarray(X), rows=np.arange(n), target=np.round(y))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(not weka_is_there(), reason="Weka 3.6.14 (apt install weka) and a JDK are not installed")
def test_weka_says_the_same_of_random_tables(tmp_path: Path) -> None:
    jobs = [(task, positions(task), learner) for task in map(random_table, range(40)) for learner in SETTINGS]
    for (task, rows, learner), said in zip(jobs, weka(tmp_path, jobs), strict=True):
        assert off(task, learner.fit(task, rows, RNG).predict(task), said) < MOST, (len(task), options(learner))


def collected(shared: Path) -> Iterator[NumberTask]:
    """scikit-learn's diabetes, and the tables of NUMBERS.csv beside the checkout."""
    from sklearn.datasets import load_diabetes

    frames = [(load_diabetes(as_frame=True, scaled=False).frame, "target")]
    for one in pd.read_csv(shared / "data/NUMBERS.csv").itertuples():
        table = pd.read_csv(shared / "data" / f"{one.name}.csv", na_values="?")
        frames.append((table[table[one.numeric_target].notna()].reset_index(drop=True), one.numeric_target))
    for frame, target in frames:
        with read_as("regression"):
            yield read_table(frame, target=target)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(not weka_is_there(), reason="Weka 3.6.14 (apt install weka) and a JDK are not installed")
def test_weka_says_the_same_of_twelve_real_tables(shared: Path, tmp_path: Path) -> None:
    """Nominal columns, gaps and collinear columns among them; of six thousand rows the defaults alone."""
    tasks = list(collected(shared))
    assert len(tasks) == 12
    jobs = [(task, positions(task), learner) for task in tasks for learner in SETTINGS[: 1 if len(task) > 1000 else None]]
    said = dict(zip([(id(task), learner) for task, _, learner in jobs], weka(tmp_path, jobs), strict=True))
    for task in tasks:
        path = M5p().fit_path(task, positions(task), RNG)
        for learner in SETTINGS:
            if (id(task), learner) in said:
                own = path.model(learner).predict(task)
                assert off(task, own, said[id(task), learner]) < MOST, (task.features[0].name, options(learner))


# The models.


def test_the_model_of_a_node_is_the_ridge_regression_of_its_rows_on_the_columns_tested_below() -> None:
    task = made("whole")
    grown = grow_models(task, positions(task))
    fits = fit_models(grown, 4, linear=True)
    compared = 0
    for node in np.flatnonzero(~fits.closed):
        own, kept = grown.of_node(int(node)), np.flatnonzero(fits.coefficients[node])
        below = grown.term[node : node + grown.tree.size[node]]
        assert set(grown.used[kept]) <= set(below[below >= 0])
        X, y = grown.rows.values[grown.used[kept], own].T, grown.rows.target[own]
        centred = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
        direct = np.linalg.solve(centred.T @ centred + 1e-8 * np.eye(len(kept)), centred.T @ (y - y.mean()))
        said = fits.intercept[node] + X @ fits.coefficients[node, kept]
        np.testing.assert_allclose(said, y.mean() + centred @ direct, atol=1e-9 * np.ptp(task.target))
        compared += len(kept) > 1
    assert compared > 3


def test_smoothing_goes_from_the_leaf_to_the_root() -> None:
    """ŷ ← (n ŷ + 15 ŷ_above) / (n + 15), step by step."""
    task = made("mixed")
    grown = grow_models(task, positions(task))
    fits = fit_models(grown, 4, linear=True)
    intercept, coefficients = fits.smooth(grown.tree.parent, grown.tree.weight, 15.0)
    for leaf in np.flatnonzero(fits.closed):
        node, said = int(leaf), np.r_[fits.intercept[leaf], fits.coefficients[leaf]]
        while (above := int(grown.tree.parent[node])) >= 0:
            n, model = grown.tree.weight[node], np.r_[fits.intercept[above], fits.coefficients[above]]
            said, node = (n * said + 15 * model) / (n + 15), above
        np.testing.assert_allclose(np.r_[intercept[leaf], coefficients[leaf]], said, rtol=1e-10, atol=1e-10)


# One tree, many candidates.

MANY = [
    M5p(min_split=least, leaf=leaf, pruned=pruned, smoothing=rows)
    for least, leaf, pruned, rows in product((4, 12), ("linear", "mean"), (True, False), (0.0, 15.0))
]


@pytest.mark.parametrize("seed", range(6))
def test_each_candidate_equals_itself_alone_to_the_last_bit(seed: int) -> None:
    """With gaps, weights and repeated rows."""
    table = drawn(seed)
    rows = np.random.default_rng(seed).integers(0, len(table.y), 2 * len(table.y))
    if table.task.row_weights[rows].sum() <= 0:
        rows = positions(table.task)
    path = MANY[0].fit_path(table.task, rows, RNG)
    said = path.outputs(MANY, table.task, positions(table.task), scores=False).predicted
    for learner, own, leaves in zip(MANY, said, path.complexity(MANY), strict=True):
        alone = learner.fit(table.task, rows, RNG)
        assert np.array_equal(alone.predict(table.task), own)
        assert alone.n_leaves == leaves


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_rows_changes_no_bit(seed: int) -> None:
    table = drawn(seed)
    order = np.random.default_rng(seed).permutation(len(table.y))
    for learner in (M5p(), M5p(pruned=False, smoothing=0.0)):
        one = learner.fit(table.task, positions(table.task), RNG)
        other = learner.fit(table.rows(order), positions(table.task), RNG)
        assert np.array_equal(one.predict(table.task), other.predict(table.task))


@pytest.mark.parametrize("seed", range(6))
def test_a_weight_of_two_is_a_row_twice(seed: int) -> None:
    table = drawn(4 * seed + 2)  # whole numbers, so that sums are exact
    repeats = np.random.default_rng(seed).integers(1, 4, len(table.y))
    twice = np.repeat(np.arange(len(table.y)), repeats)
    weighed = number_task(table.X, table.y, repeats.astype(float), table.features)
    listed = number_task(table.X[twice], table.y[twice], None, table.features)
    for learner in (M5p(), M5p(leaf="mean"), M5p(pruned=False)):
        one, other = (learner.fit(task, positions(task), RNG) for task in (weighed, listed))
        assert one.n_leaves == other.n_leaves
        np.testing.assert_allclose(one.predict(weighed), other.predict(weighed), atol=1e-9)


@pytest.mark.parametrize("y", [np.full(30, 2.5), np.arange(3.0), np.array([1.0])], ids=len)
def test_a_constant_target_and_few_rows_give_a_leaf(y: np.ndarray) -> None:
    task = number_task(np.arange(len(y))[:, None] * 1.0, y)
    model = M5p().fit(task, positions(task), RNG)
    assert model.n_leaves == 1
    np.testing.assert_allclose(model.predict(task), y.mean())


def test_numbers_far_from_zero_and_of_any_size_are_modelled() -> None:
    """Standardised columns, and sums about the mean of each node's own rows."""
    x = np.arange(60.0)
    y = np.where(x < 30, 2 * x, 200 - 3 * x)
    for shift, scale in ((0.0, 1.0), (1e6, 1.0), (0.0, 1e-6), (1e9, 1e3)):
        task = number_task((x * scale + shift)[:, None], y)
        said = M5p(smoothing=0.0).fit(task, positions(task), RNG).predict(task)
        assert np.abs(said - y).max() < 1e-4, (shift, scale)


# What other programs read.

LEVELS = ("it's", 'a "b"', "c")


def rough(n: int, seed: int) -> NumberTask:
    """Numbers, names and ranks, with gaps."""
    rng = np.random.default_rng(seed)
    a, name, rank = np.round(rng.normal(size=n), 2), rng.integers(0, 3, n), rng.integers(0, 3, n)
    y = np.where(a > 0, 4 * a + 3 * name, -2 * a + 5 * rank) + 0.1 * rng.normal(size=n)
    X = np.column_stack([a, name, rank, rng.integers(0, 2, n)]).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    features = (Feature('the "a"', "numeric"), Feature("name", "nominal", LEVELS),
                Feature("rank", "ordered", ("lo", "mid", "hi")), Feature("two", "nominal", ("no", "yes")))  # fmt: skip
    return number_task(X, y, None, features)


def unseen(task: NumberTask, seed: int = 3) -> Table:
    """The same columns with more gaps, and levels that training had not declared."""
    values = np.array(rough(len(task), seed).values)
    values[:30, 1], values[20:50, 2], values[40:60, 3] = 3, 3, 2
    values[np.random.default_rng(seed).random(values.shape) < 0.2] = np.nan
    return Table(name="new", features=task.features, values=np.asfortranarray(values), rows=np.arange(len(values)))


MODELS = [M5p(), M5p(pruned=False), M5p(smoothing=0.0, min_split=40), M5p(leaf="mean"), M5p(min_split=100)]


def cells(table: Table) -> list[list[object]]:
    """Rows as a database holds them."""

    def one(feature: Feature, value: float) -> object:
        if np.isnan(value):
            return None
        return value if feature.kind == "numeric" else dict(enumerate(feature.levels)).get(int(value), "unheard of")

    return [[one(*pair) for pair in zip(table.features, row, strict=True)] for row in table.values.tolist()]


@pytest.mark.parametrize("database", ["sqlite3", "duckdb"])
@pytest.mark.parametrize("learner", MODELS, ids=options)
def test_databases_say_the_number_that_the_model_says(learner: M5p, database: str) -> None:
    """Gaps and unheard-of levels included."""
    store = needs(database).connect(":memory:")
    task = rough(200, 1)
    model, asked = learner.fit(task, positions(task), RNG), unseen(task)
    query, wanted = sql(Predictor(task.features, (), (), model), "rows"), model.predict(asked)
    columns = [(quoted(one.name), "DOUBLE" if one.kind == "numeric" else "VARCHAR") for one in task.features]
    store.execute(f"CREATE TABLE rows ({', '.join(map(' '.join, columns))})")
    store.executemany("INSERT INTO rows VALUES (?, ?, ?, ?)", cells(asked))
    said = np.array([row[-1] for row in store.execute(query).fetchall()], float)
    np.testing.assert_allclose(said, wanted, rtol=1e-12, atol=1e-12)
    assert len(np.unique(wanted)) > 1


@pytest.mark.parametrize("learner", MODELS, ids=options)
def test_a_model_is_read_back_from_its_folder_and_from_json(learner: M5p) -> None:
    task = rough(200, 1)
    model, asked = learner.fit(task, positions(task), RNG), unseen(task)
    described = model.describe()
    facts = json.loads(json.dumps(described.facts))
    assert np.array_equal(M5p.restore(Description("m5p", facts, described.arrays)).predict(asked), model.predict(asked))
    plain = json.loads(json.dumps(to_dict(model.cut)))
    assert np.array_equal(ModelTree(from_dict(plain)).predict(asked), model.predict(asked))
    assert to_dict(from_dict(plain)) == plain


@pytest.mark.parametrize("name", ["coefficients", "term_fill", "term_levels", "model_squares", "term_feature", "intercept"])
def test_a_damaged_model_is_refused(name: str) -> None:
    task = rough(200, 1)
    described = M5p().fit(task, positions(task), RNG).describe()
    own = described.arrays[name]
    for damaged in (own[:-1], np.ones(99) if name == "term_levels" else own + np.nan):
        with pytest.raises((ValueError, TypeError)):
            M5p.restore(replace(described, arrays={**described.arrays, name: damaged}))


def test_rules_text_and_drawings_show_the_models_of_leaves() -> None:
    x, kind = np.r_[np.arange(20.0), np.arange(20.0)], np.repeat([0.0, 1.0], 20)
    features = (Feature("area", "numeric"), Feature("kind", "nominal", ("flat", "house")))
    task = number_task(np.column_stack([x, kind]), np.where(kind > 0, 100 + 5 * x, 10 + 3 * x), None, features)
    cut = M5p(smoothing=0.0).fit(task, positions(task), RNG).cut
    assert [line.split(" (")[0] for line in to_text(cut).splitlines()] == [
        "kind = flat: 10 + 3 area",
        "kind = house: 100 + 5 area",
    ]
    assert "if kind = house then 100 + 5 area   [covers 20 (50.0 %), off by" in rules_text(cut)
    for drawn_text in (to_dot(cut), to_svg(cut), to_html(cut)):
        assert "100 + 5 area" in drawn_text
        assert "10 + 3 area" in drawn_text


def test_onnx_is_refused_by_name() -> None:
    task = rough(60, 1)
    with pytest.raises(ConfigurationError, match=r"MSEL-255: .*linear models.*--to onnx"):
        onnx(Predictor(task.features, (), (), M5p().fit(task, positions(task), RNG)))


def test_settings_are_checked_and_built_by_their_names() -> None:
    spec, _ = build("m5p", {"min_split": 10, "leaf": "mean", "smoothing": 0})
    assert spec == M5p(min_split=10, leaf="mean", smoothing=0)
    with pytest.raises(ConfigurationError, match="min_split"):
        build("m5p", {"min_split": 2})
