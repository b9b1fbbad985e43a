"""`modelsel plan wine.csv target`: the first try of most people works, and says what it recognised."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from modelsel.api.commands.table_words import as_overrides, is_table
from modelsel.core.errors import ConfigurationError
from modelsel.dataset.read_table import read_table

LOANS = "age;income;default\n" + "".join(f"{i % 17 + 20},5;{i * 7};{'yn'[i % 3 == 0]}\n" for i in range(60))
QUICK = ("space=[majority,naive_bayes]", "scheme.folds=3", "tracking=off", "pool=sequential")


@pytest.mark.slow
def test_a_file_and_a_column_are_a_study(modelsel: Callable[..., object], folder: Path) -> None:
    (folder / "my loans.csv").write_text(LOANS.replace(",5", "").replace(";", ","))
    planned = modelsel("plan", "my loans.csv", "default", *QUICK)
    assert (planned.code, planned.err) == (0, "")  # type: ignore[attr-defined]
    assert "42 for development, 18 sealed" in planned.out  # type: ignore[attr-defined]
    spelled = modelsel("plan", "dataset=csv", "dataset.path='my loans.csv'", "dataset.target=default", *QUICK)
    assert planned.out.splitlines()[:4] == spelled.out.splitlines()[:4]  # type: ignore[attr-defined]
    assert modelsel("run", "my loans.csv", "default", *QUICK).out.startswith("my loans-")  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["plan", "run"])
def test_what_was_recognised_is_said_on_the_terminal(command: str, modelsel: Callable[..., object], folder: Path) -> None:
    (folder / "loans.csv.gz").write_bytes(gzip.compress(LOANS.encode()))
    ran = modelsel(command, "loans.csv.gz", "default", *QUICK)
    said = ran.out if command == "plan" else ran.err  # type: ignore[attr-defined]
    assert "the fields of loans.csv.gz are parted by semicolons: recognised" in said
    assert "decimal commas were recognised in age" in said


def test_the_ending_decides_the_reader() -> None:
    assert as_overrides(["a.tsv.gz", "y"])[:3] == ["dataset=csv", "dataset.path='a.tsv.gz'", "dataset.delimiter=tab"]
    assert as_overrides(["a.parquet"]) == ["dataset=parquet", "dataset.path='a.parquet'"]
    assert as_overrides(["it's.csv", "y", "seed=1"]) == [
        "dataset=csv", r"dataset.path='it\'s.csv'", "dataset.target='y'", "seed=1"
    ]  # fmt: skip


def test_a_folder_of_parquet_files_is_a_table(folder: Path) -> None:
    (folder / "parts" / "year=2024").mkdir(parents=True)
    assert not is_table("parts")
    pq.write_table(pa.table({"x": [1.0, 2.0, 3.0, 4.0], "y": [*"abab"]}), folder / "parts" / "year=2024" / "rows.parquet")
    assert as_overrides(["parts", "y"]) == ["dataset=parquet", "dataset.path='parts'", "dataset.target='y'"]
    assert [feature.name for feature in read_table("parts", "y").features] == ["x", "year"]


@pytest.mark.parametrize("words", [["dataset.path=a.csv"], ["wine"], ["-m"], ["seed=1", "a.csv"]])
def test_other_words_stay_as_they_are(words: list[str]) -> None:
    assert as_overrides(words) == words


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["wine.cvs", "target"], r"MSEL-251: there is no file 'wine.cvs', wine.cvs; did you mean 'wine.csv'\?"),
        (["wine.xlsx", "target"], r"MSEL-251: no reader for the suffix '.xlsx'"),
        (["wine", "target"], "MSEL-251: no reader for the suffix '', wine; name a file that ends in one of: .csv"),
        ([".", "target"], r"MSEL-251: a folder is not a table, \.; name a file"),
        (["target", "wine.csv"], "MSEL-251: the target stands before its file, target wine.csv; write wine.csv target"),
    ],
)
def test_a_misspelt_file_and_words_in_the_wrong_order_are_answered_with_what_was_meant(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("wine.csv", "wine.xlsx", "wine"):
        (tmp_path / name).touch()
    with pytest.raises(ConfigurationError, match=said):
        as_overrides(words)


@pytest.mark.slow
def test_predictions_begin_with_the_id_of_the_row(modelsel: Callable[..., object], folder: Path) -> None:
    rows = "".join(f"p{i:03},{i % 17},{'yn'[i % 3 == 0]}\n" for i in range(60))
    (folder / "rows.csv").write_text(f"who,age,y\n{rows}")
    assert modelsel("run", "rows.csv", "y", "dataset.id=who", "final_test=false", *QUICK).code == 0  # type: ignore[attr-defined]
    said = modelsel("predict", "latest", "rows.csv").out.splitlines()  # type: ignore[attr-defined]
    assert said[0].startswith("who,prediction,score_")
    assert [line.split(",")[0] for line in said[1:4]] == ["p000", "p001", "p002"]
    (folder / "new.csv").write_text("age\n3\n")
    assert modelsel("predict", "latest", "new.csv").out.startswith("prediction,score_")  # type: ignore[attr-defined]
