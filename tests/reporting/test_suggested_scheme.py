"""`plan` names the scheme that the columns suggest: a repeated id asks for groups, a date for time, both for both."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold

import modelsel


@pytest.fixture(autouse=True)
def _apart(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def visits(*columns: str) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "pressure": rng.normal(120, 10, 120), "patient_id": np.repeat(np.arange(30), 4) * 17 + 5,
        "visit": pd.date_range("2024-01-01", periods=120).to_numpy()[rng.permutation(120)], "ill": ["no", "yes"] * 60,
    })  # fmt: skip
    return frame[["pressure", *columns, "ill"]]


def suggested(frame: pd.DataFrame, **settings: Any) -> str:
    text = modelsel.plan(frame, target="ill", space={"m": {"learner": "majority"}}, **settings).text
    return "".join(line for line in text.splitlines() if line.startswith("suggested"))


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ((), ""),
        (("patient_id",), "patient_id repeats: dataset.groups=patient_id scheme=group_kfold"),
        (("visit",), "visit is a date: dataset.time=visit scheme=time_split"),
        (
            ("patient_id", "visit"),
            "patient_id repeats, visit is a date: dataset.groups=patient_id dataset.time=visit scheme=group_time_split",
        ),
    ],
)
def test_columns_suggest_a_scheme(columns: tuple[str, ...], said: str) -> None:
    assert suggested(visits(*columns)) == (said and f"suggested    {said}, if such rows are not independent")


def test_what_is_suggested_can_be_typed_and_then_nothing_more_is_said() -> None:
    frame = visits("patient_id", "visit")
    followed = {"dataset": {"groups": "patient_id", "time": "visit"}, "scheme": "group_time_split", "split": "group"}
    assert suggested(frame, **followed) == ""


def test_times_that_the_scheme_does_not_read_are_said_and_ones_own_splitter_is_an_answer() -> None:
    assert "rows have times: scheme=time_split" in suggested(visits("visit"), dataset={"time": "visit"})
    assert suggested(visits("visit"), scheme=KFold(3)) == ""
