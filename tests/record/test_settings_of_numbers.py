"""A tree of numbers is pruned by squared errors: no record of it says that classes are misclassified."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import modelsel


@pytest.mark.filterwarnings("ignore")
def test_a_regression_tree_has_no_word_of_classes_on_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    x = np.random.default_rng(0).normal(size=60)
    frame = pd.DataFrame({"x": x, "y": np.round(x) + x / 7, "c": np.where(x > 0, "p", "n")})
    space = {"a": {"learner": "cart", "pruner": {"kind": "cost_complexity", "alpha": 0.01}}}
    said = {}
    for target, other in (("y", "c"), ("c", "y")):
        outcome = modelsel.run(
            frame.drop(columns=other), target=target, space=space, split="none", tracking="off", guard="off", name=target,
            scheme={"kind": "kfold", "folds": 2},
        )  # fmt: skip
        study = json.loads((Path(outcome.folder) / "study.json").read_text())
        header = (Path(outcome.folder) / "candidates.csv").read_text().splitlines()[0]
        said[target] = "pruner.impurity" in study["winner"]["parameters"], "pruner.impurity" in header
        again = outcome.candidate(study["winner"]["id"]).fit()
        assert again.predict(frame.drop(columns=["y", "c"])).tolist() == outcome.model.predict(frame).tolist()
    assert said == {"y": (False, False), "c": (True, True)}
