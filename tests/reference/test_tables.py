"""Tables are read as they are described, and the generated and bundled ones hold the rows of the published files."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from modelsel.core.types import Task
from modelsel.dataset.balloons import Balloons
from modelsel.dataset.monks import Monks
from modelsel.dataset.play_tennis import PlayTennis
from modelsel.dataset.read_table import read_table
from modelsel.dataset.sklearn_bundled import SklearnBundled
from modelsel.dataset.tic_tac_toe import TicTacToe
from tests import lookalikes
from tests.conftest import SHARED, about

CONCEPTS = ("adult_and_stretch", "adult_or_stretch", "yellow_small", "yellow_small_or_adult_and_stretch")
SIDECARS = {path.stem: json.loads(path.read_text()) for path in sorted((SHARED / "data").glob("*.json"))}
NUMBERS = {name for name, said in SIDECARS.items() if said.get("task") == "regression"}  # the target is a quantity
COLLECTED = [name for name in SIDECARS if name not in NUMBERS]
LARGE = ["adult_train", "adult_test", "letter", "supermarket", "nursery", "magic04"]
ROWS = {  # SHA-256 (32 digits) of the sorted rows, as JSON lists of texts, of the collected files of UCI and Weka
    "play_tennis": "1ea3346a0469e496f9046a5ccd9d2fbb",
    "tic_tac_toe": "9f32e93794c3bd24652adab750feaaf4",
    "monks1_test": "3921d5d5278d4b01109e04787e6a6deb",
    "monks2_test": "ce9457742486348e57247ab0ab2ac0bb",
    "monks3_test": "f3d4205dd6611bfe3ddb3ef3ff7be9f8",
    "balloons_adult_and_stretch": "440d9c747ce76d657d9dca67cfb87f1d",
    "balloons_adult_or_stretch": "8628c341c105699ec0afdee50d697aa2",
    "balloons_yellow_small": "c02111f384a5a4137b721fa0d7ba8081",
    "balloons_yellow_small_or_adult_and_stretch": "e1aefcad964f4f93088e0f06f7742663",
}
MADE = {
    "play_tennis": PlayTennis(),
    "tic_tac_toe": TicTacToe(),
    **{f"monks{i}_test": Monks(problem=i) for i in (1, 2, 3)},
    **{f"balloons_{concept}": Balloons(concept) for concept in CONCEPTS},
}
VALUES = {  # SHA-256 (32 digits) of the values, row by row, of the files that scikit-learn 1.9.1 ships
    "iris": "012f498fe9c8b3b34212c3c5d98e1f03",
    "wine": "8edcf3903afd97c64d51e0212eb10b21",
    "breast_cancer": "6b202a2072f9a0385f405a8f8605b1b0",
    "digits": "20def7f70a702f0af9732fbba4375e14",
}


def check(path: Path, said: dict) -> None:
    """Rows, classes and gaps of a file are those of its description."""
    declared = {
        column["name"]: {"nominal": column["values"]} if column["type"] == "nominal" else "numeric"
        for column in said["columns"]
    }
    task = read_table(path, said["target"], features=declared)
    counts = dict(zip(task.classes, np.bincount(task.target, minlength=len(task.classes)).tolist()))
    assert len(task) == said["rows"]
    assert {name: n for name, n in counts.items() if n} == {k: v for k, v in said["class_counts"].items() if v}
    missing = {column["name"]: column["missing"] for column in said["columns"]}
    for index, feature in enumerate(task.features):
        assert int(np.isnan(task.values[:, index]).sum()) == missing[feature.name], feature.name


@pytest.mark.parametrize("name", lookalikes.DESCRIBED)
def test_a_table_is_read_as_described(name: str, tmp_path: Path) -> None:
    check(lookalikes.write(name, tmp_path), lookalikes.DESCRIBED[name])


@pytest.mark.parametrize("name", about({*COLLECTED} - {*LARGE}))
def test_a_collected_table_is_read_as_described(name: str) -> None:
    check(SHARED / "data" / f"{name}.csv", SIDECARS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", about({*COLLECTED} & {*LARGE}))
def test_a_large_table_too(name: str) -> None:
    said = SIDECARS[name]
    task = read_table(SHARED / "data" / f"{name}.csv", said["target"])
    assert len(task) == said["rows"]
    known = {feature.name for feature in task.features}
    assert int(np.isnan(task.values).sum()) == sum(c["missing"] for c in said["columns"] if c["name"] in known)


def digest_of_rows(task: Task) -> str:
    rows = [
        [*(feature.levels[int(cell)] for feature, cell in zip(task.features, row)), task.classes[label]]
        for row, label in zip(task.values, task.target)
    ]
    return hashlib.sha256(json.dumps(sorted(rows)).encode()).hexdigest()[:32]


@pytest.mark.parametrize("name", ROWS)
def test_a_generated_table_holds_the_rows_of_the_published_file(name: str) -> None:
    assert digest_of_rows(MADE[name].read()) == ROWS[name]


@pytest.mark.parametrize("which", VALUES)
def test_a_bundled_set_has_the_values_of_the_published_file(which: str) -> None:
    values = np.ascontiguousarray(SklearnBundled(which).read().values, "<f8")
    assert hashlib.sha256(values.tobytes()).hexdigest()[:32] == VALUES[which]
