"""Studies in Python, in a folder of their own, with a ledger of their own."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import modelsel

QUICK: dict[str, Any] = {"tracking": "off", "pool": "sequential", "scheme": {"kind": "stratified_kfold", "folds": 3}}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def people(rows: int = 120, seed: int = 0) -> pd.DataFrame:
    """A table as people hold it: numbers with gaps, categories, an order, booleans, text."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "age": rng.normal(45, 12, rows).round(1),
        "colour": pd.Categorical(rng.choice(["red", "green"], rows), categories=["red", "green", "blue"]),
        "size": pd.Categorical(rng.choice(["s", "m", "l"], rows), categories=["s", "m", "l"], ordered=True),
        "member": rng.random(rows) < 0.5,
        "visits": pd.array(rng.integers(0, 9, rows), dtype="Int64"),
        "code": rng.choice(["001", "002", "NA"], rows),
    })  # fmt: skip
    frame.loc[::11, "age"] = np.nan
    frame.loc[::13, "visits"] = pd.NA
    frame["left"] = ((frame["age"].fillna(40) > 45) ^ frame["member"]) | (rng.random(rows) < 0.1)
    return frame


@pytest.fixture(name="people")
def _people() -> pd.DataFrame:
    return people()


@pytest.fixture
def outcome(people: pd.DataFrame) -> modelsel.Outcome:
    space = {"tree": {"learner": "cart", "sweep": {"max_depth": [1, 2, 4]}}, "knn": {"sweep": {"k": [1, 3]}}}
    return modelsel.run(people, target="left", space=space, measure="brier", final_test=False, **QUICK)
