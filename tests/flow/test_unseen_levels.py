"""Levels that a model never met: where somebody who predicts new rows is told of them."""

import csv
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import modelsel as package
from modelsel.record.model import load
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


MEMBERS = pd.DataFrame({"member": [True] * 60 + [False] * 40})
WANTED = ["yes"] * 60 + ["no"] * 40
ASKED: dict[str, Any] = {"learner": "id3", "split": "none", "scheme": "holdout", "tracking": "off"}


def _spelled(no: str, yes: str) -> Path:
    path = Path("new.csv")
    path.write_text(f"member,size\n{yes},5\n{no},90\n,70\n")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("spelling", [("False", "True"), ("false", "true"), ("FALSE", "TRUE"), ("0", "1")])
@pytest.mark.parametrize("source", ["frame", "file", "parquet"])
def test_a_truth_value_is_a_known_level_however_it_is_spelled(
    modelsel: Any, recwarn: Any, capfd: Any, source: str, spelling: tuple[str, str]
) -> None:
    """pandas writes False, Arrow and JSON false, R FALSE, databases 0; a frame holds the value itself."""
    table = MEMBERS.assign(wanted=WANTED)
    table.to_csv("t.csv", index=False)
    table.to_parquet("t.parquet", index=False)
    data = {"frame": table, "file": "t.csv", "parquet": "t.parquet"}[source]
    outcome = package.run(data=data, target="wanted", **ASKED)
    new = _spelled(*spelling)
    assert package.predict(outcome, new)["prediction"].tolist() == ["yes", "no", "yes"]
    frame = pd.DataFrame({"member": pd.array([True, False, None], dtype="boolean")})
    assert outcome.model.predict(frame).tolist() == ["yes", "no", "yes"]
    assert outcome.model.predict(pd.DataFrame({"member": [spelling[1], spelling[0], None]})).tolist() == ["yes", "no", "yes"]
    loaded = PyfuncModel(load(Path(outcome.folder) / "model"))
    assert list(loaded.predict(pd.read_csv(new))) == list(loaded.predict(frame)) == ["yes", "no", "yes"]
    assert "not seen" not in capfd.readouterr().err
    assert not [one for one in recwarn if "not seen" in str(one.message)]


def test_a_truth_value_is_a_number_where_the_study_read_numbers(modelsel: Any) -> None:
    MEMBERS.assign(member=MEMBERS["member"].astype(int), wanted=WANTED).to_csv("t.csv", index=False)
    outcome = package.run(data="t.csv", target="wanted", **{**ASKED, "learner": "cart"})
    frame = pd.DataFrame({"member": [True, False]})
    assert outcome.model.predict(frame).tolist() == package.predict(outcome, frame)["prediction"].tolist() == ["yes", "no"]


def test_what_only_looks_like_truth_values_keeps_its_levels() -> None:
    """With a third level, or both spellings among the levels, each text stands for itself."""
    known = pd.DataFrame({"x": ["true", "True", "maybe"] * 4})
    fitted = package.classifier("id3").fit(known, ["a", "b", "c"] * 4)
    assert list(fitted.predict(pd.DataFrame({"x": ["True", "true"]}))) == ["b", "a"]
    with pytest.warns(UserWarning, match="not seen"):
        fitted.predict(pd.DataFrame({"x": ["TRUE"]}))
