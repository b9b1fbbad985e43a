"""Data sets and folds that other tools were run on, read with the types that their sidecar declares."""

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from modelsel.core.types import Feature, Task
from modelsel.dataset.balloons import Balloons
from modelsel.dataset.monks import Monks
from modelsel.dataset.play_tennis import PlayTennis
from modelsel.dataset.sklearn_bundled import SklearnBundled
from modelsel.dataset.tic_tac_toe import TicTacToe
from tests.conftest import FIGURES, SHARED

Texts = list[tuple[str, ...]]  # per row the levels of the features, then the class


def _texts(task: Task) -> Texts:
    features = [[feature.levels[int(code)] for code in column] for feature, column in zip(task.features, task.values.T)]
    return list(zip(*features, (task.classes[label] for label in task.target), strict=True))


def _lenses() -> Texts:
    """Contact lenses by the rules of Cendrowska (1987): soft, hard or none for each of 24 patients."""
    rows = []
    for patient in product(
        ("young", "pre-presbyopic", "presbyopic"), ("myope", "hypermetrope"), ("no", "yes"), ("reduced", "normal")
    ):
        age, sight, astigmatic, tears = patient
        soft = astigmatic == "no" and (age, sight) != ("presbyopic", "myope")
        hard = (astigmatic == "yes" and age == "young") or (astigmatic == "yes" and sight == "myope")
        rows.append((*patient, "none" if tears == "reduced" else "soft" if soft else "hard" if hard else "none"))
    return rows


MADE: dict[str, Callable[[], Texts]] = {  # by rule; data/NAME.json has the order of the collected file
    "contact_lenses": _lenses,
    "tic_tac_toe": lambda: _texts(TicTacToe().read()),
    **{f"monks{problem}_train": lambda problem=problem: _texts(Monks(problem=problem).read()) for problem in (1, 2, 3)},
    **{
        f"balloons_{concept}": lambda concept=concept: _texts(Balloons(concept).read())
        for concept in ("adult_and_stretch", "adult_or_stretch", "yellow_small", "yellow_small_or_adult_and_stretch")
    },
}
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


def _read(name: str) -> Task:
    if (SHARED / "data" / f"{name}.csv").is_file():
        facts = json.loads((SHARED / "data" / f"{name}.json").read_text())
        with (SHARED / "data" / f"{name}.csv").open(newline="") as file:
            return _task(name, facts, list(csv.DictReader(file)))
    facts = json.loads((FIGURES / "data" / f"{name}.json").read_text())
    return _bundled(name, facts) if name in BUNDLED else _made(name, facts)


def _made(name: str, facts: dict) -> Task:
    """The rows of the collected file, in its order; a `flipped` one has the other class."""
    made, columns = MADE[name](), [column["name"] for column in facts["columns"]]
    rows = [dict(zip(columns, made[place], strict=True)) for place in facts["order"]]
    classes = facts["columns"][-1]["values"]
    for place in facts.get("flipped", ()):
        rows[place][facts["target"]] = classes[1 - classes.index(rows[place][facts["target"]])]
    return _task(name, facts, rows)


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
