"""Levels that a model never met: where somebody who predicts new rows is told of them."""

import csv
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import modelsel as package
from modelsel.record.model.model import load
from modelsel.record.pyfunc import PyfuncModel


@pytest.mark.parametrize("nominal", ["multiway", "equality", "subset"])
def test_who_predicts_is_told_which_levels_are_new_and_in_how_many_rows(modelsel: Any, nominal: str) -> None:
    """Seven of ten rows are red and wanted: a violet thing goes with them."""
    rows = [["red", "yes"]] * 70 + [["blue", "no"]] * 30
    with Path("known.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([["colour", "wanted"], *rows])
    Path("new.csv").write_text("colour\nred\nviolet\nblue\nviolet\n?\n")
    asked = ("dataset=csv", "dataset.path=known.csv", "dataset.target=wanted")
    assert (
        modelsel("run", *asked, "learner=tree", f"learner.splits.nominal={nominal}", "split=none", "scheme=holdout").code == 0
    )
    done = modelsel("predict", "latest", "new.csv")
    assert done.code == 0, done.err
    assert "column 'colour': 2 rows hold levels that the model has not seen: 'violet'" in done.err
    assert [line.split(",")[0] for line in done.out.splitlines()[1:]] == ["yes", "yes", "no", "yes", "yes"]


def test_whoever_predicts_in_python_is_warned() -> None:
    known = pd.DataFrame({"colour": ["red"] * 7 + ["blue"] * 3, "size": range(10)})
    fitted = package.classifier("id3").fit(known[["colour"]], ["yes"] * 7 + ["no"] * 3)
    with pytest.warns(UserWarning, match=r"not seen, in column 'colour' \(2 of 4 rows\); a tree sends them with the majority"):
        assert list(fitted.predict(pd.DataFrame({"colour": ["blue", "violet", "green", None]}))) == ["no", "yes", "yes", "yes"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted.predict(pd.DataFrame({"colour": ["blue", None]}))


def test_whoever_predicts_by_mlflow_is_warned(modelsel: Any) -> None:
    with Path("known.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([["colour", "wanted"], *[["red", "yes"]] * 70, *[["blue", "no"]] * 30])
    asked = ("dataset=csv", "dataset.path=known.csv", "dataset.target=wanted", "learner=id3", "split=none", "scheme=holdout")
    done = modelsel("run", *asked)
    model = PyfuncModel(load(Path(done.outcome.folder) / "model"))
    with pytest.warns(UserWarning, match=r"in column 'colour' \(1 of 2 rows\)"):
        assert list(model.predict(pd.DataFrame({"colour": ["violet", "blue"]}))) == ["yes", "no"]
