"""What is handed in is checked row by row, and what is wrong is named: nothing of it reaches the labels."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from exam_tests.conftest import guess
from modelsel.core.errors import ConfigurationError, DataError, ModelselError, RefusedError
from modelsel.dataset.column import RawColumn
from modelsel_exam.predictions import _scores
from modelsel_exam.sit import ExamSession

Make = Callable[..., ExamSession]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: f.iloc[3:], "missing rows"),
        (lambda f: pd.concat([f, f.iloc[:2]]), "repeated rows"),
        (lambda f: pd.concat([f, pd.DataFrame({"token": ["x" * 9000], "prediction": ["yes"]})]), "unknown rows"),
        (lambda f: f.assign(prediction="maybe"), "not a class"),
        (lambda f: f.assign(prediction=np.where(f.index < 3, None, "yes")), "not a class"),
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


@pytest.mark.sampled(2)
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


def test_what_is_said_of_columns_names_those_that_there_are(exam: Make) -> None:
    made = exam(release="thresholdout")
    known = pd.read_csv(made.folder / "development.csv")
    whole = pd.concat([guess(made), pd.DataFrame({"token": known.token, "prediction": "yes"})])
    for table, said in (
        (whole.rename(columns={"token": "Token"}), "there are 'Token', 'prediction'"),
        (whole.rename(columns={"prediction": "pred"}), "there are 'token', 'pred'"),
        (whole.assign(yes=0.5), "no column for no"),
        (guess(made), "of the questions and of the development rows"),
    ):
        with pytest.raises(DataError, match=said):
            made.answer(table, "ann")


@pytest.mark.slow
def test_classes_that_are_whole_numbers_may_have_a_point(exam: Make, loans: Path) -> None:
    frame = pd.read_csv(loans)
    frame.assign(default=(frame.default == "yes").astype(int)).to_csv(loans, index=False)
    made = exam(release="full")
    said = guess(made).assign(prediction=lambda f: (f.prediction == "yes").astype(float))
    first = made.answer(said, "ann")
    said.to_csv(made.folder.parent / "answer.csv", index=False)
    assert "1.0" in (made.folder.parent / "answer.csv").read_text()
    assert made.answer(made.folder.parent / "answer.csv", "ann").look == first.look == 1
    with pytest.raises(DataError, match="not a class"):
        made.answer(said.assign(prediction=1.5), "ann")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["../x", "", "a/b", "x" * 65, "a\nb", "ann ", " ann"])
def test_names_are_names(exam: Make, name: str) -> None:
    made = exam()
    with pytest.raises(ConfigurationError):
        made.answer(guess(made), name)


def test_a_file_that_is_not_there(exam: Make) -> None:
    with pytest.raises(ModelselError, match="no file"):
        exam().answer("nowhere.csv", "ann")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("rows", [10**18, 10**400, float("inf"), float("nan"), 0, -5])
def test_a_forecast_from_more_rows_than_anybody_has_is_none(exam: Make, rows: float) -> None:
    """From 10**18 rows every answer used to be nearly free, and what the others were shown no longer held."""
    made = exam()
    with pytest.raises(ConfigurationError, match="not a forecast"):
        made.answer(guess(made), "ann", (0.05, rows))
    assert made.history() == []
    cheap = made.answer(guess(made), "ann", (0.05, 10**9)).price
    assert cheap > 2


@pytest.mark.slow
def test_scores_that_the_guard_takes_for_one_answer_have_one_name(exam: Make) -> None:
    """3.5e-6 is rounded to 4e-6 there, and was written as 3e-6 here: two looks under one name spoilt the certificate."""
    made = exam("measure=auc", release="full", looks=None)
    tokens = guess(made)[["token"]]
    p = np.linspace(0.2, 0.8, len(tokens))
    for first in (3e-06, 3.5e-06, 0.0, -0.0):
        p[0] = first
        made.answer(tokens.assign(yes=p, no=1 - p), "ann")
    names = [answer.digest for answer in made.handed()]
    assert len(set(names)) == len(names) == 3
    assert len([*(made.store.folder / "answers").iterdir()]) == 3  # a replay leaves no file


@pytest.mark.slow
def test_a_parquet_file_that_unfolds_is_not_read(exam: Make, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    made = exam()
    token = str(made.store.tokens()[0])
    long = pa.table({"token": pa.array([token] * 5_000_000).dictionary_encode(), "prediction": ["yes"] * 5_000_000})
    wide = pa.table({f"c{i}": ["yes"] for i in range(3000)})
    deep = pa.table({"token": [token], "prediction": ["y" * 50_000_000]})
    for table in (long, wide, deep):
        pq.write_table(table, tmp_path / "answer.parquet", compression="zstd")
        assert (tmp_path / "answer.parquet").stat().st_size < 3_000_000
        with pytest.raises(DataError, match="MSEL-962"):
            made.answer(tmp_path / "answer.parquet", "ann")


@pytest.mark.slow
def test_a_parquet_file_of_which_any_byte_was_changed_is_read_or_refused(exam: Make, tmp_path: Path) -> None:
    made = exam()
    guess(made).to_parquet(tmp_path / "answer.parquet")
    whole = (tmp_path / "answer.parquet").read_bytes()
    for place in range(0, len(whole), max(1, len(whole) // 60)):
        (tmp_path / "answer.parquet").write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        with suppress(DataError, RefusedError):
            made.answer(tmp_path / "answer.parquet", "ann")
    assert len(made.history()) < 20  # most of them were refused before a look


def test_scores_that_nearly_sum_to_one_are_made_to() -> None:
    columns = [
        RawColumn(name, numbers=np.array(own), type="float") for name, own in (("no", [0.25, 0.5 + 1e-7]), ("yes", [0.75, 0.5]))
    ]
    assert _scores(columns).sum(axis=1) == pytest.approx([1.0, 1.0], abs=1e-12)
