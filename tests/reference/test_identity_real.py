"""Tables, re-seeded, shuffled and renamed, are recognised with the exact share of seen rows."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.core.types import Task
from modelsel.dataset.monks import Monks
from modelsel.guard.reporting.audit import audit
from tests.conftest import about
from tests.guard.studies import Rule, Study, renamed, shuffled

TARGETS = {
    "credit_g": "class", "tic_tac_toe": "Class", "vote": "Class", "kr_vs_kp": "class", "soybean": "class",
    "balance_scale": "class", "titanic": "Survived",
}  # fmt: skip
NAMES = ["monks1", "credit_g", "tic_tac_toe", "vote", "soybean", *about({"kr_vs_kp", "balance_scale"})]


def load(path: Path) -> Task:
    task: Task = make("dataset", "csv", path=str(path), target=TARGETS[path.stem]).read()
    return task


def contents(task: Task) -> Counter[bytes]:
    return Counter(np.nan_to_num(row, nan=-1.0).tobytes() for row in task.values)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_new_split_of_a_shuffled_and_renamed_file(table: Callable[[str], Path], home: Path, name: str) -> None:
    task = Monks(problem=1).read() if name == "monks1" else load(table(name))
    first = Study(task, home)
    first.look()
    disguise = {feature.name: f"column {index}" for index, feature in enumerate(task.features) if index % 2 == 0}
    second = first.but(task=shuffled(renamed(task, disguise)), split_seed=5, rule=Rule(1, 0.5), spec="other")
    result, gate = second.run()
    development, test = (contents(part) for part in first.parts())
    now = contents(second.parts()[1])
    look = next(one for one in audit(gate)["test_sets"][-1]["looks"] if not one["replay"])
    overlap = {one["as"]: one["rows"] for one in look["overlap"]}
    assert overlap == {"test": (test & now).total(), "selection": (development & now).total()}
    assert {"G020", "G021"} <= set(result.flags)


def test_a_table_of_few_different_rows_is_not_accused(table: Callable[[str], Path], home: Path) -> None:
    """titanic: 24 different rows in 2201. A new split looks like any fresh sample; that it is the same table is said."""
    task = load(table("titanic"))
    Study(task, home).look()
    gate = Study(task, home, split_seed=1, rule=Rule(1)).run()[1]
    graver = {finding.code for finding in gate.findings if finding.severity in ("high", "critical")}
    assert not graver
    assert "G023" in {finding.code for finding in gate.findings}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"
