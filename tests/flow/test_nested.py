"""A study within a study: nested cross-validation from the command line to the record."""

import html
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SMALL = ("dataset=wine", "learner=naive_bayes", "tracking=off", "final_test=false", "outer=stratified_kfold", "outer.folds=3")


@pytest.mark.slow
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


@pytest.fixture
def coins(tmp_path: Path) -> Path:
    """60 rows on which there is nothing to be learnt."""
    rng = np.random.default_rng(5)
    rows = [
        f"{a:.3f},{b:.3f},{c}" for a, b, c in zip(rng.normal(size=60), rng.normal(size=60), rng.permutation(["no", "yes"] * 30))
    ]
    (tmp_path / "coins.csv").write_text("\n".join(["a,b,side", *rows]) + "\n")
    return tmp_path / "coins.csv"


COINS = ("learner=naive_bayes", "tracking=off", "final_test=false", "scheme.folds=3", "pool=sequential")


def study() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path("runs/latest/study.json").read_text())
    return found


@pytest.mark.slow
def test_near_the_floor_auto_pays_for_nested_and_bbc_says_what_it_is_worth(modelsel: Any, coins: Path) -> None:
    words = (str(coins), "side", *COINS)
    assert "where the corrected score is near the floor" in modelsel("plan", *words, "corrected=auto").out
    done = modelsel("run", *words)
    caution = study()["winner"]["corrected"]["caution"]
    assert caution in " ".join(done.out.split())
    assert caution in html.unescape(Path("runs/latest/report.html").read_text())
    assert "nested" not in study()
    assert modelsel("run", *words, "corrected=auto").code == 0
    corrected = study()["winner"]["corrected"]
    assert corrected["method"] == "nested"
    assert corrected["mean"] == study()["nested"]["mean"]
    assert corrected["bbc"]["method"] == "bbc"
    assert len(study()["nested"]["winners"]) == 3  # of the study's own scheme


@pytest.mark.slow
def test_away_from_the_floor_auto_leaves_bbc(modelsel: Any) -> None:
    assert modelsel("run", "dataset=wine", *COINS, "corrected=auto").code == 0
    assert study()["winner"]["corrected"]["method"] == "bbc"
    assert "nested" not in study()
    assert "caution" not in study()["winner"]["corrected"]


def test_nested_needs_folds_to_select_anew_in(modelsel: Any) -> None:
    refused = modelsel("run", "dataset=wine", "learner=naive_bayes", "scheme=leave_one_out", "corrected=nested")
    assert (refused.code, "MSEL-218" in refused.err) == (2, True)
    assert "outer=stratified_kfold" in refused.err
