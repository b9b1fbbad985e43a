"""Levels that a model never met: where somebody who predicts new rows is told of them."""

import csv
from pathlib import Path
from typing import Any

import pytest


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
