"""What is handed in is checked row by row, and what is wrong is named: nothing of it reaches the labels."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from modelsel.core.errors import ConfigurationError, DataError, ModelselError
from modelsel.examination.asking.sit import ExamSession
from tests.examination.conftest import guess

Make = Callable[..., ExamSession]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: f.iloc[3:], "missing rows"),
        (lambda f: pd.concat([f, f.iloc[:2]]), "repeated rows"),
        (lambda f: pd.concat([f, pd.DataFrame({"token": ["x" * 9000], "prediction": ["yes"]})]), "unknown rows"),
        (lambda f: f.assign(prediction="maybe"), "no class"),
        (lambda f: f.assign(prediction=np.where(f.index < 3, None, "yes")), "no class"),
        (lambda f: f.drop(columns="token"), "no column 'token'"),
        (lambda f: f.drop(columns="prediction"), "nothing is predicted"),
        (lambda f: f[["token"]].assign(yes=0.5), "no column for"),
        (lambda f: f[["token"]].assign(yes=2.0, no=-1.0), "sum to 1"),
        (lambda f: f[["token"]].assign(yes=np.nan, no=1.0), "sum to 1"),
        (lambda f: f[["token"]].assign(yes="1e400", no="0"), "sum to 1"),
    ],
)
def test_rows_and_cells_that_do_not_fit_are_named_and_nothing_is_looked_at(
    exam: Make, tmp_path: Path, change: object, said: str
) -> None:
    made = exam()
    change(guess(made)).to_csv(tmp_path / "answer.csv", index=False)  # type: ignore[operator]
    with pytest.raises(DataError, match=said) as raised:
        made.answer(tmp_path / "answer.csv", "ann")
    assert raised.value.exit_code == 3
    assert len(str(raised.value)) < 1000
    assert made.history() == []


@pytest.mark.parametrize(
    "content",
    [b"", b"\0\0\0", b"token,prediction\n", b'token,prediction\n"a,yes\n', b"token,token\na,b\n", b"token,prediction\na,b,c\n",
     b"\xff\xfe\x00", b"token,prediction\n" + b"a" * 200_000 + b",yes\n", b"=cmd|' /C calc'!A0,prediction\n1,2\n"],
)  # fmt: skip
def test_a_hostile_file_is_refused_without_a_look(exam: Make, tmp_path: Path, content: bytes) -> None:
    made = exam()
    (tmp_path / "answer.csv").write_bytes(content)
    with pytest.raises(DataError):
        made.answer(tmp_path / "answer.csv", "ann")
    assert made.history() == []


def test_a_parquet_file_and_a_frame_say_the_same(exam: Make, tmp_path: Path) -> None:
    made = exam()
    said = guess(made)
    said.to_parquet(tmp_path / "answer.parquet")
    first = made.answer(tmp_path / "answer.parquet", "ann")
    assert made.answer(said, "ann").replay
    (tmp_path / "answer.parquet").write_bytes(b"PAR1nothing")
    with pytest.raises(DataError):
        made.answer(tmp_path / "answer.parquet", "ann")
    assert first.look == 1


@pytest.mark.parametrize("name", ["../x", "", "a/b", "x" * 65, "a\nb"])
def test_names_are_names(exam: Make, name: str) -> None:
    made = exam()
    with pytest.raises(ConfigurationError):
        made.answer(guess(made), name)


def test_a_file_that_is_not_there(exam: Make) -> None:
    with pytest.raises(ModelselError, match="no file"):
        exam().answer("nowhere.csv", "ann")
