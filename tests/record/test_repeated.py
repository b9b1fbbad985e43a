"""A study that is repeated under other settings is told so before its look, by plan and run, and is not told so otherwise."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import modelsel

CODE = "REPEATED_OTHERWISE"
ASKED = ("dataset=iris", "name=again", "tracking=off", "scheme.folds=3", "learner=naive_bayes")


def said(findings: Any) -> list[str]:
    found = [one if isinstance(one, dict) else {"code": one.code, "message": one.message} for one in findings]
    return [one["message"] for one in found if one["code"] == CODE]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.mark.slow
def test_another_setting_is_named_before_the_look_and_the_same_study_hears_nothing(home: Path, capfd: Any) -> None:
    modelsel.run(*ASKED, "learner.smoothing=1")
    assert said(modelsel.plan(*ASKED, "learner.smoothing=1").findings) == []
    (message,) = said(modelsel.plan(*ASKED, "learner.smoothing=2").findings)
    assert "naive_bayes; what has changed: smoothing 1.0 -> 2.0" in message
    capfd.readouterr()
    outcome = modelsel.run(*ASKED, "learner.smoothing=2")
    assert said(outcome.findings) == [message]
    assert said(modelsel.run(*ASKED, "learner.smoothing=2").findings) == []  # the newest look is that of these settings
    assert said(modelsel.plan(*ASKED, "learner.smoothing=1", "name=else").findings) == []


@pytest.mark.slow
def test_a_study_that_did_not_look_is_no_study_before(home: Path) -> None:
    modelsel.run(*ASKED, "learner.smoothing=1", "final_test=false")
    assert said(modelsel.plan(*ASKED, "learner.smoothing=2").findings) == []
    modelsel.run(*ASKED, "learner.smoothing=1")
    assert said(modelsel.run(*ASKED, "learner.smoothing=2", "final_test=false").findings) == []


@pytest.mark.slow
def test_another_reading_of_weights_is_another_setting(home: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=90), "w": rng.integers(1, 4, 90), "y": rng.choice(["a", "b"], 90)})
    table.to_csv("t.csv", index=False)
    asked = ("dataset=csv", "dataset.path=t.csv", "dataset.target=y", "dataset.weights=w", *ASKED[1:])
    modelsel.run(*asked)
    (message,) = said(modelsel.plan(*asked, "dataset.weights_are=relative").findings)
    assert "dataset.weights_are repeats -> relative" in message
