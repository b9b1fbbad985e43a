"""Real data sets are read as their sidecars describe them, and the generated ones equal the collected files."""

import csv
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from modelsel.core.types import Task
from modelsel.dataset.bundled.balloons import Balloons
from modelsel.dataset.bundled.monks import Monks
from modelsel.dataset.bundled.play_tennis import PlayTennis
from modelsel.dataset.bundled.sklearn_bundled import SklearnBundled
from modelsel.dataset.bundled.tic_tac_toe import TicTacToe
from modelsel.dataset.tables.read_table import read_table

LARGE = {"adult_train", "adult_test", "letter", "supermarket", "nursery", "magic04"}


def test_every_collected_table_is_read_as_described(shared: Path) -> None:
    for sidecar in sorted((shared / "data").glob("*.json")):
        if sidecar.stem in LARGE:
            continue
        said = json.loads(sidecar.read_text())
        declared = {
            column["name"]: {"nominal": column["values"]} if column["type"] == "nominal" else "numeric"
            for column in said["columns"]
        }
        task = read_table(sidecar.with_suffix(".csv"), said["target"], features=declared)
        counts = dict(zip(task.classes, np.bincount(task.target, minlength=len(task.classes)).tolist()))
        assert len(task) == said["rows"], sidecar.stem
        assert {name: n for name, n in counts.items() if n} == {k: v for k, v in said["class_counts"].items() if v}, (
            sidecar.stem
        )
        missing = {column["name"]: column["missing"] for column in said["columns"]}
        for index, feature in enumerate(task.features):
            assert int(np.isnan(task.values[:, index]).sum()) == missing[feature.name], (sidecar.stem, feature.name)


@pytest.mark.slow
def test_the_large_tables_too(shared: Path) -> None:
    for name in sorted(LARGE):
        said = json.loads((shared / "data" / f"{name}.json").read_text())
        task = read_table(shared / "data" / f"{name}.csv", said["target"])
        assert len(task) == said["rows"], name
        assert int(np.isnan(task.values).sum()) == sum(
            c["missing"] for c in said["columns"] if any(f.name == c["name"] for f in task.features)
        )


def rows_of(task: Task) -> Counter[tuple[str, ...]]:
    return Counter(
        (*(feature.levels[int(cell)] for feature, cell in zip(task.features, row)), task.classes[label])
        for row, label in zip(task.values, task.target)
    )


def test_generated_tables_hold_the_rows_of_the_collected_files(shared: Path) -> None:
    made = {
        "play_tennis": PlayTennis(),
        "tic_tac_toe": TicTacToe(),
        **{f"monks{i}_test": Monks(problem=i) for i in (1, 2, 3)},
        **{
            f"balloons_{concept}": Balloons(concept)
            for concept in ("adult_and_stretch", "adult_or_stretch", "yellow_small", "yellow_small_or_adult_and_stretch")
        },
    }
    for name, part in made.items():
        with (shared / "data" / f"{name}.csv").open() as file:
            collected = Counter(tuple(row) for row in list(csv.reader(file))[1:])
        assert rows_of(part.read()) == collected, name


def test_bundled_sets_equal_the_collected_files(shared: Path) -> None:
    for which in ("iris", "wine", "breast_cancer", "digits"):
        collected = read_table(shared / "data" / f"sk_{which}.csv", "target")
        assert np.array_equal(SklearnBundled(which).read().values, collected.values), which
