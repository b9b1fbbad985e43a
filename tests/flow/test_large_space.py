"""More than ten thousand candidates: scores of all are on record, rows of the best, and the choice is corrected and shown."""

import csv

import numpy as np
import pytest

from modelsel.record.folder import RunFolder

SPACE = "learner.sweep={smoothing: 'range(0, 1050, 0.1)'}"


@pytest.mark.slow
def test_a_study_of_ten_thousand_five_hundred_candidates_ends_with_its_whole_record(modelsel):
    done = modelsel("run", "dataset=play_tennis", "learner=naive_bayes", SPACE, "split=none", "scheme.folds=5")
    assert done.code == 0, done.err
    folder = RunFolder.open("latest")
    assert done.outcome.candidates["distinct"] == done.outcome.candidates["ok"] == 10_500
    with open(folder.path / "candidates.csv") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 10_500
    assert all(row["status"] == "ok" and row["mean"] for row in rows)
    losses = folder.losses()
    assert losses.matrix.shape == (14, 1000)
    assert np.isin(losses.matrix, (0, 1)).all()
    assert done.outcome.winner["id"] in losses.ids
    assert done.outcome.winner["corrected"]["method"] == "bbc"
    means = {row["id"]: float(row["mean"]) for row in rows}
    assert max(means[name] for name in losses.ids) <= min(means[name] for name in means.keys() - set(losses.ids))
    assert "10,500" in (folder.path / "report.html").read_text()
