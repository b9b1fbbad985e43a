"""A study within a study: nested cross-validation from the command line to the record."""

import json
from pathlib import Path
from typing import Any

import pytest

SMALL = ("dataset=wine", "learner=naive_bayes", "tracking=off", "final_test=false", "outer=stratified_kfold", "outer.folds=3")


@pytest.mark.parametrize(
    ("interval", "selections", "said"),
    [("corrected", 3, "approximate"), ("bates", 6, "Bates, Hastie & Tibshirani 2021; 1 × 3 folds")],
)
def test_a_study_ends_with_its_nested_estimate(modelsel: Any, interval: str, selections: int, said: str) -> None:
    words = (*SMALL, f"outer.interval={interval}")
    assert f"outer        {selections} selections more" in modelsel("plan", *words).out
    done = modelsel("run", *words, "pool=sequential")
    assert done.code == 0, done.err
    assert said in " ".join(done.out.split())
    nested = json.loads(Path("runs/latest/study.json").read_text())["nested"]
    assert nested["low"] < nested["mean"] < nested["high"]
    assert len(nested["winners"]) == 3
    assert said in Path("runs/latest/report.html").read_text().replace("&amp;", "&")
    again = modelsel("run", *words, "pool=sequential", "seed=0")
    assert json.loads(Path("runs/latest/study.json").read_text())["nested"] == nested
    assert again.code == 0
