"""Rows that are divided by time: a lone column of dates is their time, as if `dataset.time` had said so."""

from pathlib import Path

import pandas as pd
import pytest

import modelsel
from modelsel.api.final_test import reseal
from modelsel.config.compose import compose
from modelsel.core.errors import ConfigurationError
from modelsel.record.folder import RunFolder
from modelsel.runner.study_data import StudyData, prepare

BY_TIME = (("split=time",), ("scheme=time_split", "split=random"), ("split=time", "scheme=purged_kfold", "scheme.folds=3"))


@pytest.fixture
def sales(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """Sixty days in a file of their own."""
    monkeypatch.chdir(tmp_path)
    days = pd.date_range("2024-01-01", periods=60).astype(str)
    frame = pd.DataFrame({"day": days, "warmth": [row * 37 % 60 for row in range(60)], "sold": ["yes", "no", "no"] * 20})
    frame.to_csv("sales.csv", index=False)
    return frame


def read(*overrides: str) -> StudyData:
    table = ["dataset=csv", "dataset.path=sales.csv", "dataset.target=sold"]
    return prepare(compose([*table, "learner=naive_bayes", "tracking=off", *overrides]))


@pytest.mark.usefixtures("sales")
@pytest.mark.parametrize("overrides", BY_TIME, ids=" ".join)
def test_it_is_what_dataset_time_would_say(overrides: tuple[str, ...]) -> None:
    found, said = read(*overrides), read(*overrides, "dataset.time=day")
    assert found.development.fingerprint == said.development.fingerprint
    assert [feature.name for feature in found.development.features] == ["warmth"]
    assert found.config.resolved == said.config.resolved
    codes = {finding.code for finding in found.reading}
    assert "TIME_COLUMN" in codes
    assert "DATES_AS_NUMBERS" not in codes
    assert "TIME_COLUMN" not in {finding.code for finding in said.reading}


@pytest.mark.usefixtures("sales")
def test_it_stays_a_feature_where_rows_are_not_divided_by_time() -> None:
    found = read("split=random")
    assert [feature.name for feature in found.development.features] == ["day", "warmth"]
    assert "DATES_AS_NUMBERS" in {finding.code for finding in found.reading}


@pytest.mark.parametrize(
    ("overrides", "fix"),
    [
        (("dataset.features.day=numeric",), "set dataset.time=day"),  # somebody has said that it is a feature
        (("learner.preparer=dates",), "set dataset.time=day"),  # and here that it is one in parts
        (("dataset.path=two.csv",), "set dataset.time=day or paid"),
        (("dataset.features.day=ignore",), "set dataset.time=COLUMN"),
    ],
)
def test_where_it_does_not_follow_the_person_is_asked(sales: pd.DataFrame, overrides: tuple[str, ...], fix: str) -> None:
    sales.assign(paid=sales["day"]).to_csv("two.csv", index=False)
    with pytest.raises(ConfigurationError, match=fix):
        read("split=time", *overrides)


@pytest.mark.slow
def test_a_study_of_a_file_and_of_a_frame_keep_it_in_their_record(sales: pd.DataFrame) -> None:
    settings = {"space": "naive_bayes", "split": "time", "tracking": "off", "final_test": False}
    ran, framed = modelsel.run("sales.csv", "sold", **settings), modelsel.run(sales, target="sold", **settings)
    assert framed.task["fingerprint"] == ran.task["fingerprint"]
    _, sealing = reseal(RunFolder.open(ran.folder))  # reads the file as the record says; other rows are refused
    assert [len(sealing.development), len(sealing.sealed)] == [42, 18]
    new = sales.drop(columns=["day", "sold"])
    assert list(ran.model.predict(new)) == list(framed.model.predict(new))


@pytest.mark.usefixtures("sales")
def test_dates_in_parts_need_no_finding() -> None:
    assert "DATES_AS_NUMBERS" not in {finding.code for finding in read("learner.preparer=dates").reading}
