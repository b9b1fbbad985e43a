"""Declared units: read from one column or several, kept whole by splits and folds, and what is wrong with them told at once."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import modelsel
from modelsel.core.errors import ModelselError
from modelsel.core.spec import make
from modelsel.core.types import Task


def frame(rows: int = 60, **columns: Any) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    own = {"x": rng.normal(size=rows), "z": rng.normal(size=rows), "y": np.where(rng.random(rows) > 0.5, "a", "b")}
    return pd.DataFrame({**own, "patient": np.arange(rows) // 3, "day": np.arange(rows) % 3, **columns})


def task(**settings: Any) -> Task:
    return modelsel.read_table(frame(), target="y", **settings)


def test_several_columns_make_one_unit_and_none_of_them_is_a_feature() -> None:
    found = task(unit=["patient", "day"])
    assert [feature.name for feature in found.features] == ["x", "z"]
    assert found.units is not None
    assert len(np.unique(found.units)) == 60
    assert found.unit == "patient, day"
    one = task(unit="patient")
    assert one.units is not None
    assert one.groups is not None
    assert np.array_equal(one.units, one.groups)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("stratified_kfold", {"folds": 4}),
        ("kfold", {"folds": 4}),
        ("repeated_holdout", {}),
        ("stratified_kfold", {"folds": 4, "keep_duplicates_together": True}),
    ],
)
def test_splits_and_folds_keep_units_whole(kind: str, settings: dict[str, Any]) -> None:
    whole, scheme = task(unit="patient"), make("scheme", kind, **settings)
    assert whole.units is not None
    split = make("split", "random", test=0.3).partition(whole)
    assert not np.isin(whole.units[split.test], whole.units[split.development]).any()
    assert 12 <= len(split.test) <= 24
    assert not list(scheme.problems(whole))
    for fold in scheme.instantiate(whole, 0).folds:
        assert not np.isin(whole.units[fold.assessment], whole.units[fold.analysis]).any()


def test_more_folds_than_units_are_refused() -> None:
    whole = modelsel.read_table(frame(patient=np.arange(60) // 10), target="y", unit="patient")
    said = list(make("scheme", "stratified_kfold", folds=10).problems(whole))
    assert said == ["10 folds of 6 units: scheme.folds may be at most 6"]


def test_a_cut_in_time_moves_to_where_no_unit_is_torn() -> None:
    whole, time = replace(task(unit="patient"), times=np.arange(60.0)), make("split", "time", test=0.3)
    assert time.partition(whole).test.tolist() == list(range(42, 60))
    torn = replace(whole, groups=np.arange(60) // 20, units=np.arange(60) // 20)
    assert time.partition(torn).test.tolist() == list(range(40, 60))
    mixed = replace(whole, groups=np.arange(60) % 5, units=np.arange(60) % 5)
    assert "no unit on both sides" in next(iter(time.problems(mixed)))


@pytest.mark.parametrize(
    ("columns", "settings", "said"),
    [
        ({"patient": [None, *range(59)]}, {"unit": "patient"}, "MSEL-351: unit missing"),
        ({"patient": ["one"] * 60}, {"unit": "patient"}, "MSEL-356: all rows are one unit"),
        ({"clinic": np.arange(60) % 7}, {"unit": "patient", "groups": "clinic"}, "MSEL-357: 20 units and 7 groups"),
        ({"clinic": np.arange(60) // 6}, {"unit": "patient", "groups": "clinic"}, "MSEL-357: 20 units and 10 groups"),
        ({}, {"unit": "y"}, "'y' has two roles"),
        ({}, {"unit": "patent"}, "did you mean 'patient'?"),
        ({"held": np.arange(60) % 2}, {"unit": "patient", "dataset": {"held_out": "held"}, "split": "predefined"},
         "20 units are on both sides of the predefined split: hold out each with all of its rows"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_units_is_told_before_any_fit(
    columns: dict[str, Any], settings: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelselError) as caught:
        modelsel.plan(**{"data": frame(**columns), "target": "y", "space": "naive_bayes", "scheme.folds": 3, **settings})
    assert said in str(caught.value)


def test_units_and_groups_that_hold_the_same_rows_together_are_no_contradiction() -> None:
    table = frame(clinic=[f"c{row // 3}" for row in range(60)])
    assert modelsel.read_table(table, target="y", unit="patient", groups="clinic").units is not None


def test_a_plan_says_what_units_are_good_for_and_asks_where_ids_repeat() -> None:
    def codes(table: pd.DataFrame, **settings: Any) -> dict[str, str]:
        plan = modelsel.plan("scheme.folds=3", data=table, target="y", space="naive_bayes", **settings)
        return {finding.code: finding.message for finding in plan.findings}

    few = codes(frame(patient=np.arange(60) // 10), unit="patient")
    assert "fewer than 5" in few["FEW_UNITS"]
    assert "a unit of its own" in codes(frame(), unit=["patient", "day"])["UNITS_ARE_ROWS"]
    asked = codes(frame().rename(columns={"patient": "patient_id"}))
    assert asked["REPEATED_IDS"] == "patient_id has 20 values in 60 rows: are rows of one patient independent?"
    assert "REPEATED_IDS" not in codes(frame().rename(columns={"patient": "patient_id"}), unit="patient_id")
    assert "REPEATED_IDS" not in codes(frame(visit_id=np.arange(60)).drop(columns="patient"))


def test_selection_keeps_units_whole_and_tells_what_is_wrong() -> None:
    table, y = frame()[["x", "z"]], frame()["y"]
    patients = (np.arange(60) // 3).astype(str)
    search = modelsel.SelectionCV({"nb": "naive_bayes"}, cv=4).fit(table, y, unit=patients)
    assert search.n_splits_ == 4
    for unit, said in (
        (["one"] * 60, "one unit"),
        ([None, *patients[1:]], "1 miss"),
        (np.arange(3).repeat(20), "4 folds of 3 units"),
    ):
        with pytest.raises(ValueError, match=said):
            modelsel.SelectionCV({"nb": "naive_bayes"}, cv=4).fit(table, y, unit=unit)
    with pytest.raises(ValueError, match="do not hold the same rows"):
        modelsel.SelectionCV({"nb": "naive_bayes"}, cv=4).fit(table, y, unit=patients, groups=np.arange(60) % 5)


def test_a_bootstrap_draws_whole_units() -> None:
    whole = task(unit="patient")
    assert whole.units is not None
    scheme = make("scheme", "bootstrap", repeats=5)
    assert not list(scheme.problems(whole))
    for fold in scheme.instantiate(whole, 0).folds:
        assert not np.isin(whole.units[fold.assessment], whole.units[fold.analysis]).any()
        times = np.bincount(fold.analysis, minlength=60).reshape(20, 3)
        assert (times == times[:, :1]).all()
        assert times[:, 0].sum() == 20
