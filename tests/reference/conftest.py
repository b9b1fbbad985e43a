"""Data sets and folds that other tools were run on, read with the types that their sidecar declares."""

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from modelsel.core.types import Feature, Task
from modelsel.dataset.bundled.play_tennis import PlayTennis
from modelsel.dataset.bundled.sklearn_bundled import SklearnBundled
from tests.conftest import FIGURES, SHARED

BUNDLED = {
    "play_tennis": PlayTennis,
    **{f"sk_{name}": partial(SklearnBundled, name) for name in ("iris", "wine", "breast_cancer")},
}


@pytest.fixture(scope="session")
def reference_task() -> Callable[[str], Task]:
    """`reference_task("vote")`: the data set as a task, levels and classes in declared order, `?` missing."""
    cache: dict[str, Task] = {}

    def read(name: str) -> Task:
        if name not in cache:
            cache[name] = _read(name)
        return cache[name]

    return read


@pytest.fixture(scope="session")
def reference_folds(reference: Path) -> Callable[[str], np.ndarray]:
    """`reference_folds("vote")`: the fold in which each row is assessed."""
    return lambda name: np.array(json.loads((reference / "folds" / f"{name}.json").read_text())["fold"])


@pytest.fixture(scope="session")
def answers(reference: Path) -> Callable[[str], dict[str, dict]]:
    """`answers("nb/formula_*")`: what lies under reference/, by the file's stem."""
    return lambda pattern: {p.stem: json.loads(p.read_text()) for p in sorted(reference.glob(f"{pattern}.json"))}


@pytest.fixture(scope="session")
def enough() -> Callable[[int, int], bool]:
    """`enough(compared, 120)`: so many cases were met. With the bundled tables alone there are fewer, and some have none."""

    def met(cases: int, least: int) -> bool:
        if SHARED.is_dir():
            return cases > least
        return cases > 0 or pytest.skip("none of the tables that are here has such a case")

    return met


def _read(name: str) -> Task:
    if (SHARED / "data" / f"{name}.csv").is_file():
        facts = json.loads((SHARED / "data" / f"{name}.json").read_text())
        with (SHARED / "data" / f"{name}.csv").open(newline="") as file:
            return _task(name, facts, list(csv.DictReader(file)))
    if name not in BUNDLED:
        pytest.skip(f"the table {name} is not there")
    return _bundled(name, json.loads((FIGURES / "data" / f"{name}.json").read_text()))


def _bundled(name: str, facts: dict) -> Task:
    """The same table as scikit-learn has it; feature names as in the answers."""
    task = BUNDLED[name]().read()
    names = [column["name"] for column in facts["columns"] if column["name"] != facts["target"]]
    features = tuple(replace(feature, name=known) for feature, known in zip(task.features, names, strict=True))
    return replace(task, name=name, features=features)


def _task(name: str, facts: dict, rows: list[dict[str, str]]) -> Task:
    columns = {column["name"]: column for column in facts["columns"]}
    classes = tuple(columns[facts["target"]]["values"])
    inputs = [column for column in facts["columns"] if column["name"] != facts["target"]]
    features = tuple(
        Feature(c["name"], "numeric" if c["type"] == "numeric" else "nominal", tuple(c.get("values", ()))) for c in inputs
    )
    values = np.array([[_value(row[f.name], f) for f in features] for row in rows])
    target = np.array([classes.index(row[facts["target"]]) for row in rows], np.int32)
    return Task(name=name, features=features, values=values, rows=np.arange(len(rows)), classes=classes, target=target)


def _value(text: str, feature: Feature) -> float:
    if text == "?":
        return np.nan
    return float(text) if feature.kind == "numeric" else float(feature.levels.index(text))
