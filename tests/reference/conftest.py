"""Data sets and folds that other tools were run on, read with the types that their sidecar declares."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from modelsel.core.types import Feature, Task


@pytest.fixture(scope="session")
def reference_task(shared: Path) -> Callable[[str], Task]:
    """`reference_task("vote")`: the data set as a task, levels and classes in declared order, `?` missing."""
    cache: dict[str, Task] = {}

    def read(name: str) -> Task:
        if name not in cache:
            cache[name] = _read(shared / "data", name)
        return cache[name]

    return read


@pytest.fixture(scope="session")
def reference_folds(shared: Path) -> Callable[[str], np.ndarray]:
    """`reference_folds("vote")`: the fold in which each row is assessed."""
    return lambda name: np.array(json.loads((shared / "reference/folds" / f"{name}.json").read_text())["fold"])


@pytest.fixture(scope="session")
def answers(shared: Path) -> Callable[[str], dict[str, dict]]:
    """`answers("nb/formula_*")`: what lies under reference/, by the file's stem."""
    return lambda pattern: {p.stem: json.loads(p.read_text()) for p in sorted((shared / "reference").glob(f"{pattern}.json"))}


def _read(data: Path, name: str) -> Task:
    facts = json.loads((data / f"{name}.json").read_text())
    with (data / f"{name}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
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
