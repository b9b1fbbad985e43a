"""`dataset.sample`: whichever reader draws it, the rows are the same, shared out by classes and in whole units."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import modelsel
from modelsel.core.errors import ConfigurationError, DataError
from modelsel.core.types import Loaded
from modelsel.dataset import files
from modelsel.dataset.arff import Arff
from modelsel.dataset.csv import Csv
from modelsel.dataset.duckdb import Duckdb
from modelsel.dataset.parquet import Parquet
from tests.extras import needs

duckdb = needs("duckdb")
ROWS, SHARES = 3000, {"no": 0.6, "yes": 0.37, "rare": 0.03}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same table as one file of each form, and in four files."""
    path, rng = tmp_path_factory.mktemp("sample"), np.random.default_rng(0)
    patient = rng.integers(0, 400, ROWS)
    table = pd.DataFrame({"row": np.arange(ROWS), "a": rng.normal(size=ROWS).round(6), "patient": patient, "w": patient * 0.5})
    table["y"] = rng.choice([*SHARES], ROWS, p=[*SHARES.values()])
    table.to_csv(path / "t.csv", index=False)
    table.to_parquet(path / "t.parquet", row_group_size=500)
    (path / "many").mkdir()
    for part in range(4):
        table.iloc[part * 750 : part * 750 + 750].to_parquet(path / "many" / f"{part}.parquet", index=False)
    lines = [",".join(map(str, line)) for line in table.itertuples(index=False)]
    head = "".join(f"@attribute {name} numeric\n" for name in table.columns[:-1])
    (path / "t.arff").write_text(f"@relation t\n{head}@attribute y {{no,yes,rare}}\n@data\n" + "\n".join(lines) + "\n")
    with duckdb.connect(str(path / "t.db")) as base:
        base.execute(f"CREATE TABLE loans AS FROM '{path}/t.parquet'")
    return path


READERS: dict[str, Callable[..., Csv | Parquet | Arff | Duckdb]] = {
    "csv": lambda path, **more: Csv(path=f"{path}/t.csv", **more),
    "arff": lambda path, **more: Arff(path=f"{path}/t.arff", **more),
    "parquet": lambda path, **more: Parquet(path=f"{path}/t.parquet", **more),
    "folder": lambda path, **more: Parquet(path=f"{path}/many", **more),
    "glob": lambda path, **more: Parquet(path=f"{path}/many/*.parquet", **more),
    "query": lambda path, **more: Duckdb(query=f"FROM '{path}/t.csv';", **more),
    "database": lambda path, **more: Duckdb(query="SELECT * FROM loans", database=f"{path}/t.db", **more),
}


def rows(loaded: Loaded) -> list[int]:
    """The numbers of the rows, by a column that has them."""
    names = [feature.name for feature in loaded.task.features]
    return [int(row) for row in loaded.task.values[:, names.index("row")]]


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_draws_the_same_rows_of_each_class_its_share(folder: Path, reader: str) -> None:
    whole, loaded = pd.read_csv(folder / "t.csv"), READERS[reader](folder, target="y", sample=200).load()
    drawn = rows(loaded)
    assert drawn == rows(READERS["csv"](folder, target="y", sample=200).load())
    assert (len(drawn), drawn) == (200, sorted(set(drawn)))
    mine = whole.iloc[drawn]
    for name, count in whole["y"].value_counts().items():
        assert abs((mine["y"] == name).sum() - 200 * count / ROWS) < 1
    assert loaded.task.values[:, 1].tolist() == mine["a"].tolist()
    assert [loaded.task.class_names[code] for code in loaded.task.target] == mine["y"].tolist()
    (said,) = [finding.message for finding in loaded.findings if finding.code == "SAMPLED"]
    assert "200 of 3,000 rows, drawn by classes" in said
    assert "the other 2,800 take no part" in said


@pytest.mark.parametrize("reader", ["csv", "folder", "query"])
@pytest.mark.parametrize("said", [{"unit": "patient"}, {"groups": "patient"}, {"unit": ("patient", "w")}])
def test_units_are_drawn_whole(folder: Path, reader: str, said: dict[str, object]) -> None:
    whole, loaded = pd.read_csv(folder / "t.csv"), READERS[reader](folder, target="y", sample=600, **said).load()
    drawn = set(rows(loaded))
    assert drawn == set(rows(READERS["database"](folder, target="y", sample=600, **said).load()))
    for _, one in whole.groupby("patient"):
        assert len(drawn & set(one["row"])) in (0, len(one))
    assert 560 <= len(drawn) <= 600


def test_of_numbers_any_rows_are_drawn(folder: Path) -> None:
    numbers = [rows(READERS[reader](folder, target="a", sample=100).load()) for reader in ("csv", "parquet", "database")]
    assert numbers[0] == numbers[1] == numbers[2]
    assert len(numbers[0]) == 100


def test_a_sample_that_is_no_less_than_the_table_is_the_table(folder: Path) -> None:
    for reader in READERS.values():
        loaded = reader(folder, target="y", sample=ROWS).load()
        assert rows(loaded) == [*range(ROWS)]
        assert "SAMPLED" not in {finding.code for finding in loaded.findings}


def test_what_is_wrong_in_a_drawn_row_is_told_by_its_place_in_the_file(folder: Path, tmp_path: Path) -> None:
    table = pd.read_csv(folder / "t.csv", dtype=str)
    row = rows(READERS["csv"](folder, target="y", sample=200).load())[7]
    table.loc[row, "a"] = "inf"
    table.to_csv(tmp_path / "bad.csv", index=False)
    with pytest.raises(DataError, match=rf"row {row}\b"):
        Csv(path=str(tmp_path / "bad.csv"), target="y", sample=200).load()


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT 1; SELECT 2", "not a single SELECT"),
        ("COPY (SELECT 1) TO 'stolen.csv'", "not a single SELECT"),
        ("DROP TABLE loans", "not a single SELECT"),
        ("FROM nowhere", "Catalog Error"),
        ("selec", "Parser Error"),
        ("", "not a single SELECT"),
        ("SELECT * FROM loans, (SELECT unnest([1, 2])) ORDER BY random()", "another order"),
    ],
)
def test_a_query_that_is_none_or_that_writes_is_refused(folder: Path, query: str, why: str) -> None:
    with pytest.raises(ConfigurationError, match=f"MSEL-376: .*{why}"):
        Duckdb(query=query, database=f"{folder}/t.db", target="y", sample=100).load()


def test_a_file_of_a_folder_with_other_columns_is_named(tmp_path: Path) -> None:
    pd.DataFrame({"a": [1.0], "y": ["p"]}).to_parquet(tmp_path / "0.parquet")
    pd.DataFrame({"b": [1.0], "y": ["p"]}).to_parquet(tmp_path / "1.parquet")
    with pytest.raises(DataError, match=r"MSEL-371: .*\(a, b\).*1.parquet"):
        Parquet(path=str(tmp_path), target="y").load()
    with pytest.raises(ConfigurationError, match="MSEL-302"):
        Parquet(path=f"{tmp_path}/*.pq", target="y").load()


def test_a_table_in_memory_is_sampled_with_the_numbers_of_its_own_rows(folder: Path) -> None:
    table = pd.read_csv(folder / "t.csv")
    task = modelsel.read_table(table, "y", sample=200)
    assert task.rows.tolist() == rows(READERS["csv"](folder, target="y", sample=200).load())


def test_where_the_machine_is_too_small_a_sample_is_proposed_that_fits(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "memory", lambda: 40_000)
    (problem,) = READERS["folder"](folder, target="y").problems()
    assert (problem.code, "set dataset.sample=110" in problem.fix) == ("MSEL-375", True)
    assert list(READERS["folder"](folder, target="y", sample=110).problems()) == []
    (problem,) = READERS["csv"](folder, target="y").problems()
    assert "dataset=duckdb" in problem.fix


@pytest.mark.slow
def test_a_study_of_a_sample_says_so_and_is_tested_on_it(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("dataset=parquet", f"dataset.path={folder}/many", "dataset.target=y", "dataset.sample=300", "space=naive_bayes")
    outcome = modelsel.run(*words, "tracking=off", "final_test=false", "pool=sequential")
    assert outcome.task["rows"] == 300
    assert outcome.task["development_rows"] + outcome.task["test_rows"] == 300
    assert "2,700 take no part" in (Path(outcome.folder) / "report.html").read_text()
    assert outcome.open_test().test.n == outcome.task["test_rows"]  # the same rows are drawn again
