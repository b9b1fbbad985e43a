"""No interval of a record leaves the range of its measure; that of a difference, the differences that there can be.

All makers are found by what they leave: every pair `low`, `high` (or `interval`) in the JSON of a run.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import modelsel

RANGES = {"error": (0.0, 1.0), "mcc": (-1.0, 1.0), "auc": (0.0, 1.0), "brier": (0.0, 2.0)}
DIFFERENCES = {"pairs", "importance", "difference", "doubling"}  # parts of a record that hold differences of scores


def intervals(node: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], float, float]]:
    if isinstance(node, dict):
        ends = [node.get("low"), node.get("high")]
        if all(isinstance(end, float) for end in ends):
            yield path, *ends
        for name, below in node.items():
            yield from intervals(below, (*path, name))
    elif isinstance(node, list):
        for below in node:
            yield from intervals(below, path)


def table(rows: int = 36) -> pd.DataFrame:
    """Nearly without errors, which stand in one fold: means at the edge, with wide intervals."""
    rng = np.random.default_rng(3)
    x = np.sort(rng.normal(size=rows))
    y = np.where(x > 0, "p", "n")
    y[:5] = "p"
    return pd.DataFrame({"x": x, "z": rng.normal(size=rows), "y": y})


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("how", ["t", "bates"])
@pytest.mark.parametrize("measure", RANGES)
def test_intervals_stay_within_the_range_of_the_measure(measure: str, how: str, tmp_path: Path, monkeypatch: Any) -> None:
    if how == "bates" and measure in ("mcc", "auc"):
        pytest.skip("no mean over rows")
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    own = {"outer": {"kind": "kfold", "folds": 3}, **({"outer.interval": "bates"} if how == "bates" else {})}
    outcome = modelsel.run(
        table(), target="y", space={"cart": "cart", "knn": {"learner": "knn", "k": 1}, "majority": "majority"}, measure=measure,
        scheme={"kind": "kfold", "folds": 3}, split="none", tracking="off", guard="off", name="ranges", curve=True,
        explanations={"importance": True}, **own,
    )  # fmt: skip
    least, most = RANGES[measure]
    found = [
        one
        for file in sorted(Path(outcome.folder).glob("*.json"))
        for one in intervals(json.loads(file.read_text()), (file.stem,))
    ]
    assert {path[1] for path, _, _ in found} >= {"nested"}, found
    for path, low, high in found:
        span = (least - most, most - least) if DIFFERENCES & set(path) else (least, most)
        if "slices" not in path:  # shares of rows, by Clopper and Pearson
            assert span[0] <= low <= high <= span[1], (path, low, high)
    assert any(low in (least, most) or high in (least, most) for path, low, high in found), "no interval that was near the edge"
