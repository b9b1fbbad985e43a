"""Class scores that no measure reads are kept from the first computation: nothing is fitted twice, and nothing else differs."""

import json
from collections import Counter
from contextlib import chdir
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelsel
from modelsel.runner.evaluation.cell import PreparedBatch
from modelsel.runner.journal import read, scan
from modelsel.runner.spare_scores import SpareScores
from modelsel.study import selection
from tests.api.conftest import QUICK

SPACE = {
    "forest": {"learner": "forest", "sweep": {"trees": "choice(5, 9)", "min_split": "choice(2, 5)"}},
    "tree": {"learner": "cart", "sweep": {"pruner.alpha": "path"}},
    "near": {"learner": "knn", "sweep": {"k": "choice(1, 3)", "vote": "choice(uniform, inverse)"}},
    "bayes": {"learner": "naive_bayes", "sweep": {"prior": "choice(empirical, uniform)"}},
    "held": {"learner": "naive_bayes", "calibrator": "platt"},
    "blind": {"learner": "majority"},
}


@pytest.fixture(name="fits")
def _fits(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[str, str]]:
    """Fits in cells, by fold and growing settings."""
    counted, path = Counter[tuple[str, str]](), PreparedBatch.path

    def counting(bench: PreparedBatch, members: Any) -> Any:
        counted[bench.fold.fingerprint, bench.identity[2]] += 1
        return path(bench, members)

    monkeypatch.setattr(PreparedBatch, "path", counting)
    return counted


def study(folder: Path, **more: Any) -> modelsel.Outcome:
    """A study in a folder of its own, so that no other one's journal is found."""
    folder.mkdir()
    with chdir(folder):
        return modelsel.run("dataset=wine", **{**QUICK, **more}, space=SPACE, final_test=False)


def answers(outcome: modelsel.Outcome) -> list[Any]:
    """What the journal holds, but for times: cells, candidates, classes, class scores."""
    found = []
    for path in (Path(outcome.folder) / "journal").glob("*.segment"):
        for header in scan(path):
            record = read(header.place)
            assert record is not None
            facts = {name: value for name, value in record.facts.items() if name != "seconds"}
            found.append((json.dumps(facts, sort_keys=True), {name: array.tobytes() for name, array in record.arrays.items()}))
    return sorted(found, key=lambda one: (one[0], one[1].get("ids", b""), "scores" in one[1]))


@pytest.mark.slow
def test_no_cell_is_fitted_twice_and_every_figure_is_that_of_a_second_fit(
    fits: Counter[tuple[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = study(tmp_path / "kept")
    assert set(fits.values()) == {1}
    cells = len(fits)
    fits.clear()
    monkeypatch.setattr(selection, "SpareScores", partial(SpareScores, room=0))
    again = study(tmp_path / "again")
    assert len(fits) == cells
    assert Counter(fits.values()) == {
        2: cells - 3,
        1: 3,
    }  # but for the draw of the floor
    assert kept.winner == again.winner
    assert np.isfinite(kept.winner["measures"]["log_loss"])
    assert kept.leaderboard.equals(again.leaderboard)
    assert kept.leaderboard["auc"].notna().sum() >= len(SPACE)
    assert kept.predictions.equals(again.predictions)
    assert answers(kept) == answers(again)
