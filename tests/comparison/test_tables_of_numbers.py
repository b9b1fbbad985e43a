"""Learners of numbers compared over tables: errors as shares of the floor's, found again from out-of-fold predictions."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import modelsel


def table(seed: int, unit: float) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    return pd.DataFrame(X, columns=list("abc")).assign(y=(unit * (2 * X[:, 0] + X[:, 1] + rng.normal(size=40))).round(6))


def share(outcome: modelsel.Outcome) -> float:
    """The winner's mean squared error over that of the mean of the other folds' rows, in the mean over folds each."""
    said = outcome.predictions
    own, floor = [], []
    for fold in sorted(said.fold.unique()):
        here, others = said[said.fold == fold], said[said.fold != fold]
        own.append(np.square(here.truth - here.predicted).mean())
        floor.append(np.square(here.truth - others.truth.mean()).mean())
    return float(np.mean(own) / np.mean(floor))


@pytest.mark.slow
def test_learners_are_compared_over_tables_as_shares_of_the_floor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    space = {"line": {"learner": "linear_regression"}, "near": {"learner": "knn", "k": 9}}
    runs = [
        modelsel.run(
            "scheme=kfold", "scheme.folds=3", "split=none", "tracking=off", "pool=sequential", data=table(seed, unit),
            target="y", space=space, name=f"table_{seed}",
        )
        for seed, unit in enumerate((1e-2, 1e3))
    ]  # fmt: skip
    found = modelsel.compare(runs)
    assert "Mean ranks by mse as a share of the floor's over 2 data sets (1 is best): line 1.00, near 2.00." in found.sentences
    shown = found.tables["Mse as a share of the floor's"]["line"].iloc[:2].astype(float)
    assert shown.tolist() == pytest.approx([share(run) for run in runs], abs=6e-5)
