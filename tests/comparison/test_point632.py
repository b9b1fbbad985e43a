"""The .632 estimates of a study: training and no-information error are those of the winner fitted on all rows."""

import json
from pathlib import Path

import numpy as np
import pytest

import modelsel
from modelsel.comparison.point632 import point632, point632_plus
from modelsel.core.spec import make


@pytest.mark.slow
def test_gamma_comes_from_the_rule_fitted_on_all_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    settings = (
        "dataset=iris",
        "space=[naive_bayes,stump]",
        "scheme=bootstrap",
        "split=none",
        "tracking=off",
        "pool=sequential",
    )
    outcome = modelsel.run(*settings)
    task = make("dataset", "sklearn_bundled", which="iris").read()
    winner = make("learner", outcome.winner["learner"]) if outcome.winner["entry"] == "naive_bayes" else None
    assert winner is not None
    model = winner.fit(task, np.arange(len(task)), np.random.default_rng(0))
    predicted = model.predict(task)
    training = float((predicted != task.target).mean())
    p, q = np.bincount(task.target) / 150, np.bincount(predicted, minlength=3) / 150
    corrected, out_of_bag = outcome.winner["corrected"], outcome.winner["cv"]["mean"]
    assert corrected["point632"] == pytest.approx(point632(training, out_of_bag))
    assert corrected["point632_plus"] == pytest.approx(point632_plus(training, out_of_bag, float(np.sum(p * (1 - q)))))
    assert "OPTIMISTIC_632" in {finding["code"] for finding in outcome.findings}
    assert json.loads((Path(outcome.folder) / "study.json").read_text())["winner"]["corrected"]["point632"]
