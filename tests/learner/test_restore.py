"""A large tree is read back at once, and still refused where a node is not whole."""

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from modelsel.core.types import Feature, Task, positions
from modelsel.learner.tree import Tree
from modelsel.learner.trees.model import restore


def noise(rows: int) -> Task:
    rng = np.random.default_rng(0)
    features = (Feature("x", "numeric"), Feature("z", "numeric"), Feature("n", "nominal", ("a", "b", "c")))
    values = np.column_stack([rng.normal(size=(rows, 2)), rng.integers(3, size=rows)])
    return Task(name="noise", features=features, values=values, rows=np.arange(rows), classes=("no", "yes"),
                target=rng.integers(2, size=rows).astype(np.int32))  # fmt: skip


def test_a_tree_of_ten_thousand_nodes_is_restored_by_operations_on_arrays() -> None:
    """When each node was checked by itself, that was 30 µs a node: 15 s of a study on 300,000 rows."""
    task = noise(20_000)
    described = Tree().fit(task, positions(task), np.random.default_rng(0)).describe()
    assert len(described.arrays["parent"]) > 8_000
    events: Counter[str] = Counter()
    sys.setprofile(lambda _frame, event, _what: events.update([event]))
    try:
        model = restore(described)
    finally:
        sys.setprofile(None)
    assert events["call"] < 1_000  # functions of Python, not one a node
    assert np.array_equal(model.describe().arrays["feature"], described.arrays["feature"])


DAMAGE = {
    "feature": (lambda a: 99, "tests a feature that is not there"),
    "test": (lambda a: 3 if a != 3 else 1, "the wrong way|another number of branches|a leaf"),
    "threshold": (lambda a: np.nan, "has no threshold"),
    "missing_to": (lambda a: 7, "sends missing values nowhere"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_one_damaged_node_is_found_and_named(name: str) -> None:
    task = noise(300)
    described = Tree().fit(task, positions(task), np.random.default_rng(0)).describe()
    change, said = DAMAGE[name]
    numeric = np.flatnonzero((described.arrays["feature"] >= 0) & (described.arrays["feature"] < 2))
    node = int(numeric[len(numeric) // 2])
    array = described.arrays[name].copy()
    array[node] = change(array[node])
    with pytest.raises(ValueError, match=said) as caught:
        restore(replace(described, arrays={**described.arrays, name: array}))
    assert f"node {node}" in str(caught.value) or name == "test"


@pytest.mark.slow
def test_a_study_reads_its_model_back_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For all sections of its report together; on 300,000 rows each time counts."""
    import modelsel

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    read: list[str] = []
    own = Tree.restore
    monkeypatch.setattr(Tree, "restore", staticmethod(lambda description: read.append(description.kind) or own(description)))
    modelsel.run("dataset=iris", "learner=tree", "scheme.folds=3", "tracking=off", "pool=threads")
    assert read == ["tree"]
