"""The Python of the README and of docs/python.md is run as it stands, in order, in a fresh folder."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import modelsel

ROOT = Path(__file__).resolve().parents[2]


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What stands in the pages as given."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "age": rng.normal(45, 12, 150).round(1), "visits": rng.integers(0, 9, 150),
        "colour": pd.Categorical(rng.choice(["red", "green"], 150)), "member": rng.random(150) < 0.5,
    })  # fmt: skip
    frame["default"] = (frame["age"] > 45) ^ (rng.random(150) < 0.15)
    frame["member"] = frame["member"].astype("boolean").where(frame["visits"] > 0)
    return {"frame": frame, "X": frame[["age", "visits"]].to_numpy(float), "y": frame["default"].to_numpy()}


@pytest.mark.slow
def test_the_readmes_python_runs(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """By itself: it defines all that it uses."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "")
    names: dict[str, Any] = {}
    (block,) = [one for one in blocks("README.md") if one.startswith("import modelsel\n")]
    exec(compile(block, "README.md", "exec"), names)
    assert isinstance(names["outcome"], modelsel.Outcome)
    assert names["search"].corrected_score_ is not None
    assert (folder / "scores.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_page_on_python_runs(names: dict[str, Any], folder: Path) -> None:
    found = blocks("docs/python.md")
    assert len(found) == 7
    for block in found:
        exec(compile(block, "docs/python.md", "exec"), names)
    assert names["labels"].dtype == bool
    assert names["opened"].test.look == 1
    assert "cells of age in 1 rows" in names["said"]
    assert (folder / "k.svg").exists()
    assert (folder / "runs" / "kept").is_dir()


def test_the_readme_leads_to_the_page() -> None:
    assert "](docs/python.md)" in (ROOT / "README.md").read_text("utf-8")
