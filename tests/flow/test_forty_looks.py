"""The attack of the certificate through the command line: new development labels before each look, then the vote."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from modelsel.cli.dispatch import main

TRUTH, ROWS = 0.5, 200
QUICK = ("dataset=csv", "dataset.path=learn.csv", "dataset.test_path=test.csv", "dataset.target=y", "split=predefined",
         "learner=knn", "learner.k=1", "scheme.folds=2", "tracking=off", "pool=sequential")  # fmt: skip


def written(path: Path, values: np.ndarray, labels: np.ndarray) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["x0", "x1", "x2", "y"])
        writer.writerows([*row, "ab"[label]] for row, label in zip(values.tolist(), labels.tolist()))


def looked(folder: Path, name: str, guard: tuple[str, ...]) -> dict[str, object]:
    assert main(["run", *QUICK, f"name={name}", *guard]) in (0, 4)
    found: dict[str, object] = json.loads(next((folder / "runs" / name).glob("*/study.json")).read_text())["test"]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("guard", [("guard.release=full", "guard.quota=null"), ()], ids=["exact", "by default"])
def test_the_vote_of_forty_looks_is_covered_and_no_look_is_taken_for_a_declared_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guard: tuple[str, ...]
) -> None:
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    values = rng.normal(size=(ROWS, 3)).round(4)
    written(tmp_path / "test.csv", values, rng.integers(0, 2, ROWS))
    votes, best = np.zeros(ROWS), TRUTH
    for turn in range(40):
        wanted = rng.integers(0, 2, ROWS)
        written(tmp_path / "learn.csv", values + 1e-3, wanted)
        shown = looked(tmp_path, f"look{turn}", guard)
        score = shown["score"] if isinstance(shown["score"], float) else TRUTH
        votes += np.sign(TRUTH - score) * (2 * wanted - 1)
        _covered(shown)
        assert turn == 0 or "G016" not in shown["flags"]  # type: ignore[operator]
        best = min(best, score)
    written(tmp_path / "learn.csv", values + 1e-3, (votes > 0).astype(int))
    last = looked(tmp_path, "vote", guard)
    _covered(last)
    if guard:
        assert last["look"] == 41
        assert isinstance(last["score"], float)
        assert last["score"] < best  # the attack does what it is for


def _covered(shown: dict[str, object]) -> None:
    interval = shown["interval"]
    assert interval is None or interval[0] <= TRUTH <= interval[1]  # type: ignore[index]
