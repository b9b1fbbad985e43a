"""Exams for tests: a small table, and what an asker would hand in."""

import random
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from modelsel.guard import entries
from modelsel_exam import create
from modelsel_exam.exams import make_exam
from modelsel_exam.options import Wanted
from modelsel_exam.sit import ExamSession


def table(rows: int = 300, seed: int = 0) -> pd.DataFrame:
    """Rows that are all distinct; the label follows the first column, with noise."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.integers(18, 80, rows), "income": rng.normal(3, 1, rows).round(5)})
    frame["city"] = rng.choice(["north", "south", "east"], rows)
    frame["default"] = np.where(frame.income + rng.normal(0, 0.7, rows) > 3, "yes", "no")
    return frame


def stream(seed: int) -> Any:
    """What draws tokens, the order of rows and noise, so that two exams draw the same."""
    rng = random.Random(seed)
    return SimpleNamespace(token_hex=lambda size: f"{rng.getrandbits(8 * size):0{2 * size}x}", randbits=rng.getrandbits)


@pytest.fixture(autouse=True)
def _nothing_hangs_on_luck(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exam draws from the system; an interval of one in twenty would miss, an order of rows look like that of the table."""
    drawn = stream(0)
    monkeypatch.setattr(create, "secrets", drawn)
    monkeypatch.setattr(entries, "secrets", drawn)


@pytest.fixture
def loans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A CSV file, in a folder and with a home of its own."""
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    table().to_csv(tmp_path / "loans.csv", index=False)
    return tmp_path / "loans.csv"


@pytest.fixture
def exam(loans: Path) -> Callable[..., ExamSession]:
    """An exam of the table; keywords are the terms, words the settings."""

    def make(*settings: str, folder: str = "exam", **terms: Any) -> ExamSession:
        make_exam(str(loans), "default", loans.parent / folder, Wanted(**terms), settings)
        return ExamSession(loans.parent / folder)

    return make


def questions(exam: ExamSession) -> pd.DataFrame:
    return pd.read_csv(exam.folder / "questions.csv")


def guess(exam: ExamSession, cut: float = 3.0) -> pd.DataFrame:
    """What a simple rule says: a class per token."""
    asked = questions(exam)
    return pd.DataFrame({"token": asked.token, "prediction": np.where(asked.income > cut, "yes", "no")})


def truth(exam: ExamSession) -> pd.Series:
    """The labels of the questions, from the table that the examiner has: matched by the features."""
    whole = table().set_index(["age", "income", "city"]).default
    asked = questions(exam)
    return pd.Series([whole[key] for key in zip(asked.age, asked.income, asked.city)], index=asked.token)


def errors(exam: ExamSession, answer: pd.DataFrame) -> int:
    """Wrong predictions, counted without modelsel."""
    return int((answer.set_index("token").prediction != truth(exam)[answer.token]).sum())
